"""A path or URI → its bytes, on any filesystem that pyarrow supports; and its printable part.

A URI may hold credentials (``s3://KEY:SECRET@bucket``, ``abfs://…?client_secret=…``), and paths go
into tables and messages: use only what ``shown`` returns there.

pyarrow is imported where it is needed: a plain file of this machine is read without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from aclkit.errors import GoneError, SurroundingsError, UsageError
from aclkit.runtime import safe_read
from aclkit.runtime.object_stores import arrow_uri
from aclkit.runtime.uri import child, is_uri, shown, split_query, without_secrets

if TYPE_CHECKING:
    from pyarrow import fs

_CHUNK: Final = 4 * safe_read.MIB
_PACKINGS: Final = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
"""Endings that pyarrow's own streams know."""


def is_packed(path: str) -> bool:
    """Whether a file's name shows that it is unpacked while it is read."""
    return Path(path).suffix in _PACKINGS


def is_file(path: str) -> bool:
    """Whether there is a file; the errors are those of ``is_directory``."""
    return bool(_info(path).is_file)


def is_there(path: str) -> bool:
    """Whether there is a file or folder; the errors are those of ``is_directory``."""
    from pyarrow import fs

    return bool(_info(path).type != fs.FileType.NotFound)


def size_and_time(path: str) -> tuple[int, int]:
    """Return the bytes of a file, and when it was written, in nanoseconds since 1970.

    Raises:
        UsageError: there is no such file, or no filesystem is known for the URI.
        SurroundingsError: it cannot be looked at.
    """
    require_file(path)
    found = _info(path)
    return found.size, found.mtime_ns


def require_file(path: str) -> None:
    """Insist that there is a file, which can be read twice and comes to an end.

    Raises:
        UsageError: there is none, it is something else, or no filesystem is known for the URI.
        SurroundingsError: it cannot be looked at.
    """
    from pyarrow import fs

    found = _info(path).type
    if found == fs.FileType.NotFound:
        raise UsageError(f"{shown(path)}: the file does not exist")
    if found == fs.FileType.Directory:
        raise UsageError(f"{shown(path)}: expected a file, found a folder")
    _refuse_endless(path)


def is_directory(path: str) -> bool:
    """Whether a path is a directory.

    Raises:
        UsageError: there is nothing at the path, or no filesystem is known for the URI.
        SurroundingsError: it cannot be looked at.
    """
    from pyarrow import fs

    info = _info(path)
    if info.type == fs.FileType.NotFound:
        raise UsageError(f"{shown(path)}: the file or directory does not exist")
    return bool(info.type == fs.FileType.Directory)


LARGEST_UNPACKED: Final = 512 * safe_read.MIB
"""Bytes of a file that is unpacked while it is read: a small one may hold any number."""


def read_bytes(path: str, size: int | None = None) -> bytes:
    """Read a file, the whole of it or its first bytes.

    Raises:
        UsageError: it is a pipe or a device, is damaged or far too large unpacked, or no
            filesystem is known for the URI.
        GoneError: there is no such file.
        SurroundingsError: it cannot be read.
    """
    _refuse_endless(path)
    filesystem, inner = _open(path)
    with _reporting(path, "read"):
        try:
            with filesystem.open_input_stream(inner) as stream:
                if size is not None or not is_packed(base_name(path)):
                    return bytes(stream.read(size))
                return _read_unpacked(stream, path)
        except FileNotFoundError:
            raise GoneError(f"{shown(path)}: the file no longer exists") from None


def _read_unpacked(stream: fs.FileSystem, path: str) -> bytes:
    content = bytearray()
    while chunk := stream.read(_CHUNK):
        content += chunk
        if len(content) > LARGEST_UNPACKED:
            raise safe_read.too_large(f"{shown(path)}, unpacked", LARGEST_UNPACKED)
    return bytes(content)


def read_user_file(path: str, most: int) -> bytes:
    """Read a file that a user named, at a path or URI, as ``safe_read.read_file`` does.

    Raises:
        UsageError: there is none, it is a folder, it is larger than ``most`` bytes, or no
            filesystem is known for the URI.
        SurroundingsError: it cannot be read.
    """
    _require_text(path)
    if not is_uri(path):
        return safe_read.read_file(path, most)
    filesystem, inner = _open(path)
    if _is_local(filesystem):
        return safe_read.read_file(inner, most)
    require_file(path)
    with open_stream(path) as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise safe_read.too_large(shown(path), most)
    return data


def unpack(data: bytes, path: str, most: int) -> bytes:
    """Return the content of a file whose extension is that of a compressed one, else its bytes.

    Raises:
        UsageError: it cannot be unpacked, or its content has more than ``most`` bytes.
    """
    packing = _PACKINGS.get(Path(base_name(path)).suffix)
    if packing is None:
        return data
    import pyarrow as pa

    try:
        with pa.CompressedInputStream(pa.BufferReader(data), packing) as stream:
            unpacked = bytes(stream.read(most + 1))
    except OSError as error:
        raise UsageError(f"{shown(path)}: cannot be unpacked: {error}") from None
    if len(unpacked) > most:
        raise safe_read.too_large(f"{shown(path)}, unpacked", most)
    return unpacked


@contextmanager
def open_stream(path: str, at: int = 0) -> Iterator[BinaryIO]:
    """Open a file to be read from its beginning, or another place, on, as its bytes are.

    Raises:
        UsageError: it is a pipe or a device, or no filesystem is known for the URI.
        GoneError: there is no such file.
        SurroundingsError: it cannot be read.
    """
    _refuse_endless(path)
    filesystem, inner = _open(path)
    with _reporting(path, "read"):
        try:
            opened = (
                filesystem.open_input_file(inner)
                if at
                else filesystem.open_input_stream(inner, compression=None)
            )
        except FileNotFoundError:
            raise GoneError(f"{shown(path)}: the file no longer exists") from None
        with opened as stream:
            if at:
                stream.seek(at)
            yield cast(BinaryIO, stream)


def list_files(path: str) -> list[str]:
    """Return the paths of all files in a directory and those below it, sorted.

    Raises:
        SurroundingsError: it cannot be listed.
    """
    from pyarrow import fs

    filesystem, inner = _open(path)
    with _reporting(path, "listed"):
        infos = filesystem.get_file_info(fs.FileSelector(inner, recursive=True))
    below = (info.path.removeprefix(inner).lstrip("/") for info in infos if info.is_file)
    return sorted(child(path, name) for name in below)


def list_names(path: str) -> set[str]:
    """Return the names of what is in a directory.

    Raises:
        SurroundingsError: it cannot be listed.
    """
    from pyarrow import fs

    filesystem, inner = _open(path)
    with _reporting(path, "listed"):
        return {info.base_name for info in filesystem.get_file_info(fs.FileSelector(inner))}


def base_name(path: str) -> str:
    """Return a file's name; of a URI without its query."""
    return split_query(path)[0].rpartition("/")[2]


def parent(path: str) -> str:
    """Return the folder that holds a file or folder; of a filesystem's root the root.

    >>> parent("s3://bucket/d/?region=eu"), parent("s3://bucket"), parent("/d/a.log")
    ('s3://bucket?region=eu', 's3://bucket', '/d')
    """
    stem, query = split_query(path)
    if not is_uri(path):
        return Path(stem).resolve().parent.as_posix()
    above = stem.rstrip("/").rpartition("/")[0]
    return above + query if is_uri(f"{above}/") and not above.endswith("/") else path


def _open(path: str) -> tuple[fs.FileSystem, str]:
    """Return the filesystem of a path and the path within it."""
    import pyarrow as pa
    from pyarrow import fs

    _require_text(path)
    if not is_uri(path):
        return fs.LocalFileSystem(), Path(path).resolve().as_posix()
    try:
        filesystem, inner = fs.FileSystem.from_uri(arrow_uri(path))
    except (pa.ArrowException, OSError) as error:
        reason = without_secrets(str(error), path)
        raise UsageError(f"{shown(path)}: cannot be opened: {reason}") from None
    return filesystem, inner


def _require_text(path: str) -> None:
    if "\0" in path or path != path.encode(errors="replace").decode():
        raise UsageError(f"Expected a path or URI in UTF-8, found {shown(path)!a}")


def _is_local(filesystem: fs.FileSystem) -> bool:
    from pyarrow import fs

    return isinstance(filesystem, fs.LocalFileSystem)


def _info(path: str) -> fs.FileInfo:
    filesystem, inner = _open(path)
    with _reporting(path, "looked at"):
        return filesystem.get_file_info(inner)


@contextmanager
def _reporting(path: str, what: str) -> Iterator[None]:
    """Raise a filesystem's error as one of ours; ``what`` cannot be done to the path."""
    try:
        yield
    except OSError as error:
        reason = without_secrets(str(error), path)
        raise SurroundingsError(f"{shown(path)}: cannot be {what}: {reason}") from None


def _refuse_endless(path: str) -> None:
    """Refuse what could be waited for without end; there is none of it but on this machine."""
    from pyarrow import fs

    if _is_local(_open(path)[0]) and _info(path).type == fs.FileType.Unknown:
        raise UsageError(f"{shown(path)}: expected a file, found a pipe, a socket or a device")
