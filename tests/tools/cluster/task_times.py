"""An event log of Spark's → how long each executor worked on its tasks.

The log has one JSON object a line; what the events hold is said by Spark's ``JsonProtocol``. In a
standalone cluster an executor is a worker's, and a worker has one of an application.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median


@dataclass(slots=True)
class TaskTimes:
    """What one executor did.

    Attributes:
        seconds: the run time of each task that ended, that of its Python included.
        is_lost: it was gone before the application ended.
    """

    seconds: list[float] = field(default_factory=list)
    is_lost: bool = False

    @property
    def total(self) -> float:
        """Seconds of all its tasks."""
        return sum(self.seconds)

    def __str__(self) -> str:
        if not self.seconds:
            return "no task"
        return (
            f"{self.total:.1f} s in {len(self.seconds)} tasks, "
            f"median {median(self.seconds):.2f} s, longest {max(self.seconds):.1f} s"
        )


def read_times(log: Path) -> dict[str, TaskTimes]:
    """Return what each executor did, by its id, in the order in which they came.

    The last line of an application that is at work, or was killed, may be half of one.
    """
    found: dict[str, TaskTimes] = {}
    for event in _events(log.read_text(encoding="utf-8").splitlines()):
        kind = event["Event"]
        if kind == "SparkListenerExecutorAdded":
            found[event["Executor ID"]] = TaskTimes()
        elif kind == "SparkListenerExecutorRemoved":
            found[event["Executor ID"]].is_lost = True
        # A task that was lost with its executor has no metrics.
        elif kind == "SparkListenerTaskEnd" and (metrics := event.get("Task Metrics")):
            executor = found.setdefault(event["Task Info"]["Executor ID"], TaskTimes())
            executor.seconds.append(metrics["Executor Run Time"] / 1000)
    return found


def spread(times: Iterable[TaskTimes]) -> float:
    """Return how many times as long as the least busy executor the busiest one worked."""
    totals = [each.total for each in times]
    return max(totals) / min(totals) if min(totals) else float("inf")


def _events(lines: list[str]) -> Iterable[dict]:
    for number, line in enumerate(lines, start=1):
        try:
            yield json.loads(line)
        except ValueError:
            if number < len(lines):
                raise
