"""``python -m tests.tools.benchmarks.submitted``: what the nightly job costs by spark-submit.

Each case is submitted to ``local[2]`` with a warehouse of its own; with ``--against FOLDER``,
another checkout, both take turns. Wall and CPU time, the most memory of all processes together, of
the JVM and of the driver's Python, and from Spark's event log the jobs, stages and tasks, the bytes
that came back to the driver, and those of broadcasts, as they are stored.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click
import pyspark

from aclkit.runtime.jars import checked_jars
from aclkit.runtime.spark_release import delta_jars
from tests.tools.benchmarks.cold_process import Cost, measure
from tests.tools.benchmarks.shapes import B1, B2, S10
from tests.tools.cluster.inputs import write_inputs

ROOT = Path(__file__).parents[3]
_SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"
_SAMPLE = ROOT / "aclkit/cli/data/sample"
_SHAPES = {shape.name: shape for shape in (B1, B2, S10)}
_SLOWEST = 12


@dataclass(slots=True)
class Events:
    """What Spark's event log tells.

    Attributes:
        jobs: how many.
        stages: that ran.
        tasks: that ended.
        task_ms: their run time, all together.
        to_driver: bytes of their results.
        broadcast: bytes of what the driver sent to all executors, the code of tasks too.
        slowest: the jobs that took longest: milliseconds and where in the code they began.
    """

    jobs: int = 0
    stages: int = 0
    tasks: int = 0
    task_ms: int = 0
    to_driver: int = 0
    broadcast: int = 0
    slowest: list[tuple[int, str]] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.jobs} jobs, {self.stages} stages, {self.tasks} tasks of "
            f"{self.task_ms / 1000:.1f} s, {self.to_driver / 1e6:.2f} MB to the driver, "
            f"{self.broadcast / 1e6:.2f} MB broadcast"
        )  # fmt: skip


def read_events(log: Path) -> Events:
    """Sum an event log up."""
    found, begun, sent = Events(), dict[int, tuple[int, str]](), dict[str, int]()
    for event in map(json.loads, log.read_text(encoding="utf-8").splitlines()):
        match event["Event"]:
            case "SparkListenerJobStart":
                found.jobs += 1
                said = event.get("Properties", {})
                what = said.get("spark.job.description") or said.get("callSite.short", "")
                begun[event["Job ID"]] = event["Submission Time"], what
            case "SparkListenerJobEnd":
                start, what = begun[event["Job ID"]]
                found.slowest.append((event["Completion Time"] - start, what))
            case "SparkListenerStageCompleted":
                found.stages += 1
            case "SparkListenerTaskEnd":
                metrics = event.get("Task Metrics") or {}
                found.tasks += 1
                found.task_ms += metrics.get("Executor Run Time", 0)
                found.to_driver += metrics.get("Result Size", 0)
            case "SparkListenerBlockUpdated":
                block = event["Block Updated Info"]
                name, size = block["Block ID"], block["Memory Size"] + block["Disk Size"]
                if name.startswith("broadcast_") and "_piece" in name:
                    sent[name] = max(size, sent.get(name, 0))
    found.broadcast = sum(sent.values())
    found.slowest = sorted(found.slowest, reverse=True)[:_SLOWEST]
    return found


def _words(case: str, folder: Path, dense: str) -> tuple[str, ...]:
    """Return the job's arguments for a case, behind ``--warehouse``; its files are written."""
    if case in _SHAPES:
        inputs = write_inputs(folder / case, _SHAPES[case], "--dense", dense)
        return (*inputs.replay, *inputs.materialize, "--fail-on", "never")
    log = folder / "sample-log"
    shutil.copytree(_SAMPLE, log, dirs_exist_ok=True)
    return (
        "--cluster", "sample", "--source", f"metadata-log:{log}", "--dense", dense,
        "--super-users", "User:ANONYMOUS;User:admin", "--fail-on", "never",
    )  # fmt: skip


def _submit(
    root: Path, folder: Path, words: Sequence[str], memory: str, warehouse: Path
) -> tuple[Cost, Events]:
    events = Path(tempfile.mkdtemp(dir=folder, prefix="events-"))
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.local.dir": str(folder),
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": events.as_uri(),
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
        "spark.eventLog.logBlockUpdates.enabled": "true",
    }
    command = [
        str(_SUBMIT), "--master", "local[2]", "--driver-memory", memory,
        "--properties-file", "conf/spark-defaults.conf",
        "--jars", ",".join(map(str, checked_jars(delta_jars()))),
        *(word for item in settings.items() for word in ("--conf", "=".join(item))),
        "jobs/nightly_audit.py", "--warehouse", str(warehouse), *words,
    ]  # fmt: skip
    pythons = dict.fromkeys(("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"), sys.executable)
    env = {**os.environ, **pythons, "PYTHONPATH": str(root), "SPARK_LOCAL_IP": "127.0.0.1"}
    cost = measure(command, env, root, folder)
    (log,) = events.iterdir()
    return cost, read_events(log)


def _turns(trees: Sequence[tuple[str, Path]], times: int) -> Iterator[tuple[str, Path]]:
    for _ in range(times):
        yield from trees


@click.command()
@click.argument("cases", nargs=-1, type=click.Choice(["sample", *_SHAPES]))
@click.option("--times", type=click.IntRange(1), default=3, show_default=True)
@click.option("--dense", default="auto", show_default=True)
@click.option("--memory", default="1500m", show_default=True)
@click.option("--against", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--keep", type=click.Path(path_type=Path), help="Keep the last warehouses there.")
@click.option("--slowest", is_flag=True, help="List the jobs that took longest.")
def main(
    cases: tuple[str, ...],
    times: int,
    dense: str,
    memory: str,
    against: Path | None,
    keep: Path | None,
    slowest: bool,
) -> None:
    """Measure the nightly job on some cases, the sample where none is named."""
    trees = [("now", ROOT)]
    if against is not None:
        trees.insert(0, ("before", against.resolve()))
    click.echo(
        "| case | checkout | wall s | CPU s | GiB: all, JVM, driver's Python | Spark |\n"
        "|---|---|---|---|---|---|"
    )
    for case in cases or ("sample",):
        with tempfile.TemporaryDirectory(prefix="aclkit-submitted-") as name:
            folder, walls = Path(name), Counter[str]()
            words = _words(case, folder, dense)
            for tree, root in _turns(trees, times):
                warehouse = (keep or folder) / f"{case}-{tree}"
                shutil.rmtree(warehouse, ignore_errors=True)
                cost, events = _submit(root, folder, words, memory, warehouse)
                walls[tree] += cost.wall
                held = (cost.memory, cost.java, cost.python)
                memory_of = ", ".join(f"{size / (1 << 30):.2f}" for size in held)
                click.echo(
                    f"| {case} | {tree} | {cost.wall:.1f} | {cost.cpu:.1f} | {memory_of} | "
                    f"{events} |"
                )
                for milliseconds, what in events.slowest if slowest else ():
                    click.echo(f"    {milliseconds} ms: {what}", err=True)
            if against is not None:
                click.echo(f"\n{case}: {walls['now'] / walls['before']:.2f} of before\n")


if __name__ == "__main__":
    main()
