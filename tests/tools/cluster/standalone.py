"""A Spark standalone cluster on loopback, and jobs that are submitted to it.

Its daemons end with this process, however that ends, and leave nothing outside their folder.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark

from aclkit.runtime.child import bound
from aclkit.runtime.jars import checked_jars
from aclkit.runtime.spark_release import delta_jars
from tests.pace import Limit
from tests.tools.cluster.recipes import Recipe

SPARK = Path(pyspark.__file__).parent
_SECONDS_TO_START = 60
_LAST = 4_000


class Failed(Exception):
    """A program did not do what it was started for, or not within its time."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program in a process group of its own.

    Attributes:
        process: its first process.
        log: what it says, on stdout and stderr.
        started: by the monotonic clock.
    """

    process: subprocess.Popen[bytes]
    log: Path
    started: float

    def said(self) -> str:
        """Return what it has said so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def wait_until(self, is_so: Callable[[], bool], what: str, seconds: float) -> None:
        """Wait for something while it runs; ``seconds`` are those of an idle machine.

        Raises:
            Failed: it ended before, or the time is over.
        """
        limit = Limit(seconds)
        while not is_so():
            if self.process.poll() is not None:
                raise self.failed(f"exit {self.process.returncode} before {what}")
            if limit.is_over():
                raise self.failed(f"{what}: not within {seconds:g} seconds of an idle machine")
            time.sleep(0.05)

    def finish(self, seconds: float) -> float:
        """Wait for its good end; return how many seconds it took.

        Raises:
            Failed: another exit code than 0, or the time is over.
        """
        limit = Limit(seconds)
        while (code := self.process.poll()) is None:
            if limit.is_over():
                raise self.failed(f"not done within {seconds:g} seconds of an idle machine")
            time.sleep(0.05)
        if code:
            raise self.failed(f"exit {code}")
        return time.monotonic() - self.started

    def kill(self) -> None:
        """Send SIGKILL to all of its group, if it has not ended."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def failed(self, why: str) -> Failed:
        """Return the error, with the end of what it said."""
        return Failed(f"{self.log.stem}: {why}\n{self.said()[-_LAST:]}")


@dataclass(frozen=True, slots=True)
class Job(Program):
    """A submitted job.

    Attributes:
        events: the folder of its event log.
    """

    events: Path

    @property
    def event_log(self) -> Path:
        """The event log: of one application, at work or ended."""
        (log,) = self.events.iterdir()
        return log


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A master and its workers, of one core each.

    Attributes:
        folder: for all that it writes.
        port: the master's.
        memory: of each executor, as Spark writes sizes.
        compiling: options of the JVMs of drivers and executors.
        workers: in the order in which they were started.
    """

    folder: Path
    port: int
    memory: str
    compiling: str
    workers: Sequence[Program]

    @contextmanager
    def submitted(
        self, recipe: Recipe, name: str, job: str, warehouse: Path, *arguments: str
    ) -> Iterator[Job]:
        """Submit a job as docs/spark-cluster.md says; kill it if it runs when the block ends.

        Args:
            recipe: how the job gets aclkit.
            name: of its log.
            job: in the folder ``jobs``.
            warehouse: where to.
            arguments: more of the job's.
        """
        events = self.folder / f"{name}-events"
        events.mkdir()
        settings = {
            "spark.executor.memory": self.memory,
            "spark.executor.extraJavaOptions": self.compiling,
            "spark.driver.defaultJavaOptions": self.compiling,
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": events.as_uri(),
            "spark.eventLog.rolling.enabled": "false",
            "spark.eventLog.compress": "false",
        }
        command = [
            "bin/spark-submit", "--master", f"spark://127.0.0.1:{self.port}",
            "--properties-file", "conf/spark-defaults.conf",
            "--jars", ",".join(map(str, checked_jars(delta_jars()))), *recipe.words,
            "--driver-memory", self.memory,
            *(word for item in settings.items() for word in ("--conf", "=".join(item))),
            f"jobs/{job}.py", "--warehouse", str(warehouse), *arguments,
        ]  # fmt: skip
        with _program(self.folder, name, command, recipe) as program:
            yield Job(program.process, program.log, program.started, events)


@contextmanager
def start_cluster(
    folder: Path, *, workers: int, memory: str, compiling: str = "", cores: Sequence[int] = ()
) -> Iterator[Cluster]:
    """Start a master and workers of one core each, and wait until they know each other.

    Args:
        folder: for all that they write; made here.
        workers: how many.
        memory: of each, as Spark writes sizes.
        compiling: how the JVMs of drivers and executors compile, as their options say it.
        cores: the n-th worker and all below it, its executor and that one's Python too, run on
            the n-th of these cores alone; on any if there are none.

    Raises:
        Failed: they do not start.
    """
    folder.mkdir()
    port = _free_port()
    address = f"spark://127.0.0.1:{port}"
    with ExitStack() as stack:
        words = _daemon("master.Master", "--port", str(port))
        master = stack.enter_context(_program(folder, "master", words))
        master.wait_until(lambda: _is_open(port), "it listens", _SECONDS_TO_START)
        started = []
        for number in range(workers):
            words = _daemon(
                "worker.Worker", "--cores", "1", "--memory", memory,
                "--work-dir", str(folder / f"work-{number}"), address,
            )  # fmt: skip
            core = cores[number % len(cores)] if cores else None
            name = f"worker-{number}"
            started.append(stack.enter_context(_program(folder, name, words, core=core)))
        master.wait_until(
            lambda: master.said().count("Registering worker") == workers,
            "its workers are there", _SECONDS_TO_START,
        )  # fmt: skip
        yield Cluster(folder=folder, port=port, memory=memory, compiling=compiling, workers=started)


def _daemon(kind: str, *words: str) -> list[str]:
    start = ["bin/spark-class", f"org.apache.spark.deploy.{kind}"]
    return [*start, "--host", "127.0.0.1", "--webui-port", "0", *words]


@contextmanager
def _program(
    folder: Path,
    name: str,
    command: Sequence[str],
    recipe: Recipe | None = None,
    core: int | None = None,
) -> Iterator[Program]:
    """Run one of Spark's programs until the block ends."""
    log = folder / f"{name}.log"
    bind = bound()

    def before() -> None:
        bind()
        if core is not None:
            os.sched_setaffinity(0, {core})

    with log.open("wb") as output:
        # spark-submit sends what its Python child says on stderr to stdout.
        process = subprocess.Popen(
            [str(SPARK / command[0]), *command[1:]], env=_environment(folder, recipe),
            cwd=recipe.folder if recipe else folder, stdin=subprocess.DEVNULL,
            stdout=output, stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=before,
        )  # fmt: skip
    program = Program(process, log, time.monotonic())
    try:
        yield program
    finally:
        program.kill()


def _environment(folder: Path, recipe: Recipe | None) -> dict[str, str]:
    """Return what Spark's programs are told: to stay on loopback and in their folder."""
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    inherited = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    pythons = {
        name: str(recipe.python)
        for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")
        if recipe is not None
    }
    return {
        **inherited,
        **pythons,
        "SPARK_HOME": str(SPARK),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(temporary),
        "SPARK_DAEMON_MEMORY": "512m",
        # REST listens on a port that another master may have.
        "SPARK_DAEMON_JAVA_OPTS": (
            f"-Djava.io.tmpdir={temporary} -Dspark.master.rest.enabled=false"
        ),
        "SPARK_SUBMIT_OPTS": f"-Djava.io.tmpdir={temporary}",
        "TMPDIR": str(temporary),
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
