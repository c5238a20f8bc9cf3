"""Text of ``kafka-dump-log --cluster-metadata-decoder`` → facts, ranges read, and rejects.

The text of one file is ``Dumping …``, then per batch a header line and one line per record
(kafka.tools.DumpLogSegments; forms of Kafka 3 and 4, with and without --skip-record-metadata).
An offset counts as read only if its line was there and could be understood, in a batch that is
valid: so a line that was cut or lost is a hole, not a silence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import count, groupby, pairwise
from typing import Final

from aclkit.errors import DataError
from aclkit.model import facts as rows
from aclkit.model.facts import FACT, RECORD, REJECT, SNAPSHOT, UNREADABLE, SourceRow
from aclkit.pipeline.sources.masking import mask_text, names_acl, numbered, reject_line
from aclkit.pipeline.sources.payload import (
    NO_DECODER,
    BadPayload,
    is_decoded,
    load_payload,
    not_decoded,
    parse_integer,
    parse_offset,
    parse_payload,
    time_or_none,
)
from aclkit.pipeline.sources.text_lines import is_log_line

_CONTROL: Final = (
    *("LeaderChange", "SnapshotHeader", "SnapshotFooter", "KRaftVersion", "KRaftVoters"),
    *("controlType:", "endTxnMarker:"),
)
_UNSTATED: Final = (-1, -1)
_BOOTSTRAP: Final = (0, 0)
"""End offset and epoch of a snapshot whose line is cut, and of one that is no state."""

_IN_SNAPSHOTS: Final = {rows.ADD_ACL, rows.ADD_TOPIC, rows.ADD_SCRAM, *rows.BROKER_RECORDS}


def read_dump_log(lines: Iterable[str], source: str) -> Iterator[SourceRow]:
    """Read the dumps of one or more logs or checkpoints.

    A log's batches give ranges of fact ``record``; without batch headers one range holds all, with
    no hole check. A checkpoint gives its facts and the range 0 … its end offset if it is complete.

    Raises:
        DataError: no line is one of kafka-dump-log's, or no record of the log is decoded.
    """
    files = 0
    is_known, first, decoded, undecoded = False, "", 0, 0

    def file_of(line: tuple[int, str]) -> int:
        nonlocal files
        files += line[1].startswith("Dumping ")
        return files

    for _, section in groupby(numbered(lines), key=file_of):
        file = _Dump(source=source)
        yield from _read_snapshot(file, _read_file(file, section))
        is_known = is_known or file.is_known
        first = first or file.first
        decoded, undecoded = decoded + file.decoded, undecoded + file.undecoded
    if undecoded > 1 and not decoded:  # a single one may be a line that is cut
        raise DataError(f"{source}: {NO_DECODER}")
    if not is_known:
        raise DataError(
            f"{source}: expected the text of kafka-dump-log --cluster-metadata-decoder, "
            f"found {mask_text(first)[:120] or 'an empty file'}"
        )


@dataclass(slots=True, kw_only=True)
class _DumpedBatch:
    """A batch header, and which of its offsets had a line (``bad``: not understood).

    Without metadata the line of a control record is ``blank``.
    """

    line: tuple[int, str]
    base: int
    last: int
    epoch: int
    count: int
    time: datetime | None
    is_valid: bool
    is_control: bool
    lines: int = 0
    blank: int = 0
    seen: set[int] = field(default_factory=set)
    bad: set[int] = field(default_factory=set)


@dataclass(slots=True, kw_only=True)
class _Dump:
    """What is known so far of one dumped file; ``ranges`` are [from, to, epoch, fact]."""

    source: str
    is_known: bool = False
    first: str = ""
    start: int = 0
    snapshot: tuple[int, int] | None = None
    snapshot_line: tuple[int, str] = (0, "")
    snapshot_time: datetime | None = None
    has_footer: bool = False
    has_headers: bool = False
    decoded: int = 0
    undecoded: int = 0
    is_distrusted: bool = False
    batch: _DumpedBatch | None = None
    next_offset: int = 0
    has_counted: bool = False
    held: list[tuple[SourceRow, tuple[int, str]]] = field(default_factory=list)
    ranges: list[tuple[int, int, int | None, str]] = field(default_factory=list)

    def add_range(self, start: int, end: int, epoch: int | None, fact: str) -> None:
        """Add a range, joined with the one before where it goes on."""
        if self.ranges and self.ranges[-1][1:] == (start, epoch, fact):
            start = self.ranges.pop()[0]
        self.ranges.append((start, end, epoch, fact))

    def reject(
        self, line: tuple[int, str], reason: str, log_offset: int | None = None
    ) -> SourceRow:
        """Make the reject of a line of this file."""
        number, text = line
        return reject_line(
            text, source=self.source, position=number, reason=reason, log_offset=log_offset
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Record:
    """A record line taken apart; ``is_counted``: it states no offset of its own."""

    offset: int
    time: datetime | None
    body: str
    is_counted: bool


def _read_file(file: _Dump, lines: Iterable[tuple[int, str]]) -> Iterator[SourceRow]:
    for line in lines:
        text = line[1]
        if text.strip():
            file.first = file.first or text
            yield from _read_line(file, line)
        else:
            file.next_offset += 1  # a control record under --skip-record-metadata
            if file.batch:
                file.batch.blank += 1
    yield from _close_batch(file)
    yield from (row for row, _ in file.held)
    yield from _range_rows(file)


def _read_line(file: _Dump, line: tuple[int, str]) -> Iterator[SourceRow]:
    text = line[1]
    is_known = True
    if text.startswith("| offset: ") or text.lstrip("| ").startswith("payload: "):
        yield from _read_record(file, line)
    elif text.startswith("baseOffset: "):
        yield from _read_header(file, line)
    elif text.startswith("Found ") and " invalid bytes at the end of " in text:
        yield file.reject(line, "torn tail: the last batch is incomplete")
    elif text.startswith(("Log starting offset: ", "Snapshot end offset: ", "KRaft bootstrap")):
        yield from _read_preamble(file, line)
    elif text.startswith("Dumping "):
        file.snapshot_line = line
        file.snapshot = _UNSTATED if text.endswith(".checkpoint") else None
    elif is_log_line(text):
        return
    else:
        is_known = False
        if names_acl(text) and file.is_known and not file.has_headers:
            file.add_range(file.next_offset, file.next_offset + 1, None, UNREADABLE)
            file.next_offset += 1
        yield file.reject(line, "not a line of kafka-dump-log")
    file.is_known = file.is_known or is_known


def _read_preamble(file: _Dump, line: tuple[int, str]) -> Iterator[SourceRow]:
    """Read the lines that show whether a log or a snapshot follows.

    A bootstrap snapshot is only the input of an empty log, which then holds its records itself.
    """
    words = line[1].replace(",", "").split()
    try:
        if words[0] == "Log":
            file.start = file.next_offset = parse_offset(parse_integer(words[-1]))
            return
        is_bootstrap = words[0] == "KRaft"
        file.snapshot_line = line
        file.snapshot = _BOOTSTRAP if is_bootstrap else _UNSTATED
        if not is_bootstrap:
            file.snapshot = (parse_offset(parse_integer(words[3])), parse_integer(words[-1]))
    except (ValueError, IndexError):
        yield file.reject(line, "expected numbers in the text's second line")


def _read_header(file: _Dump, line: tuple[int, str]) -> Iterator[SourceRow]:
    """Begin a batch; what cannot be read or has a bad checksum makes its records unreadable."""
    try:
        batch = _parse_header(line)
    except (ValueError, KeyError):
        batch = None
    yield from _close_batch(file, batch)
    if not file.has_headers:
        yield from _drop_counted(file)
    file.has_headers = True
    if batch is None:
        file.is_distrusted = True
        yield file.reject(line, "batch header cannot be read; its records are not used")
        return
    file.is_distrusted = False
    file.batch = batch
    if not batch.is_valid:
        reason = f"wrong checksum: offsets {batch.base} to {batch.last} are not used"
        yield file.reject(line, reason, batch.base)


def _drop_counted(file: _Dump) -> Iterator[SourceRow]:
    """Reject the records before the first header that state no offset: the count is wrong."""
    if file.has_counted:
        file.ranges.clear()
    for _, line in file.held:
        yield file.reject(line, "has no offset and is before the first batch header")
    file.held.clear()


def _parse_header(line: tuple[int, str]) -> _DumpedBatch:
    words = line[1].split()
    values = dict(zip(words[0::2], words[1::2], strict=False))
    batch = _DumpedBatch(
        line=line,
        base=parse_offset(parse_integer(values["baseOffset:"])),
        last=parse_offset(parse_integer(values["lastOffset:"])),
        epoch=parse_integer(values["partitionLeaderEpoch:"]),
        count=parse_integer(values["count:"]),
        time=time_or_none(values.get("CreateTime:", values.get("LogAppendTime:", ""))),
        is_valid=_is_true(values["isvalid:"]),
        is_control=_is_true(values["isControl:"]),
    )
    if batch.last < batch.base or not -1 <= batch.epoch < 2**31:
        raise ValueError("offsets or epoch out of range")
    return batch


def _close_batch(file: _Dump, behind: _DumpedBatch | None = None) -> Iterator[SourceRow]:
    """Turn a batch into ranges: readable but for bad lines and, if lines are missing, gaps.

    It holds no more offsets than the next batch leaves room for, whatever it announces.
    """
    batch, file.batch = file.batch, None
    if batch is None:
        return
    found = len(batch.seen) + (batch.blank if batch.is_control else 0)
    is_short = found < batch.count
    if is_short and batch.is_valid and not (batch.lines or batch.is_control):
        file.undecoded += 1
    if is_short and batch.is_valid:
        reason = f"{batch.count} records announced, {found} lines found"
        missing = next(offset for offset in count(batch.base) if offset not in batch.seen)
        yield file.reject(batch.line, reason, missing)
    if behind and batch.base < behind.base <= batch.last:
        batch.last = max([behind.base - 1, *batch.seen])
    elsewhere = UNREADABLE if is_short or not batch.is_valid else RECORD
    position = batch.base
    for offset in sorted(batch.seen):
        if position < offset:
            file.add_range(position, offset, batch.epoch, elsewhere)
        fact = UNREADABLE if offset in batch.bad else RECORD
        file.add_range(offset, offset + 1, batch.epoch, fact)
        position = offset + 1
    if position <= batch.last:
        file.add_range(position, batch.last + 1, batch.epoch, elsewhere)


def _read_record(file: _Dump, line: tuple[int, str]) -> Iterator[SourceRow]:
    """Read a record line: its fact if it is of interest, a reject if it cannot be used."""
    batch = file.batch
    if batch is not None and not batch.is_valid:
        return
    try:
        record = _parse_record(file, line)
    except ValueError as error:
        yield file.reject(line, str(error))
        return
    if record.is_counted and file.is_distrusted:
        return
    is_bad = file.is_distrusted
    try:
        row = None if is_bad else _read_body(file, record)
    except BadPayload as error:
        row = file.reject(line, str(error), record.offset)
        is_bad = error.hides_acl
    _mark(file, record.offset, is_bad=is_bad)
    if row is not None and record.is_counted and batch is None:
        file.held.append((row, line))
    elif row is not None:
        yield row


def _parse_record(file: _Dump, line: tuple[int, str]) -> _Record:
    """Take a record line apart and find its offset: stated, or counted in batch or file."""
    text = line[1]
    batch = file.batch
    is_counted = not text.startswith("| offset: ")
    time = batch.time if batch else None
    if is_counted:
        offset = batch.base + batch.lines if batch else file.next_offset
        body = text.lstrip("| ")
    else:
        head, mark, body = text.partition(" payload: ")
        words = [*head.split(), "", "", ""]
        offset = parse_offset(parse_integer(words[2]))
        time = time_or_none(words[4])
        body = mark.lstrip() + body if mark else head.partition("headerKeys: ")[2]
    if batch:
        batch.lines += 1
        if not batch.base <= offset <= batch.last or offset in batch.seen:
            raise ValueError(f"offset {offset} is not the next one of its batch")
    file.next_offset = offset + 1
    file.has_counted = file.has_counted or is_counted
    return _Record(offset=offset, time=time, body=body, is_counted=is_counted)


def _read_body(file: _Dump, record: _Record) -> SourceRow | None:
    """Read payload or control record.

    Raises:
        BadPayload: it cannot be used.
    """
    batch = file.batch
    if not record.body.startswith("payload: "):
        _read_control(file, record)
        return None
    file.decoded += is_decoded(record.body)
    file.undecoded += not is_decoded(record.body)
    if record.body.startswith("payload: Error at "):
        raise not_decoded(record.body)
    payload = load_payload(record.body.removeprefix("payload: "))
    if record.time is None and not record.is_counted:
        raise BadPayload("expected a time in the record's line", hides_acl=True)
    base = SourceRow(
        kind=FACT,
        source=file.source,
        fact=RECORD,
        log_offset=record.offset,
        epoch=batch.epoch if batch and batch.epoch >= 0 else None,
        log_time=record.time,
    )
    return parse_payload(payload, base)


def _read_control(file: _Dump, record: _Record) -> None:
    """Accept a control record: it takes an offset and states nothing about ACLs."""
    word = next((word for word in _CONTROL if f" {word}" in f" {record.body}"), None)
    if word is None and not (file.batch and file.batch.is_control):
        file.undecoded += 1
        raise BadPayload("the record's line is cut", hides_acl=True)
    file.has_footer = file.has_footer or word == "SnapshotFooter"
    if word == "SnapshotHeader":
        file.snapshot = file.snapshot or _UNSTATED
        header = load_payload(record.body.partition("SnapshotHeader")[2])
        if isinstance(header, dict):
            stamp = str(header.get("lastContainedLogTimestamp", ""))
            file.snapshot_time = time_or_none(stamp)


def _mark(file: _Dump, offset: int, *, is_bad: bool) -> None:
    if file.batch is None:
        file.add_range(offset, offset + 1, None, UNREADABLE if is_bad else RECORD)
        return
    file.batch.seen.add(offset)
    if is_bad:
        file.batch.bad.add(offset)


def _range_rows(file: _Dump) -> Iterator[SourceRow]:
    """Yield the ranges; without batch headers all between the bad lines counts as read."""
    ranges = file.ranges if file.has_headers else _without_hole_check(file)
    for start, end, epoch, fact in ranges:
        yield rows.range_row(file.source, fact, start, end, None if epoch == -1 else epoch)
    for (_, end, before, fact), (start, _, epoch, other) in pairwise(ranges):
        is_log = fact == other == RECORD and end == start
        if is_log and before is not None and epoch is not None and 0 <= before < epoch:
            yield rows.epoch_row(file.source, start, epoch, before)


def _without_hole_check(file: _Dump) -> list[tuple[int, int, int | None, str]]:
    joined = _Dump(source=file.source)
    bad = sorted(range_ for range_ in file.ranges if range_[3] == UNREADABLE)
    stop = max((end for _, end, _, _ in file.ranges), default=0)
    position = min([file.start, *(start for start, _, _, _ in file.ranges)])
    for start, end, _, _ in bad:
        if position < start:
            joined.add_range(position, start, None, RECORD)
        if position < end:
            joined.add_range(max(position, start), end, None, UNREADABLE)
        position = max(position, end)
    if position < stop:
        joined.add_range(position, stop, None, RECORD)
    return joined.ranges


def _read_snapshot(file: _Dump, read: Iterator[SourceRow]) -> Iterator[SourceRow]:
    """Yield what was read of a log; make a snapshot of it if the file turns out to be one.

    A snapshot is a whole state or nothing: without its footer, or with a broken line that may have
    been an ACL, it does not count.
    """
    facts: list[SourceRow] = []
    is_whole = True
    for row in read:
        if file.snapshot is None or row.kind == REJECT:
            yield row
        elif row.kind == FACT and row.record_type in _IN_SNAPSHOTS:
            facts.append(row)
        elif row.fact == UNREADABLE or row.kind == FACT:
            is_whole = False
    if file.snapshot is None or file.snapshot[0] == 0:
        return
    is_whole = is_whole and file.has_headers and len(file.ranges) == 1
    if file.snapshot == _UNSTATED:
        yield file.reject(file.snapshot_line, "incomplete snapshot: no line with its end offset")
        return
    if not (is_whole and file.ranges[0][0] == 0 and file.has_footer):
        why = "lines cannot be used" if file.has_footer else "no SnapshotFooter"
        yield file.reject(file.snapshot_line, f"incomplete snapshot: {why}", file.snapshot[0])
        return
    end, epoch = file.snapshot
    time = file.snapshot_time
    for row in facts:
        yield replace(row, fact=SNAPSHOT, log_offset=end, epoch=epoch, log_time=time)
    yield replace(rows.range_row(file.source, SNAPSHOT, 0, end, epoch), log_time=time)
    if file.ranges[0][2] == epoch:
        yield rows.range_row(file.source, rows.COMMITTED, end - 1, end, epoch)


def _is_true(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError("expected true or false")
    return text == "true"
