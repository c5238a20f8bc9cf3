"""The compressed records of a batch → their bytes, never more than any batch holds.

A megabyte of hostile bytes can stand for gigabytes, so nothing is unpacked beyond ``MOST_BYTES``.
KRaft compresses nothing; its readers accept what something else compressed (CompressionType).
"""

from __future__ import annotations

import gzip
import io
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Final

from kafka import codec

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
