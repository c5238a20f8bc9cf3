"""A replay as a function of frames: what is known and what comes → what is to be written."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aclkit.errors import DataError
from aclkit.model.brokers import Broker, Brokers
from aclkit.model.facts import (
    ADD_TOPIC,
    BEGIN_TXN,
    END_TXN,
    LISTING,
    OVERWRITTEN,
    RECORD,
    REGISTER_BROKER,
    REMOVE_ACL,
    SNAPSHOT,
    SourceRow,
)
from aclkit.model.unread import TOPICS
from aclkit.pipeline.replay.known import EpochMarker, KnownLog, ReplayOptions
from aclkit.pipeline.replay.listing import Thing, listed_acls, replay_listing
from aclkit.pipeline.replay.replay import replay_log
from aclkit.pipeline.replay.spans import Range
from aclkit.pipeline.replay.transactions import Marker
from aclkit.pipeline.sources.listing import Listing
from tests.factories import acl
from tests.pipeline.replay.frames import (
    added,
    at,
    binding_of,
    columns_of,
    fact,
    life,
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


def known_log(
    engine, *, facts=(), history=(), rejects=(), ranges=(), markers=(), head=None, **brokers
):
    return KnownLog(
        cluster_id="c",
        ranges=[Range(*each) for each in ranges],
        markers=markers,
        head=head,
        facts=table(engine, "acl_log", facts),
        history=table(engine, "acl_history", history),
        rejects=table(engine, "acl_reject", rejects),
        **brokers,
    )


def removed(engine, frame, conditions):
    """The facts that go: (offset, id)."""
    gone = columns_of(engine.only(frame, *conditions)).to_pylist()
    return {(row["log_offset"], row["acl_id"]) for row in gone}


def test_a_log_that_is_new_becomes_facts_history_rejects_and_ranges(engine):
    rows = [added(0, "a"), fact(2, REMOVE_ACL, acl_id="a"), added(3, "b")]
    came = source_rows(engine, *map(source_fact, rows), source_range(0, 5), source_reject("bad", 4))
    done = replay_log(engine, known_log(engine), came, ReplayOptions())
    must_be(done.added, "acl_log", rows)
    must_be(done.tables["acl_history"], "acl_history", [life("a", 0, 2), life("b", 3)])
    must_be(done.tables["acl_reject"], "acl_reject", [reject("bad", 4)])
    must_be(done.tables["resource_lifetime"], "resource_lifetime", [])
    must_be(done.tables["principal_lifetime"], "principal_lifetime", [])
    assert (done.fact_count, done.ranges) == (3, [Range(0, 5, 1, RECORD)])
    assert (done.plan.itinerary.head, done.removed, done.moved) == (5, (), None)


def test_a_log_that_is_known_leaves_everything_as_it_is(engine):
    before = known_log(
        engine, facts=[added(1, "a")], history=[life("a", 1)], ranges=[(0, 5, 1, RECORD)], head=5
    )
    again = source_rows(engine, source_fact(added(1, "a", source="copy")), source_range(0, 5))
    done = replay_log(engine, before, again, ReplayOptions())
    assert (done.fact_count, done.added, done.removed, done.tables) == (0, None, (), {})
    assert (done.ranges, list(done.findings), done.plan.itinerary.head) == (None, [], 5)


def test_history_is_computed_of_known_facts_and_new_ones(engine):
    before = known_log(engine, facts=[added(1, "a")], ranges=[(0, 3, 1, RECORD)], head=3)
    gone = fact(4, REMOVE_ACL, acl_id="a")
    more = source_rows(engine, source_fact(gone), source_range(3, 6))
    done = replay_log(engine, before, more, ReplayOptions())
    must_be(done.added, "acl_log", [gone])
    must_be(done.tables["acl_history"], "acl_history", [life("a", 1, 4)])
    assert done.ranges == [Range(0, 6, 1, RECORD)]


def test_a_transaction_that_ends_later_moves_its_known_records_and_takes_effect(engine):
    before = known_log(
        engine,
        facts=[fact(1, BEGIN_TXN), added(2, "a")],
        ranges=[(0, 3, 1, RECORD)],
        markers=[EpochMarker(Marker(1, BEGIN_TXN), 1)],
        head=3,
    )
    rows = [added(3, "b"), fact(4, END_TXN)]
    more = source_rows(engine, *map(source_fact, rows), source_range(3, 5))
    done = replay_log(engine, before, more, ReplayOptions())
    assert rows_of(done.moved) == [("c", 2, 1)]
    must_be(done.added, "acl_log", [{**rows[0], "txn_offset": 1}, rows[1]])
    lives = [life("a", 2, effective_offset=4), life("b", 3, effective_offset=4)]
    must_be(done.tables["acl_history"], "acl_history", lives)


def test_a_higher_epoch_overwrites_the_tail_of_the_lower(engine):
    facts = [added(1, "a"), added(4, "b"), fact(5, BEGIN_TXN)]
    before = known_log(
        engine,
        facts=facts,
        ranges=[(0, 6, 1, RECORD)],
        markers=[EpochMarker(Marker(5, BEGIN_TXN), 1)],
        head=6,
    )
    new = added(4, "c", epoch=2)
    more = source_rows(engine, source_fact(new), source_range(3, 8, epoch=2))
    done = replay_log(engine, before, more, ReplayOptions())
    gone = [{**row, "fact": OVERWRITTEN} for row in facts[1:]]
    must_be(done.corrected, "acl_log", [facts[0], *gone])
    must_be(done.added, "acl_log", [new])
    must_be(done.tables["acl_history"], "acl_history", [life("a", 1), life("c", 4)])
    assert [(f.finding, f.subject) for f in done.findings] == [("log-diverged", "offsets 3–5")]
    assert done.plan.spans == ()


def test_of_snapshots_within_the_log_only_those_that_contradict_it_are_kept(engine):
    log = [added(1, "a"), added(2, "b")]
    right, wrong = [listed(3, "a"), listed(3, "b")], [listed(4, "a")]
    snapshots = (source_range(0, 3, 1, SNAPSHOT), source_range(0, 4, 1, SNAPSHOT))
    came = source_rows(
        engine, *map(source_fact, [*log, *right, *wrong]), source_range(0, 5), *snapshots
    )
    done = replay_log(engine, known_log(engine), came, ReplayOptions())
    must_be(done.added, "acl_log", [*log, *wrong])
    assert done.ranges == [Range(0, 5, 1, RECORD), Range(0, 4, 1, SNAPSHOT)]
    assert done.fact_count == 2
    (found,) = done.findings
    assert (found.finding, found.subject) == (
        "snapshot-contradicts-log", "snapshot at offset 4",
    )  # fmt: skip
    assert found.acl_ids == ("b",)


def test_a_snapshot_that_bridged_a_gap_goes_when_the_gap_is_read(engine):
    before = known_log(
        engine,
        facts=[listed(4, "a"), added(5, "b")],
        ranges=[(4, 6, 1, RECORD), (0, 4, 1, SNAPSHOT)],
        head=6,
    )
    more = source_rows(engine, source_fact(added(2, "a")), source_range(0, 4))
    done = replay_log(engine, before, more, ReplayOptions())
    assert removed(engine, before.facts, done.removed) == {(4, "a")}
    must_be(done.tables["acl_history"], "acl_history", [life("a", 2), life("b", 5)])
    assert done.ranges == [Range(0, 6, 1, RECORD)]


def test_another_log_is_refused(engine):
    before = known_log(engine, facts=[added(1, "a")], ranges=[(0, 3, 1, RECORD)], head=3)
    other = source_rows(engine, source_fact(added(1, "b")), source_range(0, 3))
    with pytest.raises(DataError, match="This source is not the log"):
        replay_log(engine, before, other, ReplayOptions())


def test_history_that_is_not_of_these_facts_is_computed_again(engine):
    before = known_log(engine, facts=[added(1, "a")], ranges=[(0, 3, 1, RECORD)], head=None)
    done = replay_log(engine, before, source_rows(engine), ReplayOptions())
    must_be(done.tables["acl_history"], "acl_history", [life("a", 1)])


def test_a_snapshot_contradicts_history_by_what_it_lacks_adds_or_says_otherwise(engine):
    history = [life("a", 1), life("b", 2, 8), life("c", 9)]
    changed = {**listed(10, "c"), "host": "10.0.0.1"}
    facts = [*(listed(n, "a") for n in (5, 10)), listed(5, "b"), changed, listed(7, "a")]
    frames = (table(engine, "acl_log", facts), table(engine, "acl_history", history))
    assert engine.contradictions(*frames, [5, 7, 10]) == {7: ["b"], 10: ["c"]}
    assert engine.contradictions(*frames, [3]) == {3: ["a", "b"]}


def registered(offset, broker_id, level, **columns):
    return fact(offset, REGISTER_BROKER, broker_id=broker_id, max_level=level, **columns)


def levels(brokers):
    return None if brokers is None else [(b.broker_id, b.max_level) for b in brokers.brokers]


def test_the_brokers_of_a_log_are_known_and_whether_ranges_decide_is_noted(engine):
    rows = [registered(1, 1, 33), registered(2, 2, 29)]
    came = source_rows(engine, *map(source_fact, rows), source_range(0, 5))
    done = replay_log(engine, known_log(engine), came, ReplayOptions())
    assert levels(done.brokers) == [(1, 33), (2, 29)]
    (note,) = done.notes
    assert note.startswith("Brokers read hosts such as 10.0.0.0/8 differently")
    # Another time nothing is new.
    before = known_log(
        engine, facts=rows, ranges=[(0, 5, 1, RECORD)], head=5, brokers=done.brokers,
        broker_facts=engine.broker_facts(table(engine, "acl_log", rows)),
    )  # fmt: skip
    again = replay_log(engine, before, came, ReplayOptions())
    assert (again.fact_count, again.tables, again.brokers, again.notes) == (0, {}, None, ())


def test_brokers_of_a_tail_that_was_never_committed_are_withdrawn(engine):
    rows = [registered(1, 1, 29), registered(4, 1, 33)]
    before = known_log(
        engine, facts=rows, ranges=[(0, 6, 1, RECORD)], head=6,
        broker_facts=engine.broker_facts(table(engine, "acl_log", rows)),
    )  # fmt: skip
    more = source_rows(engine, source_range(3, 8, epoch=2))
    assert levels(replay_log(engine, before, more, ReplayOptions()).brokers) == [(1, 29)]


def passed_over(engine, *facts, head=6):
    """A log whose brokers an older aclkit passed over."""
    ranges = [(0, head, 1, RECORD)]
    return known_log(engine, facts=facts, ranges=ranges, head=head, has_brokers=False)


def test_brokers_that_were_passed_over_come_with_the_next_reading_of_the_whole_log(engine):
    rows = [added(1, "a"), registered(2, 1, 29)]
    came = source_rows(engine, *map(source_fact, rows), source_range(0, 8))
    done = replay_log(engine, passed_over(engine, rows[0]), came, ReplayOptions())
    assert (levels(done.brokers), done.has_brokers, done.fact_count) == ([(1, 29)], True, 1)


def test_what_follows_what_was_passed_over_does_not_tell_all_brokers(engine):
    came = source_rows(engine, source_fact(registered(7, 1, 33)), source_range(6, 9))
    done = replay_log(engine, passed_over(engine), came, ReplayOptions())
    assert (done.brokers, done.has_brokers) == (None, False)
    (note,) = done.notes
    assert "is unknown" in note
    assert "An older aclkit skipped the brokers in the log" in note


def test_a_snapshot_and_what_follows_it_tell_all_brokers(engine):
    listing = [registered(5, n, 29, fact=SNAPSHOT) for n in (1, 2)]
    rows = [*listing, registered(7, 1, 33)]
    came = source_rows(
        engine, *map(source_fact, rows), source_range(0, 5, 1, SNAPSHOT), source_range(4, 9)
    )
    done = replay_log(engine, passed_over(engine), came, ReplayOptions())
    assert (levels(done.brokers), done.has_brokers) == ([(1, 33), (2, 29)], False)
    # The snapshot itself is spare, and read again the next time.
    must_be(done.added, "acl_log", [rows[2]])


def test_what_was_told_by_a_snapshot_holds_as_long_as_the_log_does_not_grow(engine):
    one = Broker(broker_id=1, is_registered=True, min_level=7, max_level=33, since_offset=2)
    before = replace(passed_over(engine), brokers=Brokers(brokers=(one,)))
    same = replay_log(engine, before, source_rows(engine), ReplayOptions())
    assert (same.brokers, same.notes) == (None, ())
    grown = replay_log(engine, before, source_rows(engine, source_range(6, 8)), ReplayOptions())
    assert grown.brokers == Brokers()


LISTED = acl("orders", principal="User:new")
ROW = SourceRow(kind="fact", source="list", record_type="ACCESS_CONTROL_ENTRY_RECORD",
                **binding_of(LISTED))  # fmt: skip


def test_a_listing_enters_what_differs_from_what_is_alive(engine):
    first = fact(0, acl_id="old", fact=LISTING, epoch=None, **binding_of(acl(principal="User:old")))
    before = known_log(engine, facts=[first], ranges=[(0, 1, None, LISTING)], head=1)
    topic = SourceRow(kind="fact", source="list", record_type=ADD_TOPIC, resource_name="t",
                      topic_id="id")  # fmt: skip
    listing = Listing(rows=(ROW, topic), told=frozenset({TOPICS}), notes=("missing",))
    done = replay_listing(engine, before, (["old"], []), listing, at(9), ReplayOptions())
    (new_id,) = listed_acls([ROW], "c")
    came = {"fact": LISTING, "epoch": None, "source": "list", "log_time": at(9)}
    must_be(
        done.added,
        "acl_log",
        [
            fact(1, acl_id=new_id, **binding_of(LISTED), **came),
            fact(1, REMOVE_ACL, acl_id="old", **came),
            fact(1, ADD_TOPIC, resource_name="t", topic_id="id", **came),
        ],
    )
    new = {**life(new_id, 1, added_by=LISTING, added_at=at(9)), **binding_of(LISTED)}
    old = {**life("old", 0, 1, added_by=LISTING, removed_at=at(9))}
    must_be(done.tables["acl_history"], "acl_history", [old, new])
    assert (done.ranges, done.fact_count, done.notes) == (
        (Range(0, 2, None, LISTING),), 3, ("missing",),
    )  # fmt: skip


def test_a_listing_that_says_the_same_again_leaves_everything_as_it_is(engine):
    (known_id,) = listed_acls([ROW], "c")
    before = known_log(engine, ranges=[(0, 1, None, LISTING)], head=1)
    alive = ([known_id], [Thing("GROUP", "g")])
    done = replay_listing(engine, before, alive, Listing(rows=(ROW,)), at(9), ReplayOptions())
    assert (done.fact_count, done.added, done.tables, done.ranges) == (0, None, {}, None)
