"""Records of brokers × the way through the log → who is registered and what it supports. Pure.

They are few, one for each start of a broker, so they are folded on the driver, one after the other.
What a live cluster tells of its brokers is entered as the same records, where it has changed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, NamedTuple

from aclkit.model.brokers import UNKNOWN, Broker, Brokers, level_name, ranges_by_broker
from aclkit.model.facts import (
    FEATURE_LEVEL,
    LISTING,
    OVERWRITTEN,
    RECORD,
    REGISTER_BROKER,
    SNAPSHOT,
    UNREGISTER_BROKER,
    SourceRow,
    in_milliseconds,
    log_time,
)
from aclkit.pipeline.replay.history_plan import HistoryPlan
from aclkit.pipeline.replay.lineage import Lineage
from aclkit.pipeline.replay.transactions import COMMITTED, Span


class BrokerFact(NamedTuple):
    """A fact about a broker, or the level of metadata.version: columns of ``acl_log``.

    Its time is the last one, in milliseconds since 1970.
    """

    fact: str
    log_offset: int
    record_type: str
    broker_id: int | None
    min_level: int | None
    max_level: int | None
    epoch: int | None
    milliseconds: int | None

    @property
    def time(self) -> datetime | None:
        """The time of the record, where its source has it."""
        return None if self.milliseconds is None else log_time(self.milliseconds)


def fold_brokers(facts: Iterable[BrokerFact], plan: HistoryPlan) -> Brokers:
    """Travel the way and note who is registered, and since when it is as it is.

    A record takes effect as an ACL's does; a snapshot that history jumps onto replaces the state.
    """
    known = sorted(set(facts), key=lambda one: (one.log_offset, one.record_type, repr(one)))
    state = _State()
    for stretch in plan.itinerary.stretches:
        if stretch.fact == SNAPSHOT:
            listed = [f for f in known if f[:2] == (SNAPSHOT, stretch.to_offset)]
            state.jump(listed, stretch.to_offset - 1)
            continue
        inside = (f for f in known if f.fact != SNAPSHOT)
        travelled = (f for f in inside if stretch.from_offset <= f.log_offset < stretch.to_offset)
        for offset, one in sorted(_effects(travelled, plan.spans), key=lambda it: it[0]):
            state.take(one, offset)
    return state.brokers()


def brokers_in(facts: Iterable[BrokerFact], lineage: Lineage) -> list[BrokerFact]:
    """Return facts without the records that are not in the log, as far as is now known."""
    return [
        one._replace(fact=RECORD) if is_record else one
        for one in facts
        if not (is_record := one.fact in (RECORD, OVERWRITTEN))
        or lineage.has(one.log_offset, one.epoch)
    ]


def listed_brokers(
    before: Brokers, rows: Iterable[SourceRow], sequence: int, at: datetime
) -> list[BrokerFact]:
    """Return what a listing tells of brokers that was not so before.

    A broker that it does not list is registered no more, and a listing that tells of none leaves
    none: which Kafka they run today is not known. A level in force that it does not tell stays.

    Args:
        before: what was known.
        rows: those of the listing.
        sequence: the listing's number.
        at: its time.
    """
    milliseconds = in_milliseconds(at)

    def fact(kind: str, number: int | None, low: int | None, high: int | None) -> BrokerFact:
        return BrokerFact(LISTING, sequence, kind, number, low, high, None, milliseconds)

    told = {row.broker_id: row for row in rows if row.record_type == REGISTER_BROKER}
    was = {b.broker_id: (b.min_level, b.max_level) for b in before.brokers if b.is_registered}
    found = [fact(UNREGISTER_BROKER, number, None, None) for number in was.keys() - told.keys()]
    for number, row in told.items():
        levels = row.min_level, row.max_level
        if number is not None and was.get(number) != levels:
            found.append(fact(REGISTER_BROKER, number, *levels))
    for row in rows:
        if row.record_type == FEATURE_LEVEL and (row.max_level or None) != before.finalized_level:
            found.append(fact(FEATURE_LEVEL, None, None, row.max_level))
    return sorted(found, key=repr)


def are_kept_alike(one: Brokers, other: Brokers) -> bool:
    """Whether the table ``broker`` holds the same of both: no level where there is no broker."""
    return one.brokers == other.brokers and (one == other or not one.brokers)


@dataclass(slots=True)
class _State:
    """The state after the records so far: the one mutable thing in here."""

    alive: dict[int, Broker] = field(default_factory=dict)
    finalized: tuple[int, int] | None = None

    def take(self, one: BrokerFact, offset: int) -> None:
        """Take a record in that has effect at an offset."""
        if one.record_type == FEATURE_LEVEL:
            if self.finalized is None or self.finalized[0] != one.max_level:
                # Level 0 takes a feature away.
                self.finalized = (one.max_level, offset) if one.max_level else None
        elif one.broker_id is not None:
            self._note(one.broker_id, one, offset)

    def jump(self, listed: Collection[BrokerFact], offset: int) -> None:
        """Take a snapshot's whole state in."""
        there = {one.broker_id for one in listed}
        time = next((one.time for one in listed), None)
        for number in sorted(self.alive.keys() - there):
            self._end(number, offset, time)
        if not any(one.record_type == FEATURE_LEVEL for one in listed):
            self.finalized = None
        for one in listed:
            self.take(one, offset)

    def brokers(self) -> Brokers:
        """Return the state."""
        level, since = self.finalized or (None, None)
        everyone = tuple(self.alive[number] for number in sorted(self.alive))
        return Brokers(brokers=everyone, finalized_level=level, finalized_offset=since)

    def _note(self, number: int, one: BrokerFact, offset: int) -> None:
        before = self.alive.get(number)
        if one.record_type != REGISTER_BROKER:
            self._end(number, offset, one.time)
        elif before is None or _content(before) != (True, one.min_level, one.max_level):
            self.alive[number] = Broker(
                broker_id=number,
                is_registered=True,
                min_level=one.min_level,
                max_level=one.max_level,
                since_offset=offset,
                since_time=one.time,
            )

    def _end(self, number: int, offset: int, time: datetime | None) -> None:
        before = self.alive.get(number)
        if before is not None and before.is_registered:
            gone = replace(before, is_registered=False, since_offset=offset, since_time=time)
            self.alive[number] = gone


def _content(broker: Broker) -> tuple[bool, int | None, int | None]:
    return broker.is_registered, broker.min_level, broker.max_level


def _effects(
    facts: Iterable[BrokerFact], spans: Sequence[Span]
) -> Iterator[tuple[int, BrokerFact]]:
    """Yield each record with the offset where it takes effect; without effect, not at all."""
    for one in facts:
        span = next((s for s in spans if s.begin < one.log_offset < s.end), None)
        if span is None:
            yield one.log_offset, one
        elif span.outcome == COMMITTED:
            yield span.end, one


def notes_on_brokers(
    before: Brokers, now: Brokers, *, is_first: bool, is_cut: bool = False
) -> Iterator[str]:
    """Yield whether ranges decide, where the answer differs from before, or is the first one.

    Args:
        before: what was known before the run.
        now: what is known after it.
        is_first: nothing of the cluster was known before.
        is_cut: records of brokers were once skipped; noted in every run until they are read.
    """
    was, known = ranges_by_broker(before.brokers), ranges_by_broker(now.brokers)
    if is_cut and known.state == UNKNOWN:
        yield f"{known.words}. {_PASSED_OVER}"
        return
    if known.words == was.words and not (is_first and known.state == UNKNOWN):
        return
    level = now.finalized_level
    in_force = "" if level is None else f" metadata.version {level_name(level)} is in force."
    yield f"{known.words}.{in_force}"


_PASSED_OVER: Final = (
    "An older aclkit skipped the brokers in the log, and this source does not name all of "
    "them. Replay the log from its beginning or from a snapshot, or pass --cidr-hosts."
)
