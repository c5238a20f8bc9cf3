"""Tables in a bucket, written and read without Spark."""

from __future__ import annotations

import json

import pytest
from deltalake import DeltaTable

from aclkit.errors import SurroundingsError, UsageError
from aclkit.warehouse.commits import with_properties
from aclkit.warehouse.lease import LEASE
from aclkit.warehouse.location import Location
from aclkit.warehouse.published import open_warehouse
from aclkit.warehouse.reader import read_versions, read_written
from aclkit.warehouse.recovery import fence_tables
from aclkit.warehouse.retention import remove_unneeded
from aclkit.warehouse.run import begin_run, hold, publish
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.storage import newest_version
from aclkit.warehouse.store import SCRATCH, Store, scratch_store
from aclkit.warehouse.table_files import read_files

RANGES = [("c", 0, 5, 1, "record", None), ("c", 5, 9, None, "snapshot", None)]
OTHER = [("d", 0, 7, 2, "record", None)]


@pytest.fixture
def where(bucket):
    return f"{bucket.uri}/acls"


@pytest.fixture
def store_of_tables(where):
    """A store whose ``log_range`` has two versions."""
    store = Store(None, where)
    store.run_id = "r"
    store.append("log_range", RANGES)
    store.append("log_range", OTHER)
    return store


def rows(store, table="log_range"):
    with read_written(store, None, table) as read:
        return sorted(read.rows(f"SELECT * FROM {table}"), key=repr)


def test_rows_are_appended_and_replaced_cluster_by_cluster(store_of_tables):
    assert rows(store_of_tables) == sorted([*RANGES, *OTHER], key=repr)
    new = ("c", 0, 99, 3, "record", None)
    store_of_tables.replace("log_range", [new], "d")
    store_of_tables.replace("log_range", [new], "c")
    assert rows(store_of_tables) == [new]


def test_a_table_is_read_as_of_a_version_and_put_back_to_it(store_of_tables):
    versions = {"was": ("log_range", 0), "now": ("log_range", 1)}
    with read_versions(store_of_tables, "c", versions) as read:
        ((was, now),) = read.rows("SELECT (SELECT count(*) FROM was), count(*) FROM now")
    assert (was, now) == (2, 2)
    store_of_tables.change("log_range", lambda found, **how: found.restore(0, **how))
    store_of_tables.adopt("log_range")
    assert rows(store_of_tables) == sorted(RANGES, key=repr)


def test_a_trial_is_asked_beside_the_tables_and_gone_after_it(store_of_tables):
    ours, theirs = {"ours": ("log_range", 1)}, {"theirs": ("log_range", 0)}
    with scratch_store(store_of_tables) as trial:
        trial.replace("log_range", [("c", 0, 99, 3, "record", None)], "c")
        with read_versions(store_of_tables, "c", ours, (trial, theirs)) as read:
            counts = "SELECT (SELECT count(*) FROM ours), (SELECT count(*) FROM theirs)"
            assert read.rows(counts) == [(2, 1)]
    assert [*store_of_tables.place.files.tree(SCRATCH)] == []
    assert rows(store_of_tables) == sorted([*RANGES, *OTHER], key=repr)


def test_what_one_run_publishes_the_next_and_readers_see(where):
    for number in range(3):
        with begin_run(None, where, "replay", lock_timeout=0) as run:
            assert run.run_number == number
            run.cluster_id = "c"
            run.store.replace("log_range", [("c", 0, number, 1, "record", None)], "c")
            publish(run)
    assert rows(Store(None, where)) == [("c", 0, 2, 1, "record", None)]
    assert [run.run_number for run in Store(None, where).all_runs()] == [0, 1, 2]


def test_what_a_run_left_that_did_not_publish_is_taken_back(where):
    with begin_run(None, where, "replay", lock_timeout=0) as run:
        run.store.replace("log_range", RANGES, None)
        publish(run)
    with begin_run(None, where, "replay", lock_timeout=0) as run:
        run.store.replace("log_range", OTHER, None)
        run.store.replace("setting", [], None)
    with begin_run(None, where, "replay", lock_timeout=0) as run:
        assert rows(run.store) == sorted(RANGES, key=repr)


def test_a_second_run_is_told_whose_turn_it_is(where):
    with (
        hold(where, 0),
        pytest.raises(SurroundingsError, match=f"Another run holds the lease of {where}"),
        hold(where, 0),
    ):
        pass
    with hold(where, 0):
        pass


@pytest.mark.parametrize("write", ["append", "replace"])
def test_a_commit_whose_answer_was_lost_is_recognised_and_not_repeated(
    store_of_tables, bucket, write
):
    bucket.store.fail("lost", "PUT", "*_delta_log/00000000000000000002.json")
    arguments = () if write == "append" else (None,)
    getattr(store_of_tables, write)("log_range", OTHER, *arguments)
    assert bucket.store.met() == {"lost": 1}
    expected = [*RANGES, *OTHER, *OTHER] if write == "append" else OTHER
    assert rows(store_of_tables) == sorted(expected, key=repr)


@pytest.mark.parametrize("fault", ["slow-down", "cut-before", "deny"])
def test_a_commit_that_is_refused_again_and_again_is_told_in_one_line(
    store_of_tables, bucket, fault
):
    bucket.store.fail(fault, "PUT", "*_delta_log/00000000000000000002.json", times=1_000)
    with pytest.raises(SurroundingsError, match=r"Cannot write .*log_range: ") as told:
        store_of_tables.append("log_range", OTHER)
    assert len(str(told.value).splitlines()) == 1
    assert rows(store_of_tables) == sorted([*RANGES, *OTHER], key=repr)


def test_a_table_whose_making_was_not_answered_is_there_once(where, bucket):
    bucket.store.fail("lost", "PUT", "*_delta_log/00000000000000000000.json")
    store = Store(None, where)
    store.append("log_range", RANGES)
    assert rows(store) == sorted(RANGES, key=repr)
    assert newest_version(store.place.files, "log_range") == 0


def test_behind_a_fence_no_commit_of_a_run_that_slept_has_a_place(where):
    """Whatever it is about to do to whichever table, whether it was there or not."""
    sleeper = Store(None, where)
    sleeper.append("log_range", RANGES)
    acts = {
        "log_range": lambda: sleeper.append("log_range", OTHER),
        "log_range ": lambda: sleeper.replace("log_range", OTHER, None),
        "log_range  ": lambda: sleeper.change("log_range", DeltaTable.delete),
        "log_range   ": lambda: sleeper.change(
            "log_range", lambda found, **how: found.restore(0, **how)
        ),
        "log_range    ": lambda: sleeper.change(
            "log_range", with_properties({"delta.appendOnly": "false"})
        ),
        "setting": lambda: sleeper.append("setting", []),
    }
    for table, act in acts.items():
        name = table.strip()
        # Behind the moment at which it saw that it holds the warehouse still.
        sleeper.require_held = lambda: fence_tables(Location(where))
        before = newest_version(sleeper.place.files, name)
        with pytest.raises(SurroundingsError, match="Another program wrote"):
            act()
        after = newest_version(sleeper.place.files, name)
        assert after == (1 if before is None else before + 1), table
    assert DeltaTable(f"{where}/log_range").to_pyarrow_table().num_rows == len(RANGES)


def test_of_a_run_that_slept_before_its_first_commit_none_has_a_place(where, bucket):
    sleeper = Store(None, where)
    sleeper.require_held = lambda: fence_tables(Location(where))
    with pytest.raises(SurroundingsError, match="Another program wrote"):
        sleeper.append("log_range", RANGES)
    for name in TABLES:
        assert newest_version(Location(where).files, name) == 1, name
    with pytest.raises(UsageError, match="has no data yet"):
        open_warehouse(where)
    with begin_run(None, where, "replay", lock_timeout=0) as run:
        run.cluster_id = "c"
        run.store.replace("log_range", RANGES, None)
        publish(run)
    assert open_warehouse(where).run.run_number == 0
    assert rows(Store(None, where)) == sorted(RANGES, key=repr)


def test_a_turn_that_was_not_given_back_is_fenced(where):
    with begin_run(None, where, "replay", lock_timeout=0) as run:
        run.store.replace("log_range", RANGES, None)
        publish(run)
    files = Location(where).files
    before = newest_version(files, "log_range")
    content, tag = files.read_tagged(LEASE)
    killed = {**json.loads(content), "owner": "killed"}
    assert files.replace(LEASE, json.dumps(killed).encode(), tag)
    with begin_run(None, where, "replay", lock_timeout=0) as run:
        assert rows(run.store) == sorted(RANGES, key=repr)
        assert newest_version(files, "log_range") > before
        assert all(newest_version(files, name) is not None for name in TABLES)


def test_files_that_no_version_names_go_and_those_of_a_table_stay(store_of_tables):
    files = store_of_tables.place.files
    store_of_tables.replace("log_range", OTHER, None)
    for left in ("x/part-1.parquet", "x/_delta_log/00000000000000000000.json", "part-2.parquet"):
        files.create(f"log_range/{left}", b"")
    remove_unneeded(store_of_tables, {})
    there = [name for name in files.tree("log_range") if name.endswith(".parquet")]
    assert {*there} == {
        file.name for file in read_files(store_of_tables.place, "log_range", 2).files
    }
    assert len(there) == 1
    assert not [name for name in files.tree("log_range") if name.startswith("x/")]
    assert rows(store_of_tables) == OTHER
