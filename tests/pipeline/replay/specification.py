"""Facts of one log → lifetimes and rejects, one fact after the other. Pure: the specification.

``pipeline/replay/fold.py`` does the same for many ACLs at once; a property test holds the two
together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from aclkit.model.facts import ADD_ACL, REMOVE_ACL, SNAPSHOT
from aclkit.pipeline.replay.ranges import Itinerary
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


def _end(lifetime: Lifetime, offset: int) -> Lifetime:
    return Lifetime(
        lifetime.acl_id,
        lifetime.added_offset,
        lifetime.effective_offset,
        lifetime.added_by,
        offset,
    )
