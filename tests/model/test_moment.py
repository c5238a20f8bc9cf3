"""The end of a grant as people write it."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.model.moment import parse_until, until_words

KATHMANDU = timezone(timedelta(hours=5, minutes=45))


@pytest.mark.parametrize(
    ("value", "until"),
    [
        ("2026-12-31", datetime(2027, 1, 1, tzinfo=UTC)),
        (" 2026-12-31 ", datetime(2027, 1, 1, tzinfo=UTC)),
        (date(2028, 2, 28), datetime(2028, 2, 29, tzinfo=UTC)),
        ("2026-12-31T18:00Z", datetime(2026, 12, 31, 18, tzinfo=UTC)),
        ("2026-12-31 18:00:05.250+05:45", datetime(2026, 12, 31, 12, 15, 5, 250_000, UTC)),
        ("2026-12-31t18:00:00-1130", datetime(2027, 1, 1, 5, 30, tzinfo=UTC)),
        (datetime(2026, 12, 31, 5, 45, tzinfo=KATHMANDU), datetime(2026, 12, 31, tzinfo=UTC)),
    ],
)
def test_a_day_ends_at_midnight_in_utc_and_a_time_is_that_of_its_zone(value, until):
    assert parse_until(value) == until


@pytest.mark.parametrize(
    "value",
    [
        "", "soon", "2026-02-30", "31.12.2026", "2026-12-31T18:00", 2026, None, True, "9999-12-31",
        datetime(2026, 12, 31, tzinfo=UTC).replace(tzinfo=None), "2026-12-31T25:00Z",
        "²026-12-31", "2026-12-31\n2027-01-01",
    ],
)  # fmt: skip
def test_anything_else_is_refused_with_what_is_expected(value):
    with pytest.raises(ValueError, match="expected a day such as 2026-12-31"):
        parse_until(value)


@given(st.dates(max_value=date(9999, 12, 30)))
def test_the_words_of_a_day_are_that_day(day):
    if day.year >= 1000:
        assert until_words(parse_until(day.isoformat())) == day.isoformat()


@given(st.text())
def test_no_text_ends_in_another_error(text):
    with suppress(ValueError):
        assert parse_until(text).tzinfo is UTC
