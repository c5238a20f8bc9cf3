"""The end of a grant as people write it → the moment at which it ends. Pure.

A day is meant with all of its hours, in UTC. A time has to name its zone, because nobody knows
where the reader's clock stands.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

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
