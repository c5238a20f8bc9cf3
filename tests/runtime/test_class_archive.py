"""The archive of classes: what it is of, when it is used, and that only one is made at a time."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aclkit.errors import SurroundingsError
from aclkit.runtime import class_archive_maker
from aclkit.runtime.class_archive import (
    VARIABLE,
    ClassArchive,
    class_archive,
    options_for,
    start_making,
)
from aclkit.runtime.class_archive_maker import make_archive


def write(path: Path, content: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


@pytest.fixture
def machine(tmp_path: Path) -> dict[str, Path]:
    """A Java, a Spark and a jar of Delta's that are nothing but files."""
    write(tmp_path / "java/lib/modules", "the classes of Java")
    write(tmp_path / "java/lib/server/libjvm.so", "17.0.15")
    return {
        "java": write(tmp_path / "java/bin/java"),
        "spark": write(tmp_path / "spark/jars/spark-core.jar", "core").parents[1],
        "delta": write(tmp_path / "delta.jar", "delta"),
        "cache": tmp_path / "cache",
    }


def archive_of(machine: dict[str, Path], **env: str) -> ClassArchive | None:
    env = {"XDG_CACHE_HOME": str(machine["cache"]), **env}
    return class_archive(machine["java"], machine["spark"], [machine["delta"]], env)


@pytest.fixture
def archive(machine: dict[str, Path]) -> ClassArchive:
    found = archive_of(machine)
    assert found is not None
    found.folder.mkdir(mode=0o700, parents=True)
    return found


def made(archive: ClassArchive, content: str = "laid out classes") -> Path:
    """An archive of some content under the name that it gets."""
    part = write(archive.folder / "part", content)
    part.chmod(0o400)
    return part.rename(archive.folder / archive.name_of(part))


def test_it_lies_in_the_cache_of_this_user(machine, archive):
    assert archive.folder == machine["cache"] / "aclkit"


def test_a_relative_cache_folder_counts_as_none_given(machine, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    found = archive_of(machine, XDG_CACHE_HOME="cache")
    assert found is not None
    assert found.folder == tmp_path / "home" / ".cache" / "aclkit"


@pytest.mark.parametrize("value", ["0", "no", "off", "False"])
def test_one_setting_switches_it_off(machine, value):
    assert archive_of(machine, **{VARIABLE: value}) is None


@pytest.mark.parametrize(
    "path", ["java/lib/modules", "java/lib/server/libjvm.so", "spark/jars/new.jar", "delta.jar"]
)
def test_it_is_of_one_java_and_of_the_jars_on_its_class_path(machine, archive, tmp_path, path):
    write(tmp_path / path, "another one")
    assert archive_of(machine) != archive


def test_it_is_of_one_class_path(machine, archive, tmp_path):
    assert archive_of(machine, SPARK_CONF_DIR=str(tmp_path)) != archive
    assert archive_of(machine) == archive


def test_another_kind_of_java_has_none(machine):
    shutil.rmtree(machine["java"].parents[1] / "lib")
    assert archive_of(machine) is None


def test_a_folder_that_a_jvm_cannot_be_told_holds_none(machine, tmp_path):
    assert archive_of(machine, XDG_CACHE_HOME=str(tmp_path / "a:b")) is None


def test_a_whole_one_is_found_and_marked_as_used(archive):
    path = made(archive)
    os.utime(path, (0, 0))
    assert archive.find() == path
    assert time.time() - path.stat().st_mtime < 3600


def test_where_there_is_none_none_is_found(archive):
    assert archive.find() is None
    archive.folder.rmdir()
    assert archive.find() is None


@pytest.mark.parametrize("damage", [b"", b"laid out class", b"laid out clasSes", b"something else"])
def test_a_damaged_one_is_not_used(archive, damage):
    path = made(archive)
    path.chmod(0o600)
    path.write_bytes(damage)
    assert archive.find() is None


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_one_that_others_may_write_is_not_used(archive, mode):
    made(archive).chmod(mode)
    assert archive.find() is None


def test_a_link_is_not_used(archive, tmp_path):
    path = made(archive)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert archive.find() is None


def test_it_is_due_once_in_some_hours(archive):
    assert archive.is_due()
    archive.tried.touch()
    assert not archive.is_due()
    os.utime(archive.tried, (0, 0))
    assert archive.is_due()


def test_where_no_folder_can_be_made_it_is_never_due(machine, tmp_path):
    found = archive_of(machine, XDG_CACHE_HOME=str(write(tmp_path / "no folder")))
    assert found is not None
    assert not found.is_due()


def test_in_a_folder_that_others_may_write_it_is_never_due(archive):
    archive.folder.chmod(0o777)
    assert not archive.is_due()


def test_its_folder_is_nobody_elses_whatever_the_umask(archive):
    archive.folder.rmdir()
    umask = os.umask(0)
    try:
        assert archive.is_due()
    finally:
        os.umask(umask)
    assert archive.folder.stat().st_mode & 0o777 == 0o755


def test_a_jvm_is_told_to_use_it_where_it_can(archive):
    path = made(archive)
    assert "-Xshare:auto" in options_for(path)
    assert f"-XX:SharedArchiveFile={path}" in options_for(path)


# -- making --------------------------------------------------------------------------------------

DUMPS = """#!/bin/sh
for word; do case "$word" in *-Xshare:dump*)
  part="${word##*-XX:SharedArchiveFile=}"; printf '%s' "laid out classes" > "${part%% *}"
;; esac; done
"""
FAILS = "#!/bin/sh\necho 'Java heap is broken'; exit 1\n"


@pytest.fixture
def maker(machine, archive, monkeypatch):
    """An environment in which Spark's launcher is a script."""

    def install(script: str) -> ClassArchive:
        program = write(machine["spark"] / "bin" / "spark-submit", script)
        program.chmod(0o755)
        monkeypatch.setenv("SPARK_HOME", str(machine["spark"]))
        monkeypatch.setenv("XDG_CACHE_HOME", str(machine["cache"]))
        monkeypatch.setattr(class_archive_maker, "require_java", lambda: machine["java"])
        monkeypatch.setattr(class_archive_maker, "checked_jars", lambda _: [machine["delta"]])
        return archive

    return install


def files(archive: ClassArchive) -> list[str]:
    return sorted(path.name for path in archive.folder.iterdir() if path != archive.tried)


def test_what_is_made_is_found_and_not_made_again(maker):
    archive = maker(DUMPS)
    path = make_archive()
    assert path == archive.find()
    assert files(archive) == [path.name]
    maker(FAILS)
    assert make_archive() == path


def test_a_failure_leaves_the_reason_and_no_part(maker):
    archive = maker(FAILS)
    with pytest.raises(SurroundingsError, match="Java heap is broken"):
        make_archive()
    assert files(archive) == []
    assert "Java heap is broken" in archive.tried.read_text()
    assert not archive.is_due()


def test_who_comes_while_one_is_made_makes_none(maker):
    archive = maker(DUMPS)
    with archive.tried.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(SurroundingsError, match="Another process is making"):
            make_archive()
    assert files(archive) == []


def test_a_damaged_one_gives_way_to_a_new_one(maker):
    archive = maker(DUMPS)
    path = make_archive()
    path.chmod(0o600)
    path.write_text("damaged")
    write(archive.folder / f"{archive.key}.part", "of one that was killed")
    assert make_archive() == path
    assert files(archive) == [path.name]


def test_those_that_nobody_used_for_a_month_go(maker):
    archive = maker(DUMPS)
    old, young = (write(archive.folder / f"{key}-00000000.jsa") for key in ("old", "young"))
    os.utime(old, (0, 0))
    path = make_archive()
    assert files(archive) == sorted([path.name, young.name])


def test_a_full_disk_is_not_filled_further(maker, monkeypatch):
    archive = maker(DUMPS)
    usage = shutil.disk_usage(archive.folder)._replace(free=10**8)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(SurroundingsError, match="bytes are free"):
        make_archive()
    assert files(archive) == []


def test_it_is_made_in_the_background_by_a_process_of_its_own(tmp_path, monkeypatch):
    told = tmp_path / "told"
    python = write(
        tmp_path / "python",
        f"#!/bin/sh\nread -r _ _ _ parent _ session _ < /proc/$$/stat\n"
        f'echo "$session $*" > {told}.part && mv {told}.part {told}\n',
    )
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    start_making()
    end = time.monotonic() + 60
    while not told.exists() and time.monotonic() < end:
        time.sleep(0.05)
    session, *words = told.read_text().split()
    assert words == ["-m", "aclkit.runtime.class_archive_maker", "--quietly"]
    if sys.platform == "linux":
        assert int(session) != os.getsid(0)


# -- with Spark ----------------------------------------------------------------------------------

COUNTS = """
import sys
from aclkit.runtime.spark import build_session
session = build_session("archived", length="tiny", extra_conf={"spark.driver.memory": "1g"})
session.range(3).write.format("delta").save(sys.argv[1])
"""


@pytest.mark.spark
@pytest.mark.slow
def test_a_session_takes_its_classes_from_the_archive(tmp_path):
    make_archive()
    loaded = tmp_path / "loaded"
    done = subprocess.run(
        [sys.executable, "-c", COUNTS, str(tmp_path / "table")],
        env={**os.environ, "SPARK_SUBMIT_OPTS": f"-Xlog:class+load:file={loaded}"},
        capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    # Lambdas and what Spark compiles on its way lie in no file.
    lines = [line for line in loaded.read_text().splitlines() if ".jar" in line or "share" in line]
    shared = [line for line in lines if "shared objects file" in line]
    assert any("spark.sql.delta.DeltaLog " in line for line in shared)
    assert len(shared) > 0.9 * len(lines)


@pytest.mark.spark
def test_a_session_starts_without_a_word_where_the_archive_is_of_another_jvm(tmp_path):
    from aclkit.runtime.environment import require_java
    from aclkit.runtime.jars import DELTA, checked_jars, spark_home

    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "ACLKIT_FAST_JVM": "1"}
    found = class_archive(require_java(), spark_home(), checked_jars(DELTA), env)
    assert found is not None
    found.folder.mkdir(mode=0o700, parents=True)
    found.tried.touch()  # so that none is made
    made(found)
    done = subprocess.run(
        [sys.executable, "-c", COUNTS, str(tmp_path / "table")],
        env=env, capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "table" / "_delta_log").is_dir()
