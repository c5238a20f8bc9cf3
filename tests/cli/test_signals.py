"""Ctrl-C and SIGTERM at any moment: one line, the signal's exit code, and nothing left.

Each command is a real process; its own lines on stderr tell when the moment has come.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from aclkit.warehouse.lock import warehouse_lock
from tests.cli.running import SYNTHETIC, Warehouse

PROGRAM = "from aclkit.cli import cli; cli()"
BY_SPARK = f"from aclkit.pipeline import plan; plan._FACTS_REPLAYED_HERE = -1; {PROGRAM}"
REPLAY = ("replay", "--source", f"metadata-log:{SYNTHETIC / 'basic'}")
NIGHT = ("run", "--source", f"metadata-log:{SYNTHETIC / 'basic'}", "--super-users", "User:admin")
SECONDS = 500
SAID = "Stopped by {}. No half-done work is visible. Start again to continue."
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
HEEDS_SIGHUP = "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
"""What begins each program: under nohup it would inherit that the signal is ignored."""


class Command:
    """A command at work: what it said so far, and its temporary folder."""

    def __init__(self, process, tmp):
        self.process, self.tmp = process, tmp
        self.told = []

    def wait_for(self, words):
        """Read its stderr up to the line that says something."""
        for line in self.process.stderr:
            self.told.append(line.rstrip("\n"))
            if words in line:
                return
        raise AssertionError(f"it ended without {words!r}: {self.told}")

    def end(self, number):
        """Send a signal; return the exit code, and stdout; no process of it may be left."""
        family = self.family()
        self.process.send_signal(number)
        out, rest = self.process.communicate(timeout=SECONDS)
        self.told += rest.splitlines()
        end = time.monotonic() + 60
        while any(map(is_alive, family)):
            assert time.monotonic() < end, [p for p in family if is_alive(p)]
            time.sleep(0.02)
        return self.process.returncode, out

    def family(self):
        """Return the process and all that it started, directly or not."""
        found = [self.process.pid]
        for parent in found:
            for task in Path(f"/proc/{parent}/task").glob("*/children"):
                with suppress(OSError):
                    found += map(int, task.read_text(encoding="utf-8").split())
        return found


def is_alive(number):
    try:
        return (
            Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
            != "Z"
        )
    except OSError:
        return False


@contextmanager
def started(tmp_path, *arguments, program=PROGRAM, **settings):
    tmp = tmp_path / "tmp"
    tmp.mkdir(exist_ok=True)
    # What is said is compared: without an archive its making would be said too, once.
    own = {"TMPDIR": str(tmp)}
    process = subprocess.Popen(
        [sys.executable, "-c", HEEDS_SIGHUP + program, *map(str, arguments)],
        env={**os.environ, **own, **settings},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
    )  # fmt: skip
    try:
        yield Command(process, tmp)
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def warehouse(tmp_path):
    return Warehouse(tmp_path / "warehouse")


def on(warehouse, *arguments):
    return ("--warehouse", warehouse.path, *arguments)


@pytest.mark.parametrize("number", CODES)
def test_while_it_waits_for_the_lock(tmp_path, warehouse, number):
    with warehouse_lock(str(warehouse.path), 0) as require_held:
        before = sorted(warehouse.path.rglob("*"))
        with started(tmp_path, *on(warehouse, *REPLAY)) as command:
            command.wait_for("Waiting for another run")
            assert command.end(number) == (CODES[number], "")
        require_held()
        assert sorted(warehouse.path.rglob("*")) == before
    assert command.told[-1] == SAID.format(signal.Signals(number).name)
    assert not list(command.tmp.iterdir())


def test_a_lock_that_is_waited_for_starts_no_java(tmp_path, warehouse):
    with (
        warehouse_lock(str(warehouse.path), 0),
        started(tmp_path, *on(warehouse, *REPLAY, "--lock-timeout", "0")) as command,
    ):
        assert command.process.wait(SECONDS) == 4
        told = command.process.stderr.read()
    assert "holds the lock" in told
    assert "Starting Spark" not in told


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_while_spark_starts(tmp_path, warehouse, number):
    with started(tmp_path, *on(warehouse, *REPLAY), program=BY_SPARK) as command:
        command.wait_for("Starting Spark")
        assert command.end(number) == (CODES[number], "")
    assert command.told[1:] == [SAID.format(signal.Signals(number).name)]
    assert not list(command.tmp.iterdir())
    with warehouse_lock(str(warehouse.path), 0):
        assert {path.name for path in warehouse.path.iterdir()} == {".aclkit.lock"}


SLOW = f"""
import sys, time
from aclkit.nightly import watch_work

def slow(work, news, run=watch_work.WatchWork.run):
    print("at work", file=sys.stderr, flush=True)
    time.sleep(1)
    return run(work, news)

watch_work.WatchWork.run = slow
{PROGRAM}
"""
WATCH = ("watch", *NIGHT[1:], "--interval", "600")


def test_a_watcher_ends_at_once_between_two_polls(tmp_path, warehouse):
    with started(tmp_path, *on(warehouse, *WATCH, "--verbose")) as command:
        for line in command.process.stdout:
            if "checked, offset" in line:
                break
        assert command.end(signal.SIGTERM) == (143, "")
    assert command.told[-1] == SAID.format("SIGTERM")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_watcher_ends_after_the_run_that_is_at_work(tmp_path, warehouse, number):
    with started(tmp_path, *on(warehouse, *WATCH), program=SLOW) as command:
        command.wait_for("at work")
        code, out = command.end(number)
    assert code == CODES[number]
    assert "the first poll" in out
    assert command.told[-2].startswith("Stopping after the work in progress.")
    assert [run.run_number for run in warehouse.published().runs] == [0]


def test_a_second_signal_does_not_wait_for_the_run(tmp_path, warehouse):
    program = SLOW.replace("sleep(1)", "sleep(600)")
    with started(tmp_path, *on(warehouse, *WATCH), program=program) as command:
        command.wait_for("at work")
        command.process.send_signal(signal.SIGTERM)
        command.wait_for("Stopping after the work in progress.")
        assert command.end(signal.SIGTERM) == (143, "")


def test_a_watcher_that_waits_for_the_lock_of_another_run_ends_at_once(tmp_path, warehouse):
    with (
        warehouse_lock(str(warehouse.path), 0),
        started(tmp_path, *on(warehouse, *WATCH)) as command,
    ):
        command.wait_for("Waiting for another run")
        assert command.end(signal.SIGTERM) == (143, "")


QUERY = """
import sys, duckdb
from aclkit.runtime import signals
signals.begin()
print("asking", file=sys.stderr, flush=True)
duckdb.sql("SELECT count(*) FROM range(100000000000) a, range(1000) b "
           "WHERE a.range % 7 = b.range").fetchall()
"""


def test_during_a_query_of_duckdb(tmp_path):
    with started(tmp_path, program=QUERY) as command:
        command.wait_for("asking")
        assert command.end(signal.SIGINT) == (130, "")
    assert command.told == ["asking", SAID.format("SIGINT")]


STUCK = """
import sys, threading
from aclkit.runtime import signals
def never():
    print("stuck", file=sys.__stdout__, flush=True)
    threading.Event().wait()
signals.begin()
with signals.before_end(never):
    print("working", file=sys.stderr, flush=True)
    threading.Event().wait()
"""


def test_a_second_ctrl_c_ends_at_once(tmp_path):
    with started(tmp_path, program=STUCK) as command:
        command.wait_for("working")
        command.process.send_signal(signal.SIGINT)
        assert command.process.stdout.readline() == "stuck\n"
        assert command.end(signal.SIGINT)[0] == 130


def test_what_must_be_done_first_gets_some_seconds_only(tmp_path):
    hasty = STUCK.replace("ending.begin()", "ending._SECONDS = 0.1\nending.begin()")
    with started(tmp_path, program=hasty) as command:
        command.wait_for("working")
        assert command.end(signal.SIGTERM) == (143, "stuck\n")


def test_a_signal_that_is_ignored_stays_so(tmp_path):
    deaf = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    with started(tmp_path, program=deaf + QUERY) as command:
        command.wait_for("asking")
        command.process.send_signal(signal.SIGINT)
        assert command.end(signal.SIGTERM)[0] == 143


@pytest.mark.usefixtures("spark")
def test_a_reader_that_wants_no_more_ends_a_command_quietly(tmp_path, demo_warehouse):
    for arguments in (("acls", "list"), ("export", "explain", "--format", "csv"), ("report",)):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, "--warehouse", str(demo_warehouse), *arguments],
            stdout=writer, stderr=subprocess.PIPE, encoding="utf-8", timeout=SECONDS, check=False,
        )  # fmt: skip
        os.close(writer)
        told = [line for line in done.stderr.splitlines() if not line.startswith("as of ")]
        assert (done.returncode, told) == (0, [])


@pytest.mark.parametrize(
    ("stdout", "ended"),
    [("/dev/full", (4, "Error: No space left on device\n")), ("/dev/null", (0, ""))],
)
def test_what_cannot_be_written_is_told_once(stdout, ended):
    with Path(stdout).open("w", encoding="utf-8") as file:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, "completion", "bash"],
            stdout=file, stderr=subprocess.PIPE, encoding="utf-8", timeout=SECONDS, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == ended


def test_what_could_not_be_said_to_anybody_is_no_success(tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "completion", "bash"],
        stdout=writer, stderr=subprocess.PIPE, encoding="utf-8", timeout=SECONDS, check=False,
    )  # fmt: skip
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.fixture(scope="module")
def night(_session, tmp_path_factory):
    """A warehouse with one night."""
    warehouse = Warehouse(tmp_path_factory.mktemp("signals") / "warehouse")
    warehouse.run(*NIGHT, "--fail-on", "never")
    return warehouse


MOMENTS = (
    (signal.SIGINT, "Reading the source"),
    (signal.SIGTERM, "Computing history"),
    (signal.SIGINT, "Deciding"),
    (signal.SIGTERM, "Checking completeness"),
)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(("number", "moment"), MOMENTS)
def test_during_the_demo(tmp_path, warehouse, number, moment):
    with started(tmp_path, *on(warehouse, "demo")) as command:
        command.wait_for(moment)
        assert command.end(number) == (CODES[number], "")
    assert command.told[-1] == SAID.format(signal.Signals(number).name)
    assert all(line.endswith((" …", " s")) for line in command.told[:-1]), command.told
    assert not list(command.tmp.iterdir())
    with warehouse_lock(str(warehouse.path), 0):
        assert not (warehouse.path / "job_run").exists()


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_readers_see_what_was_published_before(night, tmp_path, number):
    warehouse = night.copy(tmp_path / "warehouse")
    before = warehouse.tables()
    runs = warehouse.published().runs
    changed = ("--allow-everyone", "--fail-on", "never", "--report-dir", tmp_path / "reports")
    with started(tmp_path, *on(warehouse, *NIGHT, *changed)) as command:
        command.wait_for("Deciding")
        ended, _ = command.end(number)
    assert ended == CODES.get(number, -number)
    assert warehouse.tables() == before
    assert warehouse.published().runs == runs
    assert not (tmp_path / "reports").exists()

    with started(tmp_path, *on(warehouse, *NIGHT, *changed)) as again:
        again.wait_for("Deciding")
        assert len(list(again.tmp.glob("aclkit-run-*"))) == 1, "that of the killed run has gone"
        _, _ = again.process.communicate(timeout=SECONDS)
    assert again.process.returncode == 0
    assert not list(again.tmp.iterdir())
