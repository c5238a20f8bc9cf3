"""A source → its work items, the files that are to be read; none of them is opened to be read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aclkit.pipeline.sources.files import base_name
from aclkit.pipeline.sources.log_names import parse_snapshot_name
from aclkit.pipeline.sources.metadata_log import MetadataLog, list_metadata_log
from aclkit.pipeline.sources.source_kinds import METADATA_LOG

SEGMENT, SNAPSHOT, EPOCHS = "segment", "snapshot", "leader-epochs"
"""Kinds of work item of a metadata log; those of other logs are named as their source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkItem:
    """What one task reads.

    Attributes:
        kind: one of those above, or of a source.
        path: the file.
        behind: the next segment of the log, which shows where this one ends.
        only_below: end offset of an older snapshot of a folder: where the log is known up to
            there, the snapshot has nothing new, and need not be read.
        epoch: the leader epoch in the name of such a snapshot.
    """

    kind: str
    path: str
    behind: str | None = None
    only_below: int | None = None
    epoch: int | None = None


def items_of(kind: str, path: str) -> list[WorkItem]:
    """List the work items of a source that is a log."""
    if kind == METADATA_LOG:
        return metadata_log_items(path)
    return [WorkItem(kind=kind, path=path)]


def metadata_log_items(path: str) -> list[WorkItem]:
    """List the work items of a metadata log: segments, snapshots, the file of epochs."""
    log = list_metadata_log(path)
    items = [
        WorkItem(kind=SEGMENT, path=segment, behind=behind)
        for segment, behind in zip(log.segments, (*log.segments[1:], None), strict=False)
    ]
    newest = log.snapshots[-1] if log.snapshots else None
    for snapshot in log.snapshots:
        name = parse_snapshot_name(base_name(snapshot))
        only_below, epoch = name if name and snapshot != newest else (None, None)
        items.append(WorkItem(kind=SNAPSHOT, path=snapshot, only_below=only_below, epoch=epoch))
    return items if log.epochs is None else [*items, WorkItem(kind=EPOCHS, path=log.epochs)]


def log_of(items: Iterable[WorkItem]) -> MetadataLog:
    """Return the files of a metadata log as they were listed for its work items."""
    listed = tuple(items)
    segments, snapshots = (
        tuple(item.path for item in listed if item.kind == kind) for kind in (SEGMENT, SNAPSHOT)
    )
    epochs = next((item.path for item in listed if item.kind == EPOCHS), None)
    return MetadataLog(segments=segments, snapshots=snapshots, epochs=epochs)
