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
        unread_files: files with lines of the authorizer that are laid out as none that is read;
            what these allowed is not known.
    """

    files: tuple[FileCoverage, ...]
    allowed_from: datetime | None
    gaps: tuple[Gap, ...]
    unread_files: tuple[str, ...] = ()

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

    @property
    def silent_files(self) -> tuple[str, ...]:
        """The files without ALLOWED lines: their brokers may have logged at INFO."""
        return tuple(file.source for file in self.files if not file.allowed_lines)

    def share(self, start: datetime) -> float:
        """Return of which share of the time from ``start`` to the last line use is known.

        Known is it from the first ALLOWED line on, gaps aside.
        """
        if self.last is None or self.allowed_from is None:
            return 0.0
        whole = (self.last - start).total_seconds()
        if whole <= 0:
            return 1.0
        known_from = max(start, self.allowed_from)
        missing = sum(
            max(0.0, (end - max(begin, known_from)).total_seconds()) for begin, end in self.gaps
        )
        return max(0.0, ((self.last - known_from).total_seconds() - missing) / whole)

    def silent_share(self, start: datetime) -> float:
        """Return for which share of that time files speak that have no ALLOWED line.

        Of several brokers each is counted, so it may be more than 1.
        """
        if self.last is None or self.allowed_from is None or self.last <= start:
            return 0.0
        known_from = max(start, self.allowed_from)
        silent = sum(
            max(0.0, (file.last - max(file.first, known_from)).total_seconds())
            for file in self.files
            if not file.allowed_lines
        )
        return silent / (self.last - start).total_seconds()


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


def describe(coverage: Coverage, days: float) -> str:
    """Write in a sentence or two what is covered."""
    if coverage.first is None or coverage.last is None:
        return "The log has no readable line, so nothing is known about use."
    told = [
        f"The log covers {coverage.first:{_TIME}} to {coverage.last:{_TIME}}: "
        f"{number_of(coverage.lines, 'line')} in {number_of(len(coverage.files), 'file')}, "
        f"{coverage.allowed_lines:,} of them ALLOWED, {number_of(len(coverage.gaps), 'gap')} "
        f"of more than {GAP // timedelta(hours=1)} h."
    ]
    if coverage.allowed_from is None and coverage.unread_files:
        told.append("No ALLOWED line could be read, so it is unknown which grants are used.")
    elif coverage.allowed_from is None:
        told.append(
            "The log has no ALLOWED lines (brokers write them at DEBUG), so it is unknown "
            "which grants are used."
        )
    else:
        share = coverage.share(coverage.last - timedelta(days=days))
        told.append(f"That is {share:.1%} of the {days:g} days that are judged.")
    return " ".join(told)


def shown_gaps(gaps: Sequence[Gap]) -> list[dict[str, datetime]]:
    """Return gaps as a program reads them."""
    return [{"from": start, "to": end} for start, end in gaps]


_TIME: Final = "%Y-%m-%dT%H:%M:%SZ"
