"""Files are there as a whole or not at all, and no rest of a killed run stays beside them."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from aclkit.runtime.atomic_file import open_atomically, write_atomically
from aclkit.runtime.permissions import writing_as

HALF = """
import sys, time
from pathlib import Path
from aclkit.runtime import signals
from aclkit.runtime.atomic_file import open_atomically
signals.begin()
with open_atomically(Path(sys.argv[1])) as file:
    file.write("half")
    file.flush()
    print("now", flush=True)
    time.sleep(60)
"""


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def killed_half_way(path, number):
    """Write a file in a process that a signal ends half way; return its exit code."""
    writer = subprocess.Popen(
        [sys.executable, "-c", HALF, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert writer.stdout.readline() == b"now\n"
    os.kill(writer.pid, number)
    writer.communicate(timeout=60)
    return writer.returncode


def test_what_a_killed_run_left_goes_with_the_next_write(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old")
    assert killed_half_way(path, signal.SIGKILL) == -signal.SIGKILL
    assert path.read_text() == "old"
    (left,) = set(tmp_path.iterdir()) - {path}
    assert not left.name.endswith(".html")

    write_atomically(tmp_path / "report.html.other", "")
    assert left.exists(), "that of another file"
    write_atomically(path, "new")
    assert not left.exists()
    assert path.read_text() == "new"


def test_a_signal_leaves_the_old_file_and_nothing_beside_it(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old")
    assert killed_half_way(path, signal.SIGTERM) == 143
    assert [*tmp_path.iterdir()] == [path]
    assert path.read_text() == "old"


def test_a_part_that_another_run_is_writing_stays(tmp_path):
    path = tmp_path / "report.html"
    with open_atomically(path) as file:
        file.write("first")
        write_atomically(path, "second")
        assert path.read_text() == "second"
    assert path.read_text() == "first"
    assert [*tmp_path.iterdir()] == [path]


def test_an_error_leaves_the_old_file(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    with pytest.raises(TypeError), open_atomically(path) as file:
        file.writelines(["half", None])
    assert path.read_text() == "old"
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_a_new_file_is_0640_and_one_for_everybody_0644_whatever_the_umask(tmp_path, umask):
    before = os.umask(umask)
    try:
        with writing_as(None, None):
            write_atomically(tmp_path / "a.html", "")
            write_atomically(tmp_path / "a.prom", "", for_everybody=True)
        assert os.umask(umask) == umask
    finally:
        os.umask(before)
    assert (mode(tmp_path / "a.html"), mode(tmp_path / "a.prom")) == (0o640, 0o644)


def test_a_file_that_is_replaced_keeps_its_mode_and_group(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o604)
    if os.geteuid() == 0:
        os.chown(path, -1, 12345)
    group = path.stat().st_gid
    with writing_as(0o660, None):
        write_atomically(path, "new", for_everybody=True)
    assert (mode(path), path.stat().st_gid, path.read_text()) == (0o604, group, "new")


def test_a_link_stays_one_and_a_device_is_written_to(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_atomically(tmp_path / "link", "x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "x"
    write_atomically(Path("/dev/null"), "x")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("name", ["a" * 255, "ü" * 127, "a" * 199 + "ü" * 28])
def test_a_name_as_long_as_names_may_be(tmp_path, name):
    write_atomically(tmp_path / name, "x")
    assert [path.name for path in tmp_path.iterdir()] == [name]
