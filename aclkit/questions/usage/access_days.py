"""Lines of one file that were judged → rows of ``access_day``, as columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import pyarrow as pa

from aclkit.questions.usage.clock import to_datetime
from aclkit.questions.usage.judging import Judged
from aclkit.runtime.arrow import record_batch
from aclkit.warehouse.column_types import arrow_schema

ACCESS_DAY: Final = "access_day"
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
