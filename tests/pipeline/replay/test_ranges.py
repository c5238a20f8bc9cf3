"""Ranges: what is known of a log, whatever order it came in."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.model.facts import COMMITTED, EPOCH, RECORD
from aclkit.pipeline.replay.ranges import (
    Stretch,
    merge_ranges,
    newly_overwritten,
    plan,
    read_well,
    spare_snapshots,
    without_snapshots,
)
from aclkit.pipeline.replay.spans import Range


def record(start: int, end: int, epoch: int | None = 1) -> Range:
    return Range(start, end, epoch, "record")


def snapshot(end: int, epoch: int = 1) -> Range:
    return Range(0, end, epoch, "snapshot")


def proven(end: int, epoch: int) -> Range:
    return Range(end - 1, end, epoch, COMMITTED)


def begins(offset: int, epoch: int, follows: int) -> Range:
    return Range(offset, offset + 1, epoch, EPOCH, follows)


def test_touching_ranges_of_one_epoch_become_one():
    merged = merge_ranges([record(0, 10)], [record(10, 20), record(5, 12)])
    assert merged.ranges == (record(0, 20),)
    assert merged.lineage.cuts == {}


def inside(ranges: Iterable[Range]) -> set[Range]:
    """The records that are in the log."""
    merged = merge_ranges([], ranges)
    return {r for r in merged.lineage.split(merged.ranges)[0] if r.fact == RECORD}


def test_a_higher_epoch_overwrites_the_lower_from_there_on():
    ranges = [record(0, 100, epoch=1), record(80, 120, epoch=2)]
    assert inside(ranges) == {record(0, 80, epoch=1), record(80, 120, epoch=2)}
    assert merge_ranges([], ranges).lineage.cuts == {1: 80}


def test_what_is_overwritten_is_kept_for_a_copy_may_come_that_follows_it():
    """Raft's figure 8: epoch 2 lost, and epoch 3 goes on with epoch 1."""
    lost, won = [record(0, 5, 1), record(5, 9, 2)], [record(0, 8, 1), record(8, 12, 3)]
    merged = merge_ranges(lost, [*won, begins(8, 3, follows=1)])
    assert inside(merged.ranges) == {record(0, 8, 1), record(8, 12, 3)}


def test_offsets_are_newly_overwritten_once():
    known, came = [record(0, 9, 1)], [record(5, 7, 2)]
    lineage = merge_ranges(known, came).lineage
    assert newly_overwritten(known, came, lineage) == ((5, 9),)
    assert newly_overwritten([*known, *came], known, lineage) == ()


def test_ranges_without_epoch_are_never_withdrawn():
    merged = merge_ranges([record(0, 10, epoch=None)], [record(0, 10, epoch=5)])
    assert set(merged.ranges) == {record(0, 10, epoch=None), record(0, 10, epoch=5)}


def test_snapshots_stay_apart():
    merged = merge_ranges([snapshot(10)], [snapshot(20)])
    assert merged.ranges == (snapshot(10), snapshot(20))


@given(
    st.lists(
        st.builds(
            lambda start, length, epoch: record(start, start + length, epoch),
            st.integers(0, 30),
            st.integers(1, 10),
            st.integers(0, 3),
        ),
        max_size=8,
    ),
    st.randoms(use_true_random=False),
)
def test_order_of_arrival_leaves_no_trace(ranges: list[Range], order: random.Random):
    at_once = merge_ranges([], ranges).ranges
    shuffled = list(ranges)
    order.shuffle(shuffled)
    one_by_one: tuple[Range, ...] = ()
    for item in shuffled:
        one_by_one = merge_ranges(one_by_one, [item]).ranges
    assert one_by_one == at_once


def test_a_gapless_log_is_one_leg():
    itinerary = plan([record(0, 20)])
    assert itinerary.stretches == (Stretch("record", 0, 20),)
    assert (itinerary.head, itinerary.holes) == (20, ())


def test_history_stops_before_a_hole():
    itinerary = plan([record(0, 10), record(15, 20)])
    assert (itinerary.head, itinerary.holes) == (10, ((10, 15),))


def test_accepted_holes_are_crossed_and_named():
    itinerary = plan([record(0, 10), record(15, 20)], accept_holes=True)
    assert (itinerary.head, itinerary.holes) == (20, ((10, 15),))


def test_a_later_snapshot_bridges_a_hole():
    itinerary = plan([record(0, 10), record(15, 30), snapshot(20)])
    assert itinerary.stretches == (
        Stretch("record", 0, 10),
        Stretch("snapshot", 10, 20),
        Stretch("record", 20, 30),
    )
    assert (itinerary.head, itinerary.holes) == (30, ())


def test_a_log_above_zero_without_snapshot_is_a_hole():
    itinerary = plan([record(5, 10)])
    assert (itinerary.head, itinerary.holes) == (0, ((0, 5),))


def test_a_snapshot_starts_history():
    itinerary = plan([record(5, 10), snapshot(7)])
    assert itinerary.stretches == (Stretch("snapshot", 0, 7), Stretch("record", 7, 10))


def test_a_snapshot_within_a_gapless_log_is_only_a_check():
    itinerary = plan([record(0, 30), snapshot(20)])
    assert itinerary.stretches == (Stretch("record", 0, 30),)
    assert itinerary.checks == (20,)


def test_a_snapshot_never_moves_the_head_back():
    assert plan([record(0, 30), snapshot(20)]).head == 30


def test_unreadable_offsets_at_the_end_are_a_hole():
    itinerary = plan([record(0, 10), Range(10, 12, None, "unreadable")])
    assert (itinerary.head, itinerary.holes) == (10, ((10, 12),))


def test_what_another_copy_could_read_is_no_hole():
    itinerary = plan([record(0, 20), Range(10, 12, None, "unreadable")])
    assert (itinerary.head, itinerary.holes) == (20, ())


def test_rows_at_or_above_the_high_watermark_do_not_count():
    itinerary = plan([record(0, 30), snapshot(25)], high_watermark=20)
    assert (itinerary.head, itinerary.checks) == (20, ())


def test_what_was_unreadable_once_and_read_another_time_is_read():
    merged = merge_ranges([Range(5, 15, None, "unreadable")], [record(0, 10)])
    assert merged.ranges == (record(0, 10), Range(10, 15, None, "unreadable"))
    assert merge_ranges([record(0, 10)], [Range(5, 15, None, "unreadable")]) == merged


def test_each_bridge_is_named_and_the_nearest_snapshot_is_taken():
    itinerary = plan([record(0, 10), record(15, 30), snapshot(18), snapshot(25), snapshot(12)])
    assert itinerary.bridged == ((10, 12), (12, 18))
    assert itinerary.checks == (25,)


@pytest.mark.parametrize(
    ("end", "known"), [(5, True), (10, True), (14, False), (18, True), (25, True), (31, False)]
)
def test_the_way_knows_what_it_travelled_and_the_snapshots_it_jumped_onto(end, known):
    assert plan([record(0, 10), record(15, 30), snapshot(18)]).knows(end) is known


RANGES = st.lists(
    st.one_of(
        st.builds(lambda a, n: record(a, a + n), st.integers(0, 40), st.integers(1, 15)),
        st.builds(snapshot, st.integers(1, 60)),
    ),
    max_size=10,
)


def explained(ranges: Iterable[Range]) -> list[Range]:
    """What is kept of ranges, where none of their snapshots is known."""
    merged = merge_ranges([], ranges).ranges
    return without_snapshots(merged, spare_snapshots(merged, []))


@given(RANGES, RANGES)
def test_snapshots_that_the_log_explains_are_never_missed(first, second):
    """Neither on the way now, nor when more is read later, in whatever order."""
    whole = merge_ranges([], [*first, *second]).ranges
    kept = explained([*explained(first), *second])
    assert plan(kept).stretches == plan(whole).stretches
    assert plan(kept).holes == plan(whole).holes
    assert set(kept) == set(explained([*explained(second), *first]))


def test_offsets_that_are_read_are_read_well():
    assert read_well([record(0, 9)], [record(2, 5), record(5, 7, epoch=2), snapshot(90)]) == (
        (2, 7),
    )


def test_of_an_unreadable_stretch_that_is_read_in_part_nothing_is_read_well():
    lost = Range(4, 8, 1, "unreadable")
    assert read_well([lost], [record(0, 6)]) == ((0, 4),)
    assert read_well([lost], [record(0, 6), record(6, 10, epoch=2)]) == ((0, 10),)
    assert read_well([], [record(0, 6), lost]) == ((0, 6),)
