"""When a line was written."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from aclkit.errors import UsageError
from aclkit.questions.usage.clock import Clock, parse_zone, to_datetime, to_micros

UTC_CLOCK = Clock(parse_zone("UTC"))
NOON = to_micros(datetime(2026, 11, 21, 12, 0, 0, 250_000, tzinfo=UTC))


@pytest.mark.parametrize(
    "start",
    [
        "[2026-11-21 12:00:00,250] DEBUG Principal",
        "2026-11-21 12:00:00,250 DEBUG",
        "2026-11-21T12:00:00.250Z INFO",
        "2026-11-21T13:00:00.250+0100",
        "[2026-11-21T13:00:00,250+01:00]",
        "2026-11-21T12:00:00.250000123Z stdout F [2026-11-21 12:00:00,250] INFO",
        "2026-11-21 12:00:00.25 UTC",
        "21 Nov 2026 12:00:00,250 INFO",
        "[21 Nov 2026 12:00:00,250] INFO",
    ],
)
def test_times_of_the_usual_patterns_are_read(start):
    assert UTC_CLOCK.read(start) == (NOON, NOON)


@pytest.mark.parametrize(
    "start",
    ["", "DEBUG Principal", "12:00:00,250 INFO", "2026-13-21 12:00:00", "2026-11-21 12:00:61",
     "2026-11-21", "{\"time\": \"2026-11-21\"}", "x 2026-11-21 12:00:00", "0000-01-01 00:00:00"],
)  # fmt: skip
def test_what_is_no_time_is_none(start):
    assert UTC_CLOCK.read(start) is None


@pytest.mark.parametrize("zone", ["Europe/Berlin", "+01:00", "+0100", "+01"])
def test_a_time_without_zone_is_of_the_log_s_zone(zone):
    assert Clock(parse_zone(zone)).read("2026-11-21 13:00:00,250") == (NOON, NOON)


@pytest.mark.parametrize("behind", [" Zed-1 INFO", " UTCthread", " GMT0", "Zed"])
def test_a_word_that_only_begins_like_a_zone_is_none(behind):
    assert Clock(parse_zone("+01:00")).read(f"2026-11-21 13:00:00,250{behind}") == (NOON, NOON)


def test_of_the_hour_that_comes_twice_both_times_may_be_meant():
    first, last = Clock(parse_zone("Europe/Berlin")).read("2026-10-25 02:30:00,000")
    assert [to_datetime(each).hour for each in (first, last)] == [0, 1]


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "+25:00", "../etc/passwd", "CEST?"])
def test_a_bad_zone_is_refused(zone):
    with pytest.raises(UsageError, match="Invalid time zone"):
        parse_zone(zone)
