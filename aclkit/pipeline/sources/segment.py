"""The bytes of a ``.log`` segment → facts, the ranges of offsets that were read, and rejects."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from aclkit.model.facts import (
    FACT,
    RECORD,
    REJECT,
    UNREADABLE,
    SourceRow,
    epoch_row,
    log_time,
    range_row,
)
from aclkit.pipeline.sources.batches import Batch, Damage, Neighbour, read_batches
from aclkit.pipeline.sources.frames import FrameFields, UndecodableRecord, parse_values
from aclkit.pipeline.sources.log_names import first_offset
from aclkit.runtime.read_progress import NO_PROGRESS, ReadProgress


def read_segment(
    data: bytes,
    source: str,
    behind: Neighbour | None = None,
    told: ReadProgress = NO_PROGRESS,
    first: int | None = None,
    after: int | None = None,
) -> Iterator[SourceRow]:
    """Read a segment of the metadata log, or its end.

    Ranges are as long as offset and epoch allow. Control batches and foreign records hold no ACL
    fact and count as read. Where an ACL fact may be lost there is an ``unreadable`` range; the torn
    tail of a log loses none, because it was never committed. The name of the file is its first
    offset, which shows what a damaged beginning held; ``behind`` is the beginning of the next
    segment, which shows what a damaged end held. ``first`` is the first offset of data that
    begins within a file, and ``after`` the epoch of the offset before. Where an epoch follows
    another without a gap, a range tells where it begins.
    """
    readable = _Readable(source)
    start = first_offset(source) if first is None else first
    if after is not None and start is not None:
        readable.follow(start, after)
    for item in telling(read_batches(data, start, behind), told):
        if isinstance(item, Damage):
            yield reject_damage(data, item, source)
            if item.from_offset is not None and item.to_offset is not None:
                yield range_row(source, UNREADABLE, item.from_offset, item.to_offset)
        else:
            yield from _read_batch(item, source, readable)
    if behind is not None:
        yield from readable.begin(behind.offset, behind.epoch)
    yield from readable.flush()


def telling(items: Iterator[Batch | Damage], told: ReadProgress) -> Iterator[Batch | Damage]:
    """Pass on what a file holds, and tell how far it is read."""
    for item in items:
        yield item
        if isinstance(item, Damage):
            told.add(item.size)
        else:
            told.add(item.end - item.position, len(item.records.values))


def reject_damage(data: bytes, damage: Damage, source: str) -> SourceRow:
    """Reject damaged bytes; they are not shown, because they may hold credentials."""
    rejected = memoryview(data)[damage.position : damage.position + damage.size]
    return SourceRow(
        kind=REJECT,
        source=source,
        log_offset=damage.from_offset,
        position=damage.position,
        reason=damage.reason,
        digest=hashlib.sha256(rejected).hexdigest(),
    )


def reject_record(
    batch: Batch, index: int, error: UndecodableRecord, *, source: str, log_offset: int | None
) -> SourceRow:
    """Reject a record; only an ACL's bytes are shown, others may hold credentials."""
    value = batch.records.values[index] or b""
    return SourceRow(
        kind=REJECT,
        source=source,
        log_offset=log_offset,
        position=batch.position,
        reason=str(error),
        raw=value.hex() if error.is_acl else None,
        digest=hashlib.sha256(value).hexdigest(),
    )


def readable_time(milliseconds: int) -> datetime | None:
    """Return a time of the log; None for what no calendar holds, such as -1 for "no time"."""
    return log_time(milliseconds) if 0 <= milliseconds < _END_OF_TIME else None


_END_OF_TIME: Final = 253_402_300_800_000
"""The year 10000, in milliseconds."""


class _Readable:
    """The range being read: the one mutable thing in here."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._start = self._stop = 0
        self._epoch = -1

    def extend(self, start: int, stop: int, epoch: int) -> Iterator[SourceRow]:
        """Add offsets; what they do not continue is done."""
        if start == stop:
            return
        if start != self._stop or epoch != self._epoch:
            yield from self.begin(start, epoch)
            yield from self.flush()
            self._start, self._epoch = start, epoch
        self._stop = stop

    def follow(self, stop: int, epoch: int) -> None:
        """Note what comes before the data."""
        self._start, self._stop, self._epoch = stop, stop, epoch

    def begin(self, start: int, epoch: int) -> Iterator[SourceRow]:
        """Tell of an epoch that begins, where it follows another without a gap."""
        if start == self._stop and 0 <= self._epoch < epoch:
            yield epoch_row(self._source, start, epoch, self._epoch)

    def flush(self) -> Iterator[SourceRow]:
        if self._start < self._stop:
            yield range_row(self._source, RECORD, self._start, self._stop, self._epoch)


def _read_batch(batch: Batch, source: str, readable: _Readable) -> Iterator[SourceRow]:
    start = batch.base_offset
    for index, parsed in () if batch.is_control else parse_values(batch.records.values):
        if not isinstance(parsed, UndecodableRecord):
            yield _fact(parsed, batch, index, source)
            continue
        offset = batch.base_offset + index
        yield reject_record(batch, index, parsed, source=source, log_offset=offset)
        if parsed.loses_acl:
            yield from readable.extend(start, offset, batch.epoch)
            yield range_row(source, UNREADABLE, offset, offset + 1, batch.epoch)
            start = offset + 1
    yield from readable.extend(start, batch.last_offset + 1, batch.epoch)


def _fact(fields: FrameFields, batch: Batch, index: int, source: str) -> SourceRow:
    return SourceRow(
        kind=FACT,
        source=source,
        fact=RECORD,
        log_offset=batch.base_offset + index,
        epoch=batch.epoch,
        log_time=readable_time(batch.records.timestamps[index]),
        **fields,
    )
