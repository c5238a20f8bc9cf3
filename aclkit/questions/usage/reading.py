"""The lines of a log file from a place on → rows of ``access_day``, and from where to go on.

Most lines are ``[time] LEVEL Principal = …`` and repeat what another one said. Such a line is one
look into a dictionary: what was said is read once, and decided once for the time in which its
verdict holds. Others repeat another one in any layout: see ``_Shapes``. What is left, and what
stands next to it, is a *run* of lines that go the long way of ``entry`` together: a line may be the
rest of a name in the one before it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Final, NamedTuple

import pyarrow as pa

from aclkit.kafka.authorizer.audit import PRINCIPAL_IS
from aclkit.questions.usage.access_days import (
    BEGIN,
    AccessDays,
    CachedStatement,
    EntryGroup,
    LineCounter,
    LogLine,
    LogPosition,
)
from aclkit.questions.usage.check import Judge
from aclkit.questions.usage.clock import Clock
from aclkit.questions.usage.coverage import Activities
from aclkit.questions.usage.entry import LONGEST, LogEntry, read_alone, read_entries
from aclkit.questions.usage.layout import is_piece
from aclkit.questions.usage.line import Statement, read_statement
from aclkit.questions.usage.log_file import DamagedLogError, LogStream
from aclkit.runtime.read_progress import NO_PROGRESS, ReadProgress


@dataclass(frozen=True, slots=True, kw_only=True)
class LogContent:
    """What the lines of a file hold.

    Attributes:
        batches: rows of ``access_day``.
        end: from where the next reading goes on.
        seen_bytes: what the file had, gzip undone.
        is_waiting: some lines are newer than the ACLs that are known.
        is_damaged: the rest of a gzipped file cannot be read.
        activities: when the file has lines of which kind, earlier ones too.
        lines: how many lines were judged.
    """

    batches: Sequence[pa.RecordBatch]
    end: LogPosition
    seen_bytes: int
    is_waiting: bool
    is_damaged: bool
    activities: Activities
    lines: int


def read_log(
    stream: LogStream,
    judge: Judge,
    clock: Clock,
    days: AccessDays,
    *,
    begin: LogPosition = BEGIN,
    activities: Activities | None = None,
    told: ReadProgress = NO_PROGRESS,
) -> LogContent:
    """Read a stream to its end.

    Args:
        stream: the file.
        judge: knows the past.
        clock: reads the times of the log.
        days: takes the rows of lines that need not be read again; none yet.
        begin: where the stream stands.
        activities: when the file has lines of which kind, as far as it has been read.
        told: where to report progress.
    """
    activities = activities or Activities()
    counter, damage = LineCounter(judge, days, activities, begin), list[tuple[str, int]]()
    lines = _in_runs(stream, StatementCache(clock, activities), begin, told, damage)
    last: EntryGroup | None = None
    count = counter.count
    for run, some in groupby(lines, key=_RUN):
        if last is not None:
            counter.count_entries(last)
            last = None
        if run:
            last = _read_run(some, clock, counter)
        else:
            for line in some:
                if line.cached is not None:
                    count(line, line.cached)
    if last is not None:
        counter.end_at(last.place)
        counter.count_entries(last)
    for reason, number in damage:
        counter.count_damage(reason, number)
    counter.finish()
    return LogContent(
        batches=counter.batches,
        end=counter.end,
        seen_bytes=stream.at,
        is_waiting=counter.is_waiting,
        is_damaged=bool(damage),
        activities=activities,
        lines=counter.lines,
    )


def _in_runs(
    stream: LogStream,
    known: StatementCache,
    begin: LogPosition,
    told: ReadProgress,
    damage: list[tuple[str, int]],
) -> Iterator[LogLine]:
    """Yield the lines of a stream up to its damage, each with its run.

    A line that is known is in no run, 0, unless one follows that is not, for that may be its rest,
    or unless it is the last. After a piece of a line all others are in its run.
    """
    number, before = begin.lines, begin.tail
    run, in_run, in_pieces = 0, False, False
    held: LogLine | None = None
    try:
        for raw in stream.lines():
            number += 1
            if number % _LINES_TOLD == 0:
                told.add(0, _LINES_TOLD)
            found = None if in_pieces else known.find(raw)
            if found is not None:
                if held is not None:
                    yield held
                held, in_run = LogLine(0, raw, stream.start, number, before, *found), False
            else:
                run, in_run = run if in_run else run + 1, True
                if held is not None:
                    yield held._replace(run=run)
                held, in_pieces = None, in_pieces or is_piece(raw)
                yield LogLine(run, raw, stream.start, number, before, None, 0)
            before = raw
    except DamagedLogError as error:
        damage.append((f"the rest of the gzipped file cannot be read: {error}", number + 1))
    if held is not None:
        yield held._replace(run=run + 1)


def _read_run(lines: Iterable[LogLine], clock: Clock, counter: LineCounter) -> EntryGroup:
    """Read lines together, and count all but the last entries: more of these may come."""
    places: deque[LogPosition] = deque()
    base = -1
    newest: list[LogEntry] = []
    for entry in read_entries(_noted(lines, places), clock):
        if base < 0:
            base = places[0].lines
        if newest and newest[0].group != entry.group:
            counter.count_entries(EntryGroup(newest, _place_of(newest[0], base, places), base))
            newest = []
        newest.append(entry)
    place = _place_of(newest[0], base, places) if newest else places[0]
    return EntryGroup(newest, place, base)


def _noted(lines: Iterable[LogLine], places: deque[LogPosition]) -> Iterator[bytes]:
    """Yield lines, and note where each begins."""
    for line in lines:
        places.append(line.place)
        yield line.raw


def _place_of(entry: LogEntry, base: int, places: deque[LogPosition]) -> LogPosition:
    """Return where an entry's group begins, and forget the places far before it.

    The pieces of a line may come among those of others, so the lines do not quite come in order.
    """
    before = base + entry.group - 1
    while places[0].lines < before - _FAR:
        places.popleft()
    return places[before - places[0].lines]


class StatementCache:
    """What lines of a file said, by their bytes without the time: plain ones, and any other."""

    def __init__(self, clock: Clock, activities: Activities) -> None:
        """Begin with none."""
        self._clock, self._activities = clock, activities
        self._messages: dict[bytes, CachedStatement | None] = {}
        self._minutes: dict[bytes, int] = {}
        self._shapes = Shapes(clock, activities)

    def find(self, raw: bytes) -> tuple[CachedStatement, int] | None:
        """Return what a line says and when it was written; None where it goes the long way."""
        found = _PLAIN.match(raw)
        if found is None:
            return self._shapes.find(raw)
        minute, second, milli = found.groups()
        begin = self._minutes.get(minute) or self._minute(minute)
        if begin < 0:
            return None
        message = raw[found.end() :].rstrip(b"\r\n")
        cached = self._messages.get(message)
        if cached is None and message not in self._messages:
            cached = self._read(message)
        if cached is None:
            return None
        return cached, begin + int(second) * 1_000_000 + int(milli) * 1_000

    def _minute(self, minute: bytes) -> int:
        """Return when a minute began; below 0 where that is not one time after 1970."""
        span = self._clock.read(f"{minute.decode()}:00")
        is_plain = span is not None and span[0] == span[1] and span[0] > 0
        found = span[0] if span is not None and is_plain else -1
        if len(self._minutes) >= _MOST_MINUTES:
            self._minutes.clear()
        self._minutes[minute] = found
        return found

    def _read(self, message: bytes) -> CachedStatement | None:
        """Read a message that is new; None where it cannot be read, or not in one way only."""
        if len(self._messages) >= _MOST_MESSAGES:
            self._messages.clear()
        readings: Sequence[Statement] = ()
        if len(message) < LONGEST - _LONGEST_START and _ESCAPE not in message:
            with suppress(UnicodeDecodeError):
                readings = read_statement(message.decode())
        cached = CachedStatement(readings[0], self._activities) if len(readings) == 1 else None
        self._messages[message] = cached
        return cached


class Shape(NamedTuple):
    """What the lines of a shape say, and which of their times is theirs."""

    cached: CachedStatement
    place: int


class Shapes:
    """Lines of any layout that differ in their times alone → what all of them say, read once.

    Collectors of logs put the same line into the same envelope: JSON, the prefix of a pod, a time
    of their own. Without its times such a line is a *shape*. The first line of a shape is read the
    long way; of the others only the time is read that was the first one's. A shape is left to the
    long way where that could be another time or another text: of two times alike, in a name, with
    a zone's short name behind it, in pieces of a line.
    """

    def __init__(self, clock: Clock, activities: Activities) -> None:
        """Begin with none."""
        self._clock, self._activities = clock, activities
        self._known: dict[bytes, Shape | None] = {}
        self._credit = _CREDIT

    def find(self, raw: bytes) -> tuple[CachedStatement, int] | None:
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
        return None if time is None else (found.cached, time)

    def _learn(self, raw: bytes, shape: bytes, times: list[bytes]) -> Shape | None:
        """Read the first line of a shape; too many shapes cost more than they save."""
        self._credit -= 1
        if len(self._known) >= _MOST_SHAPES:
            self._known.clear()
        self._known[shape] = found = self._read(raw, times)
        return found

    def _read(self, raw: bytes, times: list[bytes]) -> Shape | None:
        if _JUL in raw or _ZONED.search(raw) or is_piece(raw):
            return None
        entry = read_alone(raw, self._clock)
        if entry is None or entry.statement is None or entry.span is None:
            return None
        places = [n for n, time in enumerate(times) if self._time(time) == entry.span[0]]
        texts = _texts(entry.statement)
        in_names = any(time.decode() in text for time in times for text in texts)
        if entry.span[0] != entry.span[1] or len(places) != 1 or in_names:
            return None
        return Shape(CachedStatement(entry.statement, self._activities), places[0])

    def _time(self, text: bytes) -> int | None:
        """Read a time that is only one."""
        span = self._clock.read(text.decode())
        return None if span is None or span[0] != span[1] else span[0]


def _texts(statement: Statement) -> tuple[str, ...]:
    request = statement.request
    return (request.principal, request.resource_name, request.host, statement.rule_text or "")


_RUN: Final = itemgetter(0)
_PLAIN: Final = re.compile(
    rb"\[?(\d{4}-\d\d-\d\d[ T]\d\d:\d\d):([0-5]\d)[.,](\d{3})\]? (?:TRACE|DEBUG|INFO|WARN|ERROR) +"
    rb"(?=" + PRINCIPAL_IS.encode() + rb")"
)
_ESCAPE: Final = b"\x1b"
_LONGEST_START: Final = 100
_FAR: Final = 4_096
_MOST_MINUTES: Final = 10_000
_MOST_MESSAGES: Final = 100_000
_LINES_TOLD: Final = 10_000
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
