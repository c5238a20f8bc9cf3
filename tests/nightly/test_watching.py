"""The turns of a watcher: what is done when, and how long it waits, by a clock of the test's."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from aclkit.errors import DataError, SurroundingsError
from aclkit.nightly.watching import Pace, Watcher, health, is_healthy, watch_metrics
from aclkit.pipeline.replay.following import News

START = 1_795_737_600.0
PACE = Pace(interval=30, longest=900, silent_after=3)


class Clock:
    def __init__(self):
        self.now = START

    def __call__(self):
        return self.now


class FakeWork:
    """Does what its lists say, an error is raised; what was done stands in ``done``."""

    def __init__(self, clock):
        self.clock, self.done = clock, []
        self.news, self.alerts, self.takes, self.is_kept = [], [], 0.0, True

    def look(self, now):
        return self._next(self.news, None)

    def run(self, news):
        self.done.append(f"run {news.why}")
        self.clock.now += self.takes
        return self.is_kept

    def alert(self):
        found = self._next(self.alerts, default=False)
        if found:
            self.done.append("alert")
        return found

    def note(self, now):
        self.done.append(f"note {now.timestamp() - START:g}")

    def tell_silence(self, error, polls, since):
        self.done.append(f"silence {polls} {error}")

    def tell_return(self):
        self.done.append("return")

    @staticmethod
    def _next(items, default):
        item = items.pop(0) if items else default
        if isinstance(item, Exception):
            raise item
        return item


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def work(clock):
    return FakeWork(clock)


@pytest.fixture
def watcher(work, clock):
    return Watcher(work=work, pace=PACE, clock=clock, chance=lambda: 0.5)


GONE = SurroundingsError("the folder is gone")


def test_a_quiet_turn_notes_the_check_and_runs_nothing(watcher, work):
    assert watcher.turn() == 30
    assert work.done == ["return", "note 0"]
    assert (watcher.tally.polls, watcher.tally.runs) == (1, 0)


def test_news_are_run_and_told_before_the_check_is_noted(watcher, work):
    work.news, work.alerts, work.takes = [News(why="x")], [True], 4.0
    assert watcher.turn() == 26
    assert work.done == ["run x", "return", "alert", "note 0"]
    assert (watcher.tally.runs, watcher.tally.alerts, watcher.tally.run_seconds) == (1, 1, 4.0)


def test_a_run_that_takes_longer_than_the_interval_is_followed_at_once(watcher, work):
    work.news, work.takes = [News(why="x")], 100.0
    assert watcher.turn() == 0


def test_a_run_that_changed_nothing_is_counted_apart(watcher, work):
    work.news, work.is_kept = [News(why="x")], False
    watcher.turn()
    assert (watcher.tally.runs, watcher.tally.unchanged_runs) == (0, 1)


def test_pauses_double_up_to_the_longest(watcher, work):
    work.news = [GONE] * 8
    assert [watcher.turn() for _ in range(8)] == [30, 60, 120, 240, 480, 900, 900, 900]


@pytest.mark.parametrize(("chance", "pause"), [(0.0, 22.5), (0.999, 37.485)])
def test_pauses_differ_by_chance(work, clock, chance, pause):
    watcher = Watcher(work=work, pace=PACE, clock=clock, chance=lambda: chance)
    work.news = [GONE]
    assert watcher.turn() == pytest.approx(pause)


def test_an_interval_that_is_longer_than_the_longest_pause_stays(work, clock):
    watcher = Watcher(work=work, pace=Pace(interval=3_600), clock=clock, chance=lambda: 0.5)
    work.news = [GONE]
    assert watcher.turn() == 3_600


def test_silence_is_told_after_so_many_failures_and_not_before(watcher, work):
    work.news = [GONE] * 3
    watcher.turn()
    watcher.turn()
    assert work.done == []
    watcher.turn()
    assert work.done == ["silence 3 the folder is gone"]


def test_a_failed_look_notes_no_check_and_the_next_success_ends_the_row(watcher, work):
    work.news = [GONE]
    watcher.turn()
    assert work.done == []
    watcher.turn()
    assert work.done == ["return", "note 0"]
    assert (watcher.tally.failed_in_a_row, watcher.tally.problem) == (0, "")


def test_a_run_that_fails_counts_as_a_failure(watcher, work, monkeypatch):
    work.news = [News(why="x")]

    def fail(_):
        raise DataError("another cluster")

    monkeypatch.setattr(work, "run", fail)
    assert watcher.turn() == 30
    assert watcher.tally.problem == "another cluster"
    assert not watcher.tally.is_running


def test_a_defect_is_not_swallowed(watcher, work):
    work.news = [ZeroDivisionError()]
    with pytest.raises(ZeroDivisionError):
        watcher.turn()


def test_an_alert_that_fails_is_no_failure_of_the_look_and_is_tried_later(watcher, work, clock):
    work.alerts = [GONE, GONE, True]
    for _ in range(6):
        clock.now += watcher.turn()
    # After 30 s, then after 60 s more.
    assert (watcher.tally.failed_alerts, watcher.tally.alerts) == (2, 1)
    assert watcher.tally.failed_polls == 0
    assert [did for did in work.done if did.startswith("note")] == [
        f"note {seconds}" for seconds in range(0, 180, 30)
    ]


def test_it_warns_of_each_failure_and_of_the_return(work, clock):
    said = []
    watcher = Watcher(work=work, pace=PACE, clock=clock, chance=lambda: 0.5, warn=said.append)
    work.news = [GONE]
    watcher.turn()
    watcher.turn()
    assert said == [
        "warning: the folder is gone. Next poll in 30 s.",
        "The sources are read again since 2026-11-27 00:00:00 UTC.",
    ]


def test_it_is_healthy_while_checks_are_young(watcher, work):
    assert is_healthy(watcher.tally, PACE, START), "it has not begun"
    watcher.turn()
    assert is_healthy(watcher.tally, PACE, START + 119)
    assert not is_healthy(watcher.tally, PACE, START + 121)
    watcher.tally.is_running = True
    assert is_healthy(watcher.tally, PACE, START + 3_599)
    assert not is_healthy(watcher.tally, PACE, START + 3_601)


def test_it_is_not_healthy_once_silence_is_told(watcher, work):
    watcher.turn()
    work.news = [GONE] * 3
    for _ in range(3):
        watcher.turn()
    status, said = health(watcher.tally, PACE, START)
    assert status == 503
    assert json.loads(said) == {
        "status": "failing", "checked_at": "2026-11-27T00:00:00.000Z", "running": False,
        "failing_since": "2026-11-27T00:00:00.000Z", "problem": "the folder is gone",
    }  # fmt: skip


def test_metrics_are_prometheus_text_with_the_cluster(watcher):
    watcher.turn()
    text = watch_metrics(watcher.tally, PACE, 'a"b', START)
    assert 'aclkit_watch_polls_total{cluster="a\\"b"} 1' in text
    assert "# TYPE aclkit_watch_polls_total counter" in text
    assert "# TYPE aclkit_watch_up gauge" in text
    checked = f'aclkit_watch_checked_timestamp_seconds{{cluster="a\\"b"}} {START:.0f}'
    assert checked in text
    assert datetime.fromtimestamp(START, UTC).year == 2026
