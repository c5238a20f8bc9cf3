"""What a watcher has done → numbers for Prometheus, and whether it is healthy. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from aclkit.answer.rows import json_text
from aclkit.audit.reports.as_prometheus import Metric, render_metrics
from aclkit.audit.reports.words import iso
from aclkit.nightly.watching import Pace, Tally

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
