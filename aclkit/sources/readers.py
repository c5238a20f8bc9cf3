"""A work item (kind and path) → its source rows: which reader reads what."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from aclkit.sources.acls_list import read_acls_list
from aclkit.sources.dump_log import read_dump_log
from aclkit.sources.files import read_bytes, shown
from aclkit.sources.metadata_log import list_metadata_log, read_newest_snapshot
from aclkit.sources.records import read_records
from aclkit.sources.rows import SourceRow
from aclkit.sources.segment import read_segment

SEGMENT, SNAPSHOTS, DUMP_LOG, RECORDS = "segment", "snapshot", "dump-log", "records"
"""Kinds of work item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkItem:
    """What one task reads; ``path`` of kind snapshot is a JSON list of paths, newest first."""

    kind: str
    path: str


def metadata_log_items(path: str) -> list[WorkItem]:
    """List what there is to read of a metadata log: each segment, and the newest snapshot."""
    log = list_metadata_log(path)
    items = [WorkItem(kind=SEGMENT, path=segment) for segment in log.segments]
    if log.snapshots:
        items.append(WorkItem(kind=SNAPSHOTS, path=json.dumps(log.snapshots)))
    return items


def read_listing(path: str) -> Iterator[SourceRow]:
    """Read the text of ``kafka-acls --list``."""
    return _text_reader(read_acls_list)(path)


def _read_segment(path: str) -> Iterator[SourceRow]:
    return read_segment(read_bytes(path), shown(path))


def _read_snapshots(path: str) -> Iterator[SourceRow]:
    return read_newest_snapshot(json.loads(path))


def _text_reader(read: Callable[[Iterable[str], str], Iterator[SourceRow]]) -> Reader:
    def reader(path: str) -> Iterator[SourceRow]:
        data = io.BytesIO(read_bytes(path))
        lines = io.TextIOWrapper(data, encoding="utf-8", errors="replace", newline="\n")
        return read(lines, shown(path))

    return reader


Reader = Callable[[str], Iterator[SourceRow]]
READERS: Final[dict[str, Reader]] = {
    SEGMENT: _read_segment,
    SNAPSHOTS: _read_snapshots,
    DUMP_LOG: _text_reader(read_dump_log),
    RECORDS: _text_reader(read_records),
}
"""Kind of work item → what reads its path."""
