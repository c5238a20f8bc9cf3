"""A table begun again cannot be taken for the one that was lost; rows of runs say what is left."""

from __future__ import annotations

import pytest
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from aclkit.errors import UsageError
from aclkit.warehouse.place import Place
from aclkit.warehouse.rebuilding import Rebuilt, _begin_again, _require_forced
from aclkit.warehouse.store import Store
from tests.warehouse.test_retention import run

RANGE = ("c", 0, 9, None, "record")


def test_no_version_below_that_of_a_table_begun_again_can_be_read(tmp_path):
    store = Store(None, str(tmp_path))
    for _ in range(3):
        store.append_rows("log_range", [RANGE])
    _begin_again(Place(str(tmp_path)), "log_range", 7)
    where = f"{tmp_path}/log_range"
    assert DeltaTable(where).version() == 8
    assert DeltaTable(where).to_pyarrow_table().num_rows == 0
    for version in range(8):
        with pytest.raises(DeltaError):
            DeltaTable(where, version=version)
    store.append_rows("log_range", [RANGE])
    assert DeltaTable(where).to_pyarrow_table().num_rows == 1


def rows(lost, runs, cluster="c"):
    found = Rebuilt(frozenset(lost)).rows(runs, cluster)
    return [(row.run_number, row.job, row.decided_in, dict(row.table_versions)) for row in found]


def test_no_run_names_a_version_of_a_lost_table():
    runs = [run(0, decided=0, versions={"acl_history": 1, "explain": 2, "finding": 3})]
    assert rows({"explain", "finding"}, runs) == [(0, "run", 0, {"acl_history": 1})]


def test_where_decisions_are_lost_those_of_other_clusters_count_as_not_made():
    runs = [run(n, job, cluster=c, decided=n, versions={}) for n, (job, c) in enumerate(
        [("run", "c"), ("run", "d"), ("materialize", "d"), ("usage", "d")])]  # fmt: skip
    assert rows({"ruleset"}, runs) == [
        (0, "run", 0, {}), (1, "replay", None, {}), (3, "usage", None, {}),
    ]  # fmt: skip
    assert [row[1] for row in rows({"explain"}, runs)] == ["run", "run", "materialize", "usage"]


def test_where_facts_are_lost_nothing_is_known_of_other_clusters():
    runs = [run(0, versions={}), run(1, cluster="d", versions={})]
    assert [row[0] for row in rows({"acl_log"}, runs)] == [0]


def test_what_is_derived_may_go_and_history_only_by_force():
    _require_forced({"explain_pair": "why", "acl_history": "why"}, is_forced=False)
    lost = {"finding": "cut", "log_range": "gone"}
    with pytest.raises(
        UsageError, match=r"acl_log cannot be read \(gone\); finding cannot"
    ) as told:
        _require_forced(lost, is_forced=False)
    assert "--force" in str(told.value)
    _require_forced(lost, is_forced=True)
