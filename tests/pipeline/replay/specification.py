"""Facts of one log → lifetimes and rejects, one fact after the other. Pure: the specification.

The engines of ``pipeline/replay`` do the same for many ACLs at once, ``pipeline/replay/brokers.py``
for brokers; property tests hold them together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from aclkit.model.facts import (
    ADD_ACL,
    BEGIN_TXN,
    END_TXN,
    FEATURE_LEVEL,
    REGISTER_BROKER,
    REMOVE_ACL,
    SNAPSHOT,
)
from aclkit.pipeline.replay.brokers import BrokerFact
from aclkit.pipeline.replay.ranges import Itinerary, Stretch
from aclkit.pipeline.replay.transactions import COMMITTED, Marker, Span, find_spans


class AclFact(NamedTuple):
    """An ACL record of the log, reduced to what history needs."""

    log_offset: int
    record_type: str
    acl_id: str


@dataclass(frozen=True, slots=True)
class Lifetime:
    """From where to where an ACL was in effect; ``removed_offset`` None means alive."""

    acl_id: str
    added_offset: int
    effective_offset: int
    added_by: str
    removed_offset: int | None = None


@dataclass(frozen=True, slots=True)
class History:
    """What happened: lifetimes, and the offsets of facts that made no sense."""

    lifetimes: tuple[Lifetime, ...]
    rejected: tuple[int, ...]


def write_history(
    facts: Sequence[AclFact],
    snapshots: Mapping[int, Iterable[str]],
    itinerary: Itinerary,
) -> History:
    """Travel the itinerary and note when each ACL came and went.

    Adding a live id or removing an unknown one is rejected. A snapshot replaces the state: what
    it lacks ends at its last offset, what it adds begins there.
    """
    alive: dict[str, Lifetime] = {}
    ended: list[Lifetime] = []
    rejected: list[int] = []
    for stretch in itinerary.stretches:
        if stretch.fact == SNAPSHOT:
            _jump(set(snapshots[stretch.to_offset]), stretch.to_offset - 1, alive, ended)
            continue
        inside = [f for f in facts if stretch.from_offset <= f.log_offset < stretch.to_offset]
        markers = [
            Marker(f.log_offset, f.record_type)
            for f in inside
            if f.record_type not in (ADD_ACL, REMOVE_ACL)
        ]
        spans, faults = find_spans(markers, stretch.to_offset)
        rejected.extend(fault.log_offset for fault in faults)
        for effective, fact in sorted(_effects(inside, spans)):
            if (fact.record_type == ADD_ACL) == (fact.acl_id in alive):
                rejected.append(fact.log_offset)
            elif fact.record_type == ADD_ACL:
                alive[fact.acl_id] = Lifetime(fact.acl_id, fact.log_offset, effective, "record")
            else:
                ended.append(_end(alive.pop(fact.acl_id), effective))
    return History((*ended, *alive.values()), tuple(sorted(rejected)))


def _effects(facts: Iterable[AclFact], spans: Sequence[Span]) -> Iterable[tuple[int, AclFact]]:
    """Yield each ACL fact with the offset where it takes effect; without effect, not at all."""
    for fact in facts:
        if fact.record_type not in (ADD_ACL, REMOVE_ACL):
            continue
        span = next((s for s in spans if s.begin < fact.log_offset < s.end), None)
        if span is None:
            yield fact.log_offset, fact
        elif span.outcome == COMMITTED:
            yield span.end, fact


def _jump(
    listed: set[str], last_offset: int, alive: dict[str, Lifetime], ended: list[Lifetime]
) -> None:
    for acl_id in sorted(alive.keys() - listed):
        ended.append(_end(alive.pop(acl_id), last_offset))
    for acl_id in sorted(listed - alive.keys()):
        alive[acl_id] = Lifetime(acl_id, last_offset, last_offset, SNAPSHOT)


class Registration(NamedTuple):
    """What a log says of a broker: registered or not, its levels, and since which offset."""

    is_registered: bool
    min_level: int | None
    max_level: int | None
    since_offset: int


def write_brokers(
    records: Mapping[int, BrokerFact | str],
    snapshots: Mapping[int, Iterable[BrokerFact]],
    itinerary: Itinerary,
) -> tuple[dict[int, Registration], tuple[int, int] | None]:
    """Travel the itinerary offset by offset: who is registered, and the level that is in force.

    Args:
        records: offset → the record of a broker, or the type of a transaction's.
        snapshots: end offset → what the snapshot lists.
        itinerary: the way.
    """
    brokers: dict[int, Registration] = {}
    level: tuple[int, int] | None = None
    for stretch in itinerary.stretches:
        if stretch.fact != SNAPSHOT:
            for offset, one in _happened(records, stretch):
                level = _take(brokers, level, one, offset)
            continue
        now, level_now = _of_snapshot(snapshots[stretch.to_offset], stretch.to_offset - 1)
        for number in brokers.keys() - now.keys():
            _put(brokers, number, brokers[number]._replace(is_registered=False), stretch)
        for number, registered in now.items():
            _put(brokers, number, registered, stretch)
        level = level if level and level_now and level[0] == level_now[0] else level_now
    return brokers, level


def _happened(
    records: Mapping[int, BrokerFact | str], stretch: Stretch
) -> Iterable[tuple[int, BrokerFact]]:
    """Yield the records of brokers where they take effect; an open transaction holds them back."""
    waiting: list[BrokerFact] | None = None
    for offset in range(stretch.from_offset, stretch.to_offset):
        record = records.get(offset)
        if record == BEGIN_TXN:
            waiting = waiting or []
        elif isinstance(record, str):
            yield from ((offset, one) for one in waiting or () if record == END_TXN)
            waiting = None
        elif record is not None and waiting is None:
            yield offset, record
        elif record is not None and waiting is not None:
            waiting.append(record)


def _of_snapshot(
    listed: Iterable[BrokerFact], last: int
) -> tuple[dict[int, Registration], tuple[int, int] | None]:
    brokers: dict[int, Registration] = {}
    level = None
    for one in listed:
        level = _take(brokers, level, one, last)
    return brokers, level


def _take(
    brokers: dict[int, Registration], level: tuple[int, int] | None, one: BrokerFact, offset: int
) -> tuple[int, int] | None:
    if one.record_type == FEATURE_LEVEL:
        if not one.max_level:
            return None
        return level if level and level[0] == one.max_level else (one.max_level, offset)
    number = one.broker_id or 0
    before = brokers.get(number)
    if one.record_type == REGISTER_BROKER:
        now = Registration(True, one.min_level, one.max_level, offset)
        if before is None or before[:3] != now[:3]:
            brokers[number] = now
    elif before is not None and before.is_registered:
        brokers[number] = before._replace(is_registered=False, since_offset=offset)
    return level


def _put(
    brokers: dict[int, Registration], number: int, now: Registration, stretch: Stretch
) -> None:
    """Take over what a snapshot says of a broker, where that is another thing than before."""
    before = brokers.get(number)
    if before is None or before[:3] != now[:3]:
        brokers[number] = now._replace(since_offset=stretch.to_offset - 1)


def _end(lifetime: Lifetime, offset: int) -> Lifetime:
    return Lifetime(
        lifetime.acl_id,
        lifetime.added_offset,
        lifetime.effective_offset,
        lifetime.added_by,
        offset,
    )
