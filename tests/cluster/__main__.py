"""``make cluster-test``: the jobs on a real Spark standalone cluster, against local mode.

A master and two workers on loopback; the package zip and the jobs as docs/cluster.md says. The
tables must be those of local mode, also where a worker is killed in the middle of a job.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click
import pyspark

from aclkit.runtime.surroundings import delta_jars
from tests.cli.running import KRAFT, MATERIALIZED, REPLAYED, Warehouse

ROOT = Path(__file__).parents[2]
SPARK = Path(pyspark.__file__).parent
SECONDS = 600
Tables = dict[str, list[tuple[Any, ...]]]
SUPER_USERS = "User:ANONYMOUS;User:admin"
DECIDE = ("--semantics", "kafka", "--super-users", SUPER_USERS, "--dense", "always")


def main() -> int:
    """Run it all; each step says what was seen."""
    with tempfile.TemporaryDirectory(prefix="aclkit-cluster-") as scratch, ExitStack() as stack:
        folder = Path(scratch)
        local = Warehouse(folder / "local")
        _aclkit("--warehouse", local.path, "replay", "--source", f"metadata-log:{KRAFT}")
        _aclkit("--warehouse", local.path, "materialize", *DECIDE)
        expected = local.tables((*REPLAYED, *MATERIALIZED))
        _say(f"local mode: {_sizes(expected)}")

        port = _free_port()
        stack.enter_context(_daemon(folder, "master", *_master(port)))
        _wait_for(port)
        workers = [
            stack.enter_context(_daemon(folder, f"worker{n}", *_worker(port, folder / f"w{n}")))
            for n in (1, 2)
        ]
        _wait_for_text(folder / "master.log", "Registering worker", 2)
        _say("a master and two workers of one core each are up")

        far = Warehouse(folder / "cluster")
        _submit(port, "replay_acl_log", far, "--source", f"metadata-log:{KRAFT}")
        shaken = far.copy(folder / "shaken")
        _submit(port, "materialize_decisions", far, *DECIDE)
        _compare("on the cluster", far, expected)

        with _kill_while(workers[1], folder / "killed.log", "deciding"):
            _submit(port, "materialize_decisions", shaken, *DECIDE, log=folder / "killed.log")
        _compare("with a worker killed while it was deciding", shaken, expected)
    return 0


def _aclkit(*arguments: object) -> None:
    _run([sys.executable, "-c", "from aclkit.cli import cli; cli()", *map(str, arguments)], None)


def _submit(
    port: int, job: str, warehouse: Warehouse, *arguments: str, log: Path | None = None
) -> None:
    """Submit a job as docs/cluster.md says; its progress may go into a file."""
    (package,) = (ROOT / "dist").glob("aclkit-*.zip")
    command = [
        str(SPARK / "bin" / "spark-submit"),
        "--master", f"spark://127.0.0.1:{port}",
        "--properties-file", str(ROOT / "conf" / "spark-defaults.conf"),
        "--jars", ",".join(map(str, delta_jars())),
        "--py-files", str(package),
        "--driver-memory", "1g",
        "--conf", "spark.executor.memory=1g",
        "--conf", "spark.driver.host=127.0.0.1",
        "--conf", "spark.driver.bindAddress=127.0.0.1",
        "--conf", "spark.ui.enabled=false",
        str(ROOT / "jobs" / f"{job}.py"),
        "--warehouse", str(warehouse.path), *arguments,
    ]  # fmt: skip
    started = time.monotonic()
    _run(command, log)
    _say(f"spark-submit jobs/{job}.py: {time.monotonic() - started:.0f} s")


def _run(command: Sequence[str], log: Path | None) -> None:
    # spark-submit sends what its Python child says on stderr to stdout.
    output = log.open("wb") if log else subprocess.PIPE
    done = subprocess.run(
        command, cwd=ROOT, env=_environment(), stdin=subprocess.DEVNULL,
        stdout=output, stderr=subprocess.STDOUT, timeout=SECONDS, check=False,
    )  # fmt: skip
    if done.returncode:
        said = log.read_bytes() if log else done.stdout
        sys.exit(f"exit {done.returncode} from {' '.join(command)}\n{said.decode()[-4000:]}")


def _environment() -> dict[str, str]:
    return {
        **os.environ,
        "SPARK_HOME": str(SPARK),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "512m",
    }


def _master(port: int) -> list[str]:
    return [
        "org.apache.spark.deploy.master.Master",
        "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0",
    ]  # fmt: skip


def _worker(port: int, folder: Path) -> list[str]:
    return [
        "org.apache.spark.deploy.worker.Worker",
        "--host", "127.0.0.1", "--webui-port", "0", "--cores", "1", "--memory", "1g",
        "--work-dir", str(folder), f"spark://127.0.0.1:{port}",
    ]  # fmt: skip


@contextmanager
def _daemon(folder: Path, name: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a daemon of Spark's, in a process group of its own, until the block ends."""
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            [str(SPARK / "bin" / "spark-class"), *arguments], env=_environment(),
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
        try:
            yield process
        finally:
            _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextmanager
def _kill_while(worker: subprocess.Popen[bytes], log: Path, text: str) -> Iterator[None]:
    """Kill a worker and its executor as soon as a line of progress shows up."""
    watcher = subprocess.Popen(
        [sys.executable, "-c", _WATCH, str(log), text, str(worker.pid)],
        stdin=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        is_done = watcher.poll() == 0
        watcher.kill()
        watcher.wait()
        worker.poll()
        if not is_done or worker.returncode is None:
            sys.exit(f"the worker was not killed: no line {text!r} was seen")
    _say("a worker and its executor were killed meanwhile")


_WATCH = """
import os, signal, sys, time
log, text, group = sys.argv[1], sys.argv[2].encode(), int(sys.argv[3])
while not (os.path.exists(log) and text in open(log, "rb").read()):
    time.sleep(0.05)
time.sleep(0.5)
os.killpg(group, signal.SIGKILL)
"""


def _compare(what: str, warehouse: Warehouse, expected: Tables) -> None:
    found = warehouse.tables((*REPLAYED, *MATERIALIZED))
    different = [name for name, rows in expected.items() if found[name] != rows]
    if different:
        sys.exit(f"{what}: these tables differ from local mode: {', '.join(different)}")
    _say(f"{what}: all {len(found)} tables equal those of local mode")


def _sizes(tables: Tables) -> str:
    return ", ".join(f"{name} {len(rows):,}" for name, rows in tables.items())


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    sys.exit("the master did not come up within a minute")


def _wait_for_text(path: Path, text: str, times: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if len(re.findall(text, path.read_text(errors="replace"))) >= times:
            return
        time.sleep(0.2)
    sys.exit(f"{text!r} was not logged {times} times within a minute: {path.read_text()[-2000:]}")


def _say(text: str) -> None:
    click.echo(text)


if __name__ == "__main__":
    sys.exit(main())
