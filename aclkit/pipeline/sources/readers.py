"""A work item (kind and path) → its source rows: which reader reads what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from typing import Final

from aclkit.errors import AclkitError, DataError
from aclkit.model.facts import FAILURE, LISTING, REJECT, SourceRow
from aclkit.pipeline.sources.acls_list import read_acls_list
from aclkit.pipeline.sources.batch import HEADER_SIZE
from aclkit.pipeline.sources.batches import Neighbour
from aclkit.pipeline.sources.dump_log import read_dump_log
from aclkit.pipeline.sources.files import base_name, read_bytes
from aclkit.pipeline.sources.items import EPOCHS, SEGMENT, SNAPSHOT, WorkItem
from aclkit.pipeline.sources.log_names import first_offset, parse_snapshot_name
from aclkit.pipeline.sources.metadata_log import read_leader_epochs
from aclkit.pipeline.sources.records import read_records
from aclkit.pipeline.sources.segment import read_segment
from aclkit.pipeline.sources.snapshot import read_snapshot
from aclkit.pipeline.sources.source_kinds import DUMP_LOG, RECORDS
from aclkit.pipeline.sources.text_lines import text_lines, to_utf_8
from aclkit.runtime.read_progress import NO_PROGRESS, FollowedBytes, ReadProgress, followed, size_of
from aclkit.runtime.uri import shown


def read_item(item: WorkItem, told: ReadProgress = NO_PROGRESS) -> Iterator[SourceRow]:
    """Read what a work item names, and tell how far that is."""
    return READERS[item.kind](item, told)


def read_or_tell(item: WorkItem, told: ReadProgress = NO_PROGRESS) -> Iterator[SourceRow]:
    """Read a work item; an error of aclkit's own becomes its last row, and is reported later."""
    try:
        yield from read_item(item, told)
    except AclkitError as error:
        yield SourceRow(
            kind=FAILURE, source=item.kind, fact=type(error).__name__, reason=str(error)
        )


def read_listing(path: str) -> Iterator[SourceRow]:
    """Read the text of ``kafka-acls --list``."""
    with (
        followed([size_of(path)], "reading the listing") as board,
        closing(ReadProgress(board)) as told,
    ):
        yield from _text_reader(read_acls_list)(WorkItem(kind=LISTING, path=path), told)


def _read_segment(item: WorkItem, told: ReadProgress) -> Iterator[SourceRow]:
    return read_segment(read_bytes(item.path), shown(item.path), _neighbour(item.behind), told)


def _neighbour(path: str | None) -> Neighbour | None:
    """Look how the segment at a path begins."""
    offset = None if path is None else first_offset(base_name(path))
    if path is None or offset is None:
        return None
    return Neighbour.of(offset, read_bytes(path, HEADER_SIZE))


def _read_snapshot(item: WorkItem, told: ReadProgress) -> Iterator[SourceRow]:
    """Read a snapshot; one that cannot be used is rejected with its reason."""
    name = parse_snapshot_name(base_name(item.path))
    try:
        if name is None:
            raise DataError(f"{shown(item.path)}: the name is not that of a snapshot")
        rows = read_snapshot(read_bytes(item.path), shown(item.path), *name, told)
    except DataError as error:
        yield SourceRow(kind=REJECT, source=shown(item.path), reason=str(error))
    else:
        yield from rows


def _read_leader_epochs(item: WorkItem, _: ReadProgress) -> Iterator[SourceRow]:
    """Read where epochs begin; a file that cannot be used is rejected with its reason."""
    try:
        text = read_bytes(item.path).decode("ascii", errors="replace")
        yield from [*read_leader_epochs(text, shown(item.path))]
    except DataError as error:
        yield SourceRow(kind=REJECT, source=shown(item.path), reason=str(error))


def _text_reader(read: Callable[[Iterable[str], str], Iterator[SourceRow]]) -> Reader:
    def reader(item: WorkItem, told: ReadProgress) -> Iterator[SourceRow]:
        source = shown(item.path)
        data = FollowedBytes(to_utf_8(read_bytes(item.path), source), told)
        return read(text_lines(data, source), source)

    return reader


Reader = Callable[[WorkItem, ReadProgress], Iterator[SourceRow]]
READERS: Final[dict[str, Reader]] = {
    SEGMENT: _read_segment,
    SNAPSHOT: _read_snapshot,
    EPOCHS: _read_leader_epochs,
    DUMP_LOG: _text_reader(read_dump_log),
    RECORDS: _text_reader(read_records),
}
"""Kind of work item → what reads it."""
