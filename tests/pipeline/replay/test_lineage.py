"""Which of the records that were read are in the log."""

from __future__ import annotations

from aclkit.model.facts import COMMITTED, EPOCH, RECORD, SNAPSHOT, UNREADABLE
from aclkit.pipeline.replay.lineage import trace
from aclkit.pipeline.replay.ranges import plan
from aclkit.pipeline.replay.spans import FOLLOWS_NONE, Range, ranges_of, rows_of


def record(start: int, end: int, epoch: int) -> Range:
    return Range(start, end, epoch, RECORD)


def proven(end: int, epoch: int) -> Range:
    return Range(end - 1, end, epoch, COMMITTED)


def begins(offset: int, epoch: int, follows: int) -> Range:
    return Range(offset, offset + 1, epoch, EPOCH, follows)


def snapshot(end: int, epoch: int) -> tuple[Range, Range]:
    return Range(0, end, epoch, SNAPSHOT), proven(end, epoch)


def stretches(*ranges: Range) -> list[tuple[str, int, int]]:
    return [tuple(stretch) for stretch in plan(ranges).stretches]


def test_a_snapshot_of_a_higher_epoch_overwrites_a_tail_where_no_record_of_the_epoch_was_read():
    found = trace([record(0, 9, 1), proven(6, 2)])
    assert found.stops == {1: 5}
    assert (found.joints, found.doubtful) == ((5,), ((0, 5),))


def test_what_a_snapshot_of_the_lower_epoch_proves_is_not_doubtful():
    assert trace([record(0, 9, 1), proven(3, 1), proven(6, 2)]).doubtful == ((3, 5),)
    assert trace([record(0, 9, 1), proven(5, 1), proven(6, 2)]).doubtful == ()


def test_nothing_is_doubtful_where_a_copy_shows_what_the_epoch_follows():
    found = trace([record(0, 9, 1), record(5, 7, 2), begins(5, 2, 1), proven(6, 2)])
    assert (found.stops, found.joints, found.doubtful) == ({1: 5, 2: (1 << 63) - 1}, (), ())


def test_a_snapshot_of_the_same_epoch_overwrites_nothing():
    assert trace([record(0, 9, 1), proven(3, 1), proven(20, 1)]).cuts == {}


def test_a_leader_that_lost_is_not_in_the_log_once_a_copy_shows_what_the_next_one_follows():
    lost = [record(0, 8, 1), record(5, 9, 2)]
    assert trace(lost).cuts == {1: 5}
    assert trace([*lost, record(8, 12, 3), begins(8, 3, 1)]).cuts == {1: 8, 2: 0}


def test_a_snapshot_refutes_a_higher_epoch_where_the_record_that_it_is_about_was_read():
    assert trace([record(0, 8, 1), record(5, 9, 2), proven(7, 1)]).cuts == {2: 0}


def test_a_snapshot_refutes_no_records_if_the_one_that_it_is_about_was_not_read():
    """It may have another's name. If not, the records are not committed: so they are doubtful."""
    read = [record(0, 6, 1), record(6, 9, 2), begins(6, 2, 1)]
    for end in (8, 1 << 40):
        found = trace([*read, proven(end, 1)])
        assert (found.stops, found.doubtful) == (trace(read).stops, ((6, 9),))


def test_what_another_snapshot_proves_is_not_doubtful_because_one_contradicts_it():
    read = [record(0, 6, 1), record(6, 9, 2), begins(6, 2, 1), proven(9, 2)]
    assert trace([*read, proven(8, 1)]) == trace(read)


def test_a_snapshot_that_ends_before_its_epoch_begins_proves_nothing():
    read = [record(0, 6, 1), record(6, 9, 2), begins(6, 2, 1)]
    assert trace([*read, proven(3, 2)]) == trace(read)


def test_of_two_snapshots_that_contradict_each_other_that_of_the_higher_epoch_counts():
    assert trace([record(0, 9, 1), proven(8, 1), proven(6, 2)]).cuts == {1: 5}


def test_copies_that_disagree_on_the_beginning_of_an_epoch_show_none():
    found = trace([record(0, 9, 1), record(5, 7, 3), begins(5, 3, 1), begins(5, 3, 2)])
    assert found.joints == (5,)


def test_an_epoch_of_which_no_record_was_read_withdraws_nothing():
    assert trace([record(0, 9, 1), begins(5, 2, 1)]).cuts == {}
    assert trace([record(0, 9, 1), Range(5, 6, 2, UNREADABLE)]).cuts == {}


def test_records_without_an_epoch_are_in_the_log():
    assert trace([Range(0, 9, None, RECORD), proven(4, 3)]).split([Range(0, 9, None, RECORD)]) == (
        [Range(0, 9, None, RECORD)],
        [],
    )


def test_the_way_jumps_onto_the_next_snapshot_where_no_copy_shows_what_an_epoch_follows():
    log = record(0, 5, 1), record(5, 9, 2), *snapshot(7, 2)
    assert stretches(*log) == [("record", 0, 5), ("snapshot", 5, 7), ("record", 7, 9)]
    assert stretches(*log, begins(5, 2, 1)) == [("record", 0, 9)]


def test_without_a_snapshot_the_way_goes_on_and_what_lies_before_is_doubtful():
    way = plan([record(0, 5, 1), record(5, 9, 2)])
    assert [tuple(s) for s in way.stretches] == [("record", 0, 9)]
    assert way.doubtful == ((0, 5),)


def test_a_snapshot_explains_nothing_where_the_log_has_another_epoch():
    way = plan([record(0, 9, 1), Range(0, 4, 1, SNAPSHOT), Range(0, 6, 7, SNAPSHOT)])
    assert (way.checks, way.explained) == ((4, 6), (4,))


def test_ranges_of_an_older_aclkit_follow_each_other_where_they_touch():
    old = [(0, 5, 1, RECORD, None), (5, 9, 2, RECORD, None), (11, 12, 4, RECORD, None)]
    assert ranges_of(old)[3:] == [begins(5, 2, 1)]
    assert ranges_of([(*row[:4], FOLLOWS_NONE) for row in old]) == [Range(*row[:4]) for row in old]


def test_rows_of_ranges_are_read_as_they_were():
    ranges = [record(0, 5, 1), begins(5, 2, 1), Range(7, 8, None, UNREADABLE)]
    assert ranges_of(rows_of(ranges)) == ranges
