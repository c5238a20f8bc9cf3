"""A path → the segments and snapshots of a metadata log, and the cluster they belong to.

File names: org.apache.kafka.storage.internals.log.LogFileUtils and
org.apache.kafka.snapshot.Snapshots.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyarrow import fs

from aclkit.errors import DataError, SurroundingsError, UsageError
from aclkit.sources.rows import REJECT, SourceRow
from aclkit.sources.snapshot import parse_snapshot_name, read_snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataLog:
    """Paths as the user wrote them: segments by base offset, snapshots newest first."""

    segments: tuple[str, ...]
    snapshots: tuple[str, ...]


def list_metadata_log(path: str) -> MetadataLog:
    """Find what there is to read at a path.

    The path is a directory (``__cluster_metadata-0``, or the ``metadata.log.dir`` that holds
    it), one segment or one snapshot, on any filesystem that pyarrow knows. The snapshot 0-0 is
    what a cluster was formatted with and never its committed state.

    Raises:
        UsageError: there is nothing at the path.
        DataError: what is there is no metadata log.
    """
    info = _info(path)
    if info.type == fs.FileType.Directory:
        return _list_directory(path)
    if path.endswith(".checkpoint"):
        if not _is_state(path):
            raise DataError(
                f"{path}: expected a snapshot named END_OFFSET-EPOCH.checkpoint, as Kafka names "
                "them, found one whose name does not say what of the log it holds"
            )
        _check_kind([path])
        return MetadataLog(segments=(), snapshots=(path,))
    if not path.endswith(".log"):
        raise DataError(f"{path}: expected a .log or .checkpoint file, found {_base_name(path)}")
    _check_kind([path])
    return MetadataLog(segments=(path,), snapshots=())


def read_cluster_id(path: str) -> str | None:
    """Return ``cluster.id`` of the meta.properties beside or above a log, if there is one."""
    filesystem, inner = _open(path)
    folder = Path(inner)
    if not _info(path).is_file:
        folder = folder / "meta.properties"
    for candidate in (folder.parent, folder.parent.parent):
        file = (candidate / "meta.properties").as_posix()
        if filesystem.get_file_info(file).is_file:
            with filesystem.open_input_stream(file) as stream:
                return _property(stream.read().decode(errors="replace"), "cluster.id")
    return None


def read_newest_snapshot(paths: Sequence[str]) -> Iterator[SourceRow]:
    """Read the first usable snapshot; those before it are rejected with their reason."""
    for path in paths:
        name = parse_snapshot_name(_base_name(path))
        try:
            if name is None:
                raise DataError(f"{path}: the name is not one of a snapshot")
            items = read_snapshot(read_bytes(path), path, *name)
        except DataError as error:
            yield SourceRow(kind=REJECT, source=path, reason=str(error))
        else:
            yield from items
            return


def read_bytes(path: str) -> bytes:
    """Read a whole file, on any filesystem that pyarrow knows."""
    return _read(path, None)


_SEGMENT: Final = re.compile(r"[0-9]{20}\.log")
_TOPIC_FOLDER: Final = "__cluster_metadata-0"
_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_MAGIC_AT, _MAGIC = 16, 2


def _open(path: str) -> tuple[fs.FileSystem, str]:
    """Return the filesystem of a path and the path within it."""
    if not _URI.match(path):
        return fs.LocalFileSystem(), Path(path).resolve().as_posix()
    try:
        filesystem, inner = fs.FileSystem.from_uri(path)
    except (pa.ArrowException, OSError) as error:
        raise UsageError(f"{path}: cannot be opened: {error}") from error
    return filesystem, inner


def _info(path: str) -> fs.FileInfo:
    filesystem, inner = _open(path)
    info = filesystem.get_file_info(inner)
    if info.type == fs.FileType.NotFound:
        raise UsageError(f"{path}: there is no such file or directory")
    return info


def _read(path: str, size: int | None) -> bytes:
    filesystem, inner = _open(path)
    try:
        with filesystem.open_input_stream(inner) as stream:
            return bytes(stream.read(size))
    except OSError as error:
        raise SurroundingsError(f"{path}: cannot be read: {error}") from error


def _base_name(path: str) -> str:
    """Return a file's name; of a URI without its query."""
    return (path.partition("?")[0] if _URI.match(path) else path).rpartition("/")[2]


def _child(folder: str, name: str) -> str:
    """Return the path of a file in a folder; the query of a URI stays behind it."""
    stem, mark, query = folder.partition("?") if _URI.match(folder) else (folder, "", "")
    return f"{stem.rstrip('/')}/{name}{mark}{query}"


def _list_directory(path: str) -> MetadataLog:
    names = _names(path)
    if _TOPIC_FOLDER in names:
        path = _child(path, _TOPIC_FOLDER)
        names = _names(path)
    segments = [_child(path, name) for name in sorted(names) if _SEGMENT.fullmatch(name)]
    snapshots = [_child(path, name) for name in sorted(names, reverse=True) if _is_state(name)]
    if not segments and not snapshots:
        raise DataError(
            f"{path}: expected segments (%020d.log) or snapshots (%020d-%010d.checkpoint) of a "
            f"metadata log, found none of them among {len(names)} entries"
        )
    if segments:
        _check_kind(segments)
    return MetadataLog(segments=tuple(segments), snapshots=tuple(snapshots))


def _names(path: str) -> set[str]:
    filesystem, inner = _open(path)
    try:
        return {info.base_name for info in filesystem.get_file_info(fs.FileSelector(inner))}
    except OSError as error:
        raise SurroundingsError(f"{path}: cannot be listed: {error}") from error


def _is_state(path: str) -> bool:
    """Say whether a file is a snapshot of committed state: named as one, and not 0-0."""
    return parse_snapshot_name(_base_name(path)) not in (None, (0, 0))


def _check_kind(paths: Sequence[str]) -> None:
    """Insist that one of these files begins with a record batch of magic 2.

    One in many may begin with damage; that is for the reader to report.
    """
    if not any(_begins_as_log(_read(path, _MAGIC_AT + 1)) for path in paths):
        raise DataError(
            f"{paths[0]}: expected record batches of magic 2, found a file of another kind"
        )


def _begins_as_log(start: bytes) -> bool:
    """Say whether a file begins with a batch, with preallocated zeros, or is empty."""
    return not any(start) or (len(start) > _MAGIC_AT and start[_MAGIC_AT] == _MAGIC)


def _property(text: str, name: str) -> str | None:
    """Return a value of a Java properties file."""
    found = re.search(rf"^[ \t]*{re.escape(name)}[ \t]*[=:][ \t]*(\S+)", text, re.MULTILINE)
    return found[1] if found else None
