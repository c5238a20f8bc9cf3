"""JSON lines, one record of the metadata log each → facts, the range read, and rejects.

A line is what kafka-dump-log prints as payload, with ``offset`` and ``timestamp`` added. There is
no hole check: such a file is what somebody selected, and it is taken as all there was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from aclkit.errors import DataError
from aclkit.model.facts import FACT, RECORD, REJECT, UNREADABLE, SourceRow, range_row
from aclkit.pipeline.sources.masking import mask_text, numbered, reject_line
from aclkit.pipeline.sources.payload import (
    MAX_OFFSET,
    BadPayload,
    load_payload,
    may_hide_acl,
    parse_offset,
    parse_payload,
    parse_timestamp,
)

_OFFSET: Final = re.compile(r'\s{0,8}\{\s{0,8}"offset"\s{0,8}:\s{0,8}(\d{1,18})\s{0,8},')
_MIXED = "has no offset, but other lines of the file have one"


def read_records(lines: Iterable[str], source: str) -> Iterator[SourceRow]:
    """Read the records of a JSON lines file.

    Lines state their ``offset``, or none does: then offsets count the non-blank lines from 0, bad
    lines included. Where only some do, those without are rejected.

    Raises:
        DataError: no line of the file is a JSON object.
    """
    file = _Jsonl(source=source)
    count = 0
    for number, text in numbered(lines):
        if text.strip():
            yield from _read_line(file, _Row(number=number, text=text, count=count))
            count += 1
    if not file.has_object:
        raise DataError(
            f"{source}: expected JSON lines with records of the metadata log, "
            f"found {mask_text(file.first)[:120] or 'an empty file'}"
        )
    for row, _ in file.held:
        if row is not None:
            yield row
    yield from _ranges(file)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    number: int
    text: str
    count: int


@dataclass(slots=True, kw_only=True)
class _Jsonl:
    """What is known so far: ``held`` waits for whether other lines state offsets."""

    source: str
    first: str = ""
    has_object: bool = False
    has_offsets: bool = False
    held: list[tuple[SourceRow | None, _Row]] = field(default_factory=list)
    counted_bad: set[int] = field(default_factory=set)
    bad: set[int] = field(default_factory=set)
    last: int = -1
    last_count: int = -1


def _read_line(file: _Jsonl, line: _Row) -> Iterator[SourceRow]:
    file.first = file.first or line.text
    file.last_count = line.count
    record: object = None
    try:
        record = load_payload(line.text)
        if not isinstance(record, dict):
            raise BadPayload("expected a JSON object", hides_acl=may_hide_acl(line.text))
        file.has_object = True
        if "offset" in record and not file.has_offsets:
            yield from _switch_to_offsets(file)
        yield from _read_record(file, line, record)
    except BadPayload as error:
        yield from _reject(file, line, error, _stated_offset(record, line.text))


def _read_record(file: _Jsonl, line: _Row, record: dict[str, Any]) -> Iterator[SourceRow]:
    """Yield the fact of a line, or hold it while it is not known whether lines state offsets."""
    if file.has_offsets and "offset" not in record:
        raise BadPayload(_MIXED, hides_acl=False)
    row = parse_payload(record, _base_row(file, line, record))
    if not file.has_offsets:
        file.held.append((row, line))
        return
    file.last = max(file.last, record["offset"])
    if row is not None:
        yield row


def _base_row(file: _Jsonl, line: _Row, record: dict[str, Any]) -> SourceRow:
    """Read what every record has: offset, and optionally time and epoch."""
    base = SourceRow(kind=FACT, source=file.source, fact=RECORD)
    try:
        offset = parse_offset(record.get("offset", line.count))
        time = parse_timestamp(record["timestamp"]) if "timestamp" in record else None
        epoch = record.get("epoch")
        if epoch is not None and (type(epoch) is not int or not 0 <= epoch < 2**31):
            raise ValueError("epoch: expected an integer from 0 to 2147483647")
    except ValueError as error:
        raise BadPayload(str(error), hides_acl=may_hide_acl(line.text)) from None
    return replace(base, log_offset=offset, log_time=time, epoch=epoch)


def _switch_to_offsets(file: _Jsonl) -> Iterator[SourceRow]:
    """Reject the lines so far that stated no offset: this one does."""
    file.has_offsets = True
    for row, line in file.held:
        if row is not None and row.kind == REJECT:
            yield replace(row, log_offset=None)
        else:
            yield from _reject(file, line, BadPayload(_MIXED, hides_acl=False), None)
    file.held.clear()


def _stated_offset(record: object, text: str) -> int | None:
    """Return the offset of a line, also of one that is no JSON but begins as such."""
    if isinstance(record, dict):
        offset = record.get("offset")
        return offset if type(offset) is int and 0 <= offset <= MAX_OFFSET else None
    match = _OFFSET.match(text)
    return int(match[1]) if match else None


def _reject(file: _Jsonl, line: _Row, error: BadPayload, offset: int | None) -> Iterator[SourceRow]:
    """Yield a reject, or hold it: without stated offsets the line's count is its offset."""
    is_counted = offset is None and not file.has_offsets
    if error.hides_acl:
        file.counted_bad.add(line.count)
        file.bad.update(() if offset is None else (offset,))
    row = reject_line(
        line.text,
        source=file.source,
        position=line.number,
        reason=str(error),
        log_offset=line.count if is_counted else offset,
    )
    if is_counted:
        file.held.append((row, line))
    else:
        yield row


def _ranges(file: _Jsonl) -> Iterator[SourceRow]:
    """Yield 0 … the last offset as read, without the offsets of lines that may hide an ACL."""
    bad = sorted(file.bad if file.has_offsets else file.counted_bad)
    end = (file.last if file.has_offsets else file.last_count) + 1
    start = 0
    for offset in bad:
        if start < min(offset, end):
            yield range_row(file.source, RECORD, start, min(offset, end))
        yield range_row(file.source, UNREADABLE, offset, offset + 1)
        start = offset + 1
    if start < end:
        yield range_row(file.source, RECORD, start, end)
