"""The files of an object store, by obstore: S3 and what speaks as it does, GCS, Azure.

Endpoint, region and credentials come from the environment, for deltalake as for obstore, and from
what the machine itself is trusted with; see ``aclkit.runtime.object_stores``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import obstore
from obstore.store import from_url

from aclkit.runtime.objects import as_os_errors
from aclkit.runtime.requests_made import REQUESTS

if TYPE_CHECKING:
    from obstore import ObjectMeta


class ObjectStorage:
    """The objects below a URI; see ``storage.Storage`` and ``lease.Replaceable``.

    A store that puts without asking whether the condition holds is none for this class: who
    writes insists on it first, see ``lease.require_conditional_puts``.
    """

    def __init__(self, uri: str) -> None:
        """Take the URI; nothing is asked yet.

        Raises:
            ValueError: obstore knows no such kind of store, or the environment lacks something.
        """
        with as_os_errors(uri):
            self._store = from_url(uri)
        self._unchanging: dict[str, ObjectFile] = {}

    def list(self, folder: str) -> list[str]:
        """See ``Storage.list``."""
        prefix = _prefix(folder)
        with _asking(folder):
            found = obstore.list_with_delimiter(self._store, prefix or None)
        return _names(found["objects"], prefix)

    def tree(self, folder: str) -> Sequence[str]:
        """See ``Storage.tree``."""
        prefix = _prefix(folder)
        with _asking(folder):
            pages = obstore.list(self._store, prefix or None)
            return _names((meta for page in pages for meta in page), prefix)

    def open(self, path: str, size: int | None = None) -> ObjectFile:
        """See ``Opens.open``; a size that is known saves asking for it.

        Who knows it reads a file of a Delta table, which never changes: it is kept for the next
        time, with what was read of its end.
        """
        if size is None:
            return ObjectFile(self, path, self._head(path)["size"])
        if path not in self._unchanging:
            if len(self._unchanging) >= _MOST_KEPT:
                self._unchanging.clear()
            self._unchanging[path] = ObjectFile(self, path, size)
        return self._unchanging[path]

    def delete(self, path: str) -> None:
        """See ``Storage.delete``; a store does not report a missing object: it is asked first."""
        self._head(path)
        with _asking(path):
            obstore.delete(self._store, path)

    def create(self, path: str, content: bytes) -> bool:
        """See ``Storage.create``."""
        try:
            with as_os_errors(path):
                obstore.put(self._store, path, content, mode="create", use_multipart=False)
        except FileExistsError:
            return False
        return True

    def read(self, path: str) -> bytes:
        """See ``Storage.read``."""
        return self.read_tagged(path)[0]

    def read_tagged(self, path: str) -> tuple[bytes, str]:
        """See ``lease.Replaceable.read_tagged``."""
        with as_os_errors(path):
            found = obstore.get(self._store, path)
            content = bytes(found.bytes())
        REQUESTS.note(1, len(content))
        return content, found.meta["e_tag"] or ""

    def replace(self, path: str, content: bytes, tag: str) -> bool:
        """See ``lease.Replaceable.replace``."""
        try:
            with as_os_errors(path):
                obstore.put(self._store, path, content, mode={"e_tag": tag}, use_multipart=False)
        except (FileExistsError, FileNotFoundError):
            return False
        return True

    def range(self, path: str, offset: int, size: int) -> bytes:
        """Return some bytes of an object; there must be so many."""
        with _asking(path, size):
            return bytes(obstore.get_range(self._store, path, start=offset, length=size))

    def _head(self, path: str) -> ObjectMeta:
        with _asking(path):
            return obstore.head(self._store, path)


class ObjectFile:
    """An object that is read by ranges; see ``storage.RangedFile``.

    Its end is read once and kept: there a Parquet file describes its content, and every reader
    begins with it, in several steps.
    """

    def __init__(self, storage: ObjectStorage, path: str, size: int) -> None:
        """Take an object of so many bytes."""
        self._storage, self._path, self.size = storage, path, size
        self._tail: bytes | None = None

    def read(self, offset: int, size: int) -> bytes:
        """See ``storage.RangedFile.read``."""
        size = min(size, self.size - offset)
        if size <= 0:
            return b""
        start = max(0, self.size - _TAIL)
        if offset < start:
            return self._storage.range(self._path, offset, size)
        if self._tail is None:
            self._tail = self._storage.range(self._path, start, self.size - start)
        return self._tail[offset - start : offset - start + size]

    def close(self) -> None:
        """See ``storage.RangedFile.close``; nothing is held open."""


def _prefix(folder: str) -> str:
    return f"{folder.rstrip('/')}/" if folder else ""


def _names(found: Iterable[ObjectMeta], prefix: str) -> list[str]:
    return sorted(meta["path"].removeprefix(prefix) for meta in found)


@contextmanager
def _asking(path: str, size: int = 0) -> Iterator[None]:
    """Count a request that succeeds, and the bytes that it brings."""
    with as_os_errors(path):
        yield
    REQUESTS.note(1, size)


_MOST_KEPT: Final = 1_000
_TAIL: Final = 65_536
"""More than the end of most Parquet files takes, and no more than one packet's worth of waiting."""
