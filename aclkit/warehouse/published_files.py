"""Files of published tables → a file system for DuckDB that has them and nothing else to read.

With it, and without its own, DuckDB has nothing in reach that can write, make, cut or remove a
file: not because a setting forbids it, but because there is no code for it. Also what it can read
is in a list here, under names that do not tell where the warehouse lies.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final, NoReturn

import duckdb
from fsspec import AbstractFileSystem

from aclkit.warehouse.table_files import Key, StoredFile, TableFiles

_PROTOCOL: Final = "published"


class PublishedFiles(AbstractFileSystem):  # type: ignore[misc]  # fsspec has no types
    """The files that were handed in with ``serve``; all that would change one fails."""

    protocol = _PROTOCOL
    # fsspec would hand out the same object again, with the files of another warehouse.
    cachable = False

    def __init__(self) -> None:
        """Serve nothing yet."""
        super().__init__()
        self._files: dict[str, StoredFile] = {}

    def serve(self, table: TableFiles) -> TableFiles:
        """Return a table with the names under which its files can be opened from now on."""
        first = len(self._files)
        named = {
            # Without the signs that would make a pattern of it.
            f"{_PROTOCOL}://{place}/{re.sub(r'[^A-Za-z0-9._-]', '_', file.name)}": file
            for place, file in enumerate(table.files, start=first)
        }
        self._files |= named
        return replace(table, names=tuple(named))

    def open(self, path: str, mode: str = "rb", **_: object) -> _Reader:
        """Open a file that is served, for reading."""
        if mode != "rb":
            raise PermissionError(f"{path} is read-only")
        return _Reader(self._file(path))

    def glob(self, path: str, **_: object) -> list[str]:
        """Return the path if it is served and there: no pattern is looked for."""
        return [path] if self.exists(path) else []

    def exists(self, path: str, **_: object) -> bool:
        """Whether a path is served and there."""
        return path in self._files and self._files[path].exists()

    def info(self, path: str, **_: object) -> dict[str, Any]:
        """Return what is known of a file."""
        found = self._file(path)
        return {
            "name": path,
            "size": found.size,
            "type": "file",
            "mtime": found.modified / 1000,
        }

    def modified(self, path: str) -> datetime:
        """Return when a file was written."""
        return datetime.fromtimestamp(self._file(path).modified / 1000, UTC)

    def _file(self, path: str) -> StoredFile:
        if path not in self._files:
            raise FileNotFoundError(f"{path} is not published")
        return self._files[path]

    def _read_only(self, *_: object, **__: object) -> NoReturn:
        raise PermissionError("published tables are read-only")

    # Those of fsspec would do nothing, without an error.
    mkdir = makedirs = rmdir = touch = rm = rm_file = mv = cp_file = put_file = _read_only


def serve_files(
    connection: duckdb.DuckDBPyConnection, tables: Mapping[Key, TableFiles]
) -> dict[Key, TableFiles]:
    """Give a connection a file system that has the files of these tables; return them renamed."""
    files = PublishedFiles()
    served = {name: files.serve(table) for name, table in tables.items()}
    connection.register_filesystem(files)
    return served


class _Reader:
    """A file opened for reading, as DuckDB wants it: each of its threads has its own place."""

    def __init__(self, file: StoredFile) -> None:
        self._file = file.open()
        # DuckDB seeks and reads in two calls, between which another thread can do the same.
        self._at = threading.local()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        starts = {os.SEEK_SET: 0, os.SEEK_CUR: self.tell(), os.SEEK_END: self._file.size}
        self._at.offset = starts[whence] + offset
        return self.tell()

    def tell(self) -> int:
        return getattr(self._at, "offset", 0)

    def read(self, size: int = -1) -> bytes:
        found = self._file.read(self.tell(), self._file.size if size < 0 else size)
        self._at.offset = self.tell() + len(found)
        return found

    def close(self) -> None:
        self._file.close()
