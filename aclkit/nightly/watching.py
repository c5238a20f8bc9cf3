"""Looks at sources again and again → runs, alerts, and how long to wait for the next look.

The order of one turn is: look, run if there is news, alert, note the check. Each is repeated by the
next turn where it failed, so a kill anywhere loses nothing. How a look, a run and an alert are done
is the work's; the time and the waiting are given, so a day can be tried in seconds.

What a watcher has done is told as numbers for Prometheus, and as whether it is healthy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, NoReturn, Protocol

from aclkit.answer.rows import json_text
from aclkit.audit.reports.as_prometheus import Metric, render_metrics
from aclkit.audit.reports.words import iso
from aclkit.errors import AclkitError, SurroundingsError
from aclkit.pipeline.replay.following import News
from aclkit.runtime.signals import finishing_first


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often a watcher looks.

    Attributes:
        interval: seconds between the beginnings of two looks.
        longest: the longest pause after failures, in seconds.
        silent_after: after so many failures in a row an alert says that nothing is seen.
    """

    interval: float = 30.0
    longest: float = 900.0
    silent_after: int = 3


class NotAloneError(SurroundingsError):
    """Another watcher does the same; this one ends."""


class Work(Protocol):
    """What a watcher does in a turn; each of it raises an AclkitError or OSError if it fails."""

    def look(self, now: datetime) -> News | None:
        """Return what is new in the sources."""

    def run(self, news: News) -> bool:
        """Decide and publish what is new; return whether it changed anything."""

    def alert(self) -> bool:
        """Tell what the receiver does not know yet; return whether there was anything."""

    def note(self, now: datetime) -> None:
        """Note that the published run held all that was new at a time.

        Raises:
            NotAloneError: another watcher has noted a check since.
        """

    def tell_silence(self, error: AclkitError, polls: int, since: datetime) -> None:
        """Tell, unless that was told before, that the sources cannot be read."""

    def tell_return(self) -> None:
        """Tell that they are read again, if it was told that they could not."""


@dataclass(slots=True, kw_only=True)
class Tally:
    """What a watcher has done since it began; times are seconds since 1970, 0 where never.

    Attributes:
        polls: looks, failed ones too.
        failed_polls: looks, or runs, that failed.
        failed_in_a_row: of these the last ones, with no success since.
        runs: runs that were published.
        unchanged_runs: runs that found nothing new and left nothing.
        alerts: alerts that were delivered.
        failed_alerts: alerts that were not; they are tried again.
        begun_at: when the watcher began.
        polled_at: when the last look began.
        checked_at: when the last look began after which everything was published.
        run_at: when the last run was published.
        failing_since: when the first of the failures in a row was.
        poll_cpu_seconds: CPU time of the last look that found nothing new, its note included.
        run_seconds: of the last run that was published, from the look to the alert.
        is_running: a run is at work.
        problem: what went wrong last; empty where nothing does.
    """

    polls: int = 0
    failed_polls: int = 0
    failed_in_a_row: int = 0
    runs: int = 0
    unchanged_runs: int = 0
    alerts: int = 0
    failed_alerts: int = 0
    begun_at: float = 0.0
    polled_at: float = 0.0
    checked_at: float = 0.0
    run_at: float = 0.0
    failing_since: float = 0.0
    poll_cpu_seconds: float = 0.0
    run_seconds: float = 0.0
    is_running: bool = False
    problem: str = ""


def _nothing(_: str) -> None:
    """Say nothing."""


@dataclass(slots=True, kw_only=True)
class Watcher:
    """Does a turn at a time.

    Attributes:
        work: what looks, runs and alerts.
        pace: how often.
        clock: returns the time, in seconds since 1970.
        chance: returns a number from 0 up to 1, by which pauses after failures differ.
        sleep: waits so many seconds.
        warn: takes a sentence for who runs it.
        tally: what was done.
    """

    work: Work
    pace: Pace
    chance: Callable[[], float]
    clock: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    warn: Callable[[str], None] = _nothing
    tally: Tally = field(default_factory=Tally)
    _alert_after: float = 0.0
    _alert_pauses: int = 0

    def watch(self) -> NoReturn:
        """Do one turn after the other, until a signal ends the process."""
        while True:
            self.sleep(self.turn())

    def turn(self) -> float:
        """Look, and do what is due; return how many seconds to wait for the next turn."""
        began, cpu = self.clock(), time.process_time()
        self.tally.polls += 1
        self.tally.polled_at = began
        self.tally.begun_at = self.tally.begun_at or began
        now = datetime.fromtimestamp(began, UTC)
        try:
            has_run = self._look_and_run(now)
        except NotAloneError:
            raise
        except (AclkitError, OSError) as error:
            return self._fail(error, began)
        if not has_run:
            self.tally.poll_cpu_seconds = time.process_time() - cpu
        return max(0.0, self.pace.interval - (self.clock() - began))

    def _look_and_run(self, now: datetime) -> bool:
        news = self.work.look(now)
        with finishing_first():
            if news is not None:
                self._run(news)
            self._succeed(now)
            self._alert()
            self.work.note(now)
            self.tally.checked_at = now.timestamp()
            if news is not None:
                self.tally.run_seconds = self.clock() - now.timestamp()
        return news is not None

    def _run(self, news: News) -> None:
        self.tally.is_running = True
        try:
            is_kept = self.work.run(news)
        finally:
            self.tally.is_running = False
        if is_kept:
            self.tally.runs += 1
            self.tally.run_at = self.clock()
        else:
            self.tally.unchanged_runs += 1

    def _succeed(self, now: datetime) -> None:
        """Forget failures, and tell that they are over."""
        if self.tally.failed_in_a_row:
            self.warn(f"The sources are read again since {now:%Y-%m-%d %H:%M:%S} UTC.")
        self.tally.failed_in_a_row, self.tally.failing_since, self.tally.problem = 0, 0.0, ""

    def _alert(self) -> None:
        """Alert, unless the last try failed not long ago; a failure is no failure of the look."""
        if self.clock() < self._alert_after:
            return
        try:
            self.work.tell_return()
            self.tally.alerts += self.work.alert()
            self._alert_pauses = 0
        except (AclkitError, OSError) as error:
            self._fail_alert(error)

    def _fail_alert(self, error: AclkitError | OSError) -> None:
        self.tally.failed_alerts += 1
        self._alert_pauses += 1
        pause = self._pause(self._alert_pauses)
        self._alert_after = self.clock() + pause
        self.warn(f"warning: {_plain(error)} It is tried again in {pause:.0f} s.")

    def _fail(self, error: AclkitError | OSError, began: float) -> float:
        """Count a failure, and tell it once it lasts; return the pause, longer each time."""
        tally = self.tally
        tally.failed_polls += 1
        tally.failed_in_a_row += 1
        tally.failing_since = tally.failing_since or began
        tally.problem = str(error)
        pause = self._pause(tally.failed_in_a_row)
        self.warn(f"warning: {_plain(error)} Next poll in {pause:.0f} s.")
        if tally.failed_in_a_row >= self.pace.silent_after and self.clock() >= self._alert_after:
            told = error if isinstance(error, AclkitError) else SurroundingsError(str(error))
            since = datetime.fromtimestamp(tally.failing_since, UTC)
            try:
                with finishing_first():
                    self.work.tell_silence(told, tally.failed_in_a_row, since)
            except (AclkitError, OSError) as problem:
                self._fail_alert(problem)
        return pause

    def _pause(self, failures: int) -> float:
        """Return the interval, doubled with each failure, and a quarter more or less by chance."""
        doubled = self.pace.interval * 2.0 ** min(failures - 1, _MOST_DOUBLINGS)
        most = max(self.pace.longest, self.pace.interval)
        return min(doubled, most) * (0.75 + 0.5 * self.chance())


_MOST_DOUBLINGS: Final = 32


def _plain(error: Exception) -> str:
    return f"{str(error).rstrip('.')}."


_LONGEST_RUN: Final = 3_600.0
"""Seconds for which a run at work counts as healthy."""


def is_healthy(tally: Tally, pace: Pace, now: float) -> bool:
    """Whether a watcher sees what changes: its last success is at most three intervals old.

    One that has just begun, or runs, is given an hour: the first run of a cluster may take long.
    """
    if tally.failed_in_a_row >= pace.silent_after:
        return False
    if tally.is_running or not tally.checked_at:
        return now - (tally.polled_at or tally.begun_at or now) <= _LONGEST_RUN
    return now - tally.checked_at <= 3 * pace.interval + _GRACE


def health(tally: Tally, pace: Pace, now: float) -> tuple[int, str]:
    """Return the status of HTTP, 200 or 503, and what is wrong as JSON."""
    good = is_healthy(tally, pace, now)
    said = {
        "status": "ok" if good else "failing",
        "checked_at": _time(tally.checked_at),
        "failing_since": _time(tally.failing_since),
        "problem": tally.problem or None,
        "running": tally.is_running,
    }
    return (200 if good else 503), json_text(said) + "\n"


def watch_metrics(tally: Tally, pace: Pace, cluster: str, now: float) -> str:
    """Return the numbers in Prometheus' text format."""
    return render_metrics(_metrics(tally, pace, now), cluster)


def _metrics(tally: Tally, pace: Pace, now: float) -> Iterator[Metric]:
    up = float(is_healthy(tally, pace, now))
    yield Metric("watch_up", "1 if the watcher sees what changes, 0 otherwise.", {"": up})
    for name, meaning in _COUNTERS.items():
        value = float(getattr(tally, name))
        yield Metric(f"watch_{name}_total", meaning, {"": value}, kind="counter")
    for name, meaning in _GAUGES.items():
        yield Metric(f"watch_{name}", meaning, {"": float(getattr(tally, name))})
    for name, meaning in _TIMES.items():
        value = float(getattr(tally, f"{name}_at"))
        yield Metric(f"watch_{name}_timestamp_seconds", meaning, {"": value})


_COUNTERS: Final = {
    "polls": "Polls since the watcher began.",
    "failed_polls": "Polls, or the runs after them, that failed.",
    "runs": "Runs that were published.",
    "unchanged_runs": "Runs that found nothing new and left nothing.",
    "alerts": "Alerts that were delivered.",
    "failed_alerts": "Alerts that could not be delivered; they are tried again.",
}
_GAUGES: Final = {
    "failed_in_a_row": "Failed polls since the last good one.",
    "poll_cpu_seconds": "CPU time of the last poll that found nothing new.",
    "run_seconds": "Time of the last run, from the poll to the alert.",
}
_TIMES: Final = {
    "begun": "When the watcher began, in seconds since 1970.",
    "checked": "When the sources last held nothing that is not published; 0 if never.",
    "run": "When the last run was published; 0 if none was.",
}
_GRACE: Final = 30.0


def _time(seconds: float) -> str | None:
    return iso(datetime.fromtimestamp(seconds, UTC)) if seconds else None
