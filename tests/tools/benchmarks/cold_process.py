"""A command → what it cost, with all the processes that it started and the jobs that Spark did."""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.tools.benchmarks.watching import Peaks, held

_PR_SET_CHILD_SUBREAPER = 36
_TIMEOUT = 7200
_SECONDS = 0.2
_OPTIONS = "SPARK_SUBMIT_OPTS"
_LOG4J = """
rootLogger.level = warn
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %m%n
appender.jobs.type = File
appender.jobs.name = jobs
appender.jobs.fileName = {path}
appender.jobs.layout.type = PatternLayout
appender.jobs.layout.pattern = %m%n
logger.dag.name = org.apache.spark.scheduler.DAGScheduler
logger.dag.level = info
logger.dag.additivity = false
logger.dag.appenderRef.jobs.ref = jobs
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a command cost: seconds of wall and of CPU time, Spark jobs, and bytes of memory.

    ``memory`` is the most that all its processes had at one time, ``java`` that of JVMs alone,
    ``python`` that of the process itself, or of the Python that spark-submit starts.
    """

    wall: float
    cpu: float
    jobs: int
    memory: int
    java: int
    python: int

    def __str__(self) -> str:
        memory = f"{self.memory / (1 << 30):.1f} GiB{'' if self.java else ' without Java'}"
        return f"{self.wall:.1f} s, CPU {self.cpu:.1f} s, {self.jobs} jobs, {memory}"


@dataclass(frozen=True, slots=True)
class Ended:
    """A command that ended, however it did, and the end of what it said."""

    cost: Cost
    code: int
    said: str


def measure(command: Sequence[str], env: Mapping[str, str], cwd: Path, scratch: Path) -> Cost:
    """Run a command to its end, and all that it left.

    Raises:
        SystemExit: it failed.
    """
    ended = run(command, env, cwd, scratch, timeout=_TIMEOUT)
    if ended.code:
        sys.exit(f"{' '.join(command)}: exit {ended.code}\n{ended.said}")
    return ended.cost


def run(
    command: Sequence[str],
    env: Mapping[str, str],
    cwd: Path,
    scratch: Path,
    *,
    watch: Callable[[int], AbstractContextManager[object]] = nullcontext,
    timeout: float | None = None,
) -> Ended:
    """Run a command to its end, and all that it left, whether it fails or not.

    Args:
        command: the program and its arguments.
        env: its environment; ``SPARK_SUBMIT_OPTS`` in it are kept.
        cwd: where it runs.
        scratch: for what it says and for Spark's log.
        watch: what is entered with the id of its process and left when that has ended.
        timeout: seconds; then it is killed.

    Raises:
        TimeoutExpired: it took longer.
    """
    _adopt()
    jobs, config, said = (scratch / name for name in ("jobs.log", "log4j2.properties", "said"))
    config.write_text(_LOG4J.format(path=jobs), encoding="utf-8")
    jobs.unlink(missing_ok=True)
    options = f"{env.get(_OPTIONS, '')} -Dlog4j2.configurationFile={config}".strip()
    before, started = _cpu(), time.perf_counter()
    with said.open("w") as file, subprocess.Popen(
        command, env={**env, _OPTIONS: options}, cwd=cwd, stdin=subprocess.DEVNULL, stdout=file,
        stderr=file,
    ) as process, watch(process.pid), _peaks(process.pid) as peaks:  # fmt: skip
        try:
            code = process.wait(timeout)
        except BaseException:
            process.kill()
            raise
    wall = time.perf_counter() - started
    _reap()
    lines = jobs.read_text(encoding="utf-8").splitlines() if jobs.exists() else []
    most, got = peaks.most, sum(line.startswith("Got job") for line in lines)
    cost = Cost(wall, _cpu() - before, got, most["memory"], most["jvm"], most["driver"])
    return Ended(cost, code, said.read_text(encoding="utf-8")[-4000:])


def _adopt() -> None:
    """Let what loses its parent become this process's child, as Spark's Python workers do."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def _reap() -> None:
    """Wait for all children: only then their time is counted."""
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _peaks(pid: int) -> Peaks:
    return Peaks(partial(held, pid), _SECONDS)
