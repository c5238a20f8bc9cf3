"""What the lines of a file say → rows of ``access_day``, as columns, and from where to go on.

The last entry of a file is *open*: more of it may be written yet. So are all from the first line
on that is newer than the run that read the ACLs. A later run reads them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, NamedTuple

import pyarrow as pa

from aclkit.pipeline.sources.masking import mask_text
from aclkit.questions.denials.read import ACCESS_DAY
from aclkit.questions.usage.check import UNDETERMINED, UNREADABLE, Judge, Judged, not_read
from aclkit.questions.usage.clock import to_datetime
from aclkit.questions.usage.coverage import Activities
from aclkit.questions.usage.entry import LogEntry
from aclkit.questions.usage.line import Statement
from aclkit.runtime.arrow import record_batch
from aclkit.warehouse.column_types import arrow_schema

DAY: Final = 86_400_000_000
"""Microseconds."""


class Counted:
    """Lines alike of one day: how many, from when to when, and where the first one stands."""

    __slots__ = ("first", "last", "lines", "position", "raw")

    def __init__(self, time: int | None, position: int, raw: str | None = None) -> None:
        """Begin with no line."""
        self.first = self.last = time
        self.lines = 0
        self.position = position
        self.raw = raw

    def add(self, time: int | None, position: int) -> None:
        """Count a line."""
        self.lines += 1
        if time is None or self.first is None or self.last is None:
            return
        if time > self.last:
            self.last = time
        elif time < self.first:
            self.first, self.position = time, position


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessDays:
    """Rows of a file.

    Attributes:
        cluster_id: the cluster.
        file_id: the file.
        run_number: the run that reads it.
        is_open: the lines are read again.
    """

    cluster_id: str
    file_id: str
    run_number: int
    is_open: bool
    rows: dict[tuple[int | None, Judged], Counted] = field(default_factory=dict)

    def of(self, judged: Judged, time: int | None, position: int, raw: str = "") -> Counted:
        """Return the row of a line, which the caller counts."""
        day = None if time is None else time // DAY
        found = self.rows.get((day, judged))
        if found is None:
            found = self.rows[day, judged] = Counted(time, position, raw or None)
        return found

    def take(self) -> pa.RecordBatch:
        """Return the rows as columns, and begin anew."""
        rows = [self._row(day, judged, row) for (day, judged), row in self.rows.items()]
        self.rows.clear()
        return record_batch(rows, arrow_schema(ACCESS_DAY))

    def _row(self, day: int | None, judged: Judged, row: Counted) -> tuple[Any, ...]:
        return (
            self.cluster_id,
            self.file_id,
            self.run_number,
            _time(None if day is None else day * DAY),
            *judged,
            _time(row.first),
            _time(row.last),
            row.lines,
            row.position,
            self.is_open,
            row.raw,
        )


def _time(micros: int | None) -> datetime | None:
    return None if micros is None else to_datetime(micros)


@dataclass(frozen=True, slots=True)
class LogPosition:
    """A place between two entries of a file.

    Attributes:
        at: bytes before it, gzip undone.
        lines: lines before it.
        tail: bytes before it by which it is known.
    """

    at: int = 0
    lines: int = 0
    tail: bytes = b""


BEGIN: Final = LogPosition()
TAIL: Final = 4_096
"""Bytes of a tail, at most; it never has more than the line that ends there."""


class CachedStatement:
    """What lines say, and the row that counts them while the verdict and the day last."""

    __slots__ = ("activity", "end", "row", "start", "statement")

    def __init__(self, statement: Statement, activities: Activities) -> None:
        """Begin without a row."""
        self.statement = statement
        self.activity = activities.of(statement)
        self.row = _NO_ROW
        self.start = self.end = 0


_NO_ROW: Final = Counted(None, 0)


class LogLine(NamedTuple):
    """A line of a file.

    Attributes:
        run: the lines of a run are read together; see ``reading``.
        raw: its bytes.
        start: bytes of the file before it, gzip undone.
        number: 1-based.
        before: the line before it.
        cached: what it says, if that is known without a second look.
        time: when it was written then.
    """

    run: int
    raw: bytes
    start: int
    number: int
    before: bytes
    cached: CachedStatement | None
    time: int

    @property
    def place(self) -> LogPosition:
        """Where it begins."""
        return LogPosition(self.start, self.number - 1, self.before[-TAIL:])


class EntryGroup(NamedTuple):
    """Entries that may be one, the place where they begin, and the lines before position 1."""

    entries: Sequence[LogEntry]
    place: LogPosition
    base: int


class LineCounter:
    """Counts the lines of one file.

    Attributes:
        activities: when the file has lines of which kind.
        end: from where a later run goes on.
        is_waiting: some lines are newer than the ACLs that are known.
        batches: rows of ``access_day``; whole after ``finish``.
        lines: how many lines these count.
    """

    def __init__(
        self, judge: Judge, days: AccessDays, activities: Activities, begin: LogPosition
    ) -> None:
        """Begin at a place; ``days`` takes the rows of lines that need not be read again."""
        self.activities, self.end, self.is_waiting = activities, begin, False
        self.batches: list[pa.RecordBatch] = []
        self.lines = 0
        self._judge = judge
        self._days = self._closed = days
        self._open = replace(days, is_open=True, rows={})
        self._with_row: list[CachedStatement] = []

    def count(self, line: LogLine, cached: CachedStatement) -> None:
        """Count a line where the row of what it says is the right one, or find that first."""
        time = line.time
        if not cached.start <= time < cached.end:
            self._find_row(line, cached)
        cached.row.add(time, line.number)
        activity = cached.activity
        if not activity.first <= time <= activity.limit:
            activity.note(time)
        elif time > activity.last:
            activity.last = time

    def count_entries(self, found: EntryGroup) -> None:
        """Count entries that were read the long way."""
        for entry in found.entries:
            span = entry.span
            if entry.statement and span and span[1] > self._judge.past.read_at:
                self._wait_at(found.place)
            self._count_entry(entry, found.base + entry.position)

    def count_damage(self, reason: str, number: int) -> None:
        """Count the rest of a file that cannot be read as one line, which a later run reads."""
        self._open.of(not_read(UNREADABLE, reason), None, number).lines += 1

    def end_at(self, place: LogPosition) -> None:
        """Let a later run go on at a place, unless it is to go on at an earlier one."""
        if self._days is not self._open:
            self.end = place
            self._days = self._open
            self._forget_rows()

    def finish(self) -> None:
        """Make columns of all rows."""
        self._take(self._closed)
        self._take(self._open)

    def _find_row(self, line: LogLine, cached: CachedStatement) -> None:
        """Find the row of a line whose verdict or day is another one than before."""
        if line.time > self._judge.past.read_at:
            self._wait_at(line.place)
        self._make_room()
        start, end, judged = self._judge.verdicts(_deciding(cached.statement)).at(line.time)
        day = line.time // DAY * DAY
        cached.row = self._days.of(judged, line.time, line.number)
        cached.start, cached.end = max(start, day), min(end, day + DAY)
        self._with_row.append(cached)

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
            verdicts = self._judge.verdicts(_deciding(statement))
            judged = verdicts.at(span[0]).judged if span[0] == span[1] else verdicts.within(span)
            row = self._days.of(judged, time, number)
        row.add(time, number)
        if time is not None and (statement is not None or entry.is_ambiguous):
            self.activities.of(statement).note(time)

    def _wait_at(self, place: LogPosition) -> None:
        """Go on here in a later run: what is newer than the ACLs is decided again."""
        self.end_at(place)
        self.is_waiting = True

    def _make_room(self) -> None:
        """Make columns of the rows, if they are many."""
        if max(len(self._days.rows), len(self._with_row)) >= _MOST_ROWS:
            self._take(self._days)
            self._forget_rows()

    def _forget_rows(self) -> None:
        for cached in self._with_row:
            cached.start = cached.end = 0
        self._with_row.clear()

    def _take(self, days: AccessDays) -> None:
        if days.rows:
            self.lines += sum(row.lines for row in days.rows.values())
            self.batches.append(days.take())


def _deciding(statement: Statement) -> Statement:
    """Return what decides of a statement: how often a request names a resource does not."""
    return replace(statement, resource_ref_count=0)


_MOST_ROWS: Final = 200_000
