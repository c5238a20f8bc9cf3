"""A command → what it cost, with all the processes that it started and the jobs that Spark did."""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_TIMEOUT = 1800
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
    """What a command cost: seconds of wall and of CPU time, and Spark jobs."""

    wall: float
    cpu: float
    jobs: int

    def __str__(self) -> str:
        return f"{self.wall:.1f} s, CPU {self.cpu:.1f} s, {self.jobs} jobs"


def measure(command: Sequence[str], env: Mapping[str, str], cwd: Path, scratch: Path) -> Cost:
    """Run a command to its end, and all that it left.

    Raises:
        SystemExit: it failed.
    """
    _adopt()
    jobs, config, said = (scratch / name for name in ("jobs.log", "log4j2.properties", "said"))
    config.write_text(_LOG4J.format(path=jobs))
    jobs.unlink(missing_ok=True)
    told = {"SPARK_SUBMIT_OPTS": f"-Dlog4j2.configurationFile={config}"}
    before, started = _cpu(), time.perf_counter()
    with said.open("w") as file:
        done = subprocess.run(
            command, env={**env, **told}, cwd=cwd, stdin=subprocess.DEVNULL, stdout=file,
            stderr=file, timeout=_TIMEOUT, check=False,
        )  # fmt: skip
    wall = time.perf_counter() - started
    _reap()
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{said.read_text()[-4000:]}")
    lines = jobs.read_text().splitlines() if jobs.exists() else []
    return Cost(wall, _cpu() - before, sum(line.startswith("Got job") for line in lines))


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
