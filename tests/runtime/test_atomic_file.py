"""Files are there as a whole or not at all, and no rest of a killed run stays beside them."""

from __future__ import annotations

import ast
import os
import re
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from aclkit.errors import SurroundingsError
from aclkit.runtime import atomic_file
from aclkit.runtime.atomic_file import follow_own_links, open_atomically, write_atomically
from aclkit.runtime.permissions import writing_as
from aclkit.warehouse.lock import LOCK_NAME, warehouse_lock
from tests.on_disk import on_disk

HALF = """
import sys, time
from pathlib import Path
from aclkit.runtime import signals
from aclkit.runtime import atomic_file
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
    path.write_text("old", encoding="utf-8")
    assert killed_half_way(path, signal.SIGKILL) == -signal.SIGKILL
    assert path.read_text(encoding="utf-8") == "old"
    (left,) = set(tmp_path.iterdir()) - {path}
    assert not left.name.endswith(".html")

    write_atomically(tmp_path / "report.html.other", "")
    assert left.exists(), "that of another file"
    write_atomically(path, "new")
    assert not left.exists()
    assert path.read_text(encoding="utf-8") == "new"


def test_a_signal_leaves_the_old_file_and_nothing_beside_it(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old", encoding="utf-8")
    assert killed_half_way(path, signal.SIGTERM) == 143
    assert [*tmp_path.iterdir()] == [path]
    assert path.read_text(encoding="utf-8") == "old"


def test_a_part_that_another_run_is_writing_stays(tmp_path):
    path = tmp_path / "report.html"
    with open_atomically(path) as file:
        file.write("first")
        write_atomically(path, "second")
        assert path.read_text(encoding="utf-8") == "second"
    assert path.read_text(encoding="utf-8") == "first"
    assert [*tmp_path.iterdir()] == [path]


def test_an_error_leaves_the_old_file(tmp_path):
    path = tmp_path / "a"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(TypeError), open_atomically(path) as file:
        file.writelines(["half", None])
    assert path.read_text(encoding="utf-8") == "old"
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
    path.write_text("old", encoding="utf-8")
    path.chmod(0o604)
    if os.geteuid() == 0:
        os.chown(path, -1, 12345)
    group = path.stat().st_gid
    with writing_as(0o660, None):
        write_atomically(path, "new", for_everybody=True)
    assert (mode(path), path.stat().st_gid, path.read_text(encoding="utf-8")) == (
        0o604,
        group,
        "new",
    )


def test_a_link_stays_one_and_a_device_is_written_to(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_atomically(tmp_path / "link", "x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text(encoding="utf-8") == "x"
    write_atomically(Path("/dev/null"), "x")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("name", ["a" * 255, "ü" * 127, "a" * 199 + "ü" * 28])
def test_a_name_as_long_as_names_may_be(tmp_path, name):
    write_atomically(tmp_path / on_disk(name), "x")
    assert [path.name for path in tmp_path.iterdir()] == [on_disk(name)]


AS_ANOTHER = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes links of others")


@pytest.fixture
def planted(tmp_path):
    """A link that another user made to a file of one's own."""
    (tmp_path / "precious").write_text("precious", encoding="utf-8")
    (tmp_path / "link").symlink_to("precious")
    os.chown(tmp_path / "link", 65534, 65534, follow_symlinks=False)
    return tmp_path / "link"


@AS_ANOTHER
def test_another_users_link_is_not_followed_by_what_a_user_names(planted, tmp_path):
    (tmp_path / "own").symlink_to("link")
    for name in ("link", "own"):
        with pytest.raises(SurroundingsError, match="another user made"):
            write_atomically(tmp_path / name, "x")
    assert (tmp_path / "precious").read_text(encoding="utf-8") == "precious"


@pytest.mark.parametrize("before", ["nothing", "file", "link"])
@pytest.mark.parametrize("is_ours", [True, False])
def test_a_link_that_comes_after_the_look_is_replaced_not_followed(
    tmp_path, monkeypatch, before, is_ours
):
    (tmp_path / "precious").write_text("precious", encoding="utf-8")
    named = tmp_path / "named"
    if before == "link":
        named.symlink_to("target")
    target = tmp_path / "target" if before == "link" and not is_ours else named
    if before != "nothing":
        target.write_text("old", encoding="utf-8")

    def swap(path):
        found = follow_own_links(path)
        target.unlink(missing_ok=True)
        target.symlink_to(tmp_path / "precious")
        return found

    monkeypatch.setattr(atomic_file, "follow_own_links", swap)
    write_atomically(named, "x", is_ours=is_ours)
    assert (tmp_path / "precious").read_text(encoding="utf-8") == "precious"
    assert (target.is_symlink(), target.read_text(encoding="utf-8")) == (False, "x")


def test_a_file_that_comes_in_the_place_of_a_pipe_is_not_emptied(tmp_path, monkeypatch):
    (tmp_path / "precious").write_text("precious", encoding="utf-8")
    named = tmp_path / "named"
    os.mkfifo(named)
    is_file = Path.is_file

    def swap(path):
        found = is_file(path)
        if path == named:
            named.unlink(missing_ok=True)
            named.symlink_to("precious")
        return found

    monkeypatch.setattr(Path, "is_file", swap)
    with pytest.raises(SurroundingsError, match="while it was opened"):
        write_atomically(named, "x")
    assert (tmp_path / "precious").read_text(encoding="utf-8") == "precious"


def test_links_in_a_circle_are_an_error(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links"):
        write_atomically(tmp_path / "a", "x")


@AS_ANOTHER
def test_a_file_of_our_own_takes_the_place_of_a_link(planted, tmp_path):
    write_atomically(planted, "x", is_ours=True)
    assert (planted.is_symlink(), planted.read_text(encoding="utf-8")) == (False, "x")
    assert (tmp_path / "precious").read_text(encoding="utf-8") == "precious"


@AS_ANOTHER
def test_no_file_of_our_own_is_written_into_a_folder_that_another_user_links(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "_aclkit").symlink_to("elsewhere")
    os.chown(tmp_path / "_aclkit", 65534, 65534, follow_symlinks=False)
    with pytest.raises(SurroundingsError, match="another user made"):
        write_atomically(tmp_path / "_aclkit" / "checked.json", "x", is_ours=True)


@pytest.mark.parametrize("how", ["link", "hard link", "pipe"])
def test_a_lock_is_a_plain_file_of_its_own(tmp_path, how):
    (tmp_path / "precious").write_text("precious", encoding="utf-8")
    lock = tmp_path / LOCK_NAME
    if how == "pipe":
        os.mkfifo(lock)
    elif how == "link":
        lock.symlink_to("precious")
    else:
        lock.hardlink_to(tmp_path / "precious")
    with pytest.raises(SurroundingsError, match="a link or no plain file"), held_lock(tmp_path):
        pass
    assert (tmp_path / "precious").read_text(encoding="utf-8") == "precious"


def held_lock(folder):
    return warehouse_lock(str(folder), 0)


def test_pipes_and_standard_output_go_on():
    follow_own_links(Path("/dev/stdout"))
    reading, writing = os.pipe()
    write_atomically(f"/dev/fd/{writing}", "z")
    os.close(writing)
    assert os.read(reading, 9) == b"z"
    os.close(reading)


WRITERS = {
    "runtime/atomic_file.py": "the one writer of files that are named, and locks",
    "audit/review/folder.py": "decisions and locks, with O_NOFOLLOW",
    "runtime/spark.py": "a log, by mkstemp",
    "runtime/scratch.py": "reads with O_NOFOLLOW",
    "runtime/read_progress.py": "in the scratch folder",
    "runtime/jars.py": "the user's cache",
    "runtime/safe_read.py": "reads",
    "runtime/shared_work.py": "a new file alone, in the scratch folder",
    "cli/init.py": "a new file alone",
    "runtime/signals.py": "/dev/null",
    "warehouse/storage.py": "reads a folder",
    "cli/output.py": "/dev/null",
    "kafka/client/tls.py": "in the scratch folder",
    "kafka/verify/kafka.py": "in the scratch folder",
}
"""The modules that open a file to write it, or copy one, by themselves."""

WRITES = re.compile(
    r"os\.open|.*\.(write_text|write_bytes)|shutil\.(copy|copy2|copyfile|move|copytree)"
    r"|tempfile\.(mkstemp|NamedTemporaryFile)"
)


def writes(call):
    name = ast.unparse(call.func)
    modes = [*call.args[:2], *(word.value for word in call.keywords if word.arg == "mode")]
    texts = (each.value for each in modes if isinstance(each, ast.Constant))
    has_mode = any(
        isinstance(text, str) and re.fullmatch("[wax][bt+]*|r[bt]?[+]", text) for text in texts
    )
    return bool(WRITES.fullmatch(name)) or (name.rpartition(".")[2] == "open" and has_mode)


def test_files_are_written_in_known_places_alone():
    package = Path(__file__).parent.parent.parent / "aclkit"
    found = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and writes(node)
    }
    assert found - {"cli/help.py"} == WRITERS.keys()  # there a formatter has such a method
