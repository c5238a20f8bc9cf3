"""What a person writes for a time, an offset or an age → its value, and an age in words. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta
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
