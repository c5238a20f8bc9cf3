"""A time of a log line, in the brokers' time zone → when that was, in UTC.

Understood are log4j's ISO8601 (``2026-11-21 10:27:31,252``), with ``T``, with slashes, with a
point, with up to nine digits and with a zone of its own, its DATE (``21 Nov 2026 10:27:31,252``)
and UNIX_MILLIS, and java.util.logging's ``Nov 21, 2026 10:27:31 AM``; all of them alone or in
brackets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from aclkit.errors import UsageError

Span = tuple[int, int]
"""Two times in microseconds since 1970, UTC: the first and the last that may be meant."""


def parse_zone(text: str) -> tzinfo:
    """Read a time zone: a name of the tz database, or an offset such as ``+01:00``.

    Raises:
        UsageError: it is neither.
    """
    offset = _OFFSET.fullmatch(text)
    if offset is not None:
        return _fixed(text)
    try:
        return UTC if text.upper() == "UTC" else ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UsageError(
            f"Invalid time zone {text!r}: expected UTC, a name such as Europe/Berlin, or an "
            "offset such as +01:00"
        ) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The last time in a text.

    Attributes:
        span: when; None where the text has no time, or one that cannot be read.
        problem: why it cannot be read; None where there is none.
        is_first: nothing stands before it.
    """

    span: Span | None = None
    problem: str | None = None
    is_first: bool = False


@dataclass(frozen=True, slots=True)
class Clock:
    """Reads the times of one log.

    Attributes:
        zone: for times without one.
    """

    zone: tzinfo
    _minutes: dict[tuple[str, ...], Span] = field(default_factory=dict)

    def read(self, line: str) -> Span | None:
        """Return when a line was written, or None where it does not begin with a time.

        Where clocks were put back, an hour comes twice: then both times may be meant.

        >>> clock = Clock(parse_zone("+01:00"))
        >>> clock.read("[1970-01-01 01:00:01,5] INFO"), clock.read("1970-01-01T00:00:01Z")
        ((1500000, 1500000), (1000000, 1000000))
        """
        found = next(filter(None, (form.match(line) for form in _FORMS)), None)
        return None if found is None else self._span(found)

    def last(self, text: str) -> Moment:
        """Return the last time in a text, wherever it stands.

        Each tool that passes a line on may put a time of its own in front. So the last one
        counts, and no other one in its place where the last one cannot be read.

        >>> clock = Clock(parse_zone("UTC"))
        >>> clock.last("1970-01-01 03:00:00 kafka-1 | [1970-01-01 00:00:01,5] INFO ").span
        (1500000, 1500000)
        """
        clocks = list(_CLOCK.finditer(text))
        start, end = clocks[-1].span() if clocks else (-1, 0)
        for millis in list(_MILLIS.finditer(text, end))[-1:]:
            exact = int(millis[0]) * 1_000
            return Moment(span=(exact, exact), is_first=millis.start() == 0)
        if not clocks:
            return Moment()
        found = _form_around(text, start, end)
        if found is None:
            return Moment(problem=_UNKNOWN_FORM)
        if problem := self._zone_word(text, found) or _viewers_time(text, found):
            return Moment(problem=problem)
        span = self._span(found)
        problem = None if span else _UNKNOWN_FORM
        return Moment(span=span, problem=problem, is_first=found.start() == 0)

    def _zone_word(self, text: str, found: re.Match[str]) -> str | None:
        """Return what is wrong where a zone's short name follows that is not the log's own."""
        word = None if found["zone"] else _ZONE_WORD.match(text, found.end())
        span = self._span(found) if word else None
        if word is None or span is None:
            return None
        if to_datetime(span[0]).astimezone(self.zone).tzname() == word[1]:
            return None
        return f"its time is in the zone {word[1]}; pass --log-timezone, for example Europe/Berlin"

    def _span(self, found: re.Match[str]) -> Span | None:
        """Return when a time was, where there is such a time."""
        parts = found.groupdict("")
        if half := parts.get("half"):
            parts["hour"] = str(int(parts["hour"]) % 12 + (12 if half == "PM" else 0))
        minute = tuple(parts[name] for name in _MINUTE)
        try:
            start = self._minutes.get(minute) or self._remember(minute)
        except (ValueError, OverflowError):
            return None
        seconds = int(parts["second"])
        if seconds > _LAST_SECOND:
            return None
        rest = seconds * 1_000_000 + int(parts["fraction"][:6].ljust(6, "0"))
        return start[0] + rest, start[1] + rest

    def _remember(self, minute: tuple[str, ...]) -> Span:
        """Work a minute out, once for all its lines."""
        year, month, day, hour, minutes, zone = minute
        number = _MONTHS.index(month) + 1 if month in _MONTHS else int(month)
        told = datetime(
            int(year),
            number,
            int(day),
            int(hour),
            int(minutes),
            tzinfo=_fixed(zone) if zone else self.zone,
        )
        first, second = (_micros(told.replace(fold=fold)) for fold in (0, 1))
        if len(self._minutes) >= _MOST_MINUTES:
            self._minutes.clear()
        self._minutes[minute] = span = min(first, second), max(first, second)
        return span


def to_datetime(micros: int) -> datetime:
    """Turn microseconds since 1970 into a time in UTC."""
    return _EPOCH + timedelta(microseconds=micros)


def to_naive(micros: int) -> datetime:
    """Turn microseconds since 1970 into a time in UTC without a zone, as tables have it."""
    return to_datetime(micros).replace(tzinfo=None)


def to_micros(time: datetime) -> int:
    """Turn a time into microseconds since 1970; without a zone it is UTC."""
    return _micros(time if time.tzinfo else time.replace(tzinfo=UTC))


def _micros(time: datetime) -> int:
    return (time.astimezone(UTC) - _EPOCH) // timedelta(microseconds=1)


def _fixed(text: str) -> tzinfo:
    found = _OFFSET.fullmatch(text)
    if found is None:  # Z, UTC, GMT
        return UTC
    sign, hours, minutes = found.groups()
    offset = timedelta(hours=int(hours), minutes=int(minutes or 0))
    return timezone(-offset if sign == "-" else offset)


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MONTHS: Final = (
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
)  # fmt: skip
_OFFSET: Final = re.compile(r"([+-])([01]\d|2[0-3]):?([0-5]\d)?")
_TIME: Final = (
    r"[ T](?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?"
    r"(?:[ ]?(?P<zone>(?:Z|UTC|GMT)(?!\w)|[+-](?:[01]\d|2[0-3]):?(?:[0-5]\d)?))?(?![\d:])"
)
_MONTH: Final = rf"(?P<month>{'|'.join(_MONTHS)})"
_FORMS: Final = (
    re.compile(
        rf"[\[(]?\s?(?<![\w.-])(?P<year>\d{{4}})(?P<mark>[-/])(?P<month>\d\d)(?P=mark)"
        rf"(?P<day>\d\d){_TIME}",
        re.A,
    ),
    re.compile(rf"[\[(]?\s?(?<![\w.-])(?P<day>\d\d) {_MONTH} (?P<year>\d{{4}}){_TIME}", re.A),
    re.compile(
        rf"(?<!\w){_MONTH} (?P<day>\d\d?), (?P<year>\d{{4}}),? (?P<hour>\d\d?):(?P<minute>\d\d):"
        r"(?P<second>\d\d)(?P<fraction>)[ \u00a0\u202f](?P<half>AM|PM)(?P<zone>)\b"
    ),
)
_CLOCK: Final = re.compile(r"(?<!\d)\d\d?:\d\d:\d\d(?![\d:])", re.A)
_MILLIS: Final = re.compile(r"(?<![\w.,:-])1\d{12}(?![\w.,:-])", re.A)
_ZONE_WORD: Final = re.compile(
    r" ?(A[CEKW][DS]?T|BST|[CEMP][DS]T|CES?T|EES?T|HKT|HST|IST|[JKM]S[KT]|NZ[DS]T|SAST|SGT|WES?T)"
    r"(?!\w)"
)
_VIEWER: Final = re.compile(r"\s+\S{1,200}\s+\|\s")
_UNKNOWN_FORM: Final = (
    "its time has no date or another form than 2026-11-20 10:00:00,259; write it in this form "
    "(%d in log4j)"
)
_MINUTE: Final = ("year", "month", "day", "hour", "minute", "zone")
_LAST_SECOND: Final = 59
_MOST_MINUTES: Final = 10_000
_LONGEST: Final = 60


def _form_around(text: str, start: int, end: int) -> re.Match[str] | None:
    """Return the time of which the hours, minutes and seconds at a place are part."""
    for form in _FORMS:
        for found in form.finditer(text, max(0, start - _LONGEST)):
            if found.start() <= start and end <= found.end():
                return found
    return None


def _viewers_time(text: str, found: re.Match[str]) -> str | None:
    """Return what is wrong where a viewer of containers wrote the time, in the zone it shows."""
    if found["zone"] or found["fraction"] or not _VIEWER.match(text, found.end()):
        return None
    return (
        "its only time comes from the program that shows the containers' output; add %d to "
        "the broker's log4j pattern, or pass --timestamps to docker logs or kubectl logs"
    )
