"""Source rows and known facts on frames of a few rows: what comes, what is known, what differs."""

from __future__ import annotations

from datetime import timedelta

import pytest

from aclkit.errors import DataError, GoneError, UsageError
from aclkit.model.facts import (
    BEGIN_TXN,
    END_TXN,
    FAILURE,
    FEATURE_LEVEL,
    REGISTER_BROKER,
    SNAPSHOT,
)
from aclkit.pipeline.replay import facts
from aclkit.pipeline.replay.ranges import Range
from aclkit.pipeline.replay.transactions import COMMITTED, Marker
from tests.pipeline.explain.frames import must_hold
from tests.pipeline.replay.frames import (
    added,
    at,
    fact,
    listed,
    must_be,
    reject,
    source_fact,
    source_range,
    source_reject,
    source_rows,
    spans,
    table,
)

ROWS = (
    source_fact(added(1, "a")),
    source_range(0, 5),
    source_range(0, 5),
    source_range(0, 9, None, SNAPSHOT),
    source_reject("bad", 3),
)


def test_the_facts_among_source_rows_are_rows_of_the_log(spark):
    found = facts.incoming_facts(source_rows(spark, *ROWS), "c")
    must_be(found, "acl_log", [added(1, "a")])


def test_the_rejects_among_source_rows_are_rows_of_a_source(spark):
    found = facts.incoming_rejects(source_rows(spark, *ROWS), "c")
    must_be(found, "acl_reject", [reject("bad", 3)])


def test_the_ranges_among_source_rows_are_collected_once_each(spark):
    found = facts.incoming_ranges(source_rows(spark, *ROWS))
    assert sorted(found, key=str) == [Range(0, 5, 1, "record"), Range(0, 9, None, SNAPSHOT)]


@pytest.mark.parametrize("error", [UsageError, GoneError, DataError])
def test_a_source_that_could_not_be_read_is_raised_as_what_it_was(spark, error):
    failure = {"kind": FAILURE, "fact": error.__name__, "reason": "why"}
    with pytest.raises(error, match="why"):
        facts.raise_failures(source_rows(spark, *ROWS, failure))


def test_records_from_where_a_higher_epoch_wrote_do_not_stand(spark):
    frame = table(
        spark,
        "acl_log",
        [added(4, "a"), added(5, "b"), added(6, "c", epoch=2), listed(9, "d"),
         added(7, "e", epoch=None)],
    )  # fmt: skip
    kept = frame.where(facts.not_withdrawn({1: 5})).select("acl_id")
    must_hold(kept, [("a",), ("c",), ("d",), ("e",)], "acl_id STRING")


def test_what_is_known_is_not_new_whatever_its_source_and_what_comes_twice_is_new_once(spark):
    known = table(spark, "acl_log", [added(1, "a"), listed(9, "a")])
    incoming = table(
        spark,
        "acl_log",
        [
            added(1, "a", source="copy"),
            listed(9, "a", source="copy"),
            added(2, "b", source="x"),
            added(2, "b", source="y"),
            listed(9, "b"),
        ],
    )
    compared = facts.compare(known, incoming)
    must_hold(
        compared.drop("row"),
        [
            ("record", 1, "", 1, True, True, "log", False),
            ("snapshot", 9, "a", 1, True, True, "snapshot", False),
            ("record", 2, "", 1, False, True, None, False),
            ("snapshot", 9, "b", 1, False, True, None, False),
        ],
        "fact STRING, log_offset BIGINT, entity STRING, contents BIGINT, is_known BOOLEAN, "
        "is_incoming BOOLEAN, known_source STRING, is_shifted BOOLEAN",
    )
    must_be(facts.new_facts(compared), "acl_log", [added(2, "b", source="x"), listed(9, "b")])


def test_a_known_time_that_is_quarters_of_an_hour_off_is_that_of_the_source(spark):
    hours, quarters = timedelta(hours=5), timedelta(minutes=345)
    known = [
        added(1, "a", log_time=at(1) - hours),
        listed(9, "a", log_time=at(9) + quarters),
        added(2, "b", log_time=at(2) - timedelta(seconds=1)),
        added(3, "c"),
        added(4, "d", log_time=None),
    ]
    came = [added(1, "a"), listed(9, "a"), added(2, "b"), added(3, "c"), added(4, "d")]
    before = table(spark, "acl_log", known)
    compared = facts.compare(before, table(spark, "acl_log", came))
    assert facts.count_facts(compared)[:2] == (0, 2)
    must_be(facts.with_times(before, compared), "acl_log", [*came[:2], *known[2:]])


def test_of_facts_that_several_sources_say_one_is_kept(spark):
    twice = [added(2, "b", source="x"), added(2, "b", source="y"), added(3, "c")]
    found = facts.once(table(spark, "acl_log", twice))
    must_be(found, "acl_log", [added(2, "b", source="x"), added(3, "c")])


def test_facts_are_counted_and_records_of_transactions_and_brokers_collected(spark):
    rows = [added(1, "a"), fact(2, BEGIN_TXN), fact(5, END_TXN), fact(8, END_TXN, fact=SNAPSHOT)]
    levels = {"broker_id": 3, "min_level": 7, "max_level": 33}
    rows.append(fact(7, REGISTER_BROKER, **levels))
    rows.append(fact(9, FEATURE_LEVEL, fact=SNAPSHOT, max_level=30))
    frame = table(spark, "acl_log", rows)
    counted = facts.count_facts(facts.compare(frame.limit(0), frame))
    assert (counted.fresh, counted.shifted) == (6, 0)
    assert sorted(counted.markers) == [Marker(2, BEGIN_TXN), Marker(5, END_TXN)]
    registered, level = sorted(counted.brokers, key=lambda one: one.log_offset)
    assert registered == ("record", 7, REGISTER_BROKER, 3, 7, 33, 1, registered.milliseconds)
    assert level[:6] == (SNAPSHOT, 9, FEATURE_LEVEL, None, None, 30)
    assert [one.time for one in (registered, level)] == [at(7), at(9)]
    assert sorted(facts.broker_facts(frame), key=lambda one: one.log_offset) == [registered, level]


def test_a_record_of_a_broker_may_come_where_the_log_was_read_and_no_other(spark):
    known = table(spark, "acl_log", [added(1, "a")])
    whole = [Range(0, 5, 1, "record")]

    def refuse(row):
        incoming = table(spark, "acl_log", [added(1, "a"), row])
        facts.refuse_conflicts(facts.compare(known, incoming), whole, whole)

    refuse(fact(2, REGISTER_BROKER, broker_id=3))
    with pytest.raises(DataError, match="Offset 2"):
        refuse(added(2, "b"))
    with pytest.raises(DataError, match="Offset 1"):
        refuse(fact(1, REGISTER_BROKER, broker_id=3))


def test_the_same_registration_says_the_same_levels(spark):
    known = table(spark, "acl_log", [fact(1, REGISTER_BROKER, broker_id=3, max_level=29)])
    other = table(spark, "acl_log", [fact(1, REGISTER_BROKER, broker_id=3, max_level=33)])
    with pytest.raises(DataError, match="other content"):
        facts.refuse_conflicts(facts.compare(known, other), [], [])


def test_the_brokers_of_a_snapshot_are_facts_of_their_own(spark):
    entries = [fact(9, REGISTER_BROKER, fact=SNAPSHOT, broker_id=n, max_level=n) for n in (1, 2)]
    entries.append(fact(9, FEATURE_LEVEL, fact=SNAPSHOT, max_level=30))
    rows = table(spark, "acl_log", entries)
    must_be(facts.new_facts(facts.compare(rows.limit(0), rows)), "acl_log", entries)


def test_records_within_a_transaction_name_its_begin_and_no_others_do(spark):
    rows = [fact(2, BEGIN_TXN), added(3, "a", txn_offset=9), fact(5, END_TXN), listed(3, "s")]
    found = facts.with_txn_offset(table(spark, "acl_log", rows), spans(spark, (2, 5, COMMITTED)))
    must_be(found, "acl_log", [rows[0], {**rows[1], "txn_offset": 2}, *rows[2:]])


def test_records_move_whose_transaction_is_another_than_they_say(spark):
    rows = [added(3, "a"), added(4, "b", txn_offset=2), added(7, "c", txn_offset=2), listed(4, "s")]
    found = facts.moved_records(table(spark, "acl_log", rows), spans(spark, (2, 5, COMMITTED)))
    ddl = "cluster_id STRING, log_offset BIGINT, txn_offset BIGINT"
    must_hold(found, [("c", 3, 2), ("c", 7, None)], ddl)


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
    spark, known, incoming, told
):
    compared = facts.compare(table(spark, "acl_log", known), table(spark, "acl_log", incoming))
    if told is None:
        facts.refuse_conflicts(compared, READ, READ)
        return
    with pytest.raises(DataError) as refused:
        facts.refuse_conflicts(compared, READ, READ)
    assert str(refused.value).startswith(told)
