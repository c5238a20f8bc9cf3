"""The command audit: the findings in force, what they mean, and its exit code."""

from __future__ import annotations

import json
import shutil

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from aclkit.audit.findings.registry import KINDS, scope_words
from aclkit.model.findings import Finding
from tests.cli.running import Warehouse, run
from tests.questions.query import small_warehouse as small

COLUMNS = [
    "severity", "finding", "subject", "message", "fix", "holds_for", "evidence", "acl_ids",
    "fingerprint",
]  # fmt: skip
FOUND = (
    Finding(
        finding="redundant-acl",
        severity="low",
        subject="s2",
        message="m2.",
        fix="f2",
        acl_ids=("a", "b"),
        evidence=("ACL a: x", "ACL b: y"),
    ),
    Finding(
        finding="public-access",
        severity="high",
        subject="s1",
        message="m1 \x1b[31m.",
        fix="f1",
        holds_for="inventory",
    ),
)


def rows_of(findings, run_id="r"):
    for found in findings:
        yield {
            "cluster_id": small.CLUSTER, "run_id": run_id, "finding": found.finding,
            "severity": found.severity, "subject": found.subject, "message": found.message,
            "fix": found.fix, "acl_ids": found.acl_ids, "fingerprint": found.fingerprint,
            "holds_for": found.holds_for, "evidence": found.evidence,
        }  # fmt: skip


def publish(root, findings, job="run"):
    versions = small.build(root)
    versions["finding"] = small.write_table(root, "finding", rows_of(findings))
    counts = {"decided_in_run": 2}
    small.publish(root, versions, run_number=2, counts=counts, job=job)
    return Warehouse(root)


@pytest.fixture
def warehouse(tmp_path):
    return publish(tmp_path / "w", FOUND)


def test_the_findings_in_force_are_printed_the_worst_first(warehouse):
    result = warehouse.run("audit", "--format", "jsonl", code=1)
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [list(row)[: len(COLUMNS)] for row in rows] == [COLUMNS, COLUMNS]
    assert [row["finding"] for row in rows] == ["public-access", "redundant-acl"]
    assert rows[1]["evidence"] == ["ACL a: x", "ACL b: y"]
    assert rows[1]["acl_ids"] == ["a", "b"]
    assert [row["holds_for"] for row in rows] == ["inventory", "every-name"]


def test_a_table_is_for_people_and_no_name_acts_on_the_terminal(warehouse):
    assert warehouse.run("audit", code=1).stdout.splitlines() == [
        "1 high and 1 low findings.",
        "",
        "public-access (1 high): access open to every client",
        "  s1        m1 \\u{1b}[31m.  2026-11-21",
        "redundant-acl (1 low): ACLs that other ACLs make redundant",
        "  s2        m2.     2026-11-21",
        "What a kind means, and the fix: aclkit audit --explain KIND",
    ]
    wide = warehouse.run("audit", "--wide", code=1).stdout.splitlines()
    assert wide[3].split()[:3] == ["severity", "finding", "holds_for"]
    assert wide[4].split()[:2] == ["high", "public-access"]
    assert wide[4].endswith("  s1       m1 \\u{1b}[31m.")
    assert wide[7].split()[:2] == ["low", "redundant-acl"]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ((), 1),
        (("--fail-on", "low"), 1),
        (("--fail-on", "never"), 0),
        (("--finding", "redundant-acl"), 0),
        (("--finding", "redundant-acl", "--fail-on", "low"), 1),
        (("--finding", "redundant-acl", "--fail-on", "medium"), 0),
        (("--finding", "redundant-acl", "--finding", "public-access"), 1),
        (("--finding", "escalation", "--fail-on", "info"), 0),
    ],
)
def test_the_exit_code_is_1_where_one_printed_is_bad_enough(warehouse, options, code):
    warehouse.run("audit", *options, code=code)


def test_no_findings_is_0_and_says_so(tmp_path):
    result = publish(tmp_path / "w", ()).run("audit")
    assert result.stdout == "No findings.\n"


def test_after_materialize_alone_it_says_that_only_the_readings_were_looked_at(tmp_path):
    result = publish(tmp_path / "w", (), job="materialize").run("audit")
    assert "For all findings: aclkit run" in result.stderr


@pytest.mark.parametrize("option", ["--finding", "--explain"])
def test_a_kind_that_there_is_not_is_a_bad_request_that_lists_them(warehouse, option):
    result = warehouse.run("audit", option, "public", code=2)
    assert "Unknown kind of finding 'public'" in result.stderr
    assert "public-access" in result.stderr


def test_a_cluster_that_was_never_decided_is_told_the_next_step(tmp_path):
    small.publish(tmp_path / "w", {}, job="replay")
    assert "Next: aclkit" in Warehouse(tmp_path / "w").run("audit", code=2).stderr


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.id)
def test_explain_needs_no_warehouse_and_says_meaning_fix_and_scope(kind):
    result = run("audit", "--explain", kind.id)
    assert result.stdout.splitlines() == [
        f"{kind.id}: {kind.summary}",
        f"severity   {kind.severity_words}",
        f"holds for  {scope_words(kind)}",
        f"meaning    {kind.meaning}",
        f"fix        {kind.fix}",
    ]


def test_findings_of_an_older_aclkit_are_read_without_evidence(tmp_path):
    root = tmp_path / "w"
    versions = small.build(root)
    small.write_table(root / "new", "finding", rows_of(FOUND[1:]))
    new = DeltaTable(root / "new" / "finding").to_pyarrow_table()
    old = new.drop_columns(["holds_for", "evidence"])
    shutil.rmtree(root / "finding")
    write_deltalake(root / "finding", old)
    before = versions | {"finding": 0}
    small.publish(root, before, run_number=2, counts={"decided_in_run": 2})
    assert read_evidence(root) == [[]]
    write_deltalake(root / "finding", new.slice(0, 0), mode="append", schema_mode="merge")
    more = pa.Table.from_pylist(list(rows_of(FOUND[:1])), schema=new.schema)
    write_deltalake(root / "finding", more, mode="append")
    after = versions | {"finding": DeltaTable(root / "finding").version()}
    small.publish(root, after, run_number=3, counts={"decided_in_run": 3})
    assert read_evidence(root) == [[], ["ACL a: x", "ACL b: y"]]


def read_evidence(root):
    result = Warehouse(root).run("audit", "--fail-on", "never", "--format", "jsonl")
    return [json.loads(line)["evidence"] for line in result.stdout.splitlines()]
