"""Source rows and known facts on frames of a few rows: what comes, what is known, what differs."""

from __future__ import annotations

from datetime import timedelta

import pytest

from aclkit.errors import DataError, GoneError, UsageError
from aclkit.model.facts import (
    BEGIN_TXN,
    END_TXN,
    EPOCH,
    FAILURE,
    FEATURE_LEVEL,
    OVERWRITTEN,
    RECORD,
    REGISTER_BROKER,
    SNAPSHOT,
    TOLD,
)
from aclkit.pipeline.replay.conditions import OfSnapshots, Outside
from aclkit.pipeline.replay.spans import Range
from aclkit.pipeline.replay.transactions import COMMITTED, Marker, Span
from tests.pipeline.replay.frames import (
    added,
    at,
    columns_of,
    fact,
    listed,
    must_be,
    reject,
    rows_of,
    source_fact,
    source_range,
    source_reject,
    source_rows,
    table,
)

ROWS = (
    source_fact(added(1, "a")),
    source_range(0, 5),
    source_range(0, 5),
    source_range(0, 9, None, SNAPSHOT),
    source_reject("bad", 3),
)


def test_the_facts_among_source_rows_are_rows_of_the_log(engine):
    found = engine.incoming_facts(source_rows(engine, *ROWS))
    must_be(found, "acl_log", [added(1, "a")])


def test_records_outside_the_log_are_overwritten_and_come_back_as_records(engine):
    rows = [added(1, "a"), added(5, "b", txn_offset=4), added(5, "c", epoch=2), listed(9, "d")]
    out = {**rows[1], "fact": OVERWRITTEN, "txn_offset": None}
    apart = engine.told_apart(table(engine, "acl_log", rows), {1: 5, 3: 0})
    must_be(apart, "acl_log", [rows[0], out, *rows[2:]])
    again = engine.told_apart(apart, {2: 0})
    back = {**out, "fact": RECORD}
    must_be(again, "acl_log", [rows[0], back, {**rows[2], "fact": OVERWRITTEN}, rows[3]])


def test_of_an_overwritten_record_offset_and_epoch_are_the_key(engine):
    known = [added(5, "a"), added(5, "b", epoch=2, fact=OVERWRITTEN)]
    came = [*known, added(5, "c", epoch=3, fact=OVERWRITTEN)]
    frames = (table(engine, "acl_log", each) for each in (known, came))
    compared = engine.compare(*frames)
    must_be(engine.new_facts(compared), "acl_log", came[2:])
    assert engine.worst_conflict(compared, [], []) is None


def test_the_rejects_among_source_rows_are_rows_of_a_source(engine):
    found = engine.incoming_rejects(source_rows(engine, *ROWS))
    must_be(found, "acl_reject", [reject("bad", 3)])


def test_the_ranges_among_source_rows_are_collected_once_each(engine):
    found = engine.incoming_ranges(source_rows(engine, *ROWS))
    assert sorted(found, key=str) == [Range(0, 5, 1, "record"), Range(0, 9, None, SNAPSHOT)]


def test_the_epochs_that_a_file_tells_count_if_all_batches_of_its_folder_agree(engine):
    told = [
        {**source_range(0, 4, 1, TOLD), "source": "/a/leader-epoch-checkpoint"},
        {**source_range(4, 1 << 62, 3, TOLD), "source": "/a/leader-epoch-checkpoint"},
    ]
    right = {**source_range(2, 4, 1), "source": "/a/2.log"}
    other = {**source_range(4, 6, 2), "source": "/b/4.log"}
    found = engine.incoming_ranges(source_rows(engine, *told, right, other))
    epoch = Range(4, 5, 3, EPOCH, 1)
    assert sorted(found, key=str) == [Range(2, 4, 1, RECORD), epoch, Range(4, 6, 2, RECORD)]
    wrong = {**other, "source": "/a/4.log"}
    assert epoch not in engine.incoming_ranges(source_rows(engine, *told, right, wrong))


@pytest.mark.parametrize("error", [UsageError, GoneError, DataError])
def test_a_source_that_could_not_be_read_is_raised_as_what_it_was(engine, error):
    failure = {"kind": FAILURE, "fact": error.__name__, "reason": "why"}
    with pytest.raises(error, match="why"):
        engine.raise_failures(source_rows(engine, *ROWS, failure))


def test_records_from_where_a_higher_epoch_wrote_do_not_stand(engine):
    frame = table(
        engine,
        "acl_log",
        [added(4, "a"), added(5, "b"), added(6, "c", epoch=2), listed(9, "d"),
         added(7, "e", epoch=None)],
    )  # fmt: skip
    kept = columns_of(engine.without(frame, Outside({1: 5})))["acl_id"].to_pylist()
    assert sorted(kept) == ["a", "c", "d", "e"]


def test_facts_are_picked_by_snapshots_and_by_any_of_some_conditions(engine):
    rows = [added(4, "a"), added(5, "b"), listed(4, "c"), listed(9, "d"), added(9, "e")]
    frame = table(engine, "acl_log", rows)
    must_be(engine.only(frame, OfSnapshots({4, 8})), "acl_log", [rows[2]])
    must_be(engine.only(frame, OfSnapshots([9]), Outside({1: 5})), "acl_log", [rows[1], *rows[3:]])
    must_be(
        engine.without(frame, OfSnapshots([9]), Outside({1: 5})), "acl_log", rows[:1] + rows[2:3]
    )
    must_be(engine.only(frame), "acl_log", [])
    must_be(engine.without(frame), "acl_log", rows)
    must_be(engine.without(frame, Outside({}), OfSnapshots(())), "acl_log", rows)


def test_what_is_known_is_not_new_whatever_its_source_and_what_comes_twice_is_new_once(engine):
    known = table(engine, "acl_log", [added(1, "a"), listed(9, "a")])
    incoming = table(
        engine,
        "acl_log",
        [
            added(1, "a", source="copy"),
            listed(9, "a", source="copy"),
            added(2, "b", source="x"),
            added(2, "b", source="y"),
            listed(9, "b"),
        ],
    )
    compared = engine.compare(known, incoming)
    assert engine.count_facts(compared)[:2] == (2, 0)
    must_be(engine.new_facts(compared), "acl_log", [added(2, "b", source="x"), listed(9, "b")])


def test_a_known_time_that_is_quarters_of_an_hour_off_is_that_of_the_source(engine):
    hours, quarters = timedelta(hours=5), timedelta(minutes=345)
    known = [
        added(1, "a", log_time=at(1) - hours),
        listed(9, "a", log_time=at(9) + quarters),
        added(2, "b", log_time=at(2) - timedelta(seconds=1)),
        added(3, "c"),
        added(4, "d", log_time=None),
    ]
    came = [added(1, "a"), listed(9, "a"), added(2, "b"), added(3, "c"), added(4, "d")]
    before = table(engine, "acl_log", known)
    compared = engine.compare(before, table(engine, "acl_log", came))
    assert engine.count_facts(compared)[:2] == (0, 2)
    must_be(engine.with_times(before, compared), "acl_log", [*came[:2], *known[2:]])


def test_of_facts_that_several_sources_say_one_is_kept(engine):
    twice = [added(2, "b", source="x"), added(2, "b", source="y"), added(3, "c")]
    found = engine.once(table(engine, "acl_log", twice))
    must_be(found, "acl_log", [added(2, "b", source="x"), added(3, "c")])


def test_facts_are_counted_and_records_of_transactions_and_brokers_collected(engine):
    rows = [added(1, "a"), fact(2, BEGIN_TXN), fact(5, END_TXN), fact(8, END_TXN, fact=SNAPSHOT)]
    levels = {"broker_id": 3, "min_level": 7, "max_level": 33}
    rows.append(fact(7, REGISTER_BROKER, **levels))
    rows.append(fact(9, FEATURE_LEVEL, fact=SNAPSHOT, max_level=30))
    frame = table(engine, "acl_log", rows)
    counted = engine.count_facts(engine.compare(table(engine, "acl_log", []), frame))
    assert (counted.fresh, counted.shifted) == (6, 0)
    assert sorted(counted.markers) == [Marker(2, BEGIN_TXN), Marker(5, END_TXN)]
    registered, level = sorted(counted.brokers, key=lambda one: one.log_offset)
    assert registered == ("record", 7, REGISTER_BROKER, 3, 7, 33, 1, registered.milliseconds)
    assert level[:6] == (SNAPSHOT, 9, FEATURE_LEVEL, None, None, 30)
    assert [one.time for one in (registered, level)] == [at(7), at(9)]
    assert sorted(engine.broker_facts(frame), key=lambda one: one.log_offset) == [registered, level]


def test_a_record_of_a_broker_may_come_where_the_log_was_read_and_no_other(engine):
    known = table(engine, "acl_log", [added(1, "a")])
    whole = [Range(0, 5, 1, "record")]

    def refuse(row):
        incoming = table(engine, "acl_log", [added(1, "a"), row])
        engine.refuse_conflicts(engine.compare(known, incoming), whole, whole)

    refuse(fact(2, REGISTER_BROKER, broker_id=3))
    with pytest.raises(DataError, match="Offset 2"):
        refuse(added(2, "b"))
    with pytest.raises(DataError, match="Offset 1"):
        refuse(fact(1, REGISTER_BROKER, broker_id=3))


def test_the_same_registration_says_the_same_levels(engine):
    known = table(engine, "acl_log", [fact(1, REGISTER_BROKER, broker_id=3, max_level=29)])
    other = table(engine, "acl_log", [fact(1, REGISTER_BROKER, broker_id=3, max_level=33)])
    with pytest.raises(DataError, match="other content"):
        engine.refuse_conflicts(engine.compare(known, other), [], [])


def test_the_brokers_of_a_snapshot_are_facts_of_their_own(engine):
    entries = [fact(9, REGISTER_BROKER, fact=SNAPSHOT, broker_id=n, max_level=n) for n in (1, 2)]
    entries.append(fact(9, FEATURE_LEVEL, fact=SNAPSHOT, max_level=30))
    rows = table(engine, "acl_log", entries)
    must_be(
        engine.new_facts(engine.compare(table(engine, "acl_log", []), rows)), "acl_log", entries
    )


def test_records_within_a_transaction_name_its_begin_and_no_others_do(engine):
    rows = [fact(2, BEGIN_TXN), added(3, "a", txn_offset=9), fact(5, END_TXN), listed(3, "s")]
    found = engine.with_txn_offset(table(engine, "acl_log", rows), [Span(2, 5, COMMITTED)])
    must_be(found, "acl_log", [rows[0], {**rows[1], "txn_offset": 2}, *rows[2:]])


def test_records_move_whose_transaction_is_another_than_they_say(engine):
    rows = [added(3, "a"), added(4, "b", txn_offset=2), added(7, "c", txn_offset=2), listed(4, "s")]
    found = engine.moved_records(table(engine, "acl_log", rows), [Span(2, 5, COMMITTED)])
    assert sorted(rows_of(found)) == [("c", 3, 2), ("c", 7, None)]


READ = [Range(0, 10, 1, "record")]


@pytest.mark.parametrize(
    ("known", "incoming", "told"),
    [
        ([added(1, "a")], [added(1, "b")], "Offset 1 (record) was read before with other content, "
         "from log. "),
        ([added(1, "a")], [], "Offset 1 (record)"),
        ([], [added(3, "a"), added(2, "b")], "Offset 2 (record)"),
        ([], [added(12, "a")], None),
        ([added(12, "a")], [], None),
        ([added(1, "a")], [added(1, "a", source="copy")], None),
    ],
)  # fmt: skip
def test_a_log_that_says_something_else_where_all_was_read_is_another_log(
    engine, known, incoming, told
):
    compared = engine.compare(table(engine, "acl_log", known), table(engine, "acl_log", incoming))
    if told is None:
        engine.refuse_conflicts(compared, READ, READ)
        return
    with pytest.raises(DataError) as refused:
        engine.refuse_conflicts(compared, READ, READ)
    assert str(refused.value).startswith(told)
