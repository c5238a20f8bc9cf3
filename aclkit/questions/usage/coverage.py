"""Times of log lines → which time the log covers, and where it has gaps. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from aclkit.model.phrases import number_of

GAP: Final = timedelta(hours=1)
"""Without a line for longer than this, a log is taken to be missing: brokers speak all the time."""

Gap = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCoverage:
    """What one file holds: its readable lines, and the ALLOWED ones among them."""

    source: str
    lines: int
    allowed_lines: int
    first: datetime
    last: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What is known of use.

    Attributes:
        files: the files, by name.
        allowed_from: the first ALLOWED line; None where there is none, as brokers log these at
            DEBUG only.
        gaps: stretches longer than ``GAP`` without any line, from the first to the last line.
    """

    files: tuple[FileCoverage, ...]
    allowed_from: datetime | None
    gaps: tuple[Gap, ...]

    @property
    def first(self) -> datetime | None:
        """When the first line was written."""
        return min((file.first for file in self.files), default=None)

    @property
    def last(self) -> datetime | None:
        """When the last line was written."""
        return max((file.last for file in self.files), default=None)

    @property
    def lines(self) -> int:
        """How many lines there are."""
        return sum(file.lines for file in self.files)

    @property
    def allowed_lines(self) -> int:
        """How many of them are ALLOWED."""
        return sum(file.allowed_lines for file in self.files)


def find_gaps(stretches: Iterable[Gap]) -> tuple[Gap, ...]:
    """Return where between stretches, (first line, last line) each, nothing was written.

    >>> at = [datetime(2026, 1, 1, hour) for hour in (0, 1, 5)]
    >>> [(a.hour, b.hour) for a, b in find_gaps([(at[2], at[2]), (at[0], at[1])])]
    [(1, 5)]
    """
    gaps: list[Gap] = []
    newest: datetime | None = None
    for first, last in sorted(stretches):
        if newest is not None and first - newest > GAP:
            gaps.append((newest, first))
        newest = last if newest is None else max(newest, last)
    return tuple(gaps)


def describe(coverage: Coverage) -> str:
    """Write in a sentence what was read; what that can show is ``whole_log``'s matter."""
    if coverage.first is None or coverage.last is None:
        return "The log has no readable line, so nothing is known about use."
    return (
        f"The log covers {coverage.first:{_TIME}} to {coverage.last:{_TIME}}: "
        f"{number_of(coverage.lines, 'line')} in {number_of(len(coverage.files), 'file')}, "
        f"{coverage.allowed_lines:,} of them ALLOWED, {number_of(len(coverage.gaps), 'gap')} "
        f"of more than {GAP // timedelta(hours=1)} h."
    )


def shown_gaps(gaps: Sequence[Gap]) -> list[dict[str, datetime]]:
    """Return gaps as a program reads them."""
    return [{"from": start, "to": end} for start, end in gaps]


_TIME: Final = "%Y-%m-%dT%H:%M:%SZ"
