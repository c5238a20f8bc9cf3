"""The bytes of a ``.checkpoint`` snapshot → what was alive at its end offset, all or nothing.

Source: org.apache.kafka.snapshot.RecordsSnapshotReader (header and footer). Offsets inside a
snapshot are its own and none of the log's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from aclkit.errors import DataError
from aclkit.model.facts import (
    ABORT_TXN,
    BEGIN_TXN,
    COMMITTED,
    END_TXN,
    FACT,
    SNAPSHOT,
    SourceRow,
    range_row,
)
from aclkit.pipeline.sources.batches import Batch, Damage, read_batches
from aclkit.pipeline.sources.frames import UndecodableRecord, parse_values, read_integer, skip_tags
from aclkit.pipeline.sources.segment import readable_time, reject_record, telling
from aclkit.runtime.read_progress import NO_PROGRESS, ReadProgress


def read_snapshot(
    data: bytes, source: str, end_offset: int, epoch: int, told: ReadProgress = NO_PROGRESS
) -> list[SourceRow]:
    """Read a whole snapshot: its facts, their range 0 … end offset, and foreign rejects.

    That the offset before its end is committed with its epoch, is one of them.

    Raises:
        DataError: it is not complete and sound: header first, footer last, every CRC right,
            every ACL decodable, no transaction inside. Or it has the name of another one: Kafka
            writes the epoch of the name into each batch.
    """
    batches = _sound_batches(data, source, told)
    whole = range_row(source, SNAPSHOT, 0, end_offset, epoch)
    fact = SourceRow(
        kind=FACT,
        source=source,
        fact=SNAPSHOT,
        log_offset=end_offset,
        epoch=epoch,
        log_time=_header_time(batches, source),
    )
    if others := sorted({batch.epoch for batch in batches} - {epoch}):
        raise DataError(
            f"{source}: the name has epoch {epoch}, but the snapshot was written in epoch "
            f"{others[0]}, so it is another one"
        )
    inner = (batch for batch in batches[1:-1] if not batch.is_control)
    committed = range_row(source, COMMITTED, end_offset - 1, end_offset, epoch)
    return [whole, committed, *(row for batch in inner for row in _read_batch(batch, fact))]


_HEADER_KEY, _FOOTER_KEY = b"\x00\x00\x00\x03", b"\x00\x00\x00\x04"
"""Keys of control records: version 0 and ControlRecordType."""


def _sound_batches(data: bytes, source: str, told: ReadProgress) -> Sequence[Batch]:
    batches: list[Batch] = []
    for item in telling(read_batches(data), told):
        where = f"{source}: the snapshot is damaged at byte {item.position}"
        if isinstance(item, Damage):
            raise DataError(f"{where}: {item.reason}")
        if batches and item.base_offset != batches[-1].last_offset + 1:
            raise DataError(f"{where}: a batch is missing before it")
        batches.append(item)
    return batches


def _read_batch(batch: Batch, fact: SourceRow) -> Iterator[SourceRow]:
    """Turn records into facts like the given one."""
    where = f"{fact.source}: byte {batch.position}"
    for index, parsed in parse_values(batch.records.values):
        if not isinstance(parsed, UndecodableRecord):
            if parsed["record_type"] in (BEGIN_TXN, END_TXN, ABORT_TXN):
                raise DataError(f"{where}: {parsed['record_type']} cannot be in a snapshot")
            yield replace(fact, **parsed)
        elif parsed.loses_acl:
            raise DataError(f"{where}: {parsed}")
        else:
            yield reject_record(batch, index, parsed, source=fact.source, log_offset=None)


def _header_time(batches: Sequence[Batch], source: str) -> datetime | None:
    """Check header and footer; return the time of the last record the snapshot contains."""
    if not batches or not _is_marked(batches[0], 0, _HEADER_KEY):
        raise DataError(f"{source}: expected a snapshot header as first record, found none")
    if len(batches) == 1 or not _is_marked(batches[-1], -1, _FOOTER_KEY):
        raise DataError(f"{source}: the snapshot is incomplete: it does not end with a footer")
    header = batches[0].records.values[0] or b""
    try:
        _, at = read_integer(header, 0, 2)  # the version of the header
        last_contained, at = read_integer(header, at, 8)
        skip_tags(header, at)
    except ValueError as error:
        raise DataError(f"{source}: the snapshot's header cannot be decoded: {error}") from error
    return readable_time(last_contained)


def _is_marked(batch: Batch, index: int, key: bytes) -> bool:
    keys = batch.records.keys
    return batch.is_control and bool(keys) and keys[index] == key
