"""A path or URI → its bytes, on any filesystem that pyarrow knows; and what of it may be shown.

A URI may hold credentials (``s3://KEY:SECRET@bucket``, ``abfs://…?client_secret=…``), and paths are
kept in tables and said in messages: there only what ``shown`` returns may stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, cast

import pyarrow as pa
from pyarrow import fs

from aclkit.errors import SurroundingsError, UsageError

_MASK: Final = "***"
_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def shown(path: str) -> str:
    """Return a path without the credentials of a URI.

    >>> shown("s3://KEY:SECRET@bucket/a.log?region=eu"), shown("a:b@c?d")
    ('s3://KEY:***@bucket/a.log?***', 'a:b@c?d')
    """
    return _without_secrets(path, path)


def is_file(path: str) -> bool:
    """Say whether there is a file; the errors are those of ``is_directory``."""
    return bool(_info(path).is_file)


def is_directory(path: str) -> bool:
    """Say whether a path is a directory.

    Raises:
        UsageError: there is nothing at the path, or no filesystem is known for the URI.
        SurroundingsError: it cannot be looked at.
    """
    info = _info(path)
    if info.type == fs.FileType.NotFound:
        raise UsageError(f"{shown(path)}: there is no such file or directory")
    return bool(info.type == fs.FileType.Directory)


def read_bytes(path: str, size: int | None = None) -> bytes:
    """Read a file, the whole of it or its first bytes.

    Raises:
        UsageError: no filesystem is known for the URI.
        SurroundingsError: it cannot be read.
    """
    filesystem, inner = _open(path)
    try:
        with filesystem.open_input_stream(inner) as stream:
            return bytes(stream.read(size))
    except OSError as error:
        reason = _without_secrets(str(error), path)
        raise SurroundingsError(f"{shown(path)}: cannot be read: {reason}") from None


@contextmanager
def open_stream(path: str) -> Iterator[BinaryIO]:
    """Open a file to be read from its beginning on, as its bytes are.

    Raises:
        UsageError: no filesystem is known for the URI.
        SurroundingsError: it cannot be read.
    """
    filesystem, inner = _open(path)
    try:
        with filesystem.open_input_stream(inner, compression=None) as stream:
            yield cast(BinaryIO, stream)
    except OSError as error:
        reason = _without_secrets(str(error), path)
        raise SurroundingsError(f"{shown(path)}: cannot be read: {reason}") from None


def list_files(path: str) -> list[str]:
    """Return the paths of all files in a directory and those below it, sorted.

    Raises:
        SurroundingsError: it cannot be listed.
    """
    filesystem, inner = _open(path)
    try:
        infos = filesystem.get_file_info(fs.FileSelector(inner, recursive=True))
    except OSError as error:
        reason = _without_secrets(str(error), path)
        raise SurroundingsError(f"{shown(path)}: cannot be listed: {reason}") from None
    below = (info.path.removeprefix(inner).lstrip("/") for info in infos if info.is_file)
    return sorted(child(path, name) for name in below)


def list_names(path: str) -> set[str]:
    """Return the names of what is in a directory.

    Raises:
        SurroundingsError: it cannot be listed.
    """
    filesystem, inner = _open(path)
    try:
        return {info.base_name for info in filesystem.get_file_info(fs.FileSelector(inner))}
    except OSError as error:
        reason = _without_secrets(str(error), path)
        raise SurroundingsError(f"{shown(path)}: cannot be listed: {reason}") from None


def base_name(path: str) -> str:
    """Return a file's name; of a URI without its query."""
    return _stem(path)[0].rpartition("/")[2]


def child(folder: str, name: str) -> str:
    """Return the path of a file in a folder; the query of a URI stays behind it.

    >>> child("s3://b/d/?region=eu", "a.log")
    's3://b/d/a.log?region=eu'
    """
    stem, query = _stem(folder)
    return f"{stem.rstrip('/')}/{name}{query}"


def parent(path: str) -> str:
    """Return the folder that holds a file or folder; of a filesystem's root the root.

    >>> parent("s3://bucket/d/?region=eu"), parent("s3://bucket"), parent("/d/a.log")
    ('s3://bucket?region=eu', 's3://bucket', '/d')
    """
    stem, query = _stem(path)
    if not _URI.match(path):
        return Path(stem).resolve().parent.as_posix()
    above = stem.rstrip("/").rpartition("/")[0]
    return above + query if _URI.match(f"{above}/") and not above.endswith("/") else path


def _stem(path: str) -> tuple[str, str]:
    """Split off the query of a URI, with its question mark."""
    stem, mark, query = path.partition("?") if _URI.match(path) else (path, "", "")
    return stem, mark + query


def _open(path: str) -> tuple[fs.FileSystem, str]:
    """Return the filesystem of a path and the path within it."""
    if "\0" in path or path != path.encode(errors="replace").decode():
        raise UsageError(f"expected a path or URI in UTF-8, found {shown(path)!a}")
    if not _URI.match(path):
        return fs.LocalFileSystem(), Path(path).resolve().as_posix()
    try:
        filesystem, inner = fs.FileSystem.from_uri(path)
    except (pa.ArrowException, OSError) as error:
        reason = _without_secrets(str(error), path)
        raise UsageError(f"{shown(path)}: cannot be opened: {reason}") from None
    return filesystem, inner


def _info(path: str) -> fs.FileInfo:
    filesystem, inner = _open(path)
    try:
        return filesystem.get_file_info(inner)
    except OSError as error:
        reason = _without_secrets(str(error), path)
        raise SurroundingsError(f"{shown(path)}: cannot be looked at: {reason}") from None


def _without_secrets(text: str, path: str) -> str:
    """Take the password and the query of a URI out of a text about it."""
    for secret in _secrets(path):
        text = text.replace(secret, _MASK)
    return text


def _secrets(path: str) -> list[str]:
    if not _URI.match(path) or path.startswith("file://"):
        return []
    stem, query = _stem(path)
    password = stem.partition("://")[2].rpartition("@")[0].partition(":")[2]
    return [secret for secret in (password, query.removeprefix("?")) if secret]
