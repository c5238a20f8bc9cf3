"""The list of classes → the archive of them, made by this machine's Java out of its own jars.

``python -m aclkit.runtime.class_archive_maker`` does it at once, half a minute; the first start of
Spark does it in the background, on idle processor time. One maker works at a time. Its file gets
its name once it is whole; until then no process looks at it.
"""

from __future__ import annotations

import fcntl
import gzip
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import click

from aclkit.errors import AclkitError, SurroundingsError
from aclkit.runtime import child
from aclkit.runtime.class_archive import (
    QUIET,
    VARIABLE,
    ClassArchive,
    class_archive,
    class_list,
    options_for,
)
from aclkit.runtime.environment import require_java
from aclkit.runtime.jars import DELTA, checked_jars, spark_home
from aclkit.runtime.scratch import scratch

_SECONDS: Final = 900
_LEAST_ROOM: Final = 1_000_000_000
_SECONDS_UNUSED: Final = 30 * 86_400
_KILL_ME_FIRST: Final = "1000"


def make_archive(*, at_leisure: bool = False) -> Path:
    """Return the archive for the Java and the jars of this environment, made now if there is none.

    Args:
        at_leisure: on processor time and memory that no other process wants.

    Raises:
        SurroundingsError: there can be none here, another is at work on it, or Java failed.
    """
    if at_leisure:
        _stand_back()
    jars = checked_jars(DELTA)
    archive = class_archive(require_java(), spark_home(), jars, os.environ)
    if archive is None:
        raise SurroundingsError(
            f"Cannot make an archive of classes: {VARIABLE} is off, or there is no home directory"
        )
    found = archive.find()
    if found is None:
        with _alone(archive):
            found = archive.find() or _make(archive, jars)
    return found


def _make(archive: ClassArchive, jars: Sequence[Path]) -> Path:
    part = archive.folder / f"{archive.key}.part"
    _tidy(archive)
    if shutil.disk_usage(archive.folder).free < _LEAST_ROOM:
        raise SurroundingsError(f"Less than {_LEAST_ROOM:,} bytes are free in {archive.folder}")
    listed = scratch() / "classes.lst"
    listed.write_bytes(gzip.decompress(class_list().read_bytes()))
    try:
        _java(jars, "-Xshare:dump", f"-XX:SharedClassListFile={listed}",
              f"-XX:SharedArchiveFile={part}", QUIET)  # fmt: skip
        part.chmod(0o444)  # every user may read the classes, in an image for example
        # Whether it can be used at all: a JVM that must use it does nothing but start.
        _java(jars, *options_for(part), "-Xshare:on", "-version")
        whole = part.with_name(archive.name_of(part))
        part.replace(whole)
    except OSError as error:
        raise SurroundingsError(f"Cannot make the archive of classes: {error}") from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
    return whole


def _java(jars: Sequence[Path], *options: str) -> None:
    """Start the JVM as a session does, with options that end it before Spark begins."""
    told = ("-XX:+UseParallelGC", "-XX:-UsePerfData", f"-Djava.io.tmpdir={scratch()}", *options)
    settings = {
        "spark.master": "local",
        "spark.driver.memory": "512m",
        "spark.driver.extraClassPath": os.pathsep.join(map(str, jars)),
        "spark.driver.extraJavaOptions": shlex.join(told),
    }
    given = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
    home = spark_home()
    process = child.start(
        [f"{home}/bin/spark-submit", *given, "pyspark-shell"],
        env={**os.environ, "SPARK_HOME": str(home), "TMPDIR": str(scratch())},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        said, _ = process.communicate(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        raise SurroundingsError(
            f"The archive of classes was not ready within {_SECONDS} s"
        ) from None
    finally:
        child.end(process)
    if process.returncode:
        lines = said.decode(errors="replace").strip().splitlines() or ["it printed nothing"]
        raise SurroundingsError(f"Java made no archive of classes ({lines[-1]})")


@contextmanager
def _alone(archive: ClassArchive) -> Iterator[None]:
    """Be the only one that makes this archive, and keep what went wrong, for who asks later."""
    archive.folder.mkdir(0o755, parents=True, exist_ok=True)
    with archive.tried.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SurroundingsError("Another process is making the archive of classes") from None
        file.truncate(0)
        os.utime(archive.tried)
        try:
            yield
        except AclkitError as error:
            file.write(f"{error}\n")
            raise


def _tidy(archive: ClassArchive) -> None:
    """Remove damaged and unfinished files of this archive, and archives no longer used."""
    for path in archive.folder.iterdir():
        is_ours = path.name.startswith(archive.key) and path != archive.tried
        with suppress(OSError):
            if is_ours or time.time() - path.stat().st_mtime > _SECONDS_UNUSED:
                path.unlink()


def _stand_back() -> None:
    """Take the time that others leave, and be the first to go where memory is short."""
    with suppress(OSError):
        os.nice(19)
    if sys.platform == "linux":
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        with suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text(_KILL_ME_FIRST)


@click.command(help="Make the archive of Spark's classes, so that Spark starts sooner.")
@click.option("--quietly", is_flag=True, help="Run at low priority, and print nothing.")
def main(*, quietly: bool) -> None:
    """Make the archive; exit code 4 where it cannot be."""
    try:
        made = make_archive(at_leisure=quietly)
        if not quietly:
            click.echo(f"The archive of Spark's classes is {made}", err=True)
    except (AclkitError, OSError) as error:
        if not quietly:
            click.echo(f"Error: {error}", err=True)
        sys.exit(SurroundingsError.exit_code)


if __name__ == "__main__":
    main()
