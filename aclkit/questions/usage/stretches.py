"""Times of the lines of a file → the stretches in which it has lines of each kind. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Final

from aclkit.questions.usage.coverage import GAP
from aclkit.questions.usage.line import Statement
from aclkit.rules.decide.rules import ALLOWED

NO_GAP: Final = round(GAP.total_seconds() * 1_000_000)
"""``GAP`` in microseconds."""


HEARTBEAT: Final = "BrokerHeartbeat"
"""The request that brokers send to the active controller every other second."""


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


class Talk:
    """Lines of one kind: of many close to each other its stretches learn rarely."""

    __slots__ = ("first", "last", "limit", "stretches")

    def __init__(self, known: Iterable[tuple[int, int]] = ()) -> None:
        """Begin with what was read before."""
        self.stretches = Stretches(known)
        self.first, self.last, self.limit = 0, -1, -1

    def note(self, time: int) -> None:
        """Take in a line; between ``first`` and ``limit`` it is enough to move ``last``."""
        if not self.first <= self.last < time <= self.last + NO_GAP:
            self.close()
            self.first = time
        self.last = time
        self.limit = time + NO_GAP // 4

    def close(self) -> Stretches:
        """Return the stretches of all lines so far."""
        if self.first <= self.last:
            self.stretches.add(self.first, self.last)
        return self.stretches


class Talks:
    """The lines of a file by kind: heartbeats, what else is allowed, and the rest."""

    __slots__ = ("_allowed", "_beats", "_others")

    def __init__(
        self,
        spoke: Iterable[tuple[int, int]] = (),
        allowed: Iterable[tuple[int, int]] = (),
        beats: Iterable[tuple[int, int]] = (),
    ) -> None:
        """Begin with the stretches that were read before."""
        self._others, self._allowed, self._beats = Talk(spoke), Talk(allowed), Talk(beats)

    def of(self, statement: Statement | None) -> Talk:
        """Return the kind of a line; None is one that may be read in several ways."""
        if statement is None or statement.decision != ALLOWED:
            return self._others
        return self._beats if statement.request_name == HEARTBEAT else self._allowed

    @property
    def spoke(self) -> Stretches:
        """When there are lines of any kind."""
        return _joined(self._others, self._allowed, self._beats)

    @property
    def allowed(self) -> Stretches:
        """When there are ALLOWED lines."""
        return _joined(self._allowed, self._beats)

    @property
    def beats(self) -> Stretches:
        """When there are heartbeats."""
        return _joined(self._beats)


def _joined(*talks: Talk) -> Stretches:
    found = [each.close() for each in talks]
    return Stretches(pair for each in found for pair in zip(each.starts, each.ends, strict=True))
