"""A path → the segments and snapshots of a metadata log, and the cluster they belong to.

The broker deletes old ones while it runs, also between the moment when a file is listed and the
one when it is opened.

Its ``leader-epoch-checkpoint`` says where the epochs of the log begin, if its batches agree.
Source: org.apache.kafka.storage.internals.checkpoint.LeaderEpochCheckpointFile. It holds version
0, the number of lines that follow, and for each epoch a line with its first offset. The first line
of a log that begins later than at 0 has the log's first offset.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeVar

from aclkit.errors import DataError, GoneError, SurroundingsError, UsageError
from aclkit.model.facts import TOLD, SourceRow, range_row
from aclkit.pipeline.sources.files import (
    base_name,
    is_directory,
    is_file,
    list_names,
    parent,
    read_bytes,
)
from aclkit.pipeline.sources.log_names import END_OF_OFFSETS, parse_snapshot_name
from aclkit.runtime.uri import child, shown

EPOCHS_FILE: Final = "leader-epoch-checkpoint"

Told = tuple[int, int, int | None, str, int | None]
"""A range: the first offset of an epoch, the offset after its last, the epoch, and so on."""


def read_leader_epochs(text: str, source: str) -> Iterator[SourceRow]:
    """Yield for each epoch the range that the file says it has.

    Raises:
        DataError: it is not such a file, or a part of one.
    """
    lines = text.split("\n")
    said = [_LINE.fullmatch(line) for line in lines[2:-1]]
    starts = [(int(line[1]), int(line[2])) for line in said if line]
    if lines[:1] != ["0"] or lines[1:2] != [str(len(starts))] or len(lines) != len(starts) + 3:
        raise DataError(f"{source}: expected Kafka's list of leader epochs, whole")
    last = (_MAX_EPOCH, END_OF_OFFSETS)
    if not all(a < b and c < d for (a, c), (b, d) in pairwise([*starts, last])):
        raise DataError(f"{source}: expected epochs and offsets that increase")
    for (epoch, start), (_, end) in pairwise([*starts, last]):
        yield range_row(source, TOLD, start, end, epoch)


def epochs_of(told: Sequence[Told], read: Iterable[Told]) -> Sequence[tuple[int, int, int]]:
    """Return the beginnings of epochs that a file tells: offset, epoch, and the one it follows.

    There are none if a batch that was read beside the file has another epoch than it says.

    Args:
        told: what the file says of each epoch.
        read: the ranges of batches of the same folder.
    """
    epochs = sorted((start, end, epoch) for start, end, epoch, *_ in told if epoch is not None)
    spans = {epoch: (start, end) for start, end, epoch in epochs}
    for start, end, epoch, *_ in read:
        first, stop = spans.get(-1 if epoch is None else epoch, (END_OF_OFFSETS, 0))
        if start < first or end > stop:
            return ()
    return [(start, epoch, before) for (_, _, before), (start, _, epoch) in pairwise(epochs)]


_LINE: Final = re.compile(r"([0-9]{1,10}) ([0-9]{1,19})")
_MAX_EPOCH: Final = 1 << 31


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
    epochs = child(path, EPOCHS_FILE) if segments and EPOCHS_FILE in names else None
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
