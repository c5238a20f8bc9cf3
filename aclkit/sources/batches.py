"""The bytes of a log file → its record batches, and what of it is damaged.

Every byte is accounted for. A batch counts only if its CRC holds, its records decode and its
place in the log makes sense; after anything else reading goes on at the next sound batch.

Layout: org.apache.kafka.common.record.DefaultRecordBatch, magic 2, 61 bytes of header. Batches
are decoded by kafka-python, but for the plain form that KRaft writes, which is walked here: that
takes a fifth of the time, and a log has millions of records.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from kafka.errors import CorruptRecordError
from kafka.record.default_records import DefaultRecordBatch
from kafka.record.util import calc_crc32c, decode_varint

from aclkit.sources.codecs import BadPackedError, unpack

END_OF_OFFSETS: Final = 1 << 62
"""No log reaches so far: what claims to be there is damaged."""


class Records(NamedTuple):
    """The records of a batch, one by one from its base offset; only control records have keys."""

    timestamps: Sequence[int] = ()
    keys: Sequence[bytes | None] = ()
    values: Sequence[bytes | None] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A sound batch; a control batch is sound even where its records do not decode."""

    position: int
    base_offset: int
    last_offset: int
    epoch: int
    is_control: bool
    records: Records


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """Bytes that could not be used.

    ``from_offset`` ≤ o < ``to_offset`` are lost with them; both are None where nothing is: in the
    torn tail of a log, and between two batches that follow each other without a gap.
    """

    position: int
    size: int
    reason: str
    from_offset: int | None = None
    to_offset: int | None = None


def read_batches(data: bytes, first_offset: int = 0) -> Iterator[Batch | Damage]:
    """Read all batches of a file in order, none of them below its first offset.

    Zeros up to the end of the file are preallocated space and no batch. An incomplete batch at
    the end is the torn tail that a crash leaves; Kafka ignores it, here it is a ``Damage`` that
    loses nothing.
    """
    place = _Place(position=0, expected=first_offset, epoch=-1)
    item: Batch | Damage
    while place.position < len(data):
        header = _header_at(data, place.position)
        if header:
            item, place = _read_one(data, header, place)
        elif not _NOT_ZERO.search(data, place.position):
            return
        else:
            item, place = _skip(data, place)
        yield item


class _Header(NamedTuple):
    """What the first 61 bytes of a batch claim."""

    position: int
    size: int
    base_offset: int
    epoch: int
    crc: int
    attributes: int
    last_offset_delta: int
    first_timestamp: int
    max_timestamp: int
    records_count: int

    @property
    def end(self) -> int:
        return self.position + self.size

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def counts_right(self) -> bool:
        """KRaft never compacts its log, so a batch has a record for each offset."""
        return self.records_count == self.last_offset_delta + 1 > 0

    @property
    def codec(self) -> int:
        return int(self.attributes & DefaultRecordBatch.CODEC_MASK)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & DefaultRecordBatch.CONTROL_MASK)


class _Place(NamedTuple):
    """How far the file is read, what must come next, and how many bytes were doubted in vain."""

    position: int
    expected: int
    epoch: int
    doubted: int = 0


_HEADER: Final = struct.Struct(">qiibIhiqqqhii")
_BEFORE_LENGTH_COUNTS: Final = 12
_MAGIC_AT: Final = 16
_MAGIC: Final = 2
_CRC_AT: Final = 17
_CRC_FROM: Final = 21
_NO_ATTRIBUTES_NO_DELTA: Final = b"\x00\x00"
_NO_KEY: Final = 1
_UNREADABLE: Final = (CorruptRecordError, BadPackedError, ValueError, TypeError, struct.error)
"""What kafka-python raises on records, and on control records, that are none."""
_ATTRIBUTES: Final = struct.Struct(">h")
_NOT_ZERO: Final = re.compile(rb"[^\0]")
_MAY_BE_MAGIC: Final = re.compile(rb"\x02(?=.{4}\0)", re.DOTALL)
"""A magic of 2 with a CRC and the first byte of the attributes behind it, of which none is used."""
_MOST_DOUBT: Final = 1_000
"""How often, on average, each byte of a file may be in a batch that only seems to be one."""


def _header_at(data: bytes, position: int) -> _Header | None:
    """Return the header at a position, None if no batch can be there."""
    if position + _HEADER.size > len(data) or data[position + _MAGIC_AT] != _MAGIC:
        return None
    base, length, epoch, _, crc, attributes, delta, first, last, *_, count = _HEADER.unpack_from(
        data, position
    )
    size = length + _BEFORE_LENGTH_COUNTS
    if size < _HEADER.size or position + size > len(data):
        return None
    return _Header(position, size, base, epoch, crc, attributes, delta, first, last, count)


def _crc_holds(data: bytes, header: _Header, end: int) -> bool:
    """Check CRC-32C from the attributes on; what stands before them is not covered."""
    return bool(calc_crc32c(memoryview(data)[header.position + _CRC_FROM : end]) == header.crc)


def _read_one(data: bytes, header: _Header, place: _Place) -> tuple[Batch | Damage, _Place]:
    """Read the batch that a header announces, or say what is wrong with it."""
    if not _crc_holds(data, header, header.end):
        return _bad_crc(data, header, place)
    if problem := _misplaced(data, header, place):
        return _damaged(data, header, place, problem)
    if not header.counts_right:
        problem = f"{header.records_count} records for {header.last_offset_delta + 1} offsets"
        return _damaged(data, header, place, problem)
    try:
        records = _decode(data, header)
    except _UNREADABLE as error:
        if not header.is_control:
            return _damaged(data, header, place, f"the batch does not decode: {error}")
        records = Records()
    batch = Batch(
        position=header.position,
        base_offset=header.base_offset,
        last_offset=header.last_offset,
        epoch=header.epoch,
        is_control=header.is_control,
        records=records,
    )
    return batch, _Place(header.end, header.last_offset + 1, header.epoch, place.doubted)


def _decode(data: bytes, header: _Header) -> Records:
    """Decode the records of a batch, unpacked first where a codec packed them."""
    if header.codec:
        data, header = _unpacked(data, header)
    return _plain_records(data, header) or _records(data, header)


def _unpacked(data: bytes, header: _Header) -> tuple[bytes, _Header]:
    """Return the same batch as it would be without a codec; its CRC is none."""
    start = data[header.position : header.position + _HEADER.size]
    records = unpack(header.codec, data[header.position + _HEADER.size : header.end])
    attributes = header.attributes & ~header.codec
    end = _CRC_FROM + _ATTRIBUTES.size
    plain = start[:_CRC_FROM] + _ATTRIBUTES.pack(attributes) + start[end:] + records
    return plain, header._replace(position=0, size=len(plain), attributes=attributes)


def _plain_records(data: bytes, header: _Header) -> Records | None:
    """Walk the records of the form that KRaft writes: no codec, key, header or time of its own.

    None if anything is different, be it sound or not.
    """
    if header.attributes:
        return None
    at, end = header.position + _HEADER.size, header.end
    values: list[bytes] = []
    try:
        for index in range(header.records_count):
            size, at = decode_varint(data, at)
            stop = at + size
            delta, key_at = decode_varint(data, at + 2)
            length, start = decode_varint(data, key_at + 1)
            if (
                delta != index
                or data[at : at + 2] != _NO_ATTRIBUTES_NO_DELTA
                or data[key_at] != _NO_KEY
                or length < 0
                or start + length + 1 != stop
                or stop > end
                or data[stop - 1]
            ):
                return None
            values.append(data[start : start + length])
            at = stop
    except (IndexError, ValueError):
        return None
    count = header.records_count
    return Records([header.first_timestamp] * count, [None] * count, values) if at == end else None


def _records(data: bytes, header: _Header) -> Records:
    """Decode a batch of any form but the compressed ones."""
    timestamps, keys, values = [], [], []
    batch = DefaultRecordBatch(memoryview(data)[header.position : header.end])
    for offset, record in enumerate(batch, start=header.base_offset):
        if record.offset != offset:
            raise CorruptRecordError("its records are not numbered one by one")
        timestamps.append(record.timestamp)
        keys.append(record.key)
        values.append(record.value)
    return Records(timestamps, keys, values)


def _misplaced(data: bytes, header: _Header, place: _Place) -> str | None:
    """Say what is wrong with offset and epoch, which no CRC covers.

    Neither falls in a log, so a batch that stands out from its neighbours is damaged. Which of
    two is the odd one, the batch behind them tells.
    """
    if header.base_offset == place.expected and header.epoch == place.epoch:
        return None
    if not place.expected <= header.base_offset < END_OF_OFFSETS:
        return f"base offset {header.base_offset} where {place.expected} or more was expected"
    if header.epoch < place.epoch:
        return f"leader epoch {header.epoch} behind {place.epoch}"
    after = _header_at(data, header.end)
    if after is None or not after.counts_right:
        return None
    return _contradicted(header, after, _header_at(data, after.end), place)


def _contradicted(
    header: _Header, after: _Header, beyond: _Header | None, place: _Place
) -> str | None:
    next_offset = header.last_offset + 1
    is_gap = header.base_offset > place.expected
    if is_gap and place.expected <= after.base_offset < next_offset:
        if beyond is None or beyond.base_offset != next_offset + after.records_count:
            return f"base offset {header.base_offset} before {after.base_offset}"
    elif place.epoch <= after.epoch < header.epoch and (
        beyond is None or beyond.epoch < header.epoch
    ):
        return f"leader epoch {header.epoch} before {after.epoch}"
    return None


def _bad_crc(data: bytes, header: _Header, place: _Place) -> tuple[Damage, _Place]:
    """Trust the length of a batch with a bad CRC if a batch or the end of the log follows."""
    rest = data[header.end : header.end + _HEADER.size]
    if _header_at(data, header.end) or not any(rest):
        return _damaged(data, header, place, "the batch's CRC does not hold")
    return _skip(data, place)


def _damaged(data: bytes, header: _Header, place: _Place, reason: str) -> tuple[Damage, _Place]:
    """Give up one batch of known length."""
    lost = _claimed(header, _header_at(data, header.end), place)
    return _give_up(place, header.end, lost, reason)


def _claimed(header: _Header, after: _Header | None, place: _Place) -> tuple[int, int]:
    """Return the offsets that a damaged batch says it holds, if that fits its neighbours."""
    start, stop = header.base_offset, header.last_offset + 1
    limit = END_OF_OFFSETS
    if after and after.counts_right and place.expected <= after.base_offset < END_OF_OFFSETS:
        limit = after.base_offset
    if header.counts_right and place.expected <= start < stop <= limit:
        return start, stop
    return place.expected, place.expected + 1 if limit == END_OF_OFFSETS else limit


def _give_up(place: _Place, end: int, lost: tuple[int, int], reason: str) -> tuple[Damage, _Place]:
    damage = Damage(
        position=place.position,
        size=end - place.position,
        reason=reason,
        from_offset=lost[0] if lost[0] < lost[1] else None,
        to_offset=lost[1] if lost[0] < lost[1] else None,
    )
    return damage, place._replace(position=end, expected=max(place.expected, lost[1]))


def _skip(data: bytes, place: _Place) -> tuple[Damage, _Place]:
    """Go from where no sound batch is to the next one, or to the end of the file."""
    found, place = _next_sound(data, place)
    expected = place.expected
    if found is not None:
        reason = "no sound record batch here; reading goes on at the next one"
        return _give_up(place, found.position, (expected, found.base_offset), reason)
    if place.doubted > _MOST_DOUBT * len(data):
        reason = "too much here seems to be a record batch and is none: reading was given up"
        return _give_up(place, len(data), (expected, expected + 1), reason)
    if _is_torn(data, place.position):
        reason = "torn tail: the last batch is incomplete"
        return _give_up(place, len(data), (expected, expected), reason)
    reason = "no sound record batch from here to the end of the file"
    return _give_up(place, len(data), (expected, expected + 1), reason)


def _is_torn(data: bytes, position: int) -> bool:
    """Say whether the file ends in the middle of what began as a batch.

    A batch that is whole but for its length is not torn: its CRC holds up to the end.
    """
    rest = len(data) - position
    if rest <= _MAGIC_AT:
        return True
    length = int.from_bytes(data[position + 8 : position + 12], signed=True)
    size = length + _BEFORE_LENGTH_COUNTS
    if data[position + _MAGIC_AT] != _MAGIC or size < _HEADER.size:
        return False
    crc = int.from_bytes(data[position + _CRC_AT : position + _CRC_FROM])
    is_whole = rest >= _HEADER.size and crc == calc_crc32c(memoryview(data)[position + _CRC_FROM :])
    return size > rest and not is_whole


def _next_sound(data: bytes, place: _Place) -> tuple[_Header | None, _Place]:
    """Find the next batch that can follow and whose CRC holds.

    Headers made to seem sound could have every byte of the rest looked at for each of them: so
    no more is doubted than a few times the file.
    """
    doubted = place.doubted
    for magic in _MAY_BE_MAGIC.finditer(data, place.position + 1 + _MAGIC_AT):
        header = _header_at(data, magic.start() - _MAGIC_AT)
        if header is None or not _may_follow(header, place):
            continue
        if _crc_holds(data, header, header.end):
            return header, place._replace(doubted=doubted)
        doubted += header.size
        if doubted > _MOST_DOUBT * len(data):
            break
    return None, place._replace(doubted=doubted)


def _may_follow(header: _Header, place: _Place) -> bool:
    """Check what is cheap before the CRC, so that garbage costs little."""
    return (
        place.expected <= header.base_offset < END_OF_OFFSETS
        and header.epoch >= place.epoch
        and header.counts_right
    )
