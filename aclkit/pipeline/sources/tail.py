"""A metadata log and a place in it → the rows written since, and the next place.

Only what was appended is read: the rest of the segment in which the last reading ended, and the
segments after it. By Raft's log matching, a log that holds the same batch at the same place holds
the same batches before it, so the bytes before the place tell whether the log was cut and written
anew. What is not plainly a continuation is left to a reading of the whole log, which knows damage.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from aclkit.model.facts import EPOCH, RANGE, RECORD, REJECT, SourceRow
from aclkit.pipeline.sources.batch import HEADER_SIZE, Header, crc_holds, header_at, is_torn
from aclkit.pipeline.sources.files import base_name, open_stream
from aclkit.pipeline.sources.log_names import first_offset, parse_snapshot_name
from aclkit.pipeline.sources.metadata_log import MetadataLog
from aclkit.pipeline.sources.segment import read_segment
from aclkit.runtime.uri import shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a reading of a metadata log ended.

    Attributes:
        segment: the name of the last file that was read.
        position: the byte after its last whole batch.
        offset: the offset that comes next.
        epoch: of the last batch; -1 before any.
        mark: a digest of the bytes before the position.
        rest: a digest of what followed that is no batch; empty where nothing did.
        is_known: a whole reading has met that rest.
        ahead: the end of the newest snapshot that a whole reading has met.
    """

    segment: str
    position: int
    offset: int
    epoch: int
    mark: str
    rest: str = ""
    is_known: bool = False
    ahead: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Continued:
    """What a log holds after a place.

    Attributes:
        place: where this reading ended.
        rows: facts and rejects, and the ranges that were read.
    """

    place: Place
    rows: Sequence[SourceRow] = ()

    @property
    def is_news(self) -> bool:
        """Whether it holds anything that aclkit keeps; idle records of a controller are not."""
        return any(row.kind != RANGE for row in self.rows)


class NotContinuedError(Exception):
    """The log is not plainly a continuation; the text says why, and the whole log has to be read.

    It is cut or written anew, a part is missing, or a record cannot be read.
    """


def find_end(log: MetadataLog) -> Place:
    """Find the end of a log by the lengths of its last segment's batches; none is decoded.

    Raises:
        NotContinuedError: the log has no segments with Kafka's names.
    """
    for path in reversed(log.segments):
        if (first := first_offset(path)) is None:
            break
        place = Place(segment=base_name(path), position=0, offset=first, epoch=-1, mark="")
        for part in _parts(path, place.position):
            place = _beyond(place, part)
        if place.position or place.rest or path == log.segments[0]:
            return replace(_marked(path, place), is_known=True, ahead=_newest_snapshot(log))
    raise NotContinuedError("the log has no segment named for its first offset")


def read_on(log: MetadataLog, place: Place) -> Continued:
    """Read what follows a place.

    Args:
        log: its files as they are listed now.
        place: where an earlier reading ended.

    Raises:
        NotContinuedError: it is not plainly a continuation.
        GoneError: a file went after it was listed.
        SurroundingsError: a file cannot be read.
    """
    paths = _from(log, place.segment)
    _require_mark(paths[0], place)
    rows: list[SourceRow] = []
    for path in paths:
        if base_name(path) != place.segment:
            if first_offset(path) != place.offset or place.rest:
                raise NotContinuedError(f"{shown(path)} does not follow offset {place.offset}")
            before = place
            place, found = _read_file(path, replace(place, segment=base_name(path), position=0))
            if not (place.position or place.rest):
                place = before  # no batch of the empty file would tell whether it is this log's
        else:
            place, found = _read_file(path, place)
        rows += found
    newest = _newest_snapshot(log)
    if newest > max(place.offset, place.ahead):
        raise NotContinuedError(f"a snapshot at offset {newest} is ahead of offset {place.offset}")
    return Continued(place=place, rows=rows)


def _read_file(path: str, before: Place) -> tuple[Place, list[SourceRow]]:
    """Read a segment from a place on.

    What is no batch may be one that is being written: it is waited for until the next reading. A
    torn tail is no batch for as long as it is the end.
    """
    rows: list[SourceRow] = []
    place, is_torn_now = before, False
    for part in _parts(path, before.position):
        rows += _rows_of(part, shown(path), place)
        place, is_torn_now = _beyond(place, part), part.is_torn
    is_same = bool(place.rest) and place.rest == before.rest
    if is_same and not (is_torn_now or before.is_known):
        raise NotContinuedError(f"{shown(path)} holds no batch at byte {place.position}")
    return replace(_marked(path, place), is_known=is_same and before.is_known), rows


@dataclass(frozen=True, slots=True)
class _Part:
    """Some whole batches of a file, and what follows if no further batch does.

    Attributes:
        at: where they begin.
        data: their bytes.
        offset: the offset after the last one; None without any.
        epoch: of the last one.
        rest: a digest of what follows and is no batch.
        is_torn: it is the beginning of one.
    """

    at: int
    data: bytes
    offset: int | None
    epoch: int
    rest: str = ""
    is_torn: bool = False


def _parts(path: str, at: int) -> Iterator[_Part]:
    """Yield the batches from a byte on in parts; the last one knows what follows them."""
    size = _FIRST_PART
    while True:
        data = _read(path, at, size)
        end, offset, epoch = _whole(data)
        start = data[end : end + HEADER_SIZE]
        # Zeros are space that was allocated beforehand, whatever follows them.
        is_free = not any(start)
        if len(data) < size or (is_free and len(start) == HEADER_SIZE) or size > _LARGEST:
            rest = "" if is_free else _digest(data[end:].rstrip(b"\0"))
            yield _Part(at, data[:end], offset, epoch, rest, bool(rest) and is_torn(data, end))
            return
        if end:
            yield _Part(at, data[:end], offset, epoch)
        at, size = at + end, _MOST_OF_A_PART if end else size * 2


def _whole(data: bytes) -> tuple[int, int | None, int]:
    """Return where the last whole batch ends, the offset after it, and its epoch.

    Of the last one the bytes may not be there yet.
    """
    found = list(_headers(data))[-2:]
    end = found[-1].end if found else 0
    if found and not crc_holds(data, found[-1]):
        end = found.pop().position
    if not found:
        return 0, None, -1
    return end, found[-1].next_offset, found[-1].epoch


def _headers(data: bytes) -> Iterator[Header]:
    """Yield the headers of whole batches, as far as their lengths lead."""
    at = 0
    while header := header_at(data, at):
        yield header
        at = header.end


def _rows_of(part: _Part, source: str, place: Place) -> list[SourceRow]:
    """Decode batches that must continue a place, without a gap and without damage.

    Raises:
        NotContinuedError: they do not, or a record that may be of an ACL cannot be read.
    """
    _require_epochs(part, source, place.epoch)
    offset, epoch = place.offset, place.epoch
    rows = list(read_segment(part.data, source, first=place.offset, after=place.epoch))
    for row in rows:
        if row.kind != RANGE or row.fact == EPOCH:
            continue
        if row.fact != RECORD or row.from_offset != offset or (row.epoch or 0) < epoch:
            raise NotContinuedError(f"{source} does not continue at offset {offset}")
        offset, epoch = row.to_offset or 0, row.epoch or 0
    if part.offset is not None and offset != part.offset:
        raise NotContinuedError(f"{source} cannot be read at offset {offset}")
    return [_in_the_file(row, part.at) for row in rows]


def _require_epochs(part: _Part, source: str, epoch: int) -> None:
    """Insist that each epoch begins with the control record of its leader, as Raft's do."""
    for header in _headers(part.data):
        if 0 <= epoch < header.epoch and not header.is_control:
            raise NotContinuedError(f"{source}: epoch {header.epoch} does not begin as one")
        epoch = header.epoch


def _in_the_file(row: SourceRow, at: int) -> SourceRow:
    """Return a row whose position is that in the file."""
    if row.kind != REJECT or row.position is None:
        return row
    if row.log_offset is None:
        raise NotContinuedError(f"{row.source}: {row.reason}")
    return replace(row, position=row.position + at)


def _beyond(place: Place, part: _Part) -> Place:
    """Return the place after some batches."""
    known = place.offset if part.offset is None else part.offset
    epoch = place.epoch if part.offset is None else part.epoch
    position = part.at + len(part.data)
    return replace(place, position=position, offset=known, epoch=epoch, rest=part.rest)


def _marked(path: str, place: Place) -> Place:
    return replace(place, mark=_mark(path, place.position))


def _mark(path: str, position: int) -> str:
    start = max(0, position - _MARKED)
    data = _read(path, start, position - start)
    return f"{len(data)}:{_digest(data)}"


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _require_mark(path: str, place: Place) -> None:
    if _mark(path, place.position) != place.mark:
        raise NotContinuedError(
            f"{shown(path)} was cut or written anew before offset {place.offset}"
        )


def _from(log: MetadataLog, segment: str) -> Sequence[str]:
    """Return the segments from one on."""
    names = [base_name(path) for path in log.segments]
    if segment not in names:
        raise NotContinuedError(f"{segment} no longer exists")
    return log.segments[names.index(segment) :]


def _newest_snapshot(log: MetadataLog) -> int:
    """Return the end of the newest snapshot.

    A replica that fell behind loads one, and its log goes on from there. All others hold nothing
    that the log before them does not, and are compared with it by the next whole reading.
    """
    ends = [parse_snapshot_name(base_name(path)) for path in log.snapshots]
    return max((end[0] for end in ends if end), default=0)


def _read(path: str, at: int, size: int) -> bytes:
    """Read so many bytes from a place on; fewer at the end of the file only."""
    if not size:
        return b""
    found: list[bytes] = []
    with open_stream(path, at) as stream:
        while size and (data := stream.read(size)):
            found.append(data)
            size -= len(data)
    return b"".join(found)


_FIRST_PART: Final = 1 << 16
_MOST_OF_A_PART: Final = 1 << 22
_LARGEST: Final = 1 << 27
"""Bytes of a batch, which Kafka's controllers keep below 8 MiB: what is larger is none."""
_MARKED: Final = 1 << 14
"""Bytes before a place that are compared; a batch of one idle record has 70."""
