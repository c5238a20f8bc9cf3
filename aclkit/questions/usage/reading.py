"""The lines of a log file from a place on → rows of ``access_day``, and from where to go on.

Most lines are ``[time] LEVEL Principal = …`` and repeat what another one said. Such a line is one
look into a dictionary: what was said is read once, and decided once for the time in which its
verdict holds. All others, and what stands next to them, go the long way of ``entry``. A line that
follows such a line may be the rest of a name in it, so it counts when the next one begins.

The last entry of a file is *open*: more of it may be written yet. So are all from the first line
on that is newer than the run that read the ACLs. A later run reads them again.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final, NamedTuple

import pyarrow as pa

from aclkit.kafka.authorizer.audit import PRINCIPAL_IS
from aclkit.pipeline.sources.masking import mask_text
from aclkit.questions.usage.access_days import DAY, AccessDays, Counted
from aclkit.questions.usage.alike import Shapes
from aclkit.questions.usage.check import UNDETERMINED, UNREADABLE
from aclkit.questions.usage.clock import Clock
from aclkit.questions.usage.entry import LONGEST, LogEntry, read_entries
from aclkit.questions.usage.envelope import is_piece
from aclkit.questions.usage.judging import Judge, not_read
from aclkit.questions.usage.line import Statement, read_statement
from aclkit.questions.usage.log_file import DamagedLogError, LogStream
from aclkit.questions.usage.stretches import Talks
from aclkit.runtime.read_progress import NO_PROGRESS, ReadProgress


@dataclass(frozen=True, slots=True)
class Place:
    """A place between two entries of a file.

    Attributes:
        at: bytes before it, gzip undone.
        lines: lines before it.
        tail: bytes before it by which it is known.
    """

    at: int = 0
    lines: int = 0
    tail: bytes = b""


BEGIN: Final = Place()
TAIL: Final = 4_096
"""Bytes of a tail, at most; it never has more than the line that ends there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What the lines of a file hold.

    Attributes:
        batches: rows of ``access_day``.
        end: from where the next reading goes on.
        seen_bytes: what the file had, gzip undone.
        is_waiting: some lines are newer than the ACLs that are known.
        is_damaged: the rest of a gzipped file cannot be read.
        talks: when the file has lines of which kind, earlier ones too.
        lines: how many lines were judged.
    """

    batches: Sequence[pa.RecordBatch]
    end: Place
    seen_bytes: int
    is_waiting: bool
    is_damaged: bool
    talks: Talks
    lines: int


class _Said:
    """What a message says, and the row of its lines while its verdict and the day last."""

    __slots__ = ("end", "row", "start", "statement", "talk")

    def __init__(self, statement: Statement, talks: Talks) -> None:
        self.statement = statement
        self.talk = talks.of(statement)
        self.row = _NO_ROW
        self.start = self.end = 0

    def forget_row(self) -> None:
        """Look for the row anew when the next line comes."""
        self.start = self.end = 0


_NO_ROW: Final = Counted(None, 0)


class _Line(NamedTuple):
    """A line that is one look into a dictionary, and where it stands."""

    raw: bytes
    said: _Said
    time: int
    start: int
    number: int


class _Standing(NamedTuple):
    """Where a line begins, its number, and the bytes of the line before it."""

    start: int
    number: int
    before: bytes


class LogReader:
    """Reads one file."""

    def __init__(
        self,
        judge: Judge,
        clock: Clock,
        days: AccessDays,
        *,
        begin: Place = BEGIN,
        talks: Talks | None = None,
        told: ReadProgress = NO_PROGRESS,
    ) -> None:
        """Begin at a place.

        Args:
            judge: knows the past.
            clock: reads the times of the log.
            days: takes the rows of lines that need not be read again; none yet.
            begin: where the stream stands.
            talks: when the file has lines of which kind, as far as it has been read.
            told: where to report progress.
        """
        self._judge, self._clock, self._told = judge, clock, told
        self._days = self._closed = days
        self._open = replace(days, is_open=True, rows={})
        self._messages: dict[bytes, _Said | None] = {}
        self._shapes, self._others = Shapes(clock), dict[int, _Said]()
        self._minutes: dict[bytes, int] = {}
        self._talks = talks or Talks()
        self._batches: list[pa.RecordBatch] = []
        self._end, self._is_waiting, self._counted = begin, False, 0
        self._number, self._before = begin.lines, begin.tail

    def read(self, stream: LogStream) -> Content:
        """Read a stream to its end."""
        damage: list[DamagedLogError] = []
        lines = self._counting(_whole(stream.lines(), damage))
        held: _Line | None = None
        for raw in lines:
            line = self._plain(raw, stream.start)
            if line is None:
                held = self._read_slowly(stream, held, chain([raw], lines))
                continue
            if held is not None:
                self._count(held)
                self._before = held.raw
            held = line
        if held is not None:
            self._end_at(held.start, held.number, self._before)
            held.said.forget_row()
            self._count(held)
        if damage:
            reason = f"the rest of the gzipped file cannot be read: {damage[0]}"
            self._open.of(not_read(UNREADABLE, reason), None, self._number + 1).lines += 1
        return self._content(stream.at, is_damaged=bool(damage))

    def _content(self, seen_bytes: int, *, is_damaged: bool) -> Content:
        self._take(self._closed)
        self._take(self._open)
        return Content(
            batches=self._batches,
            end=self._end,
            seen_bytes=seen_bytes,
            is_waiting=self._is_waiting,
            is_damaged=is_damaged,
            talks=self._talks,
            lines=self._counted,
        )

    def _counting(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Number the lines that pass."""
        for raw in lines:
            self._number += 1
            if self._number % _LINES_TOLD == 0:
                self._told.add(0, _LINES_TOLD)
            yield raw

    def _plain(self, raw: bytes, start: int) -> _Line | None:
        """Read a line whose time and message need no second look; None of any other."""
        found = _PLAIN.match(raw)
        if found is None:
            return self._alike(raw, start)
        minute, second, milli = found.groups()
        begin = self._minutes.get(minute) or self._minute(minute)
        if begin < 0:
            return None
        message = raw[found.end() :].rstrip(b"\r\n")
        said = self._messages.get(message)
        if said is None and message not in self._messages:
            said = self._say(message)
        if said is None:
            return None
        time = begin + int(second) * 1_000_000 + int(milli) * 1_000
        return _Line(raw, said, time, start, self._number)

    def _alike(self, raw: bytes, start: int) -> _Line | None:
        """Read a line of another layout, if it differs from another one in its time alone."""
        found = self._shapes.find(raw)
        if found is None:
            return None
        statement, time = found
        said = self._others.get(id(statement))
        if said is None or said.statement is not statement:
            if len(self._others) >= _MOST_MESSAGES:
                self._forget_rows()
                self._others.clear()
            said = self._others[id(statement)] = _Said(statement, self._talks)
        return _Line(raw, said, time, start, self._number)

    def _minute(self, minute: bytes) -> int:
        """Return when a minute began; below 0 where that is not one time after 1970."""
        span = self._clock.read(f"{minute.decode()}:00")
        is_plain = span is not None and span[0] == span[1] and span[0] > 0
        found = span[0] if span is not None and is_plain else -1
        if len(self._minutes) >= _MOST_MINUTES:
            self._minutes.clear()
        self._minutes[minute] = found
        return found

    def _say(self, message: bytes) -> _Said | None:
        """Read a message that is new; None where it cannot be read, or not in one way only."""
        if len(self._messages) >= _MOST_MESSAGES:
            self._forget_rows()
            self._messages.clear()
        readings: Sequence[Statement] = ()
        if len(message) < LONGEST - _LONGEST_START and _ESCAPE not in message:
            with suppress(UnicodeDecodeError):
                readings = read_statement(message.decode())
        said = _Said(readings[0], self._talks) if len(readings) == 1 else None
        self._messages[message] = said
        return said

    def _count(self, line: _Line) -> None:
        """Count a line where its message's row is the right one, or find that first."""
        said, time = line.said, line.time
        if not said.start <= time < said.end:
            self._turn(line)
        said.row.add(time, line.number)
        talk = said.talk
        if not talk.first <= time <= talk.limit:
            talk.note(time)
        elif time > talk.last:
            talk.last = time

    def _turn(self, line: _Line) -> None:
        """Find the row of a line whose verdict or day is another one than before."""
        if line.time > self._judge.past.read_at:
            self._wait_at(line.start, line.number, self._before)
        self._make_room()
        start, end, judged = self._judge.verdicts(_alike(line.said.statement)).at(line.time)
        day = line.time // DAY * DAY
        said = line.said
        said.row = self._days.of(judged, line.time, line.number)
        said.start, said.end = max(start, day), min(end, day + DAY)

    def _read_slowly(
        self, stream: LogStream, held: _Line | None, lines: Iterable[bytes]
    ) -> _Line | None:
        """Read all entries up to the next plain line, and return that; None at the end.

        Args:
            stream: where the lines are from.
            held: the plain line before them, of which they may be the rest.
            lines: they.
        """
        places: deque[_Standing] = deque()
        stop: list[_Line] = []
        entries = read_entries(self._segment(stream, held, lines, places, stop), self._clock)
        newest: list[LogEntry] = []
        base = self._number - 1 if held is None else held.number - 1
        for entry in entries:
            if newest and newest[0].group != entry.group:
                self._count_entries(newest, base, places)
                newest = []
            newest.append(entry)
        if newest and not stop:
            self._end_at(*_place_of(base + newest[0].group, places))
        elif not stop and places:
            self._end_at(*places[0])
        self._count_entries(newest, base, places)
        return stop[0] if stop else None

    def _segment(
        self,
        stream: LogStream,
        held: _Line | None,
        lines: Iterable[bytes],
        places: deque[_Standing],
        stop: list[_Line],
    ) -> Iterator[bytes]:
        """Yield lines up to the next plain one, and note where each stands."""
        if held is not None:
            places.append(_Standing(held.start, held.number, self._before))
            self._before = held.raw
            yield held.raw
        is_first, in_pieces = True, False
        for raw in lines:
            line = None if is_first or in_pieces else self._plain(raw, stream.start)
            is_first, in_pieces = False, in_pieces or is_piece(raw)
            if line is not None:
                stop.append(line)
                return
            places.append(_Standing(stream.start, self._number, self._before))
            self._before = raw[-TAIL:]
            yield raw

    def _count_entries(
        self, entries: Iterable[LogEntry], base: int, places: deque[_Standing]
    ) -> None:
        """Count entries that were read the long way; ``base`` lines are before the first."""
        for entry in entries:
            is_new = entry.statement and entry.span and entry.span[1] > self._judge.past.read_at
            if is_new:
                self._wait_at(*_place_of(base + entry.group, places))
            self._count_entry(entry, base + entry.position)

    def _count_entry(self, entry: LogEntry, number: int) -> None:
        span, statement = entry.span, entry.statement
        self._make_room()
        time = None if span is None else span[0]
        if statement is None or span is None:
            verdict = UNDETERMINED if entry.is_ambiguous else UNREADABLE
            row = self._days.of(not_read(verdict, entry.problem), time, number)
            if not row.lines:
                row.raw = mask_text(entry.text)
        else:
            verdicts = self._judge.verdicts(_alike(statement))
            judged = verdicts.at(span[0]).judged if span[0] == span[1] else verdicts.within(span)
            row = self._days.of(judged, time, number)
        row.add(time, number)
        if time is not None and (statement is not None or entry.is_ambiguous):
            self._talks.of(statement).note(time)

    def _wait_at(self, start: int, number: int, before: bytes) -> None:
        """Go on here in a later run: what is newer than the ACLs is decided again."""
        self._end_at(start, number, before)
        self._is_waiting = True

    def _end_at(self, start: int, number: int, before: bytes) -> None:
        """Go on at a line in a later run, unless that is to go on at an earlier one."""
        if self._days is self._open:
            return
        self._end = Place(start, number - 1, before[-TAIL:])
        self._days = self._open
        self._forget_rows()

    def _forget_rows(self) -> None:
        for said in filter(None, chain(self._messages.values(), self._others.values())):
            said.forget_row()

    def _make_room(self) -> None:
        """Make columns of the rows, if they are many."""
        if len(self._days.rows) >= _MOST_ROWS:
            self._take(self._days)
            self._forget_rows()

    def _take(self, days: AccessDays) -> None:
        if days.rows:
            self._counted += sum(row.lines for row in days.rows.values())
            self._batches.append(days.take())


def _whole(lines: Iterable[bytes], damage: list[DamagedLogError]) -> Iterator[bytes]:
    """Yield lines up to the damage of a file, and note that."""
    try:
        yield from lines
    except DamagedLogError as error:
        damage.append(error)


def _alike(statement: Statement) -> Statement:
    """Return what decides of a statement: how often a request names a resource does not."""
    return replace(statement, resource_ref_count=0)


def _place_of(number: int, places: deque[_Standing]) -> _Standing:
    """Return where a line stands, and forget those far before it.

    The pieces of a line may come among those of others, so the lines do not quite come in order.
    """
    while places[0].number < number - _FAR:
        places.popleft()
    return places[number - places[0].number]


_PLAIN: Final = re.compile(
    rb"\[?(\d{4}-\d\d-\d\d[ T]\d\d:\d\d):([0-5]\d)[.,](\d{3})\]? (?:TRACE|DEBUG|INFO|WARN|ERROR) +"
    rb"(?=" + PRINCIPAL_IS.encode() + rb")"
)
_ESCAPE: Final = b"\x1b"
_LONGEST_START: Final = 100
_FAR: Final = 4_096
_MOST_MINUTES: Final = 10_000
_MOST_MESSAGES: Final = 100_000
_MOST_ROWS: Final = 200_000
_LINES_TOLD: Final = 10_000
