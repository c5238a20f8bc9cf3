"""What of a table's log is needed to read some of its versions."""

from __future__ import annotations

from aclkit.warehouse.removal import TableLog


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


def test_a_lost_version_keeps_nothing():
    assert set(log(range(5, 25), (20,)).obsolete([7, 24])) >= {f"{5:020}.json", f"{19:020}.json"}


def test_a_checkpoint_of_several_parts_is_none_to_begin_with():
    name = f"{10:020}.checkpoint.{1:010}.{2:010}.parquet"
    found = TableLog.of_names([*(f"{v:020}.json" for v in range(12)), name])
    assert found.base_of(11) == 0
