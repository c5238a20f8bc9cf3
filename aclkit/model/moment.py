"""What a person writes for a time, an offset, an age or a grant's end → its value, and words. Pure.

The end of a grant is a day with all of its hours, in UTC, or a time that names its zone: nobody
knows where the reader's clock stands.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from aclkit.errors import UsageError
from aclkit.model.facts import in_utc


def age_words(age: timedelta) -> str:
    """Write how long something is.

    >>> age_words(timedelta(days=1)), age_words(timedelta(hours=36))
    ('1 day', '36 hours')
    """
    for size, word in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        number = age.total_seconds() / size
        if number >= 1 and number == int(number):
            return f"{int(number):,} {word}{'s' * (number != 1)}"
    return f"{age.total_seconds() / 60:g} minutes"


def parse_time(text: str) -> datetime:
    """Read an ISO 8601 time; without a zone it is UTC.

    Raises:
        UsageError: it is no such time.
    """
    try:
        return in_utc(datetime.fromisoformat(text))
    # In UTC it may lie beyond the years that Python knows.
    except (ValueError, OverflowError):
        raise UsageError(
            f"Invalid time {text!r}. Pass ISO 8601, such as 2026-11-21T10:00:00Z."
        ) from None


def parse_moment(text: str) -> int | datetime:
    """Read an offset of the log or a time.

    Raises:
        UsageError: it is neither.
    """
    if text.isascii() and text.isdigit() and len(text) <= _DIGITS:
        return int(text)
    try:
        return parse_time(text)
    except UsageError as error:
        raise UsageError(f"{error.args[0].removesuffix('.')}, or a log offset.") from None


_DIGITS: Final = 19


EXPECTED: Final = "a day such as 2026-12-31, or a time with a zone such as 2026-12-31T18:00:00Z"

_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)([Zz]|[+-]\d\d:?\d\d)", re.ASCII
)


def parse_until(value: object) -> datetime:
    """Return the first moment at which a grant is over, in UTC.

    A day ends with its last moment in UTC.

    >>> parse_until("2026-12-31").isoformat()
    '2027-01-01T00:00:00+00:00'
    >>> parse_until("2026-12-31T18:00:00+01:00").isoformat()
    '2026-12-31T17:00:00+00:00'

    Args:
        value: a text, or what TOML or YAML made of one.

    Raises:
        ValueError: it is neither a day nor a time with a zone; the text says what is expected.
    """
    try:
        if isinstance(value, datetime):
            return _in_utc(value)
        if isinstance(value, date):
            return _end_of(value)
        if isinstance(value, str):
            text = value.strip()
            if _DAY.fullmatch(text):
                return _end_of(date.fromisoformat(text))
            if found := _TIME.fullmatch(text):
                day, clock, zone = found.groups()
                return _in_utc(datetime.fromisoformat(f"{day}T{clock}{zone.upper()}"))
    except (ValueError, OverflowError):
        pass
    raise ValueError(f"expected {EXPECTED}")


def until_words(until: datetime) -> str:
    """Write the end of a grant: its last day, or the time where it is another than midnight.

    >>> until_words(parse_until("2026-12-31")), until_words(parse_until("2026-12-31T18:00Z"))
    ('2026-12-31', '2026-12-31 18:00 UTC')
    """
    if until.time() == time():
        return f"{until - timedelta(days=1):%Y-%m-%d}"
    return f"{until:%Y-%m-%d %H:%M} UTC"


def _end_of(day: date) -> datetime:
    return datetime.combine(day, time(), UTC) + timedelta(days=1)


def _in_utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError
    return moment.astimezone(UTC)
