"""Lines of any layout that differ in their times alone → what all of them say, read once.

Collectors of logs put the same line into the same envelope: JSON, the prefix of a pod, a time of
their own. Without its times such a line is a *shape*. The first line of a shape is read the long
way; of the others only the time is read that was the first one's. A shape is left to the long way
where that could be another time or another text: of two times alike, in a name, with a zone's
short name behind it, in pieces of a line.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from aclkit.questions.usage.clock import Clock
from aclkit.questions.usage.entry import read_alone
from aclkit.questions.usage.envelope import is_piece
from aclkit.questions.usage.line import Statement


class Alike(NamedTuple):
    """What the lines of a shape say, and which of their times is theirs."""

    statement: Statement
    place: int


class Shapes:
    """The shapes of one file."""

    def __init__(self, clock: Clock) -> None:
        """Begin with none."""
        self._clock = clock
        self._known: dict[bytes, Alike | None] = {}
        self._credit = _CREDIT

    def find(self, raw: bytes) -> tuple[Statement, int] | None:
        """Return what a line says and when it was written; None where it goes the long way."""
        if self._credit <= 0:
            return None
        times = _TIME.findall(raw)
        if not times or _MARK in raw:
            return None
        shape = _TIME.sub(_MARK, raw)
        if shape in self._known:
            found = self._known[shape]
            self._credit = min(_CREDIT, self._credit + 1)
        else:
            found = self._learn(raw, shape, times)
        if found is None:
            return None
        time = self._time(times[found.place])
        return None if time is None else (found.statement, time)

    def _learn(self, raw: bytes, shape: bytes, times: list[bytes]) -> Alike | None:
        """Read the first line of a shape; too many shapes cost more than they save."""
        self._credit -= 1
        if len(self._known) >= _MOST_SHAPES:
            self._known.clear()
        self._known[shape] = found = self._read(raw, times)
        return found

    def _read(self, raw: bytes, times: list[bytes]) -> Alike | None:
        if _JUL in raw or _ZONED.search(raw) or is_piece(raw):
            return None
        entry = read_alone(raw, self._clock)
        if entry is None or entry.statement is None or entry.span is None:
            return None
        places = [n for n, time in enumerate(times) if self._time(time) == entry.span[0]]
        said = (*_texts(entry.statement),)
        in_names = any(time.decode() in text for time in times for text in said)
        if entry.span[0] != entry.span[1] or len(places) != 1 or in_names:
            return None
        return Alike(entry.statement, places[0])

    def _time(self, text: bytes) -> int | None:
        """Read a time that is only one."""
        span = self._clock.read(text.decode())
        return None if span is None or span[0] != span[1] else span[0]


def _texts(statement: Statement) -> tuple[str, ...]:
    request = statement.request
    return (request.principal, request.resource_name, request.host, statement.rule_text or "")


_TIME: Final = re.compile(
    rb"(?<![\w.-])\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9}+)?+(?:Z|[+-]\d\d:?\d\d)?+"
    rb"(?![\w:.,+-])"
)
_ZONED: Final = re.compile(rb"\d\d:\d\d:\d\d[\d.,]* (?:[A-Z]{2,4}T\b|Z\b|UTC|GMT|[+-]\d)")
_JUL: Final = b": Principal "
_MARK: Final = b"\0"
_MOST_SHAPES: Final = 100_000
_CREDIT: Final = 20_000
"""So many lines of new shapes, those of known ones aside, and a file is read the long way."""
