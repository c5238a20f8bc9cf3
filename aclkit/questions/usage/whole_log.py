"""What was read of the authorizer log → what is missing before it can show what was not used. Pure.

That an access was used, one line shows. That it was not used, only a log shows that has all lines:
of the whole window, of every broker, and at DEBUG, for brokers log what they allow at DEBUG alone.
So everything that is missing here is a reason to call nothing unused.

How many brokers speak is known only where each file has the name of its broker, or where there is
one broker: the log of one broker may be split into files that overlap. Elsewhere the user must say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import floor
from typing import Final, NamedTuple

from aclkit.model.groups import grouped
from aclkit.model.phrases import listed, number_of
from aclkit.questions.usage.coverage import (
    GAP,
    AuthorizerLog,
    Needed,
    Span,
    controllers_of,
    lacking,
    speakers_of,
    united,
    voices_of,
)

NO_LOG: Final = "no-log"
DAYS: Final = "days"
BROKERS: Final = "brokers"
DEBUG: Final = "debug"
UNREAD: Final = "unread"
STALE: Final = "stale"
CONTROLLERS: Final = "controllers"

STALE_AFTER: Final = timedelta(days=7)
"""A log that ends so long before the ACLs were read does not show what is used today."""


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
        missing: why nothing counts as unused; nothing where all is there.
        controllers: why what only controllers decide cannot be judged; None where it can.
        covered: the share of the window in which every broker's log is there, at DEBUG.
        age: how long before the ACLs were read the log ends; None where that is not known.
        brokers: so many brokers are needed.
    """

    window_from: datetime | None
    window_to: datetime | None
    missing: tuple[Missing, ...]
    controllers: Missing | None
    covered: float
    age: timedelta | None = None
    brokers: int = 1

    @property
    def words(self) -> str:
        """Write what a whole log covers: days, brokers and controllers."""
        if self.window_from is None or self.window_to is None:
            return ""
        days = (self.window_to - self.window_from) / _DAY
        brokers = "the broker" if self.brokers == 1 else f"all {self.brokers:,} brokers"
        controllers = ", without controllers" if self.controllers else " and of the controllers"
        return f"{days:.3g} days, log of {brokers}{controllers}"


def judge_log(log: AuthorizerLog, needed: Needed) -> Judgeable:
    """Return what of the window a log covers, and what is missing."""
    last = log.last
    if last is None:
        words = "No line of an authorizer log was read."
        missing = Missing(NO_LOG, words, "aclkit usage --authorizer-log PATH")
        return Judgeable(
            window_from=None, window_to=None, missing=(missing,), controllers=None, covered=0.0
        )
    start = last - timedelta(days=needed.days)
    least, length = needed.least(start), (last - start).total_seconds()
    voices = voices_of(log, log.allowed, needed, start, last)
    absent = sum((b - a).total_seconds() for a, b in lacking(voices, start, last, least or 1))
    return Judgeable(
        window_from=start,
        window_to=last,
        missing=tuple(_missing(log, needed, start, last)),
        controllers=_no_controllers(log, start, last),
        covered=1.0 - absent / length if length > 0 else 1.0,
        age=None if needed.read_at is None else needed.read_at - last,
        brokers=least or 1,
    )


def _missing(
    log: AuthorizerLog, needed: Needed, start: datetime, last: datetime
) -> Iterator[Missing]:
    yield from _too_short(log, needed, start, last)
    yield from _stale(needed, last)
    silent = list(_silent(log, needed, start, last))
    yield from silent
    yield from _unread(log, needed, start)
    least = needed.least(start)
    if least is None:
        words = "How many brokers the cluster has is not known from its source."
        yield Missing(BROKERS, words, "pass --brokers N")
        return
    begun = max(start, log.first or start)
    spoken, allowed = (
        _holes(voices_of(log, each, needed, start, last), begun, last, least)
        for each in (log.stretches, log.allowed)
    )
    if spoken:
        yield _no_brokers(log, needed, spoken, least)
    elif allowed and not silent:
        yield _at_info(allowed, "")


def _holes(voices: Iterable[Span], start: datetime, end: datetime, least: int) -> list[Span]:
    """Return when for more than an hour, or all the time, too few voices speak."""
    absent = lacking(voices, start, end, least)
    return [(a, b) for a, b in absent if b - a > GAP or (a, b) == (start, end)]


def _unread(log: AuthorizerLog, needed: Needed, start: datetime) -> Iterator[Missing]:
    found = [each for each in log.unread if each.day is None or each.day >= start.date()]
    unread = sum(each.lines for each in found)
    if unread > needed.most_unread:
        yield Missing(
            UNREAD,
            f"{number_of(unread, 'line')} could not be read and may show a use: "
            f"{log.words(each.file for each in found)}.",
            f"look for them in access_day; to go on all the same: --most-unread {unread}",
        )


def _no_brokers(log: AuthorizerLog, needed: Needed, holes: Sequence[Span], brokers: int) -> Missing:
    hours = sum((end - begin).total_seconds() for begin, end in holes) / 3600
    begin, end = holes[0]
    nameless = [] if needed.brokers else _nameless(log)
    if brokers > 1 and nameless:
        return Missing(
            BROKERS,
            f"The cluster has {brokers:,} brokers. Which of them wrote some of the files is not "
            f"known: {log.words(nameless)}.",
            "aclkit usage --authorizer-log NAME=PATH, with a name for each broker; if these are "
            f"logs of {brokers:,} brokers: --brokers {brokers}",
        )
    if brokers == 1:
        words = f"The log has gaps of {hours:,.0f} h in the window"
    else:
        words = (
            f"The cluster has {brokers:,} brokers, but for {hours:,.0f} h of the window fewer logs "
            "were read"
        )
    names = {log.brokers.get(each.file) for each in log.stretches}
    absent = [str(e.broker_id) for e in needed.registered if str(e.broker_id) not in names]
    which = f" No file is of broker {listed(absent)}." if absent and any(names) else ""
    return Missing(
        BROKERS,
        f"{words}, first from {begin:{_TIME}} to {end:{_TIME}}.{which}",
        "aclkit usage --authorizer-log LOGS_OF_ALL_BROKERS; fewer brokers: --brokers N",
    )


def _nameless(log: AuthorizerLog) -> list[str]:
    """Return the files of brokers that have no name."""
    controllers = controllers_of(log)
    files = dict.fromkeys(each.file for each in log.stretches)
    return [each for each in files if each not in log.brokers and each not in controllers]


def _too_short(
    log: AuthorizerLog, needed: Needed, start: datetime, last: datetime
) -> Iterator[Missing]:
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


def _silent(
    log: AuthorizerLog, needed: Needed, start: datetime, last: datetime
) -> Iterator[Missing]:
    """Yield which files speak for more than an hour without an ALLOWED line of their broker.

    The first minutes of a file may have none by chance.
    """
    speakers = speakers_of(log, needed, start)
    by_speaker = grouped((speakers.get(each.file), each[1:]) for each in log.allowed)
    allowed = {speaker: united(spans) for speaker, spans in by_speaker.items()}
    silent: dict[str, None] = {}
    holes: list[Span] = []
    for file, first, until in log.stretches:
        if file not in speakers:
            continue
        spans = allowed.get(speakers[file], ())
        for begin, end in lacking(spans, max(first, start), min(until, last), 1):
            if end - begin > GAP:
                holes.append((begin, end))
                silent[file] = None
    if silent:
        yield _at_info(holes, f": {log.words(silent)}")


def _at_info(holes: Iterable[Span], where: str) -> Missing:
    hours = sum((end - begin).total_seconds() for begin, end in holes) / 3600
    return Missing(
        DEBUG,
        f"No ALLOWED line for {hours:,.0f} h, so the log was probably at INFO then{where}.",
        "set kafka.authorizer.logger to DEBUG on every broker, and wait",
    )


def _no_controllers(log: AuthorizerLog, start: datetime, last: datetime) -> Missing | None:
    """Return that the active controller's log is not there all the time.

    It alone gets the heartbeats of brokers, every other second, and logs each at DEBUG.
    """
    beats = united((each.first, each.last) for each in log.beats)
    absent = [(a, b) for a, b in lacking(beats, start, last, 1) if b - a > GAP]
    if not any(begin <= last + GAP and end >= start - GAP for begin, end in beats):
        absent = [(start, last)]
    if not absent:
        return None
    hours = sum((end - begin).total_seconds() for begin, end in absent) / 3600
    return Missing(
        CONTROLLERS,
        f"The log of the active controller is missing for {hours:,.0f} h of the window, first from "
        f"{absent[0][0]:{_TIME}} to {absent[0][1]:{_TIME}}.",
        "aclkit usage --authorizer-log LOGS_OF_ALL_CONTROLLERS",
    )


_DAY: Final = timedelta(days=1)
_TIME: Final = "%Y-%m-%d %H:%M"
