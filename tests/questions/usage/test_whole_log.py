"""Nothing is judged unused unless the log has every day, every broker, DEBUG and every line."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from aclkit.questions.usage.coverage import AuthorizerLog, Broker, FileDay, Needed, Stretch, Unread
from aclkit.questions.usage.whole_log import (
    BROKERS,
    CONTROLLERS,
    DAYS,
    DEBUG,
    NO_LOG,
    STALE,
    UNREAD,
    Judgeable,
    judge_log,
)

END = datetime.fromisoformat("2026-11-26T12:00:00")
DAY = timedelta(days=1)
NEEDED = Needed(days=3, registered=(Broker(1), Broker(2)), read_at=END)
NAMES = {"a": "1", "b": "2", "b.1": "2", "b.2": "2", "c": "100", "old": "2"}
LINES = {"allowed": 10, "heartbeats": 0, "served": 5}


def of_broker(source: str, days: float = 4, *, end: datetime = END, **lines: int) -> AuthorizerLog:
    """The log of one broker that speaks all the time."""
    first = end - days * DAY
    known = LINES | lines
    count = (end.date() - first.date()).days + 1
    spoke = [Stretch(source, first, end)]
    return AuthorizerLog(
        days=[FileDay(source, first.date() + n * DAY, **known) for n in range(count)],
        stretches=spoke,
        allowed=spoke if known["allowed"] else (),
        beats=spoke if known["heartbeats"] else (),
        brokers=NAMES,
    )


def together(*logs: AuthorizerLog) -> AuthorizerLog:
    return AuthorizerLog(
        days=[each for log in logs for each in log.days],
        stretches=[each for log in logs for each in log.stretches],
        allowed=[each for log in logs for each in log.allowed],
        beats=[each for log in logs for each in log.beats],
        brokers=NAMES,
    )


WHOLE = together(of_broker("a", heartbeats=9), of_broker("b"))


def kinds(found: Judgeable) -> list[str]:
    return [each.kind for each in found.missing]


def test_a_whole_log_of_all_brokers_can_be_judged() -> None:
    found = judge_log(WHOLE, NEEDED)
    assert (found.missing, found.controllers, found.covered) == ((), None, 1.0)
    assert (found.window_from, found.window_to) == (END - 3 * DAY, END)


def test_without_a_line_nothing_is_judged() -> None:
    found = judge_log(AuthorizerLog(), NEEDED)
    assert kinds(found) == [NO_LOG]


def test_a_log_that_begins_within_the_window_is_too_short_and_says_by_how_much() -> None:
    found = judge_log(together(of_broker("a", 2.5, heartbeats=9), of_broker("b", 2.5)), NEEDED)
    assert kinds(found) == [DAYS]
    assert "covers 2.5 of the 3 days" in found.missing[0].words
    assert found.missing[0].next.endswith("--unused-days 2")
    assert 0.8 < found.covered < 0.84


def test_each_registered_broker_must_have_given_a_log() -> None:
    found = judge_log(WHOLE, replace(NEEDED, registered=tuple(map(Broker, (1, 2, 3)))))
    assert kinds(found) == [BROKERS]
    assert "3 brokers, but for 72 h" in found.missing[0].words
    assert found.missing[0].words.endswith("No file is of broker 3.")


def test_of_two_files_without_a_name_it_is_not_known_whether_they_are_of_two_brokers() -> None:
    nameless = replace(WHOLE, brokers={}, sources={"a": "/x/a.log", "b": "/x/b.log"})
    found = judge_log(nameless, NEEDED)
    assert kinds(found) == [BROKERS]
    assert "Which of them wrote some of the files is not known: /x/a.log, /x/b.log." in (
        found.missing[0].words
    )
    assert "NAME=PATH" in found.missing[0].next
    assert not judge_log(nameless, replace(NEEDED, brokers=2)).missing


def test_names_that_are_no_numbers_count_as_brokers_each_once() -> None:
    named = replace(WHOLE, brokers={"a": "left", "b": "right"})
    assert not judge_log(named, NEEDED).missing
    assert kinds(judge_log(replace(WHOLE, brokers={"a": "x", "b": "x"}), NEEDED)) == [BROKERS]
    assert kinds(judge_log(replace(WHOLE, brokers={"a": "1", "b": "7"}), NEEDED)) == [BROKERS]


def test_the_log_of_the_only_broker_may_be_in_files_that_overlap() -> None:
    one = replace(NEEDED, registered=(Broker(1),))
    parts = together(of_broker("x", 4, end=END - DAY), of_broker("y", 2.5), of_broker("z", 1))
    assert not judge_log(replace(parts, brokers={}), one).missing


def test_a_broker_that_is_gone_is_needed_until_then() -> None:
    gone = replace(NEEDED, registered=(Broker(1), Broker(2, END - 1.5 * DAY)))
    log = together(of_broker("a", heartbeats=9), of_broker("b", 3, end=END - 1.5 * DAY))
    assert not judge_log(log, gone).missing
    assert kinds(judge_log(of_broker("a", heartbeats=9), gone)) == [BROKERS]
    assert not judge_log(of_broker("a"), replace(gone, days=1)).missing


def test_the_log_of_a_controller_is_no_log_of_a_broker() -> None:
    log = together(of_broker("a"), of_broker("c", heartbeats=9, served=0))
    assert kinds(judge_log(log, NEEDED)) == [BROKERS]
    assert not judge_log(log, replace(NEEDED, brokers=1)).missing


def test_rotated_files_of_one_broker_are_not_two_brokers() -> None:
    rotated = together(of_broker("b.1", 2, end=END - 2 * DAY), of_broker("b.2", 2))
    log = together(of_broker("a", heartbeats=9), rotated)
    assert not judge_log(log, NEEDED).missing
    assert kinds(judge_log(replace(log, brokers={}), replace(NEEDED, brokers=3))) == [BROKERS]


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
    found = judge_log(WHOLE, replace(NEEDED, registered=()))
    assert [(each.kind, each.next) for each in found.missing] == [(BROKERS, "pass --brokers N")]


def test_hours_without_an_allowed_line_were_logged_at_info() -> None:
    found = judge_log(together(of_broker("a", heartbeats=9), of_broker("b", allowed=0)), NEEDED)
    assert kinds(found) == [DEBUG]
    assert "b" in found.missing[0].words
    assert found.covered == 0


def test_a_level_that_changes_within_a_day_is_seen() -> None:
    b = of_broker("b")
    loud = [Stretch("b", END - 4 * DAY, END - DAY), Stretch("b", END - DAY / 2, END)]
    found = judge_log(together(of_broker("a", heartbeats=9), replace(b, allowed=loud)), NEEDED)
    assert kinds(found) == [DEBUG]
    assert "for 12 h" in found.missing[0].words


def test_the_first_minutes_of_a_file_may_have_no_allowed_line() -> None:
    midnight = datetime.fromisoformat("2026-11-26T00:00:00")
    early = AuthorizerLog(
        days=[FileDay("b", (midnight - DAY).date(), 0, 0, 0), *of_broker("b").days[1:]],
        stretches=[Stretch("b", midnight - DAY / 100, END)],
        allowed=[Stretch("b", midnight, END)],
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
    assert "72 h" in found.controllers.words


def test_a_controller_that_was_the_active_one_for_hours_is_missing() -> None:
    a = of_broker("a", heartbeats=9)
    beats = [Stretch("a", END - 4 * DAY, END - DAY), Stretch("a", END - DAY / 2, END)]
    found = judge_log(together(replace(a, beats=beats), of_broker("b")), NEEDED).controllers
    assert found is not None
    assert "for 12 h of the window" in found.words
