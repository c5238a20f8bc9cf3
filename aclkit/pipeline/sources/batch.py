"""The bytes of one record batch → what its header claims, and its records if they bear it out.

Layout: org.apache.kafka.common.record.DefaultRecordBatch, magic 2, 61 bytes of header. Batches
are decoded by kafka-python, but for the plain form that KRaft writes, which is walked here: that
takes a fifth of the time, and a log has millions of records.

A megabyte of hostile bytes can stand for gigabytes, so nothing is unpacked beyond ``MOST_BYTES``.
KRaft compresses nothing; its readers accept what something else compressed (CompressionType).
"""

from __future__ import annotations

import gzip
import io
import re
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from kafka import codec
from kafka.errors import CorruptRecordError
from kafka.record.default_records import DefaultRecordBatch
from kafka.record.util import calc_crc32c, decode_varint

MOST_BYTES: Final = 32 * 1024 * 1024
"""Four times what KRaft writes into one batch (KafkaRaftClient.MAX_BATCH_SIZE_BYTES)."""


class BadPackedError(ValueError):
    """Compressed bytes that are not what their codec writes, or that unpack to too many."""


def unpack(number: int, packed: bytes) -> bytes:
    """Unpack what a codec, by its number in a batch's attributes, has packed.

    Raises:
        BadPackedError: the codec is unknown or not installed, or the bytes are not its own.
    """
    if number not in _CODECS:
        raise BadPackedError(f"codec {number} does not exist")
    name, unpacker = _CODECS[number]
    if not getattr(codec, f"has_{name}")():
        raise BadPackedError(f"it is compressed with {name}: pip install aclkit[codecs]")
    try:
        return unpacker(packed)
    except _FOREIGN_ERRORS as error:
        raise BadPackedError(f"not what {name} writes: {error}") from error


def _unpack_gzip(packed: bytes) -> bytes:
    with gzip.GzipFile(fileobj=io.BytesIO(packed)) as stream:
        return _read(stream.read)


def _unpack_snappy(packed: bytes) -> bytes:
    size, parts = 0, []
    for block in _snappy_blocks(packed):
        size += _snappy_size(block)
        _check_size(size)
        parts.append(codec.snappy.decompress(block))
    return b"".join(parts)


def _unpack_lz4(packed: bytes) -> bytes:
    frame = codec.lz4.LZ4FrameDecompressor()
    data: bytes = frame.decompress(packed, max_length=MOST_BYTES + 1)
    _check_size(len(data))
    if not frame.eof:
        raise EOFError("the frame is not complete")
    return data


def _unpack_zstd(packed: bytes) -> bytes:
    unpacker = codec.zstd.ZstdDecompressor()
    with unpacker.stream_reader(io.BytesIO(packed), read_across_frames=True) as stream:
        return _read(stream.read)


def _read(read: Callable[[int], bytes]) -> bytes:
    data = read(MOST_BYTES + 1)
    _check_size(len(data))
    return data


def _check_size(size: int) -> None:
    if size > MOST_BYTES:
        raise BadPackedError(f"it unpacks to more than {MOST_BYTES:,} bytes")


def _snappy_blocks(packed: bytes) -> Iterator[bytes]:
    """Yield the blocks of a stream of xerial's library, as Kafka writes it, or the one block."""
    if not packed.startswith(_XERIAL):
        yield packed
        return
    at = _XERIAL_HEADER
    while at < len(packed):
        (size,) = _SIZE.unpack_from(packed, at)
        at += _SIZE.size
        if not 0 < size <= len(packed) - at:
            raise EOFError("a block ends after the end of the batch")
        yield packed[at : at + size]
        at += size


def _snappy_size(block: bytes) -> int:
    """Read the unpacked size that a block claims: a varint of up to 5 bytes."""
    size = 0
    for place, byte in enumerate(block[:5]):
        size |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return size
    raise EOFError("a block has no length")


_XERIAL: Final = b"\x82SNAPPY\x00"
_XERIAL_HEADER: Final = 16
_SIZE: Final = struct.Struct(">i")
_CODECS: Final[dict[int, tuple[str, Callable[[bytes], bytes]]]] = {
    1: ("gzip", _unpack_gzip),
    2: ("snappy", _unpack_snappy),
    3: ("lz4", _unpack_lz4),
    4: ("zstd", _unpack_zstd),
}
_FOREIGN_ERRORS: Final[tuple[type[Exception], ...]] = (
    *(OSError, EOFError, RuntimeError, OverflowError, MemoryError, struct.error, zlib.error),
    *((codec.snappy.UncompressError,) if codec.has_snappy() else ()),
    *((codec.zstd.ZstdError,) if codec.has_zstd() else ()),
)
"""What the four libraries raise on bytes that are not theirs."""


class BadBatch(Exception):
    """A batch contradicts itself; the text explains how."""


class Records(NamedTuple):
    """The records of a batch, one by one from its base offset; only control records have keys."""

    timestamps: Sequence[int] = ()
    keys: Sequence[bytes | None] = ()
    values: Sequence[bytes | None] = ()


class Header(NamedTuple):
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
        """The position after the batch."""
        return self.position + self.size

    @property
    def next_offset(self) -> int:
        """The offset after its last record."""
        return self.base_offset + self.last_offset_delta + 1

    @property
    def counts_right(self) -> bool:
        """Whether the counts agree: KRaft never compacts, so there is a record for each offset."""
        return self.records_count == self.last_offset_delta + 1 > 0

    @property
    def has_room(self) -> bool:
        """Whether as many records as it claims fit into it; packed ones may always."""
        room = self.size - HEADER_SIZE
        return bool(self.codec) or self.records_count * _LEAST_RECORD <= room

    @property
    def codec(self) -> int:
        """The number of its codec, 0 for none."""
        return int(self.attributes & DefaultRecordBatch.CODEC_MASK)

    @property
    def is_control(self) -> bool:
        """Whether it is marked as a batch of control records."""
        return bool(self.attributes & DefaultRecordBatch.CONTROL_MASK)


_HEADER: Final = struct.Struct(">qiibIhiqqqhii")
HEADER_SIZE: Final = _HEADER.size
MAGIC_AT: Final = 16
CRC_AT: Final = 17
CRC_FROM: Final = 21
MAY_BE_MAGIC: Final = re.compile(rb"\x02(?=.{4}\0)", re.DOTALL)
"""A magic of 2, then a CRC and the first byte of the attributes, of which no bit is used."""

_BEFORE_LENGTH_COUNTS: Final = 12
_MAGIC: Final = 2
_LEAST_RECORD: Final = 7
"""Bytes of a record without key, value and headers: each of its seven fields takes one."""
_LEAST_CONTROL_KEY: Final = 4
_OTHER_TIMES: Final = DefaultRecordBatch.TIMESTAMP_TYPE_MASK | 1 << 6
"""Bits of the attributes under which the base timestamp is not that of the first record."""
_NO_ATTRIBUTES_NO_DELTA: Final = b"\x00\x00"
_NO_KEY: Final = 1
_UNREADABLE: Final = (CorruptRecordError, BadPackedError, ValueError, TypeError, struct.error)
"""What kafka-python raises on records that are none."""
_ATTRIBUTES: Final = struct.Struct(">h")


def header_at(data: bytes, position: int) -> Header | None:
    """Return the header at a position, None if no whole batch can be there."""
    if position + HEADER_SIZE > len(data) or data[position + MAGIC_AT] != _MAGIC:
        return None
    base, length, epoch, _, crc, attributes, delta, first, last, *_, count = _HEADER.unpack_from(
        data, position
    )
    size = length + _BEFORE_LENGTH_COUNTS
    if size < HEADER_SIZE or position + size > len(data):
        return None
    return Header(position, size, base, epoch, crc, attributes, delta, first, last, count)


def first_words(data: bytes) -> tuple[int, int] | None:
    """Return base offset and epoch of a batch that may be cut after its header, None for none."""
    if len(data) < HEADER_SIZE or data[MAGIC_AT] != _MAGIC:
        return None
    base, _, epoch, *_ = _HEADER.unpack_from(data)
    return base, epoch


def crc_holds(data: bytes, header: Header) -> bool:
    """Check CRC-32C from the attributes on; what stands before them is not covered."""
    covered = memoryview(data)[header.position + CRC_FROM : header.end]
    return bool(calc_crc32c(covered) == header.crc)


def is_torn(data: bytes, position: int) -> bool:
    """Whether the file ends in the middle of what began as a batch.

    A batch that is whole but for its length is not torn: its CRC holds up to the end.
    """
    rest = len(data) - position
    if rest <= MAGIC_AT:
        return True
    length = int.from_bytes(data[position + 8 : position + 12], signed=True)
    size = length + _BEFORE_LENGTH_COUNTS
    if data[position + MAGIC_AT] != _MAGIC or size < HEADER_SIZE:
        return False
    crc = int.from_bytes(data[position + CRC_AT : position + CRC_FROM])
    is_whole = rest >= HEADER_SIZE and crc == calc_crc32c(memoryview(data)[position + CRC_FROM :])
    return size > rest and not is_whole


def read_records(data: bytes, header: Header) -> Records:
    """Return the records of a batch whose CRC holds.

    A control batch is read like any other: only records with keys of that kind are control
    records, and only as many as there are count. So no batch takes offsets that it does not fill.

    Raises:
        BadBatch: counts, records, keys or times contradict each other.
    """
    if not header.counts_right:
        offsets = header.last_offset_delta + 1
        raise BadBatch(f"{header.records_count} records for {offsets} offsets")
    if not header.has_room:
        room = header.size - HEADER_SIZE
        raise BadBatch(f"{header.records_count} records in {room} bytes")
    try:
        records = _decode(data, header)
    except _UNREADABLE as error:
        raise BadBatch(f"the batch cannot be decoded: {error}") from None
    if header.is_control and any(len(key or b"") < _LEAST_CONTROL_KEY for key in records.keys):
        raise BadBatch("a control batch contains records that are not control records")
    is_create_time = not header.attributes & _OTHER_TIMES
    if is_create_time and max(records.timestamps) != header.max_timestamp:
        raise BadBatch("the times of its records differ from its header")
    return records


def _decode(data: bytes, header: Header) -> Records:
    """Decode the records of a batch, unpacked first where a codec packed them."""
    if header.codec or header.is_control:
        data, header = _as_plain(data, header)
    return _plain_records(data, header) or _records(data, header)


def _as_plain(data: bytes, header: Header) -> tuple[bytes, Header]:
    """Return the same batch as one of plain data without a codec; its CRC is none."""
    start = data[header.position : header.position + HEADER_SIZE]
    records = data[header.position + HEADER_SIZE : header.end]
    if header.codec:
        records = unpack(header.codec, records)
    attributes = header.attributes & ~header.codec & ~DefaultRecordBatch.CONTROL_MASK
    end = CRC_FROM + _ATTRIBUTES.size
    plain = start[:CRC_FROM] + _ATTRIBUTES.pack(attributes) + start[end:] + records
    return plain, header._replace(position=0, size=len(plain), attributes=attributes)


def _plain_records(data: bytes, header: Header) -> Records | None:
    """Walk the records of the form that KRaft writes: no codec, key, header or time of its own.

    None if anything is different, be it sound or not.
    """
    if header.attributes:
        return None
    at, end = header.position + HEADER_SIZE, header.end
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


def _records(data: bytes, header: Header) -> Records:
    """Decode a batch of any form but the compressed ones."""
    timestamps, keys, values = [], [], []
    batch = DefaultRecordBatch(memoryview(data)[header.position : header.end])
    for offset, record in enumerate(batch, start=header.base_offset):
        if record.offset != offset:
            raise CorruptRecordError("its records are not numbered consecutively")
        timestamps.append(record.timestamp)
        keys.append(record.key)
        values.append(record.value)
    return Records(timestamps, keys, values)
