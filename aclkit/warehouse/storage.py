"""The files of a warehouse: what every place can do, what a commit needs, and the local form.

Paths are relative to the root and have slashes. A write is seen as a whole or not at all; of
those who make a file one alone succeeds, whatever process or machine they run on. That is what
object stores offer, and enough for commits to Delta tables.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Protocol

from aclkit.runtime.permissions import make_folder, set_modes


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


class Storage(Opens, Protocol):
    """Files that are read, removed and written without a lock, wherever a warehouse may lie.

    What is not there is a FileNotFoundError, and any other failure an OSError.
    """

    def list(self, folder: str) -> list[str]:
        """Return the files of a folder, and not those below it, by name; none without it."""

    def tree(self, folder: str) -> Sequence[str]:
        """Return the files of a folder and those below it, by path within it."""

    def delete(self, path: str) -> None:
        """Remove a file, whatever it holds."""

    def create(self, path: str, content: bytes) -> bool:
        """Make a file; False, and nothing done, where there is one."""

    def read(self, path: str) -> bytes:
        """Return the content of a file."""


def newest_version(files: Storage, table: str) -> int | None:
    """Return the newest version in a table's Delta log, or None where there is no table.

    The root itself is the table of no name.
    """
    folder = f"{table}/{LOG}" if table else LOG
    names = (name.partition(".") for name in files.list(folder))
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

    def list(self, folder: str) -> list[str]:
        """See ``Storage.list``; what a killed write left is no file."""
        found: list[str] = []
        with suppress(FileNotFoundError), os.scandir(self._root / folder) as entries:
            found = [e.name for e in entries if e.is_file() and not e.name.endswith(_PART)]
        return sorted(found)

    def tree(self, folder: str) -> Sequence[str]:
        """See ``Storage.tree``."""
        top = self._root / folder
        return sorted(
            (Path(where) / name).relative_to(top).as_posix()
            for where, _, _ in os.walk(top)
            for name in self.list(Path(where).relative_to(self._root).as_posix())
        )

    def open(self, path: str, size: int | None = None) -> LocalFile:
        """See ``Opens.open``; the size comes from the file itself."""
        return LocalFile(self._root / path)

    def delete(self, path: str) -> None:
        """See ``Storage.delete``."""
        (self._root / path).unlink()

    def create(self, path: str, content: bytes) -> bool:
        """See ``Storage.create``; it is written next to its place, and leaves nothing there."""
        target = self._root / path
        make_folder(target.parent)
        part = target.with_name(f".{uuid.uuid4().hex}{_PART}")
        try:
            with part.open("xb") as file:
                set_modes(file.fileno(), None, for_everybody=False)
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.link(part, target)
        except FileExistsError:
            return False
        finally:
            part.unlink(missing_ok=True)
        return True

    def read(self, path: str) -> bytes:
        """See ``Storage.read``."""
        return (self._root / path).read_bytes()


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


_PART: Final = ".aclkit-part"
