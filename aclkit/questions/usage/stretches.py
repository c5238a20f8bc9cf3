"""Times of the lines of a file → the stretches in which it speaks. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Final

from aclkit.questions.usage.coverage import GAP

NO_GAP: Final = round(GAP.total_seconds() * 1_000_000)
"""``GAP`` in microseconds."""


class Stretches:
    """Stretches from a line to a line, within which no gap is longer than ``GAP``.

    Those of several files together show the gaps of all: a gap of the whole is one of each.
    """

    __slots__ = ("_ends", "_starts")

    def __init__(self, known: Iterable[tuple[int, int]] = ()) -> None:
        """Begin with the stretches of lines that were read before."""
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in known:
            self.add(start, end)

    def add(self, first: int, last: int) -> None:
        """Take in lines from a time to a time, with no gap between.

        >>> hour, found = 3_600_000_000, Stretches([(0, 5)])
        >>> found.add(hour + 6, hour + 6), found.add(7, 8)
        (None, None)
        >>> found.starts, found.ends
        ([0], [3600000006])
        """
        low = bisect_right(self._ends, first - NO_GAP - 1)
        high = bisect_right(self._starts, last + NO_GAP)
        if low < high:
            first = min(first, self._starts[low])
            last = max(last, self._ends[high - 1])
        self._starts[low:high] = [first]
        self._ends[low:high] = [last]

    @property
    def starts(self) -> list[int]:
        """The first line of each, in microseconds."""
        return self._starts

    @property
    def ends(self) -> list[int]:
        """The last line of each, in microseconds."""
        return self._ends
