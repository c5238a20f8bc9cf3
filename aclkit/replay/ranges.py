"""Ranges of offsets that have been read → what of the log is known, and where it has holes. Pure.

Ranges are kept as the union of everything read, so that file borders, repetition, overlap and
order of arrival leave no trace in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from aclkit.sources.rows import LISTING, RECORD, SNAPSHOT, UNREADABLE


class Range(NamedTuple):
    """Offsets ``from_offset`` ≤ o < ``to_offset``; epoch None where a source does not say it.

    A snapshot's range is 0 … its end offset. An ``unreadable`` range was seen, but no ACL fact of
    it could be read.
    """

    from_offset: int
    to_offset: int
    epoch: int | None
    fact: str


@dataclass(frozen=True, slots=True)
class MergedRanges:
    """All ranges of a cluster in canonical form.

    Attributes:
        ranges: the union, sorted.
        cuts: epoch → first offset that a higher epoch has written; facts of that epoch at or
            above it were never committed and are withdrawn.
        diverged: offsets that were withdrawn by these cuts, empty when no tail diverged.
    """

    ranges: tuple[Range, ...]
    cuts: dict[int, int]
    diverged: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Leg:
    """A stretch of history: the log from … to, or the jump onto a snapshot's state at ``to``."""

    fact: str
    from_offset: int
    to_offset: int


@dataclass(frozen=True, slots=True)
class Itinerary:
    """The way through the log that history takes.

    Attributes:
        legs: stretches in order; a snapshot leg replaces the state by the snapshot's.
        holes: offsets that could not be read, as (from, to), within what was travelled or where
            the way ends.
        head: the state is known as of this offset (exclusive).
        checks: end offsets of snapshots that lie within the gapless log and must agree with it.
    """

    legs: tuple[Leg, ...]
    holes: tuple[tuple[int, int], ...]
    head: int
    checks: tuple[int, ...]


def merge_ranges(known: Iterable[Range], incoming: Iterable[Range]) -> MergedRanges:
    """Unite ranges; where epochs overlap, the higher one withdraws the lower from there on."""
    everything = [*known, *incoming]
    spoken = [r for r in everything if r.fact == RECORD and r.epoch is not None]
    cuts = {
        epoch: min((r.from_offset for r in spoken if _epoch(r) > epoch), default=_NEVER)
        for epoch in {_epoch(r) for r in spoken}
    }
    cuts = {epoch: cut for epoch, cut in cuts.items() if cut != _NEVER}
    kept, withdrawn = withdraw(everything, cuts)
    return MergedRanges(
        ranges=tuple(sorted(_unite(kept), key=_order)),
        cuts=cuts,
        diverged=_cover(withdrawn),
    )


def withdraw(
    ranges: Iterable[Range], cuts: dict[int, int]
) -> tuple[list[Range], list[tuple[int, int]]]:
    """Cut ranges where a higher epoch has written: what is kept, and the spans withdrawn."""
    kept: list[Range] = []
    withdrawn: list[tuple[int, int]] = []
    for item in ranges:
        cut = cuts.get(_epoch(item), _NEVER) if item.fact == RECORD else _NEVER
        if item.to_offset > cut:
            withdrawn.append((max(item.from_offset, cut), item.to_offset))
        if item.from_offset < cut:
            kept.append(item._replace(to_offset=min(item.to_offset, cut)))
    return kept, withdrawn


def is_written_here(ranges: Sequence[Range], count_written: Callable[[], int]) -> bool:
    """Say whether aclkit itself wrote all that is known of a cluster, so that it follows nothing.

    Args:
        ranges: what is known.
        count_written: counts the records that aclkit wrote; they have no gaps and no epoch.
    """
    if any(r.fact != RECORD or r.epoch is not None for r in ranges):
        return False
    return count_written() == sum(r.to_offset - r.from_offset for r in ranges)


def plan(
    ranges: Sequence[Range], *, high_watermark: int | None = None, accept_holes: bool = False
) -> Itinerary:
    """Find the way from an empty cluster to the newest state that the ranges allow.

    Where the log ends, the nearest later snapshot bridges; where there is none and more of the
    log is known, that is a hole: the way stops before it, or goes on behind it when holes are
    accepted. Offsets at or above the high watermark do not count.
    """
    limit = _NEVER if high_watermark is None else high_watermark
    log = _clip([r for r in ranges if r.fact in (RECORD, LISTING)], limit)
    lost = _subtract(_clip([r for r in ranges if r.fact == UNREADABLE], limit), log)
    snapshots = sorted({r.to_offset for r in ranges if r.fact == SNAPSHOT and r.to_offset <= limit})
    way = _Way()
    while True:
        if span := next((s for s in log if s[0] <= way.head < s[1]), None):
            way.travel(span[1])
        elif bridge := next((n for n in snapshots if n > way.head), None):
            way.jump(bridge)
        elif hole := _next_hole(way.head, log, lost):
            way.holes.append(hole)
            if not accept_holes or not any(s[0] >= hole[1] for s in log):
                break
            way.head = hole[1]
        else:
            break
    checks = tuple(n for n in snapshots if way.is_on_log(n))
    return Itinerary(tuple(way.legs), tuple(way.holes), way.head, checks)


_NEVER: Final = 1 << 63


class _Way:
    """The way so far: the one mutable thing in here."""

    def __init__(self) -> None:
        self.head = 0
        self.legs: list[Leg] = []
        self.holes: list[tuple[int, int]] = []

    def travel(self, to: int) -> None:
        self.legs.append(Leg(RECORD, self.head, to))
        self.head = to

    def jump(self, end_offset: int) -> None:
        self.legs.append(Leg(SNAPSHOT, self.head, end_offset))
        self.head = end_offset

    def is_on_log(self, end_offset: int) -> bool:
        return any(
            leg.fact == RECORD and leg.from_offset < end_offset <= leg.to_offset
            for leg in self.legs
        ) and not any(hole[0] < end_offset for hole in self.holes)


def _epoch(item: Range) -> int:
    return -1 if item.epoch is None else item.epoch


def _order(item: Range) -> tuple[str, int, int, int]:
    return item.fact, item.from_offset, item.to_offset, _epoch(item)


def _unite(ranges: Iterable[Range]) -> Iterable[Range]:
    """Join overlapping and touching ranges of one kind and epoch; snapshots stay apart."""
    groups: dict[tuple[str, int | None], list[tuple[int, int]]] = {}
    for item in ranges:
        if item.fact == SNAPSHOT:
            key = (f"{SNAPSHOT} {item.to_offset}", item.epoch)
            groups.setdefault(key, []).append(item[:2])
        else:
            groups.setdefault((item.fact, item.epoch), []).append(item[:2])
    for (fact, epoch), spans in groups.items():
        for start, end in _cover(spans):
            yield Range(start, end, epoch, fact.partition(" ")[0])


def _cover(spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Unite spans: sorted, disjoint, not touching."""
    united: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if united and start <= united[-1][1]:
            united[-1] = (united[-1][0], max(united[-1][1], end))
        elif start < end:
            united.append((start, end))
    return tuple(united)


def _clip(ranges: Iterable[Range], limit: int) -> tuple[tuple[int, int], ...]:
    return _cover((r.from_offset, min(r.to_offset, limit)) for r in ranges if r.from_offset < limit)


def _subtract(
    spans: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]
) -> tuple[tuple[int, int], ...]:
    left = list(spans)
    for start, end in others:
        left = [
            piece
            for a, b in left
            for piece in ((a, min(b, start)), (max(a, end), b))
            if piece[0] < piece[1]
        ]
    return _cover(left)


def _next_hole(
    head: int, log: Sequence[tuple[int, int]], lost: Sequence[tuple[int, int]]
) -> tuple[int, int] | None:
    ahead = [start for start, _ in log if start > head]
    behind = [end for _, end in lost if end > head]
    if ahead:
        return head, min(ahead)
    return (head, max(behind)) if behind else None
