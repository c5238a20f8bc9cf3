"""Questions that a run asks of its own tables, by DuckDB."""

from __future__ import annotations

import subprocess
import sys

import pyarrow as pa
import pytest

from aclkit.warehouse.commits import Commit, append_files
from aclkit.warehouse.reader import read_versions, read_written
from aclkit.warehouse.store import Store

COLUMNS = ("cluster_id", "from_offset", "to_offset", "epoch", "fact", "follows")


@pytest.fixture
def store(tmp_path):
    """A store whose ``log_range`` has two versions."""
    store = Store(None, str(tmp_path))
    store.append("log_range", [("c", 0, 5, 1, "record", -1), ("c", 5, 9, None, "snapshot", -1)])
    store.append("log_range", [("d", 0, 7, 2, "record", -1)])
    return store


def test_a_value_stands_for_a_question_mark(store):
    with read_written(store, "c", "log_range") as read:
        asked = "SELECT to_offset FROM log_range WHERE fact = ? AND epoch IN (?, ?)"
        assert read.rows(asked, "record", 1, 2) == [(5,)]


def test_tables_are_those_of_a_version_and_what_was_given(store):
    tables = {"was": ("log_range", 0), "now": ("log_range", 1), "none": ("acl_log", None)}
    with read_versions(store, None, tables) as read:
        counts = "(SELECT count(*) FROM was), (SELECT count(*) FROM now), count(*)"
        assert read.rows(f"SELECT {counts} FROM none") == [(2, 3, 0)]
        read.give("wanted", pa.table({"name": ["d"]}))
        found = read.arrow("SELECT to_offset FROM now JOIN wanted ON name = cluster_id")
    assert found.to_pylist() == [{"to_offset": 7}]


def test_what_is_opened_at_the_same_time_under_the_same_names_stays_apart(store):
    asked = "SELECT (SELECT count(*) FROM log_range), (SELECT count(*) FROM wanted)"
    with read_written(store, "c", "log_range") as outer:
        outer.give("wanted", pa.table({"name": ["c"]}))
        with read_versions(store, None, {"log_range": ("log_range", 1)}) as inner:
            inner.give("wanted", pa.table({"name": ["c", "d"]}))
            assert inner.rows(asked) == [(3, 2)]
        assert outer.rows(asked) == [(2, 1)]


def test_rows_are_put_in_the_place_of_those_that_were_opened(store):
    with read_written(store, None, "log_range") as read:
        read.rewrite("log_range", f"SELECT {', '.join(COLUMNS)} FROM log_range WHERE epoch > 1")
    with read_written(store, None, "log_range") as read:
        assert read.rows("SELECT * FROM log_range") == [("d", 0, 7, 2, "record", -1)]


def test_a_forked_child_of_a_process_that_has_asked_ends_well(store):
    program = """if True:
        import multiprocessing, sys
        from aclkit.warehouse.reader import read_versions
        from aclkit.warehouse.store import Store

        def ask():
            newest = {"log_range": ("log_range", 1)}
            with read_versions(Store(None, sys.argv[1]), None, newest) as read:
                assert len(read.rows("FROM log_range")) == 3

        ask()
        child = multiprocessing.get_context("fork").Process(target=int)
        child.start()
        child.join(60)
        print(child.exitcode)
        ask()
    """
    words = [sys.executable, "-c", program, str(store.place)]
    assert subprocess.check_output(words, encoding="utf-8", timeout=120) == "0\n"


def test_what_is_too_large_to_be_held_comes_in_batches(store):
    with read_versions(store, "c", {}) as read:
        sizes = [len(batch) for batch in read.stream("SELECT range AS n FROM range(120_000)")]
    assert sum(sizes) == 120_000
    assert max(sizes) <= 50_000


def test_rows_of_other_clusters_stay_and_stand_before(tmp_path):
    columns = [["c", "d", "c"], [0, 1, 2], [5, 6, 7], [1, 1, 1], ["record"] * 3, [-1] * 3]
    rows = pa.table(dict(zip(COLUMNS, columns, strict=True)))
    append_files(str(tmp_path / "log_range"), rows, Commit("r", "a", 0))
    written = []
    store = Store(None, str(tmp_path))
    store.replace = lambda *given: written.append(given)
    with read_versions(store, "c", {"log_range": ("log_range", 0)}) as read:
        assert read.rows("SELECT DISTINCT cluster_id FROM log_range") == [("c",)]
        swapped = (
            "SELECT follows, fact, epoch, to_offset, from_offset, cluster_id FROM log_range LIMIT 1"
        )
        read.rewrite("log_range", swapped)
        ((table, batches, cluster_id),) = written
        found = batches.read_all()
    assert (table, cluster_id, found.column_names) == ("log_range", None, [*COLUMNS])
    assert list(zip(*found.to_pydict().values(), strict=True)) == [
        ("d", 1, 6, 1, "record", -1), ("c", 0, 5, 1, "record", -1),
    ]  # fmt: skip
