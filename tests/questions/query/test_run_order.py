"""Which times of what came one after the other are believed, and which the others get."""

from __future__ import annotations

from datetime import timedelta
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from aclkit.model.semantics import BrokerSettings
from aclkit.questions.query.run_order import believed, in_order, settings_in_order
from tests.questions.query.in_memory import time_of

SECONDS = st.lists(st.integers(0, 6), max_size=7)


@given(SECONDS)
def test_as_many_times_are_believed_as_can_be_in_order(seconds):
    good = believed([time_of(second) for second in seconds])
    chosen = [second for second, is_good in zip(seconds, good, strict=True) if is_good]
    assert chosen == sorted(chosen)
    more = combinations(seconds, len(chosen) + 1)
    assert not any(list(some) == sorted(some) for some in more)


@given(SECONDS, st.none() | st.integers(0, 6))
def test_no_time_goes_back_and_those_that_are_believed_stay(seconds, newest):
    times = [time_of(second) for second in seconds]
    last = None if newest is None else time_of(newest)
    found = in_order(times, last)
    assert found == sorted(found)
    good = believed([*times, *([] if last is None else [last])])
    for time, then, is_good in zip(times, found, good, strict=False):
        assert then == time or not is_good


def row(second, *users, log_offset=None):
    return (time_of(second), users, False, 1, log_offset)


def test_settings_of_a_clock_that_was_ahead_are_there_since_the_newest_record_of_then():
    rows = [row(1, "User:a"), row(900, "User:b", log_offset=5), row(9, "User:c")]
    found = settings_in_order(rows, (2, time_of(20)), lambda offset: time_of(offset - 1))
    users = [BrokerSettings(super_users=frozenset({f"User:{name}"})) for name in "abc"]
    assert found == list(zip(map(time_of, (1, 4, 9)), users, strict=True))


def test_settings_are_seen_behind_the_records_that_their_run_knew():
    rows = [row(1), row(-900, "User:b", log_offset=5), row(9, "User:c")]
    found = settings_in_order(rows, (2, time_of(20)), lambda offset: time_of(offset - 1))
    assert [time for time, _ in found] == [time_of(1), time_of(4), time_of(9)]


def test_a_record_of_a_time_to_come_says_nothing_of_runs():
    rows = [row(1, log_offset=2), row(5, "User:b", log_offset=5), row(9, "User:c", log_offset=9)]
    found = settings_in_order(rows, (2, time_of(20)), lambda _: time_of(900))
    assert [time for time, _ in found] == [time_of(1), time_of(5), time_of(9)]


def test_where_no_record_says_when_they_are_there_since_the_next_run():
    rows = [row(1), row(900, "User:b", log_offset=5), row(9, "User:c")]
    assert [time for time, _ in settings_in_order(rows, (1, None), lambda _: None)] == [
        time_of(1), time_of(9), time_of(9),
    ]  # fmt: skip
    assert [time for time, _ in settings_in_order(rows[:2], (2, time_of(7)), lambda _: None)] == [
        time_of(1), time_of(7),
    ]  # fmt: skip


def test_a_run_that_came_no_later_than_the_settings_contradicts_none_of_them():
    for number, since in ((1, 900), (2, 7)):
        found = settings_in_order([row(1), row(900)], (number, time_of(7)), lambda _: None)
        assert [time for time, _ in found] == [time_of(1), time_of(since)]


def test_of_two_times_that_contradict_each_other_the_earlier_is_believed():
    times = [time_of(0) + timedelta(days=900), time_of(5)]
    assert believed(times) == [False, True]
    assert in_order(times) == [time_of(5)] * 2
