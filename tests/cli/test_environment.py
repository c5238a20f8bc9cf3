"""A disk that is full or may not be written: one plain line, exit code 4, and nothing lost."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest
from py4j.protocol import Py4JError

from aclkit.cli import session
from aclkit.cli.context import Context
from aclkit.errors import SurroundingsError
from aclkit.runtime import environment
from aclkit.runtime.environment import require_room
from aclkit.warehouse.commits import Commit, append_files
from tests.cli.running import SEGMENT, SYNTHETIC, half_read

LOG = SYNTHETIC / "basic"
REPLAY = ("replay", "--source", f"metadata-log:{LOG}")
UNCHANGED = "Published data is unchanged."
FULL = f"No space left on device. Free some space, then start again. {UNCHANGED}"
DENIED = "Permission denied. Start as a user who can write there, or pass another --warehouse"
NOBODY = 65534

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts and becomes another user")


@contextmanager
def mounted(folder, *options):
    """Mount something, or skip where the machine does not let even root do so."""
    told = subprocess.run(
        ["mount", *options, folder], capture_output=True, encoding="utf-8", check=False
    )
    if told.returncode:
        pytest.skip(f"cannot mount: {told.stderr.strip()}")
    try:
        yield folder
    finally:
        # Lazily: the JVM may still hold a file of it open.
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 16 MiB."""
    (tmp_path / "disk").mkdir()
    with mounted(tmp_path / "disk", "-t", "tmpfs", "-o", "size=16m", "tmpfs") as disk:
        yield disk


@pytest.fixture(scope="module")
def started(_session, tmp_path_factory):
    """A warehouse that has read the first half of the log."""
    return half_read(LOG / SEGMENT, tmp_path_factory.mktemp("surroundings"))


def fill(disk: Path, left: int) -> Path:
    """Fill a disk up to some bytes."""
    room = os.statvfs(disk)
    ballast = disk / "ballast"
    ballast.write_bytes(bytes(room.f_bavail * room.f_frsize - left))
    return ballast


def error_of(told: str) -> str:
    """Return the one line that is no progress, without what comes before its text."""
    (line,) = [line for line in told.splitlines() if line.startswith("Error: ")]
    assert told.splitlines()[-1] == line
    assert line.isprintable()
    return line.removeprefix("Error: ")


@as_root
@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_a_full_disk_is_told_before_a_table_is_written(started, small_disk, capfd):
    warehouse = started.copy(small_disk / "warehouse")
    before = warehouse.tables()
    files = set(warehouse.path.rglob("*.parquet"))
    ballast = fill(small_disk, 900_000)

    told = error_of(warehouse.run(*REPLAY, code=4).stderr)
    assert told == f"Cannot write {warehouse.path}: {FULL}"
    assert capfd.readouterr().err == ""
    assert set(warehouse.path.rglob("*.parquet")) == files
    assert warehouse.tables() == before

    ballast.unlink()
    warehouse.run(*REPLAY)
    whole = started.copy(small_disk.parent / "whole")
    whole.run(*REPLAY)
    assert warehouse.tables() == whole.tables() != before


@as_root
@pytest.mark.slow
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("left", [0, 4_000, 28_000])
def test_a_disk_that_fills_up_while_tables_are_written(started, small_disk, left, monkeypatch):
    monkeypatch.setattr(environment, "LEAST_ROOM", 0)
    warehouse = started.copy(small_disk / "warehouse")
    before = warehouse.tables()
    fill(small_disk, left)

    told = error_of(warehouse.run(*REPLAY, code=4).stderr)
    assert told.startswith(f"Cannot write {warehouse.path}")
    assert told.endswith(FULL)
    assert warehouse.tables() == before


@as_root
@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_a_table_that_spark_may_not_write(started, tmp_path):
    warehouse = started.copy(tmp_path / "warehouse")
    before = warehouse.tables()
    table = warehouse.path / "acl_log"
    with mounted(table, "--bind", table):
        subprocess.run(["mount", "-o", "remount,bind,ro", table], check=True)
        told = error_of(warehouse.run(*REPLAY, code=4).stderr)
        assert warehouse.tables() == before
    assert told.startswith(f"Cannot write {table}: Read-only file system. Mount it for")
    assert told.endswith(UNCHANGED)


AS_NOBODY = f"""
import os, sys
import aclkit.cli.replay, aclkit.pipeline.sources.readers
from aclkit.cli import cli
from aclkit.runtime.spark import build_session
build_session("nobody")  # Java may lie where nobody may not go
os.setgroups([])
os.setgid({NOBODY})
os.setuid({NOBODY})
cli()
"""


@as_root
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("spark")
def test_a_warehouse_of_another_user(started):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        warehouse = started.copy(Path(folder) / "warehouse")
        before = warehouse.tables()
        scratch = Path(folder) / "scratch"
        scratch.mkdir()
        scratch.chmod(0o777)  # where both may tidy up
        done = subprocess.run(
            [sys.executable, "-c", AS_NOBODY, "--warehouse", str(warehouse.path), *REPLAY],
            env={**os.environ, "TMPDIR": str(scratch)},
            stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=500,
            check=False,
        )  # fmt: skip
        assert done.returncode == 4, done.stderr
        told = f"Cannot write the warehouse {warehouse.path}: {DENIED}. {UNCHANGED}"
        assert error_of(done.stderr) == told
        assert warehouse.tables() == before


@as_root
def test_a_table_of_another_user():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = f"{folder}/of_no_contract"
        append_files(path, pa.table({"a": [1]}), Commit("run", "app", 1))
        program = f"""
import os
import pyarrow as pa
from aclkit.cli import session
from aclkit.errors import SurroundingsError
from aclkit.cli.context import Context
from aclkit.warehouse.commits import NEW, Commit, append_files
os.setgroups([])
os.setgid({NOBODY})
os.setuid({NOBODY})
for path, on in (({path!r}, 0), ({path + "2"!r}, NEW)):
    try:
        append_files(path, pa.table({{"a": [2]}}), Commit("run", "app", 2, on))
    except SurroundingsError as error:
        print(error)
"""
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, encoding="utf-8"
        )
        assert done.stdout.splitlines() == [
            f"Cannot write {path}: {DENIED}. {UNCHANGED}",
            f"Cannot write {path}2: {DENIED}. {UNCHANGED}",
        ]


def test_a_folder_that_is_not_there_yet_lies_on_the_disk_of_the_one_above(tmp_path, monkeypatch):
    require_room(str(tmp_path / "not" / "yet"))
    monkeypatch.setattr(environment, "LEAST_ROOM", 1 << 62)
    with pytest.raises(SurroundingsError, match="not/yet: No space left"):
        require_room(str(tmp_path / "not" / "yet"))


@pytest.mark.parametrize(
    ("told", "line"),
    [
        ("FileNotFoundException: {w}/acl_log/1.parquet (Permission denied)", "Cannot write {w}: "),
        ('Cannot run program "python": error=13, Permission denied', "Spark failed: first"),
        ("java.io.IOException: Disk quota exceeded", "Cannot write {w}: Disk quota exceeded. Free"),
        ("something else", "Spark failed: first"),
    ],
)
def test_what_spark_tells_of_a_disk_is_said_of_the_warehouse_if_it_is_meant(
    told, line, tmp_path, monkeypatch
):
    monkeypatch.setattr("aclkit.runtime.spark.build_session", lambda *_, **__: None)
    place = str(tmp_path / "w")
    with (
        pytest.raises(SurroundingsError) as raised,
        session.late_session(Context(warehouse=place), "test"),
    ):
        raise Py4JError(f"first\nCaused by: {told.format(w=place)}\n\tat Somewhere.java")
    assert str(raised.value).startswith(line.format(w=place))
