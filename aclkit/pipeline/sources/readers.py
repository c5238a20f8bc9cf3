"""A work item (kind and path) → its source rows: which reader reads what."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from aclkit.errors import AclkitError
from aclkit.model.facts import FAILURE, LISTING, SourceRow
from aclkit.pipeline.sources.acls_list import read_acls_list
from aclkit.pipeline.sources.batch import HEADER_SIZE
from aclkit.pipeline.sources.batches import Neighbour
from aclkit.pipeline.sources.dump_log import read_dump_log
from aclkit.pipeline.sources.files import base_name, read_bytes, shown
from aclkit.pipeline.sources.metadata_log import list_metadata_log, read_snapshot_file
from aclkit.pipeline.sources.records import read_records
from aclkit.pipeline.sources.segment import first_offset, read_segment
from aclkit.pipeline.sources.snapshot import parse_snapshot_name

SEGMENT, SNAPSHOT, DUMP_LOG, RECORDS = "segment", "snapshot", "dump-log", "records"
"""Kinds of work item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkItem:
    """What one task reads.

    Attributes:
        kind: one of those above.
        path: the file.
        behind: the next segment of the log, which testifies to the end of this one.
        only_below: end offset of an older snapshot of a folder: where the log is known up to
            there it says nothing new, and need not be read.
    """

    kind: str
    path: str
    behind: str | None = None
    only_below: int | None = None


def metadata_log_items(path: str) -> list[WorkItem]:
    """List what there is to read of a metadata log: each segment and each snapshot."""
    log = list_metadata_log(path)
    items = [
        WorkItem(kind=SEGMENT, path=segment, behind=behind)
        for segment, behind in zip(log.segments, (*log.segments[1:], None), strict=False)
    ]
    newest = log.snapshots[-1] if log.snapshots else None
    for snapshot in log.snapshots:
        name = parse_snapshot_name(base_name(snapshot))
        only_below = name[0] if name and snapshot != newest else None
        items.append(WorkItem(kind=SNAPSHOT, path=snapshot, only_below=only_below))
    return items


def read_item(item: WorkItem) -> Iterator[SourceRow]:
    """Read what a work item names."""
    return READERS[item.kind](item)


def read_or_tell(item: WorkItem) -> Iterator[SourceRow]:
    """Read a work item; an error of aclkit's own becomes its last row, and is told later."""
    try:
        yield from read_item(item)
    except AclkitError as error:
        yield SourceRow(
            kind=FAILURE, source=item.kind, fact=type(error).__name__, reason=str(error)
        )


def read_listing(path: str) -> Iterator[SourceRow]:
    """Read the text of ``kafka-acls --list``."""
    return _text_reader(read_acls_list)(WorkItem(kind=LISTING, path=path))


def _read_segment(item: WorkItem) -> Iterator[SourceRow]:
    return read_segment(read_bytes(item.path), shown(item.path), _neighbour(item.behind))


def _neighbour(path: str | None) -> Neighbour | None:
    """Look how the segment at a path begins."""
    offset = None if path is None else first_offset(base_name(path))
    if path is None or offset is None:
        return None
    return Neighbour.of(offset, read_bytes(path, HEADER_SIZE))


def _read_snapshot(item: WorkItem) -> Iterator[SourceRow]:
    return read_snapshot_file(item.path)


def _text_reader(read: Callable[[Iterable[str], str], Iterator[SourceRow]]) -> Reader:
    def reader(item: WorkItem) -> Iterator[SourceRow]:
        data = io.BytesIO(read_bytes(item.path))
        lines = io.TextIOWrapper(data, encoding="utf-8", errors="replace", newline="\n")
        return read(lines, shown(item.path))

    return reader


Reader = Callable[[WorkItem], Iterator[SourceRow]]
READERS: Final[dict[str, Reader]] = {
    SEGMENT: _read_segment,
    SNAPSHOT: _read_snapshot,
    DUMP_LOG: _text_reader(read_dump_log),
    RECORDS: _text_reader(read_records),
}
"""Kind of work item → what reads it."""
