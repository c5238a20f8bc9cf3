"""Ranges read of several copies of a log → which of their records are in the log. Pure.

Raft's rules, as far as ranges show them. An epoch has one leader, which continues the log that it
had: so the epoch begins at one offset, after one record, whatever copy shows it. All that was ever
written is a tree of epochs, and the log is one way through it. A snapshot holds committed records
alone. So its name tells of a record that it is in the log for good: the one before its end offset,
with its epoch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from aclkit.model.facts import COMMITTED, EPOCH, RECORD, UNREADABLE
from aclkit.model.groups import grouped
from aclkit.model.values import dataclass
from aclkit.pipeline.replay.spans import END, Range, Span, cover, intersect


@dataclass(frozen=True, slots=True)
class Lineage:
    """The way of the log through the epochs that were read.

    Attributes:
        stops: epoch → from which offset on its records are not in the log; ``END`` where they all
            are, 0 where none is. Only of epochs with a record that was read.
        joints: where the records of an epoch begin of which no copy shows what it follows. Epochs
            that were not read may lie before it, and the records before it may be theirs.
        doubtful: what was read before a joint, from the last offset on that is surely in the log,
            and what contradicts a snapshot whose claim does not count.
    """

    stops: Mapping[int, int]
    joints: tuple[int, ...]
    doubtful: tuple[Span, ...]

    def has(self, offset: int, epoch: int | None) -> bool:
        """Whether a record of an epoch is in the log; one without an epoch is."""
        return epoch is None or offset < self.stops.get(epoch, END)

    @property
    def cuts(self) -> dict[int, int]:
        """Return ``stops`` of the epochs that have one."""
        return {epoch: stop for epoch, stop in sorted(self.stops.items()) if stop != END}

    def split(self, ranges: Iterable[Range]) -> tuple[list[Range], list[Range]]:
        """Return ranges without the records outside the log, and the ranges of these."""
        inside: list[Range] = []
        outside: list[Range] = []
        for item in ranges:
            is_log = item.epoch is not None and item.fact in (RECORD, UNREADABLE)
            stop = self.stops.get(item.epoch or 0, END) if is_log else END
            if item.from_offset < stop:
                inside.append(item._replace(to_offset=min(item.to_offset, stop)))
            if item.to_offset > stop:
                outside.append(item._replace(from_offset=max(item.from_offset, stop)))
        return inside, outside


def trace(ranges: Iterable[Range]) -> Lineage:
    """Find the log in what was read of it.

    It ends with the newest epoch that no snapshot refutes. What an epoch follows, some copy shows;
    where none does, that is the newest epoch read before it that no snapshot refutes.
    """
    read = _Read.of(ranges)
    parts: list[_Part] = []
    joints: list[int] = []
    while found := read.newest_below(parts[-1] if parts else _Part(END, END, END)):
        if parts and not read.is_proven(parts[-1].start):
            joints.append(parts[-1].start)
        parts += found
    stops = {p.epoch: p.stop for p in parts}
    stops = {epoch: stops.get(epoch, 0) for epoch in read.spans}
    inside = [
        s for epoch, spans in read.spans.items() for s in intersect(spans, [(0, stops[epoch])])
    ]
    return Lineage(
        stops=stops,
        joints=tuple(reversed(joints)),
        doubtful=intersect(inside, [*read.before(joints), *read.contested(parts)]),
    )


class _Part(NamedTuple):
    """What the log holds of an epoch: the offsets ``start`` ≤ o < ``stop``."""

    epoch: int
    start: int
    stop: int


class _Begin(NamedTuple):
    """Where an epoch begins, and the epoch of the offset before; None at offset 0."""

    offset: int
    follows: int | None


@dataclass(frozen=True)
class _Read:
    """What was read, by epoch.

    Attributes:
        spans: the records.
        begins: the beginnings that copies show.
        claims: the oldest and the newest offset that snapshots claim to have the epoch, as a span.
    """

    spans: Mapping[int, Sequence[Span]]
    begins: Mapping[int, _Begin]
    claims: Mapping[int, Span]

    @classmethod
    def of(cls, ranges: Iterable[Range]) -> _Read:
        """Sort ranges. Where two copies disagree on a beginning, none is known."""
        of_fact = grouped((r.fact, (r.epoch, r)) for r in ranges if r.epoch is not None)
        records, begun, ended = (
            grouped(of_fact.get(fact, ())) for fact in (RECORD, EPOCH, COMMITTED)
        )
        begins = {
            epoch: {
                _Begin(r.from_offset, r.follows)
                for r in rs
                if r.follows is None or r.follows < epoch
            }
            for epoch, rs in begun.items()
        }
        return cls(
            spans={epoch: cover(r[:2] for r in rs) for epoch, rs in records.items()},
            begins={epoch: each.pop() for epoch, each in begins.items() if len(each) == 1},
            claims={
                epoch: (min(r.from_offset for r in rs), max(r.to_offset for r in rs))
                for epoch, rs in ended.items()
            },
        )

    @property
    def proofs(self) -> Mapping[int, Span]:
        """The claims that count, by epoch.

        One that contradicts a claim of a higher epoch does not, nor one of a record that was not
        read while records of a higher epoch were, below it: the file may have a wrong name.
        """
        return self._weighed[0]

    @cached_property
    def _weighed(self) -> tuple[Mapping[int, Span], Mapping[int, Span]]:
        """The claims that count, and those that nothing decides."""
        firsts = {epoch: spans[0][0] for epoch, spans in self.spans.items()}
        found: dict[int, Span] = {}
        open_: dict[int, Span] = {}
        higher: tuple[_Part, ...] = ()
        for epoch, (first, end) in sorted(self.claims.items(), reverse=True):
            mine = self._down(epoch, end, {**firsts, epoch: min(firsts.get(epoch, END), first)})
            is_read = any(start < end <= stop for start, stop in self.spans.get(epoch, ()))
            is_refuted = any(e > epoch and first < end for e, first in firsts.items())
            if not mine or (higher and not (end <= higher[0].stop and _agrees(higher, epoch, end))):
                continue
            if is_refuted and not is_read:
                open_[epoch] = (first, end)
            else:
                found[epoch], higher = (first, end), mine
        return found, open_

    def before(self, joints: Iterable[int]) -> Iterator[Span]:
        """Yield what lies before joints, from the last offset on that is proven."""
        for at in joints:
            yield max((end for _, end in self.proofs.values() if end < at), default=0), at

    def contested(self, parts: Sequence[_Part]) -> Iterator[Span]:
        """Yield from where on parts of the log contradict a claim that nothing decides."""
        for epoch, (_, end) in self._weighed[1].items():
            newer = [part.start for part in parts if part.epoch > epoch and part.start < end]
            yield min(newer, default=END), END

    @cached_property
    def firsts(self) -> Mapping[int, int]:
        """The first offset that is known of each epoch."""
        read = {epoch: spans[0][0] for epoch, spans in self.spans.items()}
        return read | {e: min(read.get(e, END), first) for e, (first, _) in self.proofs.items()}

    def is_proven(self, end: int) -> bool:
        """Whether a snapshot shows what the log has before an offset."""
        return any(first < end <= stop for first, stop in self.proofs.values())

    def newest_below(self, above: _Part) -> tuple[_Part, ...]:
        """Return the newest epoch that may lie before a part, and what it is known to follow.

        Nothing is returned where there is none, or the part begins at offset 0.
        """
        if above.start == 0:
            return ()
        known = sorted((epoch for epoch in self.firsts if epoch < above.epoch), reverse=True)
        ways = (self._down(epoch, above.start, self.firsts) for epoch in known)
        return next((way for way in ways if way and self._is_possible(way)), ())

    def _down(self, epoch: int, stop: int, firsts: Mapping[int, int]) -> tuple[_Part, ...]:
        """Return an epoch up to an offset, and those before it as far as copies show them.

        Nothing is returned for an epoch of which no offset before that one is known.
        """
        begin = self.begins.get(epoch)
        if firsts[epoch] >= stop or (begin and begin.offset >= stop):
            return ()
        parts: list[_Part] = []
        follows: int | None = epoch
        while follows is not None:
            first = min(firsts.get(follows, stop), stop - 1)
            begin = self.begins.get(follows)
            if begin is None or begin.offset > first:
                begin = _Begin(first, None)
            parts.append(_Part(follows, begin.offset, stop))
            follows, stop = begin.follows, begin.offset
        return tuple(parts)

    def _is_possible(self, way: Sequence[_Part]) -> bool:
        """Whether a way down has all that is proven."""
        below = ((e, end) for e, (_, end) in self.proofs.items() if end <= way[0].stop)
        return all(_agrees(way, epoch, end) for epoch, end in below)


def _agrees(way: Sequence[_Part], epoch: int, end: int) -> bool:
    """Whether the offset before an end has an epoch on a way down, or may have it further down."""
    if end <= way[-1].start:
        return epoch <= way[-1].epoch
    return any(part.epoch == epoch and part.start < end <= part.stop for part in way)
