"""Files of tables in a bucket → a process that may connect to nothing: it asks for ranges of them.

The parent process finds the files, keeps the credentials, and answers on sockets that the process
inherited. Each request is checked, because strangers wrote the code that runs there. A request is
the number of a file, an offset and a size, and only bytes of these files go back.
"""

from __future__ import annotations

import json
import queue
import struct
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from pathlib import PurePath
from typing import Any, Final

from aclkit.warehouse.duck import Opened
from aclkit.warehouse.storage import RangedFile
from aclkit.warehouse.table_files import StoredFile, TableFiles

_ASKED: Final = struct.Struct("<IQQ")
"""A file's number, an offset, a size."""

_READ: Final = b"+"
"""With it an answer begins that has the bytes; any other one tells why there are none."""

_AT_ONCE: Final = 4
"""Sockets, so so many ranges are read at a time."""


@contextmanager
def offered(tables: Opened) -> Iterator[tuple[str, list[int]]]:
    """Answer for the files of tables, and yield what the process needs to read them.

    That is a text, and the numbers of the sockets that it must inherit.
    """
    files = [file for table in tables.values() for file in table.files]
    said = [[*key, _said(table)] for key, table in tables.items()]
    with ExitStack() as stack:
        numbers = []
        for _ in range(_AT_ONCE):
            ours, theirs = Pipe()  # its thread closes ours
            numbers.append(stack.enter_context(theirs).fileno())
            threading.Thread(target=_answer, args=(ours, files), daemon=True).start()
        yield json.dumps(said), numbers


def received(text: str, sockets: Sequence[int]) -> Opened:
    """Return the tables of ``offered``, in the process that inherited its sockets."""
    asked = _Asked([Connection(number) for number in sockets])
    return {(name, past): asked.table(table) for name, past, table in json.loads(text)}


def _said(table: TableFiles) -> dict[str, Any]:
    return {
        "files": [(PurePath(file.path).name, file.size, file.modified) for file in table.files],
        "columns": table.columns,
        "has_grown": table.has_grown,
    }


def _answer(ours: Connection, files: Sequence[StoredFile]) -> None:
    """Answer until the other side closes; a request for a file that does not exist ends it."""
    opened: dict[int, RangedFile] = {}
    # An error where the process has ended, or the question has, or it asks for nonsense.
    with ours, suppress(EOFError, OSError, struct.error):
        while True:
            number, offset, size = _ASKED.unpack(ours.recv_bytes(_ASKED.size))
            if number >= len(files) or size > files[number].size:
                return
            try:
                if number not in opened:
                    opened[number] = files[number].open()
                content = _READ + opened[number].read(offset, size)
            except OSError as error:
                content = b"-" + str(error).encode()
            ours.send_bytes(content)


class _Asked:
    """The files as the process sees them; see ``storage.Opens``."""

    def __init__(self, sockets: Sequence[Connection]) -> None:
        self._free: queue.SimpleQueue[Connection] = queue.SimpleQueue()
        for each in sockets:
            self._free.put(each)
        self._number = 0

    def table(self, said: Mapping[str, Any]) -> TableFiles:
        """Return a table as it was described; the numbers of files follow from their order."""
        files = []
        for name, size, modified in said["files"]:
            path = f"{self._number}/{name}"
            files.append(StoredFile(self, path, size, modified, local=None))
            self._number += 1
        columns = tuple((name, kind) for name, kind in said["columns"])
        return TableFiles(tuple(files), columns, said["has_grown"])

    def open(self, path: str, size: int | None = None) -> RangedFile:
        """Return a file that is read by asking."""
        return _File(self, int(path.partition("/")[0]), size or 0)

    def read(self, number: int, offset: int, size: int) -> bytes:
        """Ask for a range of a file."""
        ours = self._free.get()
        try:
            ours.send_bytes(_ASKED.pack(number, offset, size))
            content = ours.recv_bytes()
        except EOFError:
            raise OSError("the connection was closed") from None
        finally:
            self._free.put(ours)
        if not content.startswith(_READ):
            raise OSError(content[1:].decode(errors="replace"))
        return content[1:]


@dataclass(frozen=True, slots=True)
class _File:
    asked: _Asked
    number: int
    size: int

    def read(self, offset: int, size: int) -> bytes:
        size = max(0, min(size, self.size - offset))
        return self.asked.read(self.number, offset, size) if size else b""

    def close(self) -> None:
        pass
