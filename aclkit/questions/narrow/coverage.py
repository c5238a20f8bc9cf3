"""What was read of the authorizer log → what is missing before it can show what was not used. Pure.

That an access was used, one line shows. That it was not used, only a log shows that has all lines:
of the whole window, of every broker, and at DEBUG, for brokers log what they allow at DEBUG alone.
So everything that is missing here is a reason not to narrow anything.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from math import floor
from typing import Final, NamedTuple

from aclkit.model.groups import grouped
from aclkit.model.phrases import few, number_of
from aclkit.questions.usage.coverage import GAP

NO_LOG: Final = "no-log"
DAYS: Final = "days"
BROKERS: Final = "brokers"
DEBUG: Final = "debug"
UNREAD: Final = "unread"
STALE: Final = "stale"
CONTROLLERS: Final = "controllers"

STALE_AFTER: Final = timedelta(days=7)
"""A log that ends so long before the ACLs were read does not show what is used today."""


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
    """A time in which a file has no gap of more than an hour."""

    file: str
    first: datetime
    last: datetime


class Unread(NamedTuple):
    """Lines of the authorizer that could not be read, of one file and day; None without a time."""

    file: str
    day: date | None
    lines: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """What was read of the authorizer log of one cluster.

    Attributes:
        days: its lines, by file and day.
        stretches: when files speak.
        unread: lines of it that could not be read.
        sources: number of a file → where it was read.
        copies: numbers of files that hold lines of the same broker at the same time.
    """

    days: Sequence[FileDay]
    stretches: Sequence[Stretch]
    unread: Sequence[Unread]
    sources: Mapping[str, str] = field(default_factory=dict)
    copies: Collection[tuple[str, str]] = ()

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
        brokers: how many there are; None where that is not known.
        read_at: when the ACLs were read; None where that is not known.
        most_unread: so many lines may be unreadable.
        may_be_old: the log may end long before the ACLs were read.
    """

    days: float
    brokers: int | None
    read_at: datetime | None
    most_unread: int = 0
    may_be_old: bool = False


class Missing(NamedTuple):
    """What is missing, as a sentence, and what to do about it."""

    kind: str
    words: str
    next: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgeable:
    """What a log can show.

    Attributes:
        window_from: beginning of the window; None without a log.
        window_to: its end: the newest line.
        missing: why nothing can be narrowed; nothing where all is there.
        controllers: why what only controllers decide cannot be judged; None where it can.
        covered: the share of the window in which every broker's log is there.
        age: how long before the ACLs were read the log ends; None where that is not known.
    """

    window_from: datetime | None
    window_to: datetime | None
    missing: tuple[Missing, ...]
    controllers: Missing | None
    covered: float
    age: timedelta | None = None


def judge_log(log: Log, needed: Needed) -> Judgeable:
    """Return what of the window a log covers, and what is missing."""
    last = log.last
    if last is None:
        words = "No line of an authorizer log was read."
        missing = Missing(NO_LOG, words, "aclkit usage --authorizer-log PATH")
        return Judgeable(
            window_from=None, window_to=None, missing=(missing,), controllers=None, covered=0.0
        )
    start = last - timedelta(days=needed.days)
    least = needed.brokers or 1
    lacking = _lacking(_debug_stretches(log), start, last, least)
    length = (last - start).total_seconds()
    absent = sum((end - begin).total_seconds() for begin, end in lacking)
    return Judgeable(
        window_from=start,
        window_to=last,
        missing=tuple(_missing(log, needed, start, last)),
        controllers=_no_controllers(log, start, last),
        covered=1.0 - absent / length if length > 0 else 1.0,
        age=None if needed.read_at is None else needed.read_at - last,
    )


def _missing(log: Log, needed: Needed, start: datetime, last: datetime) -> Iterator[Missing]:
    yield from _too_short(log, needed, start, last)
    yield from _stale(needed, last)
    yield from _silent(log, start, last)
    yield from _unread(log, needed, start)
    if needed.brokers is None:
        words = "How many brokers the cluster has is not known from its source."
        yield Missing(BROKERS, words, "pass --brokers N")
        return
    begun = max(start, log.first or start)
    lacking = _lacking(_broker_stretches(log), begun, last, needed.brokers)
    holes = [(a, b) for a, b in lacking if b - a > GAP or (a, b) == (begun, last)]
    if holes:
        yield _no_brokers(holes, needed.brokers)


def _unread(log: Log, needed: Needed, start: datetime) -> Iterator[Missing]:
    found = [each for each in log.unread if each.day is None or each.day >= start.date()]
    unread = sum(each.lines for each in found)
    if unread > needed.most_unread:
        yield Missing(
            UNREAD,
            f"{number_of(unread, 'line')} could not be read and may show a use: "
            f"{log.words(each.file for each in found)}.",
            f"look for them in access_day; to go on all the same: --most-unread {unread}",
        )


def _no_brokers(holes: Sequence[_Span], brokers: int) -> Missing:
    hours = sum((end - begin).total_seconds() for begin, end in holes) / 3600
    begin, end = holes[0]
    if brokers == 1:
        words = f"The log has gaps of {hours:,.0f} h in the window"
    else:
        words = (
            f"The cluster has {brokers:,} brokers, but for {hours:,.0f} h of the window fewer logs "
            "were read"
        )
    return Missing(
        BROKERS,
        f"{words}, first from {begin:{_TIME}} to {end:{_TIME}}.",
        "aclkit usage --authorizer-log LOGS_OF_ALL_BROKERS; fewer brokers: --brokers N",
    )


def _too_short(log: Log, needed: Needed, start: datetime, last: datetime) -> Iterator[Missing]:
    first = log.first or last
    if first > start + GAP:
        have = (last - first).total_seconds() / 86_400
        shorter = f", or a shorter window: --unused-days {floor(have)}" if have >= 1 else ""
        yield Missing(
            DAYS,
            f"The log covers {have:.3g} of the {needed.days:g} days: {first:{_TIME}} to "
            f"{last:{_TIME}}.",
            f"aclkit usage --authorizer-log OLDER_FILES{shorter}",
        )


def _stale(needed: Needed, last: datetime) -> Iterator[Missing]:
    if needed.may_be_old or needed.read_at is None:
        return
    if needed.read_at - last > STALE_AFTER:
        days = (needed.read_at - last).days
        yield Missing(
            STALE,
            f"The log ends {number_of(days, 'day')} before the ACLs were read, at {last:{_TIME}}.",
            "aclkit usage --authorizer-log NEWER_FILES; to go on all the same: --old-log",
        )


def _silent(log: Log, start: datetime, last: datetime) -> Iterator[Missing]:
    """Yield which files have days without an ALLOWED line.

    The first minutes of a file may have none by chance.
    """
    allowed = {each.file for each in log.days if each.allowed}
    silent = grouped(
        (each.file, each.day)
        for each in log.days
        if not each.allowed and start.date() <= each.day <= last.date()
        if each.file not in allowed or _spoken(log, each.file, each.day) > GAP
    )
    if silent:
        days = sum(map(len, silent.values()))
        yield Missing(
            DEBUG,
            f"No ALLOWED line on {number_of(days, 'day')}, so the log was probably at INFO then: "
            f"{log.words(silent)}.",
            "set kafka.authorizer.logger to DEBUG on every broker, and wait",
        )


def _spoken(log: Log, file: str, day: date) -> timedelta:
    """Return for how long a file speaks on a day."""
    begin = datetime.combine(day, time())
    spans = (
        min(each.last, begin + _DAY) - max(each.first, begin)
        for each in log.stretches
        if each.file == file
    )
    return sum((span for span in spans if span > timedelta()), timedelta())


def _no_controllers(log: Log, start: datetime, last: datetime) -> Missing | None:
    """Return that the active controller's log is not there on each day of the window.

    It alone gets the heartbeats of brokers, every other second, and logs each at DEBUG.
    """
    beats = {each.day for each in log.days if each.heartbeats}
    days = (last.date() - start.date()).days + 1
    wanted = {start.date() + timedelta(days=at) for at in range(days)}
    absent = sorted(day for day in wanted - beats if day > start.date() or days == 1)
    if not absent:
        return None
    return Missing(
        CONTROLLERS,
        f"The log of the active controller is missing on {number_of(len(absent), 'day')} of the "
        f"window, first on {absent[0]}.",
        "aclkit usage --authorizer-log LOGS_OF_ALL_CONTROLLERS",
    )


_Span = tuple[datetime, datetime]


def _broker_stretches(log: Log) -> list[_Span]:
    """Return when each broker speaks: not the files of controllers alone, and copies once."""
    served = {each.file for each in log.days if each.served}
    controllers = {each.file for each in log.days if each.heartbeats} - served
    by_broker = grouped(
        (_original(log, each.file), (each.first, each.last))
        for each in log.stretches
        if each.file not in controllers
    )
    return [span for spans in by_broker.values() for span in _united(spans)]


def _original(log: Log, file: str) -> str:
    """Return the first of the files that are copies of each other."""
    known, ahead = {file}, [file]
    while ahead:
        one = ahead.pop()
        others = {b if a == one else a for a, b in log.copies if one in (a, b)} - known
        known |= others
        ahead += others
    return min(known)


def _united(spans: Iterable[_Span]) -> list[_Span]:
    """Put spans together that overlap."""
    found: list[_Span] = []
    for first, last in sorted(spans):
        if found and first <= found[-1][1]:
            found[-1] = found[-1][0], max(last, found[-1][1])
        else:
            found.append((first, last))
    return found


def _debug_stretches(log: Log) -> list[_Span]:
    """Return the same, without the days on which a file has no ALLOWED line."""
    allowed = {(each.file, each.day) for each in log.days if each.allowed}
    found = []
    for file, first, last in log.stretches:
        begin = first
        while begin <= last:
            midnight = datetime.combine(begin.date(), time()) + _DAY
            if (file, begin.date()) in allowed:
                found.append((begin, min(last, midnight)))
            begin = midnight
    return found


def _lacking(spans: Iterable[_Span], start: datetime, end: datetime, least: int) -> list[_Span]:
    """Return when fewer files than brokers speak at the same time.

    One broker writes one file at a time, so files that speak at once are of several brokers.
    """
    events = sorted(
        event
        for begin, until in spans
        if until > start and begin < end
        for event in ((max(begin, start), 1), (min(until, end), -1))
    )
    found: list[_Span] = []
    at, count = start, 0
    for moment, step in [*events, (end, 0)]:
        if count < least and moment > at:
            if found and found[-1][1] == at:
                found[-1] = found[-1][0], moment
            else:
                found.append((at, moment))
        at, count = moment, count + step
    return found


_DAY: Final = timedelta(days=1)
_TIME: Final = "%Y-%m-%d %H:%M"
