"""Temporary files and programs go with their run, at the latest with the next one."""

from __future__ import annotations

import fcntl
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aclkit.runtime.scratch import PREFIX, scratch, tidy

RUN = """
import subprocess, sys
from aclkit.runtime import child
from aclkit.warehouse.lock import warehouse_lock
from aclkit.runtime.scratch import scratch
with warehouse_lock(sys.argv[1], 0):
    (scratch() / "file").touch()
    other = child.start(["sleep", "60"], stdin=subprocess.PIPE)
    print(other.pid, scratch(), flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def run(tmp_path):
    """A run at work: its process, that of its child, and its scratch folder."""
    (tmp_path / "tmp").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, str(tmp_path / "w")],
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8",
    )  # fmt: skip
    child, folder = process.stdout.readline().split()
    yield process, int(child), tmp_path / "tmp" / folder.rpartition("/")[2]
    process.kill()
    process.communicate()


def has_ended(number):
    """Whether a process has ended; one that nobody has asked for its code has."""
    try:
        return (
            Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
            == "Z"
        )
    except FileNotFoundError:
        return True


def wait_until(is_so):
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


def is_locked(path):
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_the_folder_is_for_this_user_alone(run):
    assert stat.S_IMODE(run[2].stat().st_mode) == 0o700


def test_a_run_that_ends_leaves_nothing(run):
    process, _, folder = run
    process.communicate("")
    assert process.returncode == 0
    assert not list(folder.parent.iterdir())


def test_what_a_killed_run_left_is_removed_and_what_a_living_one_has_stays(run, tmp_path):
    process, child, folder = run
    strange = folder.parent / f"{PREFIX}file"
    strange.touch()
    (folder.parent / f"{PREFIX}link").symlink_to(tmp_path)
    tidy(folder.parent)
    assert (folder / "file").exists()

    process.kill()
    wait_until(lambda: has_ended(child))
    assert (folder / "file").exists()
    tidy(folder.parent)
    assert not folder.exists()
    assert strange.exists()
    assert tmp_path.exists()


def test_a_program_of_a_killed_run_ends_with_it(run):
    process, child, _ = run
    os.kill(process.pid, signal.SIGKILL)
    wait_until(lambda: has_ended(child))


def test_a_lock_lasts_as_long_as_a_program_that_could_still_write(run, tmp_path):
    process, child, _ = run
    os.kill(child, signal.SIGSTOP)
    lock = tmp_path / "w" / ".aclkit.lock"
    assert lock in {path.resolve() for path in Path(f"/proc/{child}/fd").iterdir()}
    assert is_locked(lock)
    process.kill()
    wait_until(lambda: not is_locked(lock))
    assert has_ended(child)


def test_a_forked_process_has_a_folder_of_its_own():
    mine = scratch()
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        os.write(writer, str(scratch()).encode())
        os._exit(0)
    os.waitpid(child, 0)
    theirs = os.read(reader, 1000).decode()
    assert theirs != str(mine)
    assert mine.is_dir()
    tidy(mine.parent)
    assert not Path(theirs).exists()
