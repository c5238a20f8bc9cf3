"""A Java, Spark and Delta → the archive of their classes in the user's cache, if there is one.

Before Spark does anything a JVM reads, proves and lays out some ten thousand classes; out of an
archive (AppCDS) it maps them. One is made once for each Java and set of jars, in a process of its
own (``class_archive_maker``). It is a file that exists as a whole or not at all. Its name holds a
digest of the Java, jars and classes it is made of, and the CRC of its content. Where anything is
wrong with it, Spark starts without it.
"""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import sys
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

VARIABLE: Final = "ACLKIT_CLASS_ARCHIVE"
SUFFIX: Final = ".jsa"
_OFF: Final = ("0", "f", "false", "n", "no", "off")
_ON_THE_CLASS_PATH: Final = (
    "SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_DIST_CLASSPATH",
)  # fmt: skip
"""What Spark's launcher puts there too; an archive is of one class path."""

_CHUNK: Final = 1 << 22
_SECONDS_BETWEEN_TRIES: Final = 20 * 3600
_OTHERS_MAY_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_IN_THE_BACKGROUND: Final = '("$@" </dev/null >/dev/null 2>&1 &)'


@dataclass(frozen=True, slots=True)
class ClassArchive:
    """Where the archive of one Java and one class path lies, or would lie.

    Attributes:
        folder: of this user's cache.
        key: what it is of.
    """

    folder: Path
    key: str

    @property
    def tried(self) -> Path:
        """The file that its maker locks; its time is when making one was last begun."""
        return self.folder / f"{self.key}.tried"

    def find(self) -> Path | None:
        """Return the archive, if it is there, whole, and none that a stranger could have made."""
        for path in self.folder.glob(f"{self.key}-*{SUFFIX}"):
            if self._is_whole(path):
                with suppress(OSError):
                    os.utime(path)  # one that is used stays
                return path
        return None

    def _is_whole(self, path: Path) -> bool:
        try:
            return _is_own(path) and path.name == self.name_of(path)
        except OSError:
            return False

    def name_of(self, path: Path) -> str:
        """Return the name of an archive with the content of a file."""
        crc = 0
        with path.open("rb", buffering=0) as file:
            while chunk := file.read(_CHUNK):
                crc = zlib.crc32(chunk, crc)
        return f"{self.key}-{crc:08x}{SUFFIX}"

    def is_due(self) -> bool:
        """Whether one should be made: this user can, and no maker was started for some hours."""
        try:
            self.folder.mkdir(0o755, parents=True, exist_ok=True)
            return _is_own(self.folder) and os.access(self.folder, os.W_OK) and not self._is_fresh()
        except OSError:
            return False

    def _is_fresh(self) -> bool:
        try:
            return abs(time.time() - self.tried.stat().st_mtime) < _SECONDS_BETWEEN_TRIES
        except FileNotFoundError:
            return False


def class_archive(
    java: Path, spark: Path, jars: Sequence[Path], env: Mapping[str, str]
) -> ClassArchive | None:
    """Return the archive for a Java and the jars it is given; None where there can be none.

    Args:
        java: the program.
        spark: the folder of Spark.
        jars: what else is on the class path.
        env: sets whether one is wanted, and where caches lie.
    """
    folder = _cache(env)
    if folder is None or not is_wanted(env):
        return None
    try:
        home = java.resolve().parent.parent
        runtime = [home / "lib" / "modules", *(home / "lib" / "server").iterdir()]
        of = [*_looks(runtime), *_looks((spark / "jars").iterdir()), *_looks(jars)]
        of += [f"{name}={env.get(name, '')}" for name in _ON_THE_CLASS_PATH]
        of.append(hashlib.sha256(class_list().read_bytes()).hexdigest())
    except OSError:  # another kind of Java
        return None
    return ClassArchive(folder, hashlib.sha256("\n".join(of).encode()).hexdigest()[:16])


def is_wanted(env: Mapping[str, str]) -> bool:
    """Whether the environment lets an archive be used and made."""
    return env.get(VARIABLE, "").lower() not in _OFF


def class_list() -> Traversable:
    """Return the file that names the classes, one a line, as a JVM writes it; gzip."""
    return files("aclkit.runtime") / "classes.lst.gz"


def options_for(archive: Path) -> list[str]:
    """Return the options to start a JVM from an archive; one that does not fit is not reported."""
    return ["-Xshare:auto", f"-XX:SharedArchiveFile={archive}", QUIET]


QUIET: Final = "-Xlog:all=error"
"""By default a JVM explains why an archive does not fit, and then starts without it."""


def start_making() -> None:
    """Start making an archive in a process that no caller waits for and no terminal ends."""
    maker = [sys.executable, "-m", "aclkit.runtime.class_archive_maker", "--quietly"]
    with suppress(OSError):
        # The shell ends at once: whose child then is left, the system takes.
        subprocess.run(  # noqa: S603 -- arguments made here
            ["/bin/sh", "-c", _IN_THE_BACKGROUND, "sh", *maker], start_new_session=True, check=False
        )


def _cache(env: Mapping[str, str]) -> Path | None:
    """Return the folder for caches of ours; None without a home, or with a name no JVM reads."""
    cache = Path(env.get("XDG_CACHE_HOME", ""))
    try:
        cache = cache if cache.is_absolute() else Path.home() / ".cache"
    except RuntimeError:
        return None
    return None if os.pathsep in str(cache) else cache / "aclkit"


def _looks(paths: Iterable[Path]) -> Iterator[str]:
    """Yield how files look from outside: that is what a JVM compares too."""
    for path in sorted(paths):
        look = path.stat()
        yield f"{path} {look.st_size} {look.st_mtime_ns}"


def _is_own(path: Path) -> bool:
    """Whether only this user and root could have written there."""
    look = path.lstat()
    is_theirs = look.st_uid not in (0, os.geteuid()) or look.st_mode & _OTHERS_MAY_WRITE
    return not is_theirs and not stat.S_ISLNK(look.st_mode)
