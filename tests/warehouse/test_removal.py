"""What of a table's log is needed to read some of its versions."""

from __future__ import annotations

from pathlib import Path

import pytest

from aclkit.warehouse.removal import TableLog, remove_unneeded
from aclkit.warehouse.store import Store


def log(commits, checkpoints=()):
    names = [f"{v:020}.json" for v in commits] + [f".{v:020}.json.crc" for v in commits]
    names += [f"{v:020}.checkpoint.parquet" for v in checkpoints] + ["_last_checkpoint"]
    return TableLog.of_names(names)


def test_a_version_is_read_from_the_checkpoint_before_it_or_from_the_beginning():
    found = log(range(25), (10, 20))
    assert [found.base_of(v) for v in (0, 9, 10, 19, 20, 24)] == [0, 0, 10, 10, 20, 20]


def test_a_version_whose_commits_are_gone_is_lost():
    found = log([3, 4, 11, 12], (10,))
    assert [found.base_of(v) for v in (4, 10, 12, 13)] == [None, 10, 10, None]


def test_entries_before_the_checkpoint_of_the_oldest_needed_version_go_the_oldest_first():
    gone = list(log(range(25), (10, 20)).obsolete([13, 24]))
    versions = [int(name.lstrip(".")[:20]) for name in gone]
    assert versions == sorted(versions)
    assert set(versions) == set(range(10))


def test_without_a_checkpoint_before_it_all_stays():
    assert not list(log(range(9)).obsolete([8]))
    assert not list(log(range(25), (20,)).obsolete([13, 24]))


def test_where_a_needed_version_is_lost_no_entry_of_the_log_goes():
    found = log(range(5, 25), (20,))
    assert found.lost([7, 20, 24]) == [7]
    assert not list(found.obsolete([7, 24]))
    assert list(found.obsolete([24]))


def test_a_checkpoint_of_several_parts_is_none_to_begin_with():
    name = f"{10:020}.checkpoint.{1:010}.{2:010}.parquet"
    found = TableLog.of_names([*(f"{v:020}.json" for v in range(12)), name])
    assert found.base_of(11) == 0


@pytest.fixture
def store(tmp_path):
    """A table of three versions, whose second one is needed; the third has files of its own."""
    found = Store(None, str(tmp_path))
    found.run_id = "r"
    for number in range(3):
        found.replace_rows("log_range", [("c", 0, number + 1, None, "record", -1)], None)
    return found


def files_of(store):
    return {path for path in Path(store.place.text).rglob("*") if path.is_file()}


def test_files_of_no_needed_version_go(store):
    needed = store.files("log_range", 1) | store.files("log_range", 2)
    assert remove_unneeded(store, {"log_range": {1}}) == []
    assert {path.name for path in files_of(store) if path.suffix == ".parquet"} == needed


@pytest.mark.parametrize("harm", ["gone", "cut"])
def test_of_a_table_whose_needed_version_cannot_be_followed_nothing_goes_and_it_is_told(
    store, harm
):
    entry = Path(store.place.of_table("log_range")) / "_delta_log" / f"{1:020}.json"
    entry.unlink() if harm == "gone" else entry.write_text("{", encoding="utf-8")
    before = files_of(store)
    (told,) = remove_unneeded(store, {"log_range": {1}})
    assert "No file of the table log_range was removed" in told
    assert files_of(store) == before
