"""What was read of the authorizer log, as values → when which broker speaks, and gaps. Pure.

The files of one broker are one voice: its log may be rotated, or split into files that overlap.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Final, NamedTuple

from aclkit.model.phrases import few, number_of
from aclkit.questions.usage.line import Statement
from aclkit.rules.decide.rules import ALLOWED

GAP: Final = timedelta(hours=1)
"""Without a line for longer than this, a log is taken to be missing: brokers speak all the time."""

Span = tuple[datetime, datetime]


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
    gaps: tuple[Span, ...]

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


def find_gaps(stretches: Iterable[Span]) -> tuple[Span, ...]:
    """Return where between stretches, (first line, last line) each, nothing was written.

    >>> at = [datetime(2026, 1, 1, hour) for hour in (0, 1, 5)]
    >>> [(a.hour, b.hour) for a, b in find_gaps([(at[2], at[2]), (at[0], at[1])])]
    [(1, 5)]
    """
    return tuple((one[1], other[0]) for one, other in pairwise(united(stretches)))


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


def shown_gaps(gaps: Sequence[Span]) -> list[dict[str, datetime]]:
    """Return gaps as a program reads them."""
    return [{"from": start, "to": end} for start, end in gaps]


_TIME: Final = "%Y-%m-%dT%H:%M:%SZ"


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


class Activity:
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


class Activities:
    """The lines of a file by kind: heartbeats, what else is allowed, and the rest."""

    __slots__ = ("_allowed", "_beats", "_others")

    def __init__(
        self,
        spoke: Iterable[tuple[int, int]] = (),
        allowed: Iterable[tuple[int, int]] = (),
        beats: Iterable[tuple[int, int]] = (),
    ) -> None:
        """Begin with the stretches that were read before."""
        self._others, self._allowed, self._beats = (
            Activity(spoke),
            Activity(allowed),
            Activity(beats),
        )

    def of(self, statement: Statement | None) -> Activity:
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


def _joined(*activities: Activity) -> Stretches:
    found = [each.close() for each in activities]
    return Stretches(pair for each in found for pair in zip(each.starts, each.ends, strict=True))


class FileDay(NamedTuple):
    """The readable lines of one file on one day.

    Attributes:
        file: its number.
        day: in UTC.
        allowed: how many are ALLOWED.
        heartbeats: how many are heartbeats of brokers, which only the active controller gets.
        served: how many are of requests that only brokers serve.
    """

    file: str
    day: date
    allowed: int
    heartbeats: int
    served: int


class Stretch(NamedTuple):
    """A time in which a file has lines of a kind without a gap of more than an hour."""

    file: str
    first: datetime
    last: datetime


class Unread(NamedTuple):
    """Lines of the authorizer that could not be read, of one file and day; None without a time."""

    file: str
    day: date | None
    lines: int


class Broker(NamedTuple):
    """A broker of the cluster, and until when it was one: None where it still is."""

    broker_id: int
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizerLog:
    """What was read of the authorizer log of one cluster.

    Attributes:
        days: its lines, by file and day.
        stretches: when files speak.
        allowed: when they have ALLOWED lines.
        beats: when they have heartbeats of brokers.
        unread: lines of it that could not be read.
        sources: number of a file → where it was read.
        copies: numbers of files that hold lines of the same broker at the same time.
        brokers: number of a file → the broker whose log it is, where that is sure.
    """

    days: Sequence[FileDay] = ()
    stretches: Sequence[Stretch] = ()
    allowed: Sequence[Stretch] = ()
    beats: Sequence[Stretch] = ()
    unread: Sequence[Unread] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    copies: Collection[tuple[str, str]] = ()
    brokers: Mapping[str, str] = field(default_factory=dict)

    def words(self, files: Iterable[str]) -> str:
        """Write where some files were read."""
        return few(sorted({self.sources.get(each, each) for each in files}))

    @property
    def first(self) -> datetime | None:
        """When the first line was written."""
        return min((each.first for each in self.stretches), default=None)

    @property
    def last(self) -> datetime | None:
        """When the last line was written."""
        return max((each.last for each in self.stretches), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """What a log must have.

    Attributes:
        days: length of the window, up to the newest line.
        registered: the brokers that the cluster registered; none where that is not known.
        brokers: the logs are of so many brokers, and that is all of them: the user's word.
        read_at: when the ACLs were read; None where that is not known.
        most_unread: so many lines may be unreadable.
        may_be_old: the log may end long before the ACLs were read.
    """

    days: float
    registered: Sequence[Broker] = ()
    brokers: int | None = None
    read_at: datetime | None = None
    most_unread: int = 0
    may_be_old: bool = False

    def required(self, start: datetime) -> list[Broker]:
        """Return the registered brokers of a window."""
        return [each for each in self.registered if each.until is None or each.until > start]

    def least(self, start: datetime) -> int | None:
        """Return of how many brokers the log must be; None where that is not known."""
        return self.brokers or len(self.required(start)) or None


def controllers_of(log: AuthorizerLog) -> set[str]:
    """Return the files of controllers that are no brokers."""
    served = {log.brokers.get(each.file, each.file) for each in log.days if each.served}
    beating = {each.file for each in log.days if each.heartbeats}
    return {file for file in beating if log.brokers.get(file, file) not in served}


def speakers_of(log: AuthorizerLog, needed: Needed, start: datetime) -> dict[str, str]:
    """Return whose voice each file is: those of one broker are one, and all if there is one."""
    of_controllers, is_one = controllers_of(log), needed.least(start) == 1
    found = {}
    for file in dict.fromkeys(each.file for each in log.stretches):
        original = _original(log, file)
        name = log.brokers.get(original) or log.brokers.get(file)
        if file not in of_controllers:
            found[file] = _ONLY if is_one else f"{_NAMED}{name}" if name else f"{_FILE}{original}"
    return found


def voices_of(
    log: AuthorizerLog,
    stretches: Iterable[Stretch],
    needed: Needed,
    start: datetime,
    last: datetime,
) -> list[Span]:
    """Return when brokers speak, each of them once at a time.

    Files without a name count only if the user has said how many brokers they are of. A number as
    name is that of a registered broker, or counts for nothing.
    """
    required = {} if needed.brokers else {str(e.broker_id): e for e in needed.required(start)}
    served = {log.brokers.get(each.file) for each in log.days if each.served}
    speakers = speakers_of(log, needed, start)
    voices: dict[str, list[Span]] = {}
    for file, first, until in stretches:
        speaker = speakers.get(file, "")
        name = speaker.removeprefix(_NAMED) if speaker.startswith(_NAMED) else None
        is_counted = needed.brokers is not None or speaker == _ONLY
        if name is not None:
            is_counted = name in required or (
                name in served and not (required and name.isdecimal())
            )
        if is_counted and speaker:
            voices.setdefault(speaker, []).append((first, until))
    if speakers and _ONLY not in speakers.values():
        for name, broker in required.items():
            if broker.until is not None:
                voices.setdefault(f"{_NAMED}{name}", []).append((broker.until, last))
    return [span for spans in voices.values() for span in united(spans)]


def _original(log: AuthorizerLog, file: str) -> str:
    """Return the first of the files that are copies of each other."""
    known, ahead = {file}, [file]
    while ahead:
        one = ahead.pop()
        others = {b if a == one else a for a, b in log.copies if one in (a, b)} - known
        known |= others
        ahead += others
    return min(known)


def united(spans: Iterable[Span]) -> list[Span]:
    """Put spans together that overlap, or have no gap of more than an hour between them."""
    found: list[Span] = []
    for first, last in sorted(spans):
        if found and first - found[-1][1] <= GAP:
            found[-1] = found[-1][0], max(last, found[-1][1])
        else:
            found.append((first, last))
    return found


def lacking(spans: Iterable[Span], start: datetime, end: datetime, least: int) -> list[Span]:
    """Return when fewer voices than there must be speak at the same time."""
    events = sorted(
        event
        for begin, until in spans
        if until > start and begin < end
        for event in ((max(begin, start), 1), (min(until, end), -1))
    )
    found: list[Span] = []
    at, count = start, 0
    for moment, step in [*events, (end, 0)]:
        if count < least and moment > at:
            if found and found[-1][1] == at:
                found[-1] = found[-1][0], moment
            else:
                found.append((at, moment))
        at, count = moment, count + step
    return found


_ONLY: Final = "the only broker"
_NAMED: Final = "broker "
_FILE: Final = "file "
