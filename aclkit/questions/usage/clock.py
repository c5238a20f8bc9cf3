"""The beginning of a log line, in the brokers' time zone → when that was, in UTC.

Understood are log4j's ISO8601 (``2026-11-21 10:27:31,252``), with ``T``, with a point, with up to
nine digits and with a zone of its own, and DATE (``21 Nov 2026 10:27:31,252``); all of them alone
or in brackets.
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
            f"bad time zone {text!r}: expected UTC, a name such as Europe/Berlin, or an offset "
            "such as +01:00"
        ) from None


@dataclass(frozen=True, slots=True)
class Clock:
    """Reads the times of one log.

    Attributes:
        zone: of times that do not say theirs.
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
        found = _ISO.match(line) or _DATE.match(line)
        if found is None:
            return None
        parts = found.groupdict()
        minute = tuple(parts[name] or "" for name in _MINUTE)
        try:
            start = self._minutes.get(minute) or self._remember(minute)
        except (ValueError, OverflowError):
            return None
        seconds = int(parts["second"])
        if seconds > _LAST_SECOND:
            return None
        rest = seconds * 1_000_000 + int((parts["fraction"] or "")[:6].ljust(6, "0"))
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
_ISO: Final = re.compile(rf"[\[(]?\s?(?P<year>\d{{4}})-(?P<month>\d\d)-(?P<day>\d\d){_TIME}", re.A)
_DATE: Final = re.compile(
    rf"[\[(]?\s?(?P<day>\d\d) (?P<month>{'|'.join(_MONTHS)}) (?P<year>\d{{4}}){_TIME}", re.A
)
_MINUTE: Final = ("year", "month", "day", "hour", "minute", "zone")
_LAST_SECOND: Final = 59
_MOST_MINUTES: Final = 10_000
