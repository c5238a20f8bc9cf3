"""Records of brokers → who is registered, by example and against the specification."""

from __future__ import annotations

import random
from collections.abc import Mapping

from aclkit.model.brokers import Broker, Brokers
from aclkit.model.facts import (
    ABORT_TXN,
    BEGIN_TXN,
    END_TXN,
    FEATURE_LEVEL,
    LISTING,
    RECORD,
    REGISTER_BROKER,
    SNAPSHOT,
    UNREGISTER_BROKER,
)
from aclkit.pipeline.replay.brokers import (
    BrokerFact,
    are_kept_alike,
    fold_brokers,
    notes_on_brokers,
)
from aclkit.pipeline.replay.history_plan import plan_history
from aclkit.pipeline.replay.spans import Range
from aclkit.pipeline.replay.transactions import Marker
from tests.pipeline.replay.frames import at
from tests.pipeline.replay.specification import Registration, write_brokers

BEGINNING = int(at(0).timestamp() * 1000)


def registered(offset: int, broker_id: int, level: int | None, fact: str = RECORD) -> BrokerFact:
    low = None if level is None else 7
    time = BEGINNING + 1000 * offset
    return BrokerFact(fact, offset, REGISTER_BROKER, broker_id, low, level, 1, time)


def gone(offset: int, broker_id: int) -> BrokerFact:
    time = BEGINNING + 1000 * offset
    return BrokerFact(RECORD, offset, UNREGISTER_BROKER, broker_id, None, None, 1, time)


def in_force(offset: int, level: int, fact: str = RECORD) -> BrokerFact:
    return BrokerFact(fact, offset, FEATURE_LEVEL, None, None, level, 1, BEGINNING)


def fold(*facts: BrokerFact, ranges=((0, 30, 1, RECORD),), markers=(), high_watermark=None):
    plan = plan_history([Range(*each) for each in ranges], markers, high_watermark=high_watermark)
    return fold_brokers(facts, plan)


def rows(found: Brokers) -> list[tuple[int, bool, int | None, int]]:
    return [(b.broker_id, b.is_registered, b.max_level, b.since_offset) for b in found.brokers]


def test_brokers_are_as_they_were_last_registered():
    found = fold(registered(1, 1, 27), registered(2, 2, 27), registered(9, 1, 33))
    assert rows(found) == [(1, True, 33, 9), (2, True, 27, 2)]
    assert [b.since_time for b in found.brokers] == [at(9), at(2)]
    assert [b.min_level for b in found.brokers] == [7, 7]


def test_a_start_of_the_same_binary_changes_nothing():
    assert rows(fold(registered(1, 1, 27), registered(9, 1, 27))) == [(1, True, 27, 1)]


def test_a_broker_that_is_unregistered_stays_as_one_that_is_not():
    found = fold(registered(1, 1, 27), gone(4, 1), gone(6, 1), gone(7, 5))
    assert rows(found) == [(1, False, 27, 4)]
    assert found.brokers[0].since_time == at(4)
    assert rows(fold(registered(1, 1, 27), gone(4, 1), registered(8, 1, 27))) == [(1, True, 27, 8)]


def test_the_level_in_force_is_the_last_one_and_zero_takes_it_away():
    found = fold(in_force(1, 27), in_force(5, 30), in_force(8, 30))
    assert (found.finalized_level, found.finalized_offset) == (30, 5)
    assert fold(in_force(1, 27), in_force(5, 0)).finalized_level is None


def test_what_lies_at_the_high_watermark_or_above_has_no_effect():
    assert rows(fold(registered(1, 1, 27), registered(9, 1, 33), high_watermark=9)) == [
        (1, True, 27, 1)
    ]


def test_records_of_a_transaction_take_effect_at_its_end_if_it_was_committed():
    facts = (registered(3, 1, 27), registered(6, 2, 27), registered(9, 3, 27))
    markers = [Marker(2, BEGIN_TXN), Marker(4, END_TXN), Marker(5, BEGIN_TXN)]
    markers += [Marker(7, ABORT_TXN), Marker(8, BEGIN_TXN)]
    assert rows(fold(*facts, markers=markers)) == [(1, True, 27, 4)]


def test_a_history_that_begins_with_a_snapshot_has_its_brokers():
    facts = (registered(10, 1, 27, SNAPSHOT), in_force(10, 27, SNAPSHOT), registered(12, 2, 33))
    found = fold(*facts, ranges=((0, 10, 1, SNAPSHOT), (10, 30, 1, RECORD)))
    assert rows(found) == [(1, True, 27, 9), (2, True, 33, 12)]
    assert (found.finalized_level, found.finalized_offset) == (27, 9)


def test_a_snapshot_that_history_jumps_onto_ends_what_it_does_not_list():
    facts = (registered(1, 1, 27), registered(2, 2, 27), in_force(3, 27))
    listed = (registered(10, 2, 27, SNAPSHOT), registered(10, 3, 33, SNAPSHOT))
    found = fold(*facts, *listed, ranges=((0, 5, 1, RECORD), (0, 10, 1, SNAPSHOT)))
    assert rows(found) == [(1, False, 27, 9), (2, True, 27, 2), (3, True, 33, 9)]
    assert found.finalized_level is None


def test_a_snapshot_that_the_log_explains_says_nothing():
    found = fold(registered(1, 1, 27), ranges=((0, 30, 1, RECORD), (0, 10, 1, SNAPSHOT)))
    assert rows(found) == [(1, True, 27, 1)]


def test_listings_tell_of_no_broker():
    assert fold(ranges=((0, 3, None, LISTING),)) == Brokers()


def random_log(rng: random.Random) -> tuple[dict[int, BrokerFact | str], list[int]]:
    """Return records by offset, those of transactions by their type, and ends of snapshots."""
    length = rng.randint(2, 30)
    records: dict[int, BrokerFact | str] = {}
    for offset in range(length):
        drawn = rng.random()
        number = rng.randint(1, 3)
        if drawn < 0.35:
            records[offset] = registered(offset, number, rng.choice([None, 27, 27, 33]))
        elif drawn < 0.5:
            records[offset] = gone(offset, number)
        elif drawn < 0.6:
            records[offset] = in_force(offset, rng.choice([0, 27, 30]))
        elif drawn < 0.8:
            records[offset] = rng.choice([BEGIN_TXN, END_TXN, ABORT_TXN])
    return records, rng.sample(range(1, length + 3), k=min(rng.randint(0, 2), length))


def random_snapshot(rng: random.Random, end: int) -> list[BrokerFact]:
    numbers = rng.sample([1, 2, 3], k=rng.randint(0, 3))
    listed = [registered(end, number, rng.choice([27, 33]), SNAPSHOT) for number in numbers]
    return listed + [in_force(end, rng.choice([27, 30]), SNAPSHOT)] * rng.randint(0, 1)


def random_ranges(rng: random.Random, records: Mapping[int, object], ends: list[int]):
    length = max(records, default=0) + 1
    cut = sorted(rng.sample(range(length + 1), k=min(rng.choice([0, 2]), length)))
    spans = [(0, length)] if len(cut) < 2 else [(0, cut[0]), (cut[1], length)]
    return [Range(a, b, 1, RECORD) for a, b in spans if a < b] + [
        Range(0, end, 1, SNAPSHOT) for end in ends
    ]


def test_every_log_is_folded_as_the_specification_does():
    rng = random.Random(20261122)
    jumps = brokers_seen = 0
    for _ in range(4_000):
        records, ends = random_log(rng)
        snapshots = {end: random_snapshot(rng, end) for end in ends}
        ranges = random_ranges(rng, records, ends)
        known = {
            offset: one
            for offset, one in records.items()
            if any(r.fact == RECORD and r.from_offset <= offset < r.to_offset for r in ranges)
        }
        markers = [Marker(offset, one) for offset, one in known.items() if isinstance(one, str)]
        plan = plan_history(
            ranges,
            markers,
            high_watermark=rng.choice([None, None, 10]),
            accept_holes=rng.random() < 0.5,
        )
        facts = [one for one in known.values() if not isinstance(one, str)]
        facts += [one for listed in snapshots.values() for one in listed]
        rng.shuffle(facts)
        found = fold_brokers([*facts, *facts[:2]], plan)
        brokers, level = write_brokers(known, snapshots, plan.itinerary)
        assert {
            b.broker_id: Registration(b.is_registered, b.min_level, b.max_level, b.since_offset)
            for b in found.brokers
        } == brokers
        in_force_now = (found.finalized_level, found.finalized_offset)
        assert in_force_now == (level or (None, None))
        jumps += bool(plan.itinerary.bridged)
        brokers_seen += len(brokers)
    assert jumps > 500
    assert brokers_seen > 4_000


def notes(before, now, **how):
    return list(notes_on_brokers(before, now, **{"is_first": False, **how}))


OLD = fold(registered(1, 1, 29), registered(2, 2, 29), in_force(3, 29))
MIXED = fold(registered(1, 1, 29), registered(2, 2, 33), in_force(3, 29))


def test_a_run_notes_whether_ranges_decide_where_that_changes():
    (said,) = notes(Brokers(), OLD)
    assert said == (
        "Brokers compare hosts such as 10.0.0.0/8 as text: brokers 1, 2 support metadata.version "
        "up to 29 (4.2-IV1). metadata.version 29 (4.2-IV1) is in force."
    )
    assert notes(OLD, OLD) == []
    assert len(notes(OLD, MIXED)) == 1


def test_a_run_notes_once_that_no_broker_is_known():
    unknown = (
        "It is unknown how brokers read hosts such as 10.0.0.0/8, because no registered broker is "
        "known."
    )
    assert notes(Brokers(), Brokers(), is_first=True) == [unknown]
    assert notes(Brokers(), Brokers()) == []
    assert notes(OLD, Brokers()) == [unknown]


def test_a_run_notes_each_time_that_an_older_aclkit_passed_over_brokers():
    (said,) = notes(Brokers(), Brokers(), is_cut=True)
    assert "An older aclkit skipped the brokers in the log" in said
    assert notes(OLD, OLD, is_cut=True) == []


def test_a_level_without_a_broker_is_not_kept_so_it_is_no_news_either():
    """Otherwise the table is written anew each night, of a log with a level and no broker."""
    one = Broker(broker_id=1, is_registered=True, min_level=1, max_level=29, since_offset=0)
    assert are_kept_alike(Brokers(finalized_level=29, finalized_offset=3), Brokers())
    assert not are_kept_alike(Brokers(brokers=(one,)), Brokers())
    leveled = Brokers(brokers=(one,), finalized_level=29, finalized_offset=3)
    assert not are_kept_alike(leveled, Brokers(brokers=(one,)))
