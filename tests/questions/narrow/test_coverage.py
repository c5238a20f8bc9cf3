"""Nothing is judged unused unless the log has every day, every broker, DEBUG and every line."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from aclkit.questions.narrow.coverage import (
    BROKERS,
    CONTROLLERS,
    DAYS,
    DEBUG,
    NO_LOG,
    STALE,
    UNREAD,
    FileDay,
    Judgeable,
    Log,
    Needed,
    Stretch,
    Unread,
    judge_log,
)

END = datetime.fromisoformat("2026-11-26T12:00:00")
DAY = timedelta(days=1)
NEEDED = Needed(days=3, brokers=2, read_at=END)
LINES = {"allowed": 10, "heartbeats": 0, "served": 5}


def of_broker(source: str, days: float = 4, *, end: datetime = END, **lines: int) -> Log:
    """The log of one broker that speaks all the time."""
    first = end - days * DAY
    known = LINES | lines
    count = (end.date() - first.date()).days + 1
    return Log(
        days=[FileDay(source, first.date() + n * DAY, **known) for n in range(count)],
        stretches=[Stretch(source, first, end)],
        unread=[],
    )


def together(*logs: Log) -> Log:
    return Log(
        days=[each for log in logs for each in log.days],
        stretches=[each for log in logs for each in log.stretches],
        unread=[each for log in logs for each in log.unread],
    )


WHOLE = together(of_broker("a", heartbeats=9), of_broker("b"))


def kinds(found: Judgeable) -> list[str]:
    return [each.kind for each in found.missing]


def test_a_whole_log_of_all_brokers_can_be_judged() -> None:
    found = judge_log(WHOLE, NEEDED)
    assert (found.missing, found.controllers, found.covered) == ((), None, 1.0)
    assert (found.window_from, found.window_to) == (END - 3 * DAY, END)


def test_without_a_line_nothing_is_judged() -> None:
    found = judge_log(Log(days=[], stretches=[], unread=[]), NEEDED)
    assert kinds(found) == [NO_LOG]


def test_a_log_that_begins_within_the_window_is_too_short_and_says_by_how_much() -> None:
    found = judge_log(together(of_broker("a", 2.5, heartbeats=9), of_broker("b", 2.5)), NEEDED)
    assert kinds(found) == [DAYS]
    assert "covers 2.5 of the 3 days" in found.missing[0].words
    assert found.missing[0].next.endswith("--unused-days 2")
    assert 0.8 < found.covered < 0.84


def test_each_registered_broker_must_have_given_a_log() -> None:
    found = judge_log(WHOLE, replace(NEEDED, brokers=3))
    assert kinds(found) == [BROKERS]
    assert "3 brokers, but for 72 h" in found.missing[0].words


def test_the_log_of_a_controller_is_no_log_of_a_broker() -> None:
    log = together(of_broker("a"), of_broker("c", heartbeats=9, served=0))
    assert kinds(judge_log(log, NEEDED)) == [BROKERS]
    assert not judge_log(log, replace(NEEDED, brokers=1)).missing


def test_rotated_files_of_one_broker_are_not_two_brokers() -> None:
    rotated = together(of_broker("b.1", 2, end=END - 2 * DAY), of_broker("b.2", 2))
    log = together(of_broker("a", heartbeats=9), rotated)
    assert not judge_log(log, NEEDED).missing
    assert kinds(judge_log(log, replace(NEEDED, brokers=3))) == [BROKERS]


def test_a_copy_of_a_log_is_not_another_broker() -> None:
    copied = replace(WHOLE, copies=[("a", "b")])
    assert kinds(judge_log(copied, NEEDED)) == [BROKERS]
    assert not judge_log(copied, replace(NEEDED, brokers=1)).missing


def test_a_broker_that_is_silent_for_hours_is_missing_then() -> None:
    rotated = together(of_broker("b.1", 2, end=END - 1.5 * DAY), of_broker("b.2", 1.2))
    found = judge_log(together(of_broker("a", heartbeats=9), rotated), NEEDED)
    assert kinds(found) == [BROKERS]
    assert "for 7 h of the window" in found.missing[0].words


def test_a_pause_of_less_than_an_hour_is_no_gap() -> None:
    rotated = together(of_broker("b.1", 2, end=END - DAY - DAY / 48), of_broker("b.2", 1))
    assert not judge_log(together(of_broker("a", heartbeats=9), rotated), NEEDED).missing


def test_where_the_number_of_brokers_is_unknown_it_must_be_given() -> None:
    found = judge_log(WHOLE, replace(NEEDED, brokers=None))
    assert [(each.kind, each.next) for each in found.missing] == [(BROKERS, "pass --brokers N")]


def test_days_without_an_allowed_line_were_logged_at_info() -> None:
    found = judge_log(together(of_broker("a", heartbeats=9), of_broker("b", allowed=0)), NEEDED)
    assert kinds(found) == [DEBUG]
    assert "b" in found.missing[0].words
    assert found.covered == 0


def test_the_first_minutes_of_a_file_may_have_no_allowed_line() -> None:
    midnight = datetime.fromisoformat("2026-11-26T00:00:00")
    early = Log(
        days=[FileDay("b", (midnight - DAY).date(), 0, 0, 0), *of_broker("b").days[1:]],
        stretches=[Stretch("b", midnight - DAY / 100, END)],
        unread=[],
    )
    log = together(of_broker("a", heartbeats=9), of_broker("old", 4, end=midnight), early)
    assert DEBUG not in kinds(judge_log(log, NEEDED))


def test_a_line_that_could_not_be_read_may_show_a_use() -> None:
    unread = [Unread("a", END.date(), 2), Unread("a", (END - 9 * DAY).date(), 7)]
    log = replace(WHOLE, unread=unread)
    found = judge_log(log, NEEDED)
    assert kinds(found) == [UNREAD]
    assert "--most-unread 2" in found.missing[0].next
    assert not judge_log(log, replace(NEEDED, most_unread=2)).missing


def test_a_log_that_ends_long_before_the_acls_were_read_does_not_show_today() -> None:
    assert kinds(judge_log(WHOLE, replace(NEEDED, read_at=END + 8 * DAY))) == [STALE]
    assert not judge_log(WHOLE, replace(NEEDED, read_at=END + 6 * DAY)).missing
    accepted = judge_log(WHOLE, replace(NEEDED, read_at=END + 8 * DAY, may_be_old=True))
    assert (accepted.missing, accepted.age) == ((), 8 * DAY)


def test_without_heartbeats_the_log_of_the_active_controller_is_missing() -> None:
    found = judge_log(together(of_broker("a"), of_broker("b")), NEEDED)
    assert not found.missing
    assert found.controllers is not None
    assert found.controllers.kind == CONTROLLERS
    assert "3 days" in found.controllers.words
