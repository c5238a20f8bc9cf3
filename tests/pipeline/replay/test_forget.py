"""What --forget is told, and what of the ranges it leaves."""

from __future__ import annotations

import pytest

from aclkit.errors import UsageError
from aclkit.pipeline.replay.conditions import Offsets, Origin
from aclkit.pipeline.replay.forget import (
    extent_of,
    note_on,
    nothing_of,
    parse_forget,
)
from aclkit.pipeline.replay.ranges import readable_again, without_offsets
from aclkit.pipeline.replay.spans import END, Range

RECORD = Range(0, 100, 1, "record")
SNAPSHOT = Range(0, 60, 1, "snapshot")
LISTING = Range(3, 4, None, "listing")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5-9", Offsets(5, 10)),
        ("5-5", Offsets(5, 6)),
        ("5-", Offsets(5, END)),
        ("/kafka/0.log", Origin("/kafka/0.log")),
        ("metadata-log:/kafka", Origin("/kafka")),
        ("s3://bucket/0.log", Origin("s3://bucket/0.log")),
        ("live:broker:9092", Origin("live:broker:9092")),
        ("12", Origin("12")),
    ],
)
def test_offsets_include_both_ends_and_anything_else_is_a_source(text, expected):
    assert parse_forget(text) == expected


@pytest.mark.parametrize("text", ["", "9-5", "metadata-log:"])
def test_what_names_nothing_makes_no_sense(text):
    with pytest.raises(UsageError, match="--forget"):
        parse_forget(text)


def test_offsets_are_cut_out_of_the_log():
    assert without_offsets([RECORD], [(10, 20), (99, 200)], ()) == [
        Range(0, 10, 1, "record"),
        Range(20, 99, 1, "record"),
    ]


def test_snapshots_go_as_a_whole_and_only_by_their_own_end():
    kept = without_offsets([RECORD, SNAPSHOT, Range(0, 70, 1, "snapshot")], [], {60})
    assert kept == [RECORD, Range(0, 70, 1, "snapshot")]
    assert without_offsets([SNAPSHOT], [(0, 100)], ()) == [SNAPSHOT]


def test_the_number_of_a_listing_stays():
    assert without_offsets([LISTING], [(0, END)], ()) == [LISTING]


def lost(start, stop):
    return Range(start, stop, None, "unreadable")


def test_what_a_reject_that_is_gone_had_lost_is_readable_again():
    assert readable_again([lost(10, 20)], gone=[10], left=[]) == []
    assert readable_again([lost(10, 20)], gone=[10], left=[15]) == [lost(15, 20)]
    assert readable_again([lost(10, 20)], gone=[15], left=[10]) == [lost(10, 15)]


def test_what_another_reject_lost_stays_lost():
    assert readable_again([lost(10, 20)], gone=[10], left=[10]) == [lost(10, 20)]
    assert readable_again([lost(10, 20)], gone=[3], left=[10]) == [lost(10, 20)]
    assert readable_again([RECORD], gone=[10], left=[]) == [RECORD]


@pytest.mark.parametrize(
    ("item", "extent"),
    [
        (Offsets(2, 5), ([(2, 5)], {4})),
        (Offsets(8, END), ([(8, 10)], {12})),
        (Offsets(10, END), ([], {12})),
        (Offsets(0, 1), ([(0, 1)], set())),
    ],
)
def test_forgotten_are_offsets_up_to_the_log_s_end_and_snapshots_that_end_within(item, extent):
    known = [Range(0, 10, 1, "record"), Range(0, 4, 1, "snapshot"), Range(0, 12, 1, "snapshot")]
    assert extent_of(item, known) == extent


def test_what_was_forgotten_is_told_in_the_words_of_the_option():
    assert note_on(Offsets(2, 5), 3, 1, [(2, 5)]) == (
        "Forgot 3 facts and 1 reject of offsets 2-4. Offsets 2–4 count as not read."
    )
    assert note_on(Origin("/log"), 0, 1, []) == "Forgot 0 facts and 1 reject of /log."
    assert note_on(Offsets(7, END), 1, 0, []).endswith("of offsets 7 and above.")


def test_a_refusal_to_forget_names_some_sources():
    assert str(nothing_of(Origin("x"), [])) == "Nothing was read of x. Nothing was read at all."
    many = [f"s{n:02}" for n in range(11)]
    told = str(nothing_of(Offsets(2, 3), many))
    assert told.startswith("Nothing was read of offsets 2-2. The sources are s00, s01")
    assert told.endswith("s09 and more.")


def test_what_a_snapshot_proved_is_forgotten_with_its_end_offset_and_epochs_with_their_first():
    proven = Range(4, 9, 1, "committed")
    begun = Range(7, 8, 2, "epoch", 1)
    known = [Range(0, 12, 1, "record"), proven, begun]
    for item, kept in (
        (Offsets(5, 6), {begun}),
        (Offsets(9, END), {begun}),
        (Offsets(0, 5), {proven, begun}),
        (Offsets(7, 8), set()),
        (Offsets(10, END), {proven, begun}),
    ):
        left = without_offsets(known, *extent_of(item, known))
        assert {r for r in left if r.fact != "record"} == kept, item
