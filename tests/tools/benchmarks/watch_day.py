"""``make bench-watch``: a day of polls by a clock of its own, and a change of B1 on a real one.

Printed are the CPU time of quiet polls, what a warehouse takes and a question needs before and
after ``maintain``, and the seconds from a change in the log of B1 to its alert.
"""

from __future__ import annotations

import json
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from aclkit.model.acl import Acl
from aclkit.nightly.watching import Watcher
from aclkit.pipeline.sources.metadata_log import list_metadata_log
from aclkit.pipeline.sources.tail import find_end
from tests.audit.reports.hook import serving
from tests.cli.running import run
from tests.cli.watching import Turns, quiet
from tests.pipeline.sources.growing_log import numbered
from tests.pipeline.sources.log_bytes import NO_OP, acl_record, batch, topic_record
from tests.tools.benchmarks.shapes import B1, build

SAMPLE: Final = Path(__file__).parents[3] / "aclkit/cli/data/sample/__cluster_metadata-0"
IDLE: Final = 60
"""Records that a controller writes in half a minute without work."""
_A_BATCH: Final = 500
_QUESTION: Final = ("who-can", "READ", "topic:payments.v1.events")


class _Log:
    """A copy of a log's last segment that is appended to."""

    def __init__(self, folder: Path) -> None:
        end = find_end(list_metadata_log(str(folder)))
        self.path, self._epoch, self._offset = folder / end.segment, end.epoch, end.offset

    def append(self, *values: bytes) -> None:
        """Write a batch."""
        with self.path.open("ab") as file:
            file.write(batch(self._offset, *values, epoch=self._epoch))
        self._offset += len(values)

    def idle(self) -> None:
        """Write what a controller writes between two polls."""
        for _ in range(IDLE):
            self.append(NO_OP)


def watch_a_day(folder: Path, polls: int, changes: int) -> dict[str, object]:
    """Poll the sample so often, with so many changes among it."""
    copy = folder / "sample" / "__cluster_metadata-0"
    shutil.copytree(SAMPLE, copy)
    log, warehouse = _Log(copy), folder / "day"
    every = polls // changes if changes else polls + 1
    seconds: list[float] = []

    def step(number: int) -> Callable[[Watcher], None]:
        def write(watcher: Watcher) -> None:
            if watcher.tally.poll_cpu_seconds:
                seconds.append(watcher.tally.poll_cpu_seconds)
            log.idle()
            if number % every == every - 1:
                log.append(acl_record(numbered(1_000_000 + number)))

        return write

    began = time.monotonic()
    turns = Turns(warehouse, "--source", f"metadata-log:{copy}")
    turns(None, *map(step, range(polls)))
    told = {
        "polls": polls,
        "changes": changes,
        "seconds": round(time.monotonic() - began),
        "runs": len(turns.runs),
        "quiet_poll_cpu_ms_median": _ms(statistics.median(seconds)),
        "quiet_poll_cpu_ms_worst": _ms(max(seconds)),
        "before": _figures(warehouse),
    }
    run("--warehouse", warehouse, "maintain", "--keep-days", "0", "--keep-runs", "1")
    return {**told, "after_maintain": _figures(warehouse)}


def _figures(warehouse: Path) -> dict[str, object]:
    """Return what a warehouse takes, and how long a question needs, the best of five."""
    sizes = [path.stat().st_size for path in warehouse.rglob("*") if path.is_file()]
    seconds = []
    for _ in range(5):
        began = time.perf_counter()
        run("--warehouse", warehouse, *_QUESTION)
        seconds.append(time.perf_counter() - began)
    mib = round(sum(sizes) / 2**20, 1)
    return {"files": len(sizes), "mib": mib, "question_ms": _ms(min(seconds))}


def watch_b1(folder: Path, changes: int) -> dict[str, object]:
    """Change the log of B1, and take the time until the alert is there."""
    copy, cluster = folder / "b1" / "__cluster_metadata-0", build(B1)
    copy.mkdir(parents=True)
    path = copy / f"{0:020}.log"
    topics = [topic_record(n, i.to_bytes(16, "big")) for i, n in enumerate(cluster.topics, 1)]
    acls = [acl_record(_with_id(acl, number)) for number, acl in enumerate(cluster.acls)]
    values, offset = [*topics, *acls], 0
    with path.open("wb") as file:
        for at in range(0, len(values), _A_BATCH):
            file.write(batch(offset, *values[at : at + _A_BATCH]))
            offset += len(values[at : at + _A_BATCH])
    hosts, log, seconds = folder / "hosts.csv", _Log(copy), []
    hosts.write_text("host\n" + "".join(f"{host}\n" for host in cluster.hosts), encoding="utf-8")
    options = ("--source", f"metadata-log:{copy}", "--hosts", str(hosts), "--alert-on", "always")
    with serving(200) as hook:
        turns = Turns(folder / "w1", *options)
        turns.env["ACLKIT_ALERT_WEBHOOK"] = hook.address

        def change(number: int) -> Callable[[Watcher], None]:
            def write(_: Watcher) -> None:
                log.append(acl_record(numbered(2_000_000 + number)))
                seconds.append(time.monotonic())

            return write

        def end(_: Watcher) -> None:
            seconds[-1] = time.monotonic() - seconds[-1]

        steps = [step for number in range(changes) for step in (change(number), end)]
        turns(None, *steps)
        alerts = len(hook.got)
    counts = turns.place.published().runs[-1].counts
    return {
        "shape": "B1",
        "decisions": counts["rows_decided"],
        "alerts": alerts,
        "seconds_from_change_to_alert": [round(each, 1) for each in seconds],
    }


def _with_id(acl: Acl, number: int) -> Acl:
    return replace(acl, acl_id=numbered(number).acl_id)


def _ms(seconds: float) -> float:
    return round(seconds * 1_000, 1)


@click.command()
@click.option("--polls", default=2_880, show_default=True, help="Of a day.")
@click.option("--changes", default=48, show_default=True, help="Among them.")
@click.option("--b1-changes", default=3, show_default=True, help="Of B1; 0 leaves it out.")
def main(polls: int, changes: int, b1_changes: int) -> None:
    """Poll for a day, and change B1; a line of JSON of each."""
    with tempfile.TemporaryDirectory(prefix="aclkit-watch-") as folder, quiet():
        for number in dict.fromkeys((0, changes)):
            click.echo(json.dumps(watch_a_day(Path(folder) / str(number), polls, number)))
        if b1_changes:
            click.echo(json.dumps(watch_b1(Path(folder), b1_changes)))


if __name__ == "__main__":
    main()
