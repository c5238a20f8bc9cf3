"""Ranges of offsets, and what their spans have in common. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from aclkit.model.facts import EPOCH, RECORD

Span = tuple[int, int]
"""Offsets, from the first to the one after the last."""

RANGE_COLUMNS: Final = "from_offset, to_offset, epoch, fact, follows"
"""The columns of ``log_range`` that a range has."""

FOLLOWS_NONE: Final = -1
"""Stands in ``log_range`` where an epoch follows none: there null is an older aclkit's."""

END: Final = (1 << 63) - 1
"""No offset is so large."""


class Range(NamedTuple):
    """Offsets ``from_offset`` ≤ o < ``to_offset``; epoch None where a source does not have it.

    A snapshot's range is 0 … its end offset. An ``unreadable`` range was seen, but no ACL fact of
    it could be read. Two kinds say nothing of what was read: a ``committed`` range that its offsets
    have this epoch and are committed, an ``epoch`` range that the epoch begins at its first offset,
    after an offset of the epoch that it ``follows``.
    """

    from_offset: int
    to_offset: int
    epoch: int | None
    fact: str
    follows: int | None = None


def ranges_of(rows: Iterable[tuple[int, int, int | None, str, int | None]]) -> list[Range]:
    """Make ranges of rows of ``log_range``.

    An older aclkit left ``follows`` empty and kept no beginnings of epochs. Where its ranges touch,
    it had read one log, so there each of its epochs follows the other.
    """
    found = list(rows)
    ranges = [Range(*row[:4], None if row[4] == FOLLOWS_NONE else row[4]) for row in found]
    if all(row[4] is not None for row in found):
        return ranges
    ends = {r.to_offset: r.epoch for r in ranges if r.fact == RECORD}
    for start, _, epoch, fact, _ in tuple(ranges):
        before = ends.get(start)
        if fact == RECORD and epoch is not None and before is not None and before < epoch:
            ranges.append(Range(start, start + 1, epoch, EPOCH, before))
    return ranges


def rows_of(ranges: Iterable[Range]) -> list[tuple[int, int, int | None, str, int]]:
    """Make rows of ``log_range`` of ranges."""
    return [(*r[:4], FOLLOWS_NONE if r.follows is None else r.follows) for r in ranges]


def cover(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Unite spans: sorted, disjoint, not touching."""
    united: list[Span] = []
    for start, end in sorted(spans):
        if united and start <= united[-1][1]:
            united[-1] = (united[-1][0], max(united[-1][1], end))
        elif start < end:
            united.append((start, end))
    return tuple(united)


def subtract(spans: Iterable[Span], others: Iterable[Span]) -> tuple[Span, ...]:
    """Return what of the spans lies in none of the others, in one pass over both."""
    left: list[Span] = []
    taken, at = cover(others), 0
    for start, end in cover(spans):
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


def intersect(spans: Iterable[Span], others: Iterable[Span]) -> tuple[Span, ...]:
    """Return what of the spans lies in the others, too."""
    whole = cover(spans)
    return subtract(whole, subtract(whole, others))
