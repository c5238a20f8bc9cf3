"""Environment → what aclkit needs around it: a Java that is new enough, the jars, a disk.

Nothing here imports Spark, so that missing things are reported at once.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from aclkit.errors import SurroundingsError

LEAST_JAVA: Final = 17
"""Spark 4 is compiled for Java 17."""

JAVA_PACKAGE: Final = "openjdk-17-jre-headless"

_VERSION = re.compile(r'version "(?:1\.)?(\d+)[^"]*"')
_SECONDS_FOR_JAVA = 30


def require_java(env: Mapping[str, str] = os.environ) -> Path:
    """Find the Java that Spark's launcher will take, and check that it is new enough.

    The order is that of Spark's ``bin/spark-class``: ``JAVA_HOME``, then ``PATH``.

    Raises:
        SurroundingsError: There is none, it does not run, or it is too old.
    """
    return java_and_release(env)[0]


def java_and_release(env: Mapping[str, str]) -> tuple[Path, int]:
    """Find the Java of ``require_java``, and return its feature release too."""
    java = _find_java(env)
    found = _java_version(java)
    if found < LEAST_JAVA:
        raise SurroundingsError(
            f"Spark needs Java {LEAST_JAVA} or newer, found Java {found} at {java}. {_hint()}"
        )
    return java, found


@contextmanager
def environ(values: Mapping[str, str]) -> Iterator[None]:
    """Let the environment of this process hold some values, for the time of a ``with``."""
    before = {name: os.environ[name] for name in values if name in os.environ}
    os.environ.update(values)
    try:
        yield
    finally:
        for name in values:
            del os.environ[name]
        os.environ.update(before)


def missing_package(error: ModuleNotFoundError) -> str:
    """Name the package, as pip knows it, that a missing module is of; ours are never missing."""
    module = (error.name or "aclkit").partition(".")[0]
    if module == "aclkit":
        raise error
    return _PACKAGE_OF.get(module, module)


_PACKAGE_OF: Final = {"delta": "delta-spark", "kafka": "kafka-python", "py4j": "pyspark"}


def not_installed(what: str, package: str, extra: str | None = None) -> SurroundingsError:
    """Return the error of something that needs a package which a slim install leaves out.

    Args:
        what: needs it.
        package: its name.
        extra: of aclkit, which brings it; without one the whole of aclkit does.
    """
    if extra is not None:
        return SurroundingsError(
            f"{what} needs {package}, which is not installed. "
            f"Install it: pip install 'aclkit[{extra}]'"
        )
    return SurroundingsError(
        f"{what} needs {package}, which is not installed. Install aclkit with everything that "
        "it needs: pip install aclkit"
    )


def jar_folder(env: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of Delta's jars: ``ACLKIT_JARS``, else the one ``make setup`` fills."""
    given = env.get("ACLKIT_JARS", "")
    return Path(given) if given else Path(sys.prefix) / "share" / "aclkit" / "jars"


def require_room(path: str) -> None:
    """Insist that there is room for a folder, one that is there or one to be made.

    Asked before a write: a write that fails halfway has a less plain error, and leaves a file.

    Raises:
        SurroundingsError: less than ``LEAST_ROOM`` bytes are free.
    """
    if full_disk(path):
        raise _not_written(path, _FULL)


def require_writable(warehouse: Path) -> None:
    """Insist that this user may write into the tables of a warehouse.

    Raises:
        SurroundingsError: not into one of them.
    """
    logs = sorted(warehouse.glob("*/_delta_log"))
    for folder in [warehouse, *(log.parent for log in logs), *logs]:
        if not os.access(folder, os.W_OK | os.X_OK, effective_ids=_CAN_ASK_EFFECTIVE):
            is_read_only = os.statvfs(folder).f_flag & os.ST_RDONLY
            raise _not_written(str(folder), _READ_ONLY if is_read_only else _DENIED)


_CAN_ASK_EFFECTIVE: Final = os.access in os.supports_effective_ids


def full_disk(path: str) -> bool:
    """Whether the disk that a folder lies on, or would lie on, is as good as full.

    A disk that does not report its size, as some in the network, is not.
    """
    room = room_at(path)
    return room is not None and room < LEAST_ROOM


def room_at(path: str) -> int | None:
    """Return the free bytes of the disk that a folder lies on, or would; None if not reported."""
    folder = Path(path).absolute()
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize if disk.f_blocks > 0 else None


def write_error(path: str, told: str) -> SurroundingsError | None:
    """Return the error for a write that failed, or None where the disk was not the reason.

    Args:
        path: what was written.
        told: Spark's or deltalake's error; often many lines, with the system's word in one.
    """
    return next((_not_written(path, reason) for reason in _NEXT if reason in told), None)


def is_of_system(told: str) -> bool:
    """Whether the system has refused what an engine wanted, though no file is missing."""
    words = ("(os error ", "[Errno ", _TOO_MANY, _DENIED)
    return any(word in told for word in words) and _GONE not in told


def _not_written(path: str, reason: str) -> SurroundingsError:
    return SurroundingsError(
        f"Cannot write {path}: {reason}. {_NEXT[reason]}. Published data is unchanged."
    )


LEAST_ROOM: Final = 1_000_000
"""Bytes that must be free before a table is written."""

_FULL: Final = "No space left on device"
_READ_ONLY: Final = "Read-only file system"
_DENIED: Final = "Permission denied"
_GONE: Final = "No such file or directory"
DISK_FAILS: Final = "Input/output error"
_TOO_MANY: Final = "Too many open files"
_NEXT: Final = {
    _FULL: "Free some space, then start again",
    "Disk quota exceeded": "Free some space, then start again",
    "File too large": "Raise the limit (ulimit -f), then start again",
    _TOO_MANY: "Raise the limit (ulimit -n), then start again",
    DISK_FAILS: "Check the disk, then start again",
    _READ_ONLY: "Mount it for writing, or pass another --warehouse",
    _DENIED: "Start as a user who can write there, or pass another --warehouse",
}
"""The system's error → what to do."""


def _find_java(env: Mapping[str, str]) -> Path:
    home = env.get("JAVA_HOME", "")
    if home:
        java = Path(home) / "bin" / "java"
        if not os.access(java, os.X_OK):
            raise SurroundingsError(
                f"JAVA_HOME is {home}, but {java} is not a program. Correct JAVA_HOME. {_hint()}"
            )
        return java
    found = shutil.which("java", path=env.get("PATH"))
    if found is None:
        raise SurroundingsError(
            f"Spark needs Java {LEAST_JAVA} or newer, found none in PATH or JAVA_HOME. {_hint()}"
        )
    return Path(found)


def _java_version(java: Path) -> int:
    """Ask Java for its feature release: 8 of ``1.8.0_412``, 17 of ``17.0.15``."""
    try:
        answer = subprocess.run(  # noqa: S603 - the very program that Spark will start
            [str(java), "-version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_SECONDS_FOR_JAVA,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SurroundingsError(f"Cannot start {java}: {error}. {_hint()}") from error
    text = answer.stdout.decode(errors="replace").strip()
    match = _VERSION.search(text)
    if match is None:
        raise SurroundingsError(f"{java} -version printed no version but {text!r}. {_hint()}")
    return int(match.group(1))


def _hint() -> str:
    return f"To install it on Debian or Ubuntu: apt-get install {JAVA_PACKAGE}"


def main() -> None:
    """Check Java: silent where it will do, else the reason on stderr and exit code 4."""
    try:
        require_java()
    except SurroundingsError as error:
        sys.stderr.write(f"Error: {error}\n")
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
