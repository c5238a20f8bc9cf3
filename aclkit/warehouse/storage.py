"""The files of a warehouse: what every place can do, what a commit needs, and the local form.

Paths are relative to the root and have slashes. A write is seen as a whole or not at all; of
those who make a file, or replace the same content of one, one alone succeeds, whatever process
or machine they run on. That is what object stores offer, and enough for a lease and for commits
to Delta tables.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISREG
from typing import Any, Final, Protocol

from aclkit.runtime.permissions import make_folder, set_modes


@dataclass(frozen=True, slots=True)
class FileInfo:
    """A file of a folder: its name there, its bytes, and when it was written."""

    name: str
    size: int
    modified: datetime


class RangedFile(Protocol):
    """A file opened for reading, by several threads at once."""

    @property
    def size(self) -> int:
        """Its bytes."""

    def read(self, offset: int, size: int) -> bytes:
        """Return up to so many bytes from an offset on; fewer at the end of the file only."""

    def close(self) -> None:
        """End the reading; twice does no harm."""


class Opens(Protocol):
    """What has files to be read."""

    def open(self, path: str, size: int | None = None) -> RangedFile:
        """Open a file, to read ranges of it; its size, where that is known."""


class Files(Opens, Protocol):
    """Files that are read and removed, at every place that a warehouse may lie.

    What is not there is a FileNotFoundError, and any other failure an OSError.
    """

    def list(self, folder: str) -> list[FileInfo]:
        """Return the files of a folder, and not those below it, by name; none without it."""

    def tree(self, folder: str) -> Sequence[FileInfo]:
        """Return the files of a folder and those below it, by path within it."""

    def modified(self, path: str) -> datetime:
        """Return when a file was written, in UTC."""

    def delete(self, path: str) -> None:
        """Remove a file, whatever it holds."""


class Storage(Files, Protocol):
    """Files that are also written, without a lock."""

    def create(self, path: str, content: bytes) -> bool:
        """Make a file; False, and nothing done, where there is one."""

    def read(self, path: str) -> tuple[bytes, str]:
        """Return the content of a file, and the tag by which it can be replaced."""

    def replace(self, path: str, content: bytes, tag: str) -> bool:
        """Put other content in the place of that with the tag; False where it is gone."""


def newest_version(files: Files, table: str) -> int | None:
    """Return the newest version in a table's Delta log, or None where there is no table.

    The root itself is the table of no name.
    """
    folder = f"{table}/{LOG}" if table else LOG
    names = (info.name.partition(".") for info in files.list(folder))
    versions = [int(stem) for stem, _, kind in names if kind == "json" and stem.isdigit()]
    return max(versions, default=None)


def commit(
    storage: Storage, table: str, version: int, actions: Sequence[Mapping[str, Any]]
) -> bool:
    """Commit actions to a Delta table as a version; False where another writer has made it."""
    lines = "".join(f"{json.dumps(action)}\n" for action in actions)
    return storage.create(f"{table}/{LOG}/{version:0{DIGITS}}.json", lines.encode())


LOG: Final = "_delta_log"
DIGITS: Final = 20
"""Of a version, in the names of a log."""


class LocalStorage:
    """The files of a folder of this machine; see ``Storage``."""

    def __init__(self, root: Path) -> None:
        """Take the folder; it need not exist yet."""
        self._root = root

    def list(self, folder: str) -> list[FileInfo]:
        """See ``Files.list``; what a killed write left is no file."""
        try:
            entries = os.scandir(self._root / folder)
        except FileNotFoundError:
            return []
        found = []
        with entries:
            for entry in entries:
                with suppress(FileNotFoundError):  # removed since
                    there = entry.stat()
                    if S_ISREG(there.st_mode) and not entry.name.endswith(_PART):
                        found.append(FileInfo(entry.name, there.st_size, _time(there.st_mtime)))
        return sorted(found, key=lambda info: info.name)

    def tree(self, folder: str) -> Sequence[FileInfo]:
        """See ``Files.tree``."""
        top = self._root / folder
        return sorted(
            (
                replace(info, name=(Path(where) / info.name).relative_to(top).as_posix())
                for where, _, _ in os.walk(top)
                for info in self.list(Path(where).relative_to(self._root).as_posix())
            ),
            key=lambda info: info.name,
        )

    def open(self, path: str, size: int | None = None) -> LocalFile:
        """See ``Files.open``; the size comes from the file itself."""
        return LocalFile(self._root / path)

    def modified(self, path: str) -> datetime:
        """See ``Files.modified``."""
        return _time((self._root / path).stat().st_mtime)

    def delete(self, path: str) -> None:
        """See ``Files.delete``."""
        (self._root / path).unlink()

    def create(self, path: str, content: bytes) -> bool:
        """See ``Storage.create``."""
        target = self._root / path
        make_folder(target.parent)
        with _written(target, content) as part:
            try:
                os.link(part, target)
            except FileExistsError:
                return False
        return True

    def read(self, path: str) -> tuple[bytes, str]:
        """See ``Storage.read``."""
        content = (self._root / path).read_bytes()
        return content, _tag(content)

    def replace(self, path: str, content: bytes, tag: str) -> bool:
        """See ``Storage.replace``; of two processes the second waits for the first."""
        target = self._root / path
        with suppress(FileNotFoundError), _locked(target.parent):
            if _tag(target.read_bytes()) == tag:
                with _written(target, content) as part:
                    part.replace(target)
                return True
        return False


class LocalFile:
    """A file of this machine; see ``RangedFile``. Removing it meanwhile does no harm."""

    _descriptor: int | None = None

    def __init__(self, path: Path) -> None:
        """Open it."""
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self.size = os.fstat(self._descriptor).st_size

    def read(self, offset: int, size: int) -> bytes:
        """See ``RangedFile.read``."""
        if self._descriptor is None:
            raise ValueError("read of a closed file")
        parts = []
        while size and (part := os.pread(self._descriptor, size, offset)):
            parts.append(part)
            offset, size = offset + len(part), size - len(part)
        return b"".join(parts)

    def close(self) -> None:
        """See ``RangedFile.close``."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __del__(self) -> None:
        """Let nothing stay open."""
        self.close()


@contextmanager
def _written(target: Path, content: bytes) -> Iterator[Path]:
    """Write a file next to the intended one, and leave no such file afterwards."""
    part = target.with_name(f".{uuid.uuid4().hex}{_PART}")
    try:
        with part.open("xb") as file:
            replaced = target.stat() if target.exists() else None
            set_modes(file.fileno(), replaced, for_everybody=False)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        yield part
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder itself: no file is left of it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _tag(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


_PART: Final = ".aclkit-part"
