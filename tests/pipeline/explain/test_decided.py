"""Who says whether ranges decide is told where an ACL's host may be one."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest

import aclkit
from aclkit.model.brokers import ranges_by_broker
from aclkit.model.semantics import KIP_1042
from aclkit.pipeline.explain.decided import (
    DECIDING,
    SAME,
    digest_after,
    digest_of,
    notes_on_reading,
    rules_digest,
)


@pytest.mark.parametrize(
    ("hosts", "told"),
    [((), 1), (("*", "10.0.0.1"), 1), (("*", "10.0.0.0/8"), 2), (("10.0.0.0/8",), 2)],
)
def test_ranges_are_told_of_where_any_host_may_be_one(hosts, told):
    notes = notes_on_reading(hosts, ranges_by_broker(()), KIP_1042, is_auto=False)
    assert len(list(notes)) == told


PACKAGE = Path(aclkit.__file__).parent


@pytest.fixture
def other(tmp_path):
    """A copy of what decides, without what Python compiled of it."""
    ignored = shutil.ignore_patterns("__pycache__")
    for package in DECIDING:
        shutil.copytree(PACKAGE / package, tmp_path / "aclkit" / package, ignore=ignored)
    return tmp_path / "aclkit"


def test_the_same_source_elsewhere_has_the_same_digest(other):
    assert digest_of(other) == rules_digest()


def test_so_has_the_zip_that_a_cluster_gets(other, tmp_path):
    archive = shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path, "aclkit")
    assert digest_of(zipfile.Path(archive, "aclkit/")) == rules_digest()


@pytest.mark.parametrize("package", DECIDING)
def test_another_line_of_what_decides_gives_another_digest(other, package):
    module = max((other / package).rglob("*.py"))
    module.write_text(f"{module.read_text(encoding='utf-8')}\n# another line\n", encoding="utf-8")
    assert digest_of(other) != rules_digest()


def test_a_module_of_another_name_gives_another_digest(other):
    (other / "rules" / "__init__.py").rename(other / "rules" / "other.py")
    assert digest_of(other) != rules_digest()


def test_what_does_not_decide_is_not_in_it():
    assert not {"cli", "questions", "runtime"} & {name.partition("/")[0] for name in DECIDING}


@pytest.mark.parametrize("same", sorted(SAME))
def test_what_a_source_with_the_same_results_decided_still_holds(same):
    assert digest_after(same) == same


@pytest.mark.parametrize("before", ["another", None])
def test_what_any_other_source_decided_is_decided_again(before):
    assert digest_after(before) == rules_digest()
