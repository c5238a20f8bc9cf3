"""A path → the segments and snapshots of a metadata log, and the cluster they belong to.

The broker deletes old ones while it runs, also between the moment when a file is listed and the
one when it is opened.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from aclkit.errors import DataError, GoneError, SurroundingsError, UsageError
from aclkit.pipeline.sources.files import (
    base_name,
    is_directory,
    is_file,
    list_names,
    parent,
    read_bytes,
)
from aclkit.pipeline.sources.leader_epochs import FILE_NAME
from aclkit.pipeline.sources.log_names import parse_snapshot_name
from aclkit.runtime.uri import child, shown


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataLog:
    """Paths as the user wrote them: segments by base offset, snapshots by end offset.

    ``epochs`` is the file with the leader epochs of the segments, if it is in their folder.
    """

    segments: tuple[str, ...]
    snapshots: tuple[str, ...]
    epochs: str | None = None


def list_metadata_log(path: str) -> MetadataLog:
    """Find the files to read at a path.

    The path is a directory (``__cluster_metadata-0``, or the ``metadata.log.dir`` that holds
    it), one segment or one snapshot, on any filesystem that pyarrow supports. The snapshot 0-0 is
    what a cluster was formatted with and never its committed state.

    Raises:
        UsageError: there is nothing at the path.
        DataError: the path holds no metadata log.
        SurroundingsError: its files disappear as fast as they are listed.
    """
    if is_directory(path):
        return listing_again(lambda: _list_directory(path))
    name = base_name(path)
    if name.endswith(".checkpoint"):
        if not _is_state(path):
            raise DataError(
                f"{shown(path)}: expected a snapshot with Kafka's file name, "
                "END_OFFSET-EPOCH.checkpoint"
            )
        _check_kind([path])
        return MetadataLog(segments=(), snapshots=(path,))
    if not name.endswith(".log"):
        raise DataError(f"{shown(path)}: expected a .log or .checkpoint file, found {name}")
    _check_kind([path])
    return MetadataLog(segments=(path,), snapshots=())


def read_cluster_id(path: str) -> str | None:
    """Return ``cluster.id`` of the meta.properties next to or above a log, if there is one.

    Raises:
        DataError: that file is not in Java's format of properties.
    """
    folder = path if is_directory(path) else parent(path)
    for candidate in (folder, parent(folder)):
        properties = child(candidate, "meta.properties")
        if is_file(properties):
            # Here, so that no question waits for it.
            from aclkit.kafka.client.properties import parse_properties

            text = read_bytes(properties).decode("latin-1")
            try:
                found = parse_properties(text, shown(properties)).get("cluster.id", "")
            except UsageError as error:
                raise DataError(str(error)) from None
            return found.strip() or None
    return None


T = TypeVar("T")


def listing_again(work: Callable[[], T]) -> T:
    """Do what lists files and opens them, and again when one of them went in between.

    Raises:
        SurroundingsError: that happened each time.
    """
    for _ in range(_MOST_LISTINGS):
        try:
            return work()
        except GoneError as error:
            gone = error
    raise SurroundingsError(
        f"{gone}: the log was listed {_MOST_LISTINGS} times, and each time a file disappeared "
        "before it was read. Copy the folder, and read the copy."
    )


_MOST_LISTINGS: Final = 4
"""Once, and again three times."""
_SEGMENT: Final = re.compile(r"[0-9]{20}\.log")
_TOPIC_FOLDER: Final = "__cluster_metadata-0"
_MAGIC_AT, _MAGIC = 16, 2


def _list_directory(path: str) -> MetadataLog:
    names = list_names(path)
    if _TOPIC_FOLDER in names:
        path = child(path, _TOPIC_FOLDER)
        names = list_names(path)
    segments = [child(path, name) for name in sorted(names) if _SEGMENT.fullmatch(name)]
    snapshots = [child(path, name) for name in sorted(names) if _is_state(name)]
    if not segments and not snapshots:
        raise DataError(
            f"{shown(path)}: expected segments (%020d.log) or snapshots (%020d-%010d.checkpoint) "
            f"of a metadata log, found none of them among {len(names)} entries"
        )
    if segments:
        _check_kind(segments)
    epochs = child(path, FILE_NAME) if segments and FILE_NAME in names else None
    return MetadataLog(segments=tuple(segments), snapshots=tuple(snapshots), epochs=epochs)


def _is_state(path: str) -> bool:
    """Whether a file is a snapshot of committed state: named as one, and not 0-0."""
    return parse_snapshot_name(base_name(path)) not in (None, (0, 0))


def _check_kind(paths: Sequence[str]) -> None:
    """Insist that one of these files begins with a record batch of magic 2.

    One in many may begin with damage; that is for the reader to report.
    """
    if not any(_begins_as_log(read_bytes(path, _MAGIC_AT + 1)) for path in paths):
        raise DataError(
            f"{shown(paths[0])}: expected record batches of magic 2, found a file of another kind"
        )


def _begins_as_log(start: bytes) -> bool:
    """Whether a file begins with a batch, with preallocated zeros, or is empty."""
    return not any(start) or (len(start) > _MAGIC_AT and start[_MAGIC_AT] == _MAGIC)
