"""A URI → the files below it, by pyarrow; what is written there, Spark writes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

import pyarrow.fs as pafs

from aclkit.warehouse.storage import FileInfo


class UriFiles:
    """The files below a URI; see ``storage.Files``."""

    def __init__(self, uri: str) -> None:
        """Find the file system; Hadoop says ``s3a`` where pyarrow says ``s3``."""
        scheme, _, rest = uri.partition("://")
        uri = f"{_SCHEMES.get(scheme, scheme)}://{rest}"
        self._filesystem, self._root = pafs.FileSystem.from_uri(uri)

    def list(self, folder: str) -> list[FileInfo]:
        """See ``storage.Files.list``."""
        selector = pafs.FileSelector(f"{self._root}/{folder}", allow_not_found=True)
        found = self._filesystem.get_file_info(selector)
        files = (info for info in found if info.type == pafs.FileType.File)
        return sorted(
            (FileInfo(info.base_name, info.size, info.mtime) for info in files),
            key=lambda info: info.name,
        )

    def open(self, path: str) -> UriFile:
        """See ``storage.Files.open``."""
        return UriFile(self._filesystem.open_input_file(f"{self._root}/{path}"))

    def modified(self, path: str) -> datetime:
        """See ``storage.Files.modified``."""
        info = self._filesystem.get_file_info(f"{self._root}/{path}")
        if info.type != pafs.FileType.File:
            raise FileNotFoundError(path)
        time: datetime = info.mtime.astimezone(UTC)
        return time

    def delete(self, path: str) -> None:
        """See ``storage.Files.delete``."""
        self._filesystem.delete_file(f"{self._root}/{path}")


class UriFile:
    """A file at a URI; see ``storage.RangedFile``."""

    def __init__(self, file: pafs.NativeFile) -> None:
        """Take an open one."""
        self._file = file
        self.size: int = file.size()

    def read(self, offset: int, size: int) -> bytes:
        """See ``storage.RangedFile.read``."""
        return bytes(self._file.read_at(size, offset))

    def close(self) -> None:
        """See ``storage.RangedFile.close``."""
        self._file.close()


_SCHEMES: Final = {"s3a": "s3", "s3n": "s3"}
