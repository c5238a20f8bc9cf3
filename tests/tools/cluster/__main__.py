"""``make cluster-test``: the jobs on a real Spark standalone cluster, against local mode.

First correctness, on a cluster of two workers: the tables of jobs that are submitted by each recipe
must be those of local mode, also where a worker or the driver is killed in the middle. Then the
share of the work that each worker has: the time of its tasks at B2, each worker on a core of its
own. It may need a quarter of an hour; on a busy machine it takes longer and fails no sooner.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import click

from tests.cli.running import MATERIALIZED, REPLAYED, Warehouse
from tests.pace import slowness
from tests.tools.benchmarks.shapes import B1, B2
from tests.tools.cluster.inputs import Inputs, write_inputs
from tests.tools.cluster.recipes import Recipe, make_recipes
from tests.tools.cluster.standalone import Cluster, Failed, Job, start_cluster
from tests.tools.cluster.task_times import TaskTimes, read_times, spread
from tests.tools.installed import FailedError

SMALL = replace(B1, name="small", principals=300, resources=200, acls=3_000, hosts=2)
"""60,000 pairs, in tasks of some seconds."""

QUICKLY = "-XX:TieredStopAtLevel=1"
"""What is over in a minute never gets back what a better compiler costs."""

MATERIALIZE, NIGHTLY = "materialize_decisions", "nightly_audit"
TABLES = (*REPLAYED, *MATERIALIZED)
FACTORED = tuple(name for name in TABLES if name != "explain")
"""Without the dense table a view has its name: at B2 of a thousand million rows."""

SECONDS = 240
SECONDS_B2 = 480
Digests = dict[str, tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What local mode made of the small cluster.

    Attributes:
        replayed: its warehouse before it is decided, for copies.
        inputs: what the commands were told.
        digests: its tables in the end.
    """

    replayed: Warehouse
    inputs: Inputs
    digests: Digests


def main() -> int:
    """Run it all; each step says what was seen."""
    # So that all that was started is killed also where this is told to end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    started = time.monotonic()
    _say(f"a plain loop takes {slowness():.1f} times as long as on an ordinary idle core")
    with tempfile.TemporaryDirectory(prefix="aclkit-cluster-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        try:
            by_zip, by_wheel = make_recipes(folder / "at")
            expected = _local(folder)
            with start_cluster(
                folder / "two", workers=2, memory="1g", compiling=QUICKLY
            ) as cluster:
                _say("a master and two workers of one core each are up")
                _submit_night(cluster, by_zip, expected)
                _kill_driver(cluster, by_wheel, expected)
                _kill_worker(cluster, by_zip, expected)
            _compare_workers(folder, by_wheel)
        except (Failed, FailedError, subprocess.TimeoutExpired) as error:
            _say(f"FAILED: {error}")
            return 1
    _say(f"all as it should be, after {(time.monotonic() - started) / 60:.1f} minutes")
    return 0


def _local(folder: Path) -> Expected:
    """Do it in local mode, as a command."""
    inputs = write_inputs(folder / SMALL.name, SMALL, "--dense", "always")
    local = Warehouse(folder / "local")
    _aclkit(local, "replay", inputs.replay)
    replayed = local.copy(folder / "replayed")
    _aclkit(local, "materialize", inputs.materialize)
    found = _digests(local)
    _say("local mode: " + ", ".join(f"{name} {rows:,}" for name, (rows, _) in found.items()))
    return Expected(replayed=replayed, inputs=inputs, digests=found)


def _submit_night(cluster: Cluster, recipe: Recipe, expected: Expected) -> None:
    """Submit a night into a new warehouse."""
    far, inputs = Warehouse(cluster.folder / "night"), expected.inputs
    words = (*inputs.replay, *inputs.materialize, "--fail-on", "never")
    with cluster.submitted(recipe, "night", NIGHTLY, far.path, *words) as job:
        line = " ".join(["spark-submit …", *recipe.words, f"jobs/{NIGHTLY}.py"])
        _say(f"{line}, by the {recipe.name}: {job.finish(SECONDS):.0f} s")
    _require_same("a night", job, far, expected)


def _kill_driver(cluster: Cluster, recipe: Recipe, expected: Expected) -> None:
    """Kill the driver when a table of its run is written; submit the same again."""
    far = expected.replayed.copy(cluster.folder / "driver-killed")
    submit = (MATERIALIZE, far.path, *expected.inputs.materialize)
    # The first table that a run writes and that its readers must not see by itself.
    is_written = _has_grown(far.path / "explain_pair" / "_delta_log")
    with cluster.submitted(recipe, "killed", *submit) as job:
        job.wait_until(is_written, "it writes its pairs", SECONDS)
        job.kill()
    if far.published().runs[-1].job != "replay":
        raise Failed("the driver was killed too late: its run is published")
    with cluster.submitted(recipe, "again", *submit) as job:
        seconds = job.finish(SECONDS)
    taken_back = job.said().count("Undid the changes of an unfinished run to")
    if not taken_back:
        raise job.failed("took nothing back of what the killed driver left")
    _say(f"the driver was killed while it was deciding; submitted again, by the {recipe.name}: "
         f"{seconds:.0f} s, {taken_back} tables taken back first")  # fmt: skip
    _require_same("with the driver killed", job, far, expected)


def _kill_worker(cluster: Cluster, recipe: Recipe, expected: Expected) -> None:
    """Kill a worker, its executor and that one's Python when pairs are being written."""
    far = expected.replayed.copy(cluster.folder / "worker-killed")
    words = expected.inputs.materialize
    with cluster.submitted(recipe, "shaken", MATERIALIZE, far.path, *words) as job:
        pairs = far.path / "explain_pair"
        job.wait_until(lambda: any(pairs.glob("*.parquet")), "it writes its pairs", SECONDS)
        cluster.workers[-1].kill()
        seconds = job.finish(SECONDS)
    times = read_times(job.event_log)
    lost = [each for each in times.values() if each.is_lost]
    if len(lost) != 1 or not lost[0].seconds:
        raise Failed(f"one executor was to be lost in the middle of its tasks, found {times}")
    tasks = sum(len(each.seconds) for each in times.values())
    _say(f"a worker was killed while it was deciding: {seconds:.0f} s; it had done "
         f"{len(lost[0].seconds)} of {tasks} tasks")  # fmt: skip
    _require_same("with a worker killed", job, far, expected)


def _compare_workers(folder: Path, recipe: Recipe) -> None:
    """Decide B2 with two workers and with one, each on a core of its own; tell their times."""
    cores = sorted(os.sched_getaffinity(0))
    inputs = write_inputs(folder / B2.name, B2, "--dense", "never")
    replayed = Warehouse(folder / "b2-replayed")
    _aclkit(replayed, "replay", inputs.replay)
    _say("B2 is replayed in local mode")
    totals, found = {}, {}
    for workers in (2, 1):
        here = folder / f"b2-{workers}"
        with start_cluster(here, workers=workers, memory="3g", cores=cores) as cluster:
            far = replayed.copy(here / "decided")
            with cluster.submitted(
                recipe, "decide", MATERIALIZE, far.path, *inputs.materialize
            ) as job:
                seconds = job.finish(SECONDS_B2)
        times = _tell_workers(workers, seconds, job)
        totals[workers], found[workers] = sum(each.total for each in times), _digests(far, FACTORED)
        shutil.rmtree(here)
    _require_equal("B2 with one worker", found[1], found[2])
    _say(f"B2: all {len(found[1])} tables of one worker equal those of two; "
         f"task time of two together against one: {totals[2] / totals[1]:.2f}")  # fmt: skip


def _tell_workers(workers: int, seconds: float, job: Job) -> list[TaskTimes]:
    """Say how long each worker was at B2; each must have had a part."""
    times = [*read_times(job.event_log).values()]
    if len(times) != workers or not all(each.seconds for each in times):
        raise Failed(f"B2: expected tasks on {workers} executors, found {times}")
    _say(f"B2 decided with {workers} worker{'s' * (workers > 1)}, {seconds:.0f} s on the clock; "
         f"task time {'; '.join(map(str, times))}; spread {spread(times):.2f}")  # fmt: skip
    return times


def _require_same(how: str, job: Job, warehouse: Warehouse, expected: Expected) -> None:
    logs = sorted((warehouse.path / "explain_ruling" / "_delta_log").glob("*.json"))
    if '"engineInfo":"Apache-Spark' not in logs[-1].read_text(encoding="utf-8"):
        raise job.failed("was decided on the driver, which proves nothing of a cluster")
    found = _digests(warehouse)
    _require_equal(how, found, expected.digests)
    _say(f"{how}: all {len(found)} tables equal those of local mode")


def _require_equal(how: str, found: Digests, expected: Digests) -> None:
    different = [name for name, digest in expected.items() if found[name] != digest]
    if different:
        told = ", ".join(f"{n} ({found[n][0]:,} rows, {expected[n][0]:,})" for n in different)
        raise Failed(f"{how}: these tables differ: {told}")


def _digests(warehouse: Warehouse, names: Iterable[str] = TABLES) -> Digests:
    return {name: warehouse.digest(name) for name in names}


def _has_grown(delta_log: Path) -> Callable[[], bool]:
    """Return what says whether a table has a version more than now."""
    before = {*delta_log.glob("*.json")}
    return lambda: {*delta_log.glob("*.json")} > before


def _aclkit(warehouse: Warehouse, command: str, words: tuple[str, ...]) -> None:
    program = "from aclkit.cli import cli; cli()"
    given = ["--warehouse", str(warehouse.path), command, *words]
    done = subprocess.run(
        [sys.executable, "-c", program, *given],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        timeout=SECONDS * slowness(), check=False,
    )  # fmt: skip
    if done.returncode:
        raise Failed(f"local mode: exit {done.returncode} from {command}\n{done.stdout.decode()}")


def _say(text: str) -> None:
    click.echo(f"{time.strftime('%H:%M:%S')} {text}")


if __name__ == "__main__":
    sys.exit(main())
