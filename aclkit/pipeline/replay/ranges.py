"""Ranges of offsets that have been read → what of the log is known, and where it has holes. Pure.

Ranges are kept as the union of everything read, so that file borders, repetition, overlap and
order of arrival leave no trace in them. Which records are in the log is found in all of them anew.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from aclkit.model.facts import COMMITTED, EPOCH, LISTING, RECORD, SNAPSHOT, UNREADABLE
from aclkit.model.groups import grouped
from aclkit.model.values import dataclass
from aclkit.pipeline.replay.lineage import Lineage, trace
from aclkit.pipeline.replay.spans import END, Range, Span, cover, intersect, subtract


@dataclass(frozen=True, slots=True)
class MergedRanges:
    """All ranges of a cluster in canonical form.

    Attributes:
        ranges: the union, sorted.
        lineage: which of their records are in the log.
    """

    ranges: tuple[Range, ...]
    lineage: Lineage


class Stretch(NamedTuple):
    """A stretch of history: the log from … to, or the jump onto a snapshot's state at ``to``."""

    fact: str
    from_offset: int
    to_offset: int


@dataclass(frozen=True, slots=True)
class Itinerary:
    """The way through the log that history takes.

    Attributes:
        stretches: stretches in order; a snapshot stretch replaces the state by the snapshot's.
        holes: offsets that could not be read, as (from, to), within what was travelled or where
            the way ends.
        head: the state is known as of this offset (exclusive).
        checks: end offsets of snapshots that lie within the gapless log and must agree with it.
        explained: those of them whose name has the epoch that the log has there. The way never
            comes to need one of these.
        doubtful: offsets on the way that another epoch may have written, of which nothing is read.
    """

    stretches: tuple[Stretch, ...]
    holes: tuple[tuple[int, int], ...]
    head: int
    checks: tuple[int, ...]
    explained: tuple[int, ...] = ()
    doubtful: tuple[Span, ...] = ()

    @property
    def bridged(self) -> tuple[tuple[int, int], ...]:
        """Offsets, as (from, to), of which only the difference between two states is known."""
        return tuple(
            (stretch.from_offset, stretch.to_offset)
            for stretch in self.stretches
            if stretch.fact == SNAPSHOT
        )

    def knows(self, end_offset: int) -> bool:
        """Whether a snapshot of this end offset tells nothing new: the way leads past it."""
        return any(
            stretch.from_offset < end_offset <= stretch.to_offset
            for stretch in self.stretches
            if stretch.fact != SNAPSHOT or stretch.to_offset == end_offset
        )


def merge_ranges(known: Iterable[Range], incoming: Iterable[Range]) -> MergedRanges:
    """Unite ranges. Records outside the log stay: a copy that comes later may put them into it."""
    united = [*_unite([*known, *incoming])]
    lineage = trace(united)
    return MergedRanges(
        ranges=tuple(sorted(_readable(united, lineage), key=_order)), lineage=lineage
    )


def newly_overwritten(
    known: Sequence[Range], incoming: Sequence[Range], lineage: Lineage
) -> tuple[Span, ...]:
    """Return the offsets whose records were in the log, or come now, and are not in it."""
    before = grouped((r.epoch, r[:2]) for r in trace(known).split(known)[1])
    now = grouped((r.epoch, r[:2]) for r in lineage.split([*known, *incoming])[1])
    return cover(span for e, spans in now.items() for span in subtract(spans, before.get(e, ())))


def spare_snapshots(ranges: Sequence[Range], known: Iterable[Range]) -> set[int]:
    """Return the end offsets of snapshots that are new, and within a log that explains them.

    History needs none of them, now or later: whatever more is read, the way through the log
    enters it no later.
    """
    old = {r.to_offset for r in known if r.fact == SNAPSHOT}
    return set(plan(ranges).explained) - old


def without_snapshots(ranges: Iterable[Range], end_offsets: Collection[int]) -> list[Range]:
    """Leave out snapshots."""
    return [r for r in ranges if r.fact != SNAPSHOT or r.to_offset not in end_offsets]


def without_offsets(
    ranges: Iterable[Range], spans: Iterable[tuple[int, int]], end_offsets: Collection[int]
) -> list[Range]:
    """Forget what was read: cut spans out of the log, and leave out snapshots and what they prove.

    The number of a listing stays: later listings build on it.
    """
    cut, kept = list(spans), []
    for item in without_snapshots(ranges, end_offsets):
        if item.fact == COMMITTED and any(item[0] < end <= item[1] for end in end_offsets):
            continue
        is_log = item.fact in (RECORD, UNREADABLE, EPOCH)
        pieces = subtract([item[:2]], cut) if is_log else (item[:2],)
        kept += [item._replace(from_offset=a, to_offset=b) for a, b in pieces]
    return kept


def readable_again(
    ranges: Iterable[Range], gone: Iterable[int], left: Iterable[int]
) -> list[Range]:
    """Take back what was unreadable only by rejects that are gone.

    Where something could not be read, its reject names the first offset of it.

    Args:
        ranges: what is known.
        gone: offsets of rejects that no longer hold.
        left: offsets of those that do.
    """
    standing, opened = sorted(set(left)), sorted(set(gone) - set(left))
    limits = [*standing, END]
    cuts = [(offset, limits[bisect_right(standing, offset)]) for offset in opened]
    kept: list[Range] = []
    for item in ranges:
        own = slice(bisect_left(opened, item.from_offset), bisect_left(opened, item.to_offset))
        cut = cuts[own] if item.fact == UNREADABLE else []
        kept += [item._replace(from_offset=a, to_offset=b) for a, b in subtract([item[:2]], cut)]
    return kept


def read_well(known: Iterable[Range], incoming: Iterable[Range]) -> tuple[tuple[int, int], ...]:
    """Return the offsets, as (from, to), of which nothing stays unreadable once these are read.

    Of a stretch that could not be read the reject names the first offset alone: so a stretch that
    is read now in part counts as read badly.
    """
    read = cover(r[:2] for r in incoming if r.fact == RECORD)
    lost = [r[:2] for r in known if r.fact == UNREADABLE]
    return subtract(read, [span for span in lost if subtract([span], read)])


def is_written_here(ranges: Sequence[Range], count_written: Callable[[], int]) -> bool:
    """Whether aclkit itself wrote all that is known of a cluster, so that it follows nothing.

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
    log is known, that is a hole: the way stops before it, or goes on after it when holes are
    accepted. Offsets at or above the high watermark do not count.
    """
    limit = END if high_watermark is None else high_watermark
    lineage = trace(ranges)
    inside = lineage.split(ranges)[0]
    log = _clip([r for r in inside if r.fact in (RECORD, LISTING)], limit)
    lost = subtract(_clip([r for r in inside if r.fact == UNREADABLE], limit), log)
    snapshots = sorted({r.to_offset for r in ranges if r.fact == SNAPSHOT and r.to_offset <= limit})
    way = _Way()
    while True:
        bridge = next((n for n in snapshots if n > way.head), None)
        span = next((s for s in log if s[0] <= way.head < s[1]), None)
        if span and not (bridge and way.head in lineage.joints):
            way.go(RECORD, min(span[1], *(at for at in lineage.joints if at > way.head), END))
        elif bridge:
            way.go(SNAPSHOT, bridge)
        elif hole := _next_hole(way.head, log, lost):
            way.holes.append(hole)
            if not accept_holes or not any(s[0] >= hole[1] for s in log):
                break
            way.head = hole[1]
        else:
            break
    checks = tuple(n for n in snapshots if way.is_on_log(n))
    travelled = [s[1:] for s in way.stretches if s.fact == RECORD]
    return Itinerary(
        stretches=tuple(way.stretches),
        holes=tuple(way.holes),
        head=way.head,
        checks=checks,
        explained=tuple(n for n in checks if _is_explained(n, ranges, inside)),
        doubtful=intersect(travelled, lineage.doubtful),
    )


def _is_explained(end_offset: int, ranges: Sequence[Range], inside: Sequence[Range]) -> bool:
    """Whether the log has the epoch of a snapshot before its end, or none is known there."""
    epochs = {r.epoch for r in ranges if r.fact == SNAPSHOT and r.to_offset == end_offset}
    written = [r for r in inside if r.fact == RECORD and r.from_offset < end_offset <= r.to_offset]
    return any(r.epoch is None or {r.epoch} == epochs for r in written)


class _Way:
    """The way so far: the one mutable thing in here."""

    def __init__(self) -> None:
        self.head = 0
        self.stretches: list[Stretch] = []
        self.holes: list[tuple[int, int]] = []

    def go(self, fact: str, to: int) -> None:
        start = self.head
        if fact == RECORD and self.stretches and self.stretches[-1][::2] == (fact, start):
            start = self.stretches.pop().from_offset
        self.stretches.append(Stretch(fact, start, to))
        self.head = to

    def is_on_log(self, end_offset: int) -> bool:
        return any(
            stretch.fact == RECORD and stretch.from_offset < end_offset <= stretch.to_offset
            for stretch in self.stretches
        ) and not any(hole[0] < end_offset for hole in self.holes)


def _epoch(item: Range) -> int:
    return -1 if item.epoch is None else item.epoch


def _order(item: Range) -> tuple[str, int, int, int, int]:
    follows = -1 if item.follows is None else item.follows
    return item.fact, item.from_offset, item.to_offset, _epoch(item), follows


def _unite(ranges: Iterable[Range]) -> Iterable[Range]:
    """Join overlapping and touching ranges of one kind and epoch; snapshots stay apart.

    What lies between two committed offsets of an epoch is of the epoch, too.
    """
    everything = {*ranges}
    apart = {r for r in everything if r.fact in (SNAPSHOT, EPOCH)}
    yield from apart
    groups = grouped(((r.fact, r.epoch), r[:2]) for r in everything - apart)
    for (fact, epoch), spans in groups.items():
        hull = (min(start for start, _ in spans), max(end for _, end in spans))
        for start, end in [hull] if fact == COMMITTED else cover(spans):
            yield Range(start, end, epoch, fact)


def _readable(ranges: Sequence[Range], lineage: Lineage) -> Iterable[Range]:
    """Leave out of what was unreadable once what was read another time."""
    log = [r[:2] for r in lineage.split(ranges)[0] if r.fact == RECORD]
    yield from (r for r in ranges if r.fact != UNREADABLE)
    for epoch in {r.epoch for r in ranges if r.fact == UNREADABLE}:
        lost = [r[:2] for r in ranges if r.fact == UNREADABLE and r.epoch == epoch]
        for start, end in subtract(lost, log):
            yield Range(start, end, epoch, UNREADABLE)


def _clip(ranges: Iterable[Range], limit: int) -> tuple[tuple[int, int], ...]:
    return cover((r.from_offset, min(r.to_offset, limit)) for r in ranges if r.from_offset < limit)


def _next_hole(
    head: int, log: Sequence[tuple[int, int]], lost: Sequence[tuple[int, int]]
) -> tuple[int, int] | None:
    ahead = [start for start, _ in log if start > head]
    behind = [end for _, end in lost if end > head]
    if ahead:
        return head, min(ahead)
    return (head, max(behind)) if behind else None
