"""ACLs and findings as rows, and back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import aclkit
from aclkit.model.acl import Acl
from aclkit.model.findings import EVERY_NAME, INVENTORY, Finding
from aclkit.warehouse.codecs import (
    ACL_COLUMNS,
    FINDING_COLUMNS,
    acl_of,
    behind_acl,
    finding_of,
    finding_row,
)
from aclkit.warehouse.schemas import TABLES

FOUND = Finding(
    finding="over-broad", severity="high", subject="s", message="m", fix="f", acl_ids=("1", "2"),
    holds_for=INVENTORY, evidence=("e",),
)  # fmt: skip


def test_a_row_that_begins_with_an_acl_is_the_acl_and_the_rest():
    row = ("id", "TOPIC", "t", "LITERAL", "User:a", "*", "READ", "ALLOW", 7)
    assert acl_of(row) == Acl(**dict(zip(ACL_COLUMNS, row[:8], strict=True)))
    assert tuple(behind_acl(row)) == (7,)
    assert set(ACL_COLUMNS) <= set(TABLES["acl_history"].column_names)


def test_a_finding_is_written_in_the_order_of_its_table_and_read_back():
    row = dict(zip(TABLES["finding"].column_names, finding_row(FOUND, "c", "r"), strict=True))
    assert (row["cluster_id"], row["run_id"], row["first_seen"]) == ("c", "r", None)
    assert row["fingerprint"] == FOUND.fingerprint
    as_read = [list(v) if isinstance(v := row[name], tuple) else v for name in FINDING_COLUMNS]
    assert finding_of(as_read) == FOUND


def test_what_an_older_aclkit_left_null_in_a_finding_has_its_default():
    unsaid = ("holds_for", "evidence", "acl_ids")
    row = [None if name in unsaid else "x" for name in FINDING_COLUMNS]
    found = finding_of(row)
    assert (found.holds_for, found.evidence, found.acl_ids) == (EVERY_NAME, (), ())


ROOT = Path(aclkit.__file__).parent


@pytest.mark.parametrize(
    "of_positions",
    [
        r"\b(Acl|Finding)\(\s*\*\*(dict\(|row|said)",
        r"\bFinding\(\s*(finding|severity)=(row|said|finding|severity)\b",
        r"json\.loads\([^)]*settings",
    ],
)
def test_no_other_module_makes_acls_findings_or_settings_of_rows(of_positions):
    found = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        if re.search(of_positions, path.read_text(encoding="utf-8"))
    }
    assert found <= {"warehouse/codecs.py"}
