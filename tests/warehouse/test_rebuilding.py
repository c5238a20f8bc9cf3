"""A table begun again cannot be taken for the one that was lost; rows of runs say what is left."""

from __future__ import annotations

import resource
import shutil
from contextlib import contextmanager
from dataclasses import replace

import duckdb
import pytest
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from aclkit.errors import DamagedError, SurroundingsError, UsageError
from aclkit.model.semantics import AskedReading, BrokerSettings
from aclkit.model.symbol import PRINCIPALS, RESOURCES
from aclkit.pipeline.explain.decided import MaterializeOptions, take_inventory
from aclkit.pipeline.explain.materialize import materialize
from aclkit.pipeline.inventory.entry import FILE, Entry
from aclkit.pipeline.inventory.survey import Given
from aclkit.warehouse import rebuilding
from aclkit.warehouse.damage import damage_of
from aclkit.warehouse.duck import connect
from aclkit.warehouse.location import Location
from aclkit.warehouse.published import open_warehouse
from aclkit.warehouse.rebuilding import Rebuilt, _begin_again, _require_forced
from aclkit.warehouse.run import Rebuild, begin_run, publish
from aclkit.warehouse.store import Store
from tests.factories import acl
from tests.pipeline.explain.test_against_rules import write_acls
from tests.warehouse.aging import Killed, kill_at
from tests.warehouse.test_retention import run

RANGE = ("c", 0, 9, None, "record", -1)


def test_no_version_below_that_of_a_table_begun_again_can_be_read(tmp_path):
    store = Store(None, str(tmp_path))
    for _ in range(3):
        store.append("log_range", [RANGE])
    _begin_again(Location(str(tmp_path)), "log_range", 7)
    where = f"{tmp_path}/log_range"
    assert DeltaTable(where).version() == 8
    assert DeltaTable(where).to_pyarrow_table().num_rows == 0
    for version in range(8):
        with pytest.raises(DeltaError):
            DeltaTable(where, version=version)
    store.append("log_range", [RANGE])
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


ALLOW_ALL = acl("t", principal="User:*", acl_id="1")
DENY_A = acl("t", principal="User:a", permission_type="DENY", acl_id="2")
MORE = acl("t", principal="User:a", operation="WRITE", acl_id="6")
DENIED = ("c", "DENIED")


def begin(folder, rebuild=None):
    return begin_run(None, str(folder), "run", lock_timeout=0, rebuild=rebuild)


def night(folder, cluster, acls=None, rebuild=None, dense="never"):
    """Publish a run that decides a cluster, without Spark."""
    entries = {
        PRINCIPALS: [Entry(name="User:a", origin=FILE)],
        RESOURCES: [Entry(name="t", resource_type="TOPIC", origin=FILE)],
    }
    given = Given(entries=entries)
    asked = MaterializeOptions(
        settings=BrokerSettings(), reading=AskedReading(), given=given, dense=dense
    )
    with begin(folder, rebuild) as going:
        going.cluster_id = cluster
        if acls is not None:
            write_acls(going, acls)
        materialize(going, take_inventory(going, asked), asked)
        if rebuild is not None:
            going.notes.extend(going.rebuilt.notes(going.store.runs, cluster))
        publish(going)


def answers(folder):
    """Return, of each cluster, whether User:a may read the topic."""
    query = (
        "SELECT cluster_id, decision FROM explain WHERE principal = 'User:a' "
        "AND resource_name = 't' AND operation = 'READ' ORDER BY ALL"
    )
    with connect(open_warehouse(str(folder))) as connection:
        return connection.execute(query).fetchall()


@pytest.fixture
def two_nights(tmp_path):
    night(tmp_path, "c", [ALLOW_ALL, DENY_A])
    night(tmp_path, "c", [ALLOW_ALL, replace(DENY_A, acl_id="5"), MORE])
    assert answers(tmp_path) == [DENIED]
    return tmp_path


def lose_newest_entry(folder):
    sorted((folder / "_delta_log").glob("*.json"))[-1].unlink()


def lose_log(folder):
    shutil.rmtree(folder / "_delta_log")


def lose_rows(folder):
    for path in folder.glob("*.parquet"):
        path.unlink()


HARMS = (lose_newest_entry, lose_log, shutil.rmtree)


@pytest.mark.parametrize("harm", HARMS)
def test_what_a_killed_rebuild_has_emptied_is_never_what_is_published(two_nights, harm):
    harm(two_nights / "explain_pair")
    with pytest.raises(Killed), begin(two_nights, Rebuild()):
        raise Killed
    with pytest.raises(DamagedError, match="--rebuild"):
        answers(two_nights)
    with pytest.raises(DamagedError, match="--rebuild"), begin(two_nights):
        pass
    night(two_nights, "c", rebuild=Rebuild())
    assert answers(two_nights) == [DENIED]


def test_an_older_table_that_a_backup_put_back_is_emptied_above_the_published_version(tmp_path):
    night(tmp_path, "c", [ALLOW_ALL])
    shutil.copytree(tmp_path / "explain_pair", tmp_path / "backup")
    night(tmp_path, "c", [ALLOW_ALL, DENY_A])
    shutil.rmtree(tmp_path / "explain_pair")
    (tmp_path / "backup").rename(tmp_path / "explain_pair")
    with pytest.raises(Killed), begin(tmp_path, Rebuild()):
        raise Killed
    with pytest.raises(DamagedError):
        answers(tmp_path)
    night(tmp_path, "c", rebuild=Rebuild())
    assert answers(tmp_path) == [DENIED]


@pytest.mark.parametrize("harm", HARMS[1:])
@pytest.mark.parametrize("table", ["explain_pair", "finding"])
def test_no_run_begins_a_table_again_whose_log_is_gone(two_nights, harm, table):
    with begin(two_nights) as going:
        going.cluster_id = "c"
        going.store.append("finding", [])
        publish(going)
    harm(two_nights / table)
    with pytest.raises(DamagedError, match=f"of {table} in .*it does not exist.*--rebuild"):
        night(two_nights, "c", [ALLOW_ALL])


@pytest.mark.parametrize("table", sorted(rebuilding.DECISIONS))
def test_no_decision_of_another_cluster_is_made_of_what_is_left_of_its_tables(tmp_path, table):
    night(tmp_path, "c", [ALLOW_ALL, DENY_A])
    night(tmp_path, "d", [replace(ALLOW_ALL, acl_id="3"), replace(DENY_A, acl_id="4")])
    before = answers(tmp_path)
    assert before == [DENIED, ("d", "DENIED")]
    lose_rows(tmp_path / table)
    night(tmp_path, "c", rebuild=Rebuild())
    assert answers(tmp_path) == [DENIED]
    newest = open_warehouse(str(tmp_path)).run
    assert f"Computed again, because files were lost: {table}." in newest.notes
    with connect(open_warehouse(str(tmp_path))) as connection:
        for left in {*rebuilding.DECISIONS, "explain"} & newest.table_versions.keys():
            found = connection.execute(f"SELECT DISTINCT cluster_id FROM {left}").fetchall()
            assert found in ([], [("c",)]), left
    night(tmp_path, "d")
    assert answers(tmp_path) == before


@pytest.mark.parametrize("harm", [shutil.rmtree, lose_log])
def test_a_warehouse_without_job_run_is_no_new_one_for_a_rebuild(two_nights, harm):
    harm(two_nights / "job_run")
    before = sorted(path for path in two_nights.rglob("*") if path.is_file())
    with (
        pytest.raises(UsageError, match=r"job_run cannot be read .*all runs.*--force") as told,
        begin(two_nights, Rebuild()),
    ):
        pass
    assert "is not empty" in str(told.value)
    assert sorted(path for path in two_nights.rglob("*") if path.is_file()) == before
    night(two_nights, "c", [ALLOW_ALL, DENY_A], rebuild=Rebuild(is_forced=True))
    assert answers(two_nights) == [DENIED]


def test_a_log_that_cannot_be_read_tells_as_well_that_job_run_is_lost(two_nights):
    shutil.rmtree(two_nights / "job_run")
    for path in two_nights.glob("*/_delta_log/*.json"):
        path.write_text("{", encoding="utf-8")
    with pytest.raises(UsageError, match="job_run cannot be read"), begin(two_nights, Rebuild()):
        pass


@pytest.mark.parametrize("harm", [shutil.rmtree, lose_log])
def test_a_run_takes_nothing_back_of_runs_whose_job_run_is_lost(two_nights, harm):
    harm(two_nights / "job_run")
    before = sorted(path for path in two_nights.rglob("*") if path.is_file())
    with (
        pytest.raises(DamagedError, match=r"job_run in .* has no run, .*--rebuild"),
        begin(two_nights),
    ):
        pass
    assert sorted(path for path in two_nights.rglob("*") if path.is_file()) == before


def test_first_runs_that_were_killed_are_taken_back_however_many(tmp_path):
    for number in range(3):
        with pytest.MonkeyPatch.context() as patch:
            kill_at(patch, "before-job-run")
            with pytest.raises(Killed):
                night(tmp_path, "c", [replace(ALLOW_ALL, acl_id=f"{number}")])
    assert not (tmp_path / "job_run").exists()
    night(tmp_path, "c", [ALLOW_ALL, DENY_A])
    assert answers(tmp_path) == [DENIED]
    assert len(open_warehouse(str(tmp_path)).runs) == 1


@pytest.mark.parametrize("table", ["log_range", "explain_pair"])
def test_a_rebuild_ends_where_a_table_cannot_be_emptied_for_the_disk(
    two_nights, table, monkeypatch
):
    store = Store(None, str(two_nights))
    store.append("log_range", [RANGE])
    log = sorted((two_nights / table / "_delta_log").iterdir())

    def fails(*_, **__):
        raise DeltaError("Generic error: Unable to copy data to file: File too large (os error 27)")

    monkeypatch.setattr(DeltaTable, "delete", fails)
    newest = store.newest_version(table)
    assert newest is not None
    with pytest.raises(SurroundingsError, match=r"Cannot write .*: File too large") as told:
        rebuilding._empty(store, table, newest)
    assert "--rebuild" not in str(told.value)
    assert sorted((two_nights / table / "_delta_log").iterdir()) == log


@contextmanager
def no_file_above(size):
    most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, most[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, most)


def test_a_write_that_fails_is_no_lost_file(two_nights):
    failed = pytest.raises(SurroundingsError, match=r"Cannot write .*: File too large")
    with failed as told, no_file_above(1_200):
        night(two_nights, "c", [ALLOW_ALL])
    assert "--rebuild" not in str(told.value)
    night(two_nights, "c")
    assert answers(two_nights) == [DENIED]


@pytest.mark.parametrize(
    ("error", "is_damage"),
    [
        (DeltaError("Unable to open file: Too many open files (os error 24)"), False),
        (DeltaError("Unable to open file: Permission denied (os error 13)"), False),
        (duckdb.IOException('IO Error: Cannot open file "1.parquet": Too many open files'), False),
        (DeltaError("Unable to read file: Input/output error (os error 5)"), True),
        (DeltaError("Object not found: No such file or directory (os error 2)"), True),
        (duckdb.IOException('IO Error: Cannot open file "1.parquet": No such file'), True),
    ],
)
def test_what_the_system_refuses_is_no_lost_file(error, is_damage):
    told = damage_of(error)
    assert isinstance(told, DamagedError) == is_damage
    assert ("--rebuild" in str(told)) == is_damage


def test_a_rebuild_empties_no_table_that_the_system_would_not_open(two_nights, monkeypatch):
    def fails(*_):
        raise DeltaError("Unable to open file: Too many open files (os error 24)")

    before = sorted(path for path in two_nights.rglob("*") if path.is_file())
    monkeypatch.setattr(rebuilding, "read_files", fails)
    with pytest.raises(SurroundingsError, match="Too many open files"):
        night(two_nights, "c", rebuild=Rebuild(is_forced=True))
    assert sorted(path for path in two_nights.rglob("*") if path.is_file()) == before
