"""Ranges of offsets that have been read → what of the log is known, and where it has holes. Pure.

Ranges are kept as the union of everything read, so that file borders, repetition, overlap and
order of arrival leave no trace in them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from aclkit.model.facts import LISTING, RECORD, SNAPSHOT, UNREADABLE
from aclkit.model.groups import grouped

END: Final = (1 << 63) - 1
"""No offset is so large."""


class Range(NamedTuple):
    """Offsets ``from_offset`` ≤ o < ``to_offset``; epoch None where a source does not have it.

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

    def cut_of(self, epoch: int | None) -> int:
        """Return from which offset on records of an epoch are withdrawn; ``END`` for none."""
        return END if epoch is None else self.cuts.get(epoch, END)


@dataclass(frozen=True, slots=True)
class Stretch:
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
    """

    stretches: tuple[Stretch, ...]
    holes: tuple[tuple[int, int], ...]
    head: int
    checks: tuple[int, ...]

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
    """Unite ranges; where epochs overlap, the higher one withdraws the lower from there on."""
    everything = [*known, *incoming]
    spoken = [r for r in everything if r.fact == RECORD and r.epoch is not None]
    cuts = {
        epoch: min((r.from_offset for r in spoken if _epoch(r) > epoch), default=END)
        for epoch in {_epoch(r) for r in spoken}
    }
    cuts = {epoch: cut for epoch, cut in cuts.items() if cut != END}
    kept, withdrawn = withdraw(everything, cuts)
    return MergedRanges(
        ranges=tuple(sorted(_readable(_unite(kept)), key=_order)),
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
        cut = cuts.get(_epoch(item), END) if item.fact == RECORD else END
        if item.to_offset > cut:
            withdrawn.append((max(item.from_offset, cut), item.to_offset))
        if item.from_offset < cut:
            kept.append(item._replace(to_offset=min(item.to_offset, cut)))
    return kept, withdrawn


def spare_snapshots(ranges: Sequence[Range], known: Iterable[Range]) -> set[int]:
    """Return the end offsets of snapshots that are new, and within a log that explains them.

    History needs none of them, now or later: whatever more is read, the way through the log
    enters it no later.
    """
    old = {r.to_offset for r in known if r.fact == SNAPSHOT}
    return set(plan(ranges).checks) - old


def without_snapshots(ranges: Iterable[Range], end_offsets: Collection[int]) -> list[Range]:
    """Leave out snapshots."""
    return [r for r in ranges if r.fact != SNAPSHOT or r.to_offset not in end_offsets]


def without_offsets(
    ranges: Iterable[Range], spans: Iterable[tuple[int, int]], end_offsets: Collection[int]
) -> list[Range]:
    """Forget what was read: cut spans out of the log, and leave out snapshots.

    The number of a listing stays: later listings build on it.
    """
    cut, kept = list(spans), []
    for item in without_snapshots(ranges, end_offsets):
        is_log = item.fact in (RECORD, UNREADABLE)
        pieces = _subtract([item[:2]], cut) if is_log else (item[:2],)
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
        kept += [item._replace(from_offset=a, to_offset=b) for a, b in _subtract([item[:2]], cut)]
    return kept


def read_well(known: Iterable[Range], incoming: Iterable[Range]) -> tuple[tuple[int, int], ...]:
    """Return the offsets, as (from, to), of which nothing stays unreadable once these are read.

    Of a stretch that could not be read the reject names the first offset alone: so a stretch that
    is read now in part counts as read badly.
    """
    read = _cover(r[:2] for r in incoming if r.fact == RECORD)
    lost = [r[:2] for r in known if r.fact == UNREADABLE]
    return _subtract(read, [span for span in lost if _subtract([span], read)])


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
    log = _clip([r for r in ranges if r.fact in (RECORD, LISTING)], limit)
    lost = _subtract(_clip([r for r in ranges if r.fact == UNREADABLE], limit), log)
    snapshots = sorted({r.to_offset for r in ranges if r.fact == SNAPSHOT and r.to_offset <= limit})
    way = _Way()
    while True:
        if span := next((s for s in log if s[0] <= way.head < s[1]), None):
            way.go(RECORD, span[1])
        elif bridge := next((n for n in snapshots if n > way.head), None):
            way.go(SNAPSHOT, bridge)
        elif hole := _next_hole(way.head, log, lost):
            way.holes.append(hole)
            if not accept_holes or not any(s[0] >= hole[1] for s in log):
                break
            way.head = hole[1]
        else:
            break
    checks = tuple(n for n in snapshots if way.is_on_log(n))
    return Itinerary(tuple(way.stretches), tuple(way.holes), way.head, checks)


class _Way:
    """The way so far: the one mutable thing in here."""

    def __init__(self) -> None:
        self.head = 0
        self.stretches: list[Stretch] = []
        self.holes: list[tuple[int, int]] = []

    def go(self, fact: str, to: int) -> None:
        self.stretches.append(Stretch(fact, self.head, to))
        self.head = to

    def is_on_log(self, end_offset: int) -> bool:
        return any(
            stretch.fact == RECORD and stretch.from_offset < end_offset <= stretch.to_offset
            for stretch in self.stretches
        ) and not any(hole[0] < end_offset for hole in self.holes)


def _epoch(item: Range) -> int:
    return -1 if item.epoch is None else item.epoch


def _order(item: Range) -> tuple[str, int, int, int]:
    return item.fact, item.from_offset, item.to_offset, _epoch(item)


def _unite(ranges: Iterable[Range]) -> Iterable[Range]:
    """Join overlapping and touching ranges of one kind and epoch; snapshots stay apart."""
    kinds = ((f"{r.fact} {r.to_offset}" if r.fact == SNAPSHOT else r.fact, r) for r in ranges)
    groups = grouped(((kind, item.epoch), item[:2]) for kind, item in kinds)
    for (fact, epoch), spans in groups.items():
        for start, end in _cover(spans):
            yield Range(start, end, epoch, fact.partition(" ")[0])


def _readable(ranges: Iterable[Range]) -> Iterable[Range]:
    """Leave out of what was unreadable once what was read another time."""
    united = list(ranges)
    log = [r[:2] for r in united if r.fact == RECORD]
    yield from (r for r in united if r.fact != UNREADABLE)
    for epoch in {r.epoch for r in united if r.fact == UNREADABLE}:
        lost = [r[:2] for r in united if r.fact == UNREADABLE and r.epoch == epoch]
        for start, end in _subtract(lost, log):
            yield Range(start, end, epoch, UNREADABLE)


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
    spans: Iterable[tuple[int, int]], others: Iterable[tuple[int, int]]
) -> tuple[tuple[int, int], ...]:
    """Return what of the spans lies in none of the others, in one pass over both."""
    left: list[tuple[int, int]] = []
    taken, at = _cover(others), 0
    for start, end in _cover(spans):
        rest = start
        while at < len(taken) and taken[at][0] < end:
            a, b = taken[at]
            left += [(rest, a)] if rest < a else []
            rest = max(rest, b)
            if b > end:
                break
            at += 1
        left += [(rest, end)] if rest < end else []
    return tuple(left)


def _next_hole(
    head: int, log: Sequence[tuple[int, int]], lost: Sequence[tuple[int, int]]
) -> tuple[int, int] | None:
    ahead = [start for start, _ in log if start > head]
    behind = [end for _, end in lost if end > head]
    if ahead:
        return head, min(ahead)
    return (head, max(behind)) if behind else None
