"""Rules of aclkit.pipeline.sources.codecs: what Kafka's codecs pack is unpacked, up to a limit."""

from __future__ import annotations

import struct

import pytest
from kafka import codec

from aclkit.pipeline.sources import codecs
from aclkit.pipeline.sources.codecs import BadPackedError, unpack

PACKERS = {
    1: codec.gzip_encode,
    2: codec.snappy_encode,
    3: lambda data: codec.lz4_encode(data),
    4: codec.zstd_encode,
}
TEXT = bytes(range(256)) * 400
XERIAL = b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1)


@pytest.mark.parametrize("number", PACKERS)
@pytest.mark.parametrize("data", [b"", b"x", TEXT], ids=len)
def test_what_a_codec_packs_is_unpacked(number, data):
    assert unpack(number, PACKERS[number](data)) == data


def test_snappy_without_the_frame_of_xerial_is_unpacked():
    assert unpack(2, codec.snappy.compress(TEXT)) == TEXT


@pytest.mark.parametrize("number", PACKERS)
def test_as_much_as_the_limit_is_unpacked_and_not_a_byte_more(monkeypatch, number):
    packed = PACKERS[number](TEXT)
    monkeypatch.setattr(codecs, "MOST_BYTES", len(TEXT))
    assert unpack(number, packed) == TEXT
    monkeypatch.setattr(codecs, "MOST_BYTES", len(TEXT) - 1)
    with pytest.raises(BadPackedError, match=r"^it unpacks to more than 102,399 bytes$"):
        unpack(number, packed)


@pytest.mark.parametrize("claim", [2**25 + 1, 2**28, 2**32 - 1])
def test_snappy_that_claims_too_much_is_not_even_tried(claim):
    varint = bytes((claim >> 7 * n & 0x7F) | 0x80 for n in range(4)) + bytes([claim >> 28])
    with pytest.raises(BadPackedError, match="more than"):
        unpack(2, varint + b"\x00a")


@pytest.mark.parametrize(
    "packed",
    [
        b"",
        b"\xff\xff\xff\xff\xff\x01",
        XERIAL + b"\0\0",
        XERIAL + struct.pack(">i", 0),
        XERIAL + struct.pack(">i", -4),
        XERIAL + struct.pack(">i", 9) + b"short",
    ],
)
def test_snappy_blocks_that_are_none_are_refused(packed):
    with pytest.raises(BadPackedError, match="not what snappy writes"):
        unpack(2, packed)


@pytest.mark.parametrize("number", [3, 1])
def test_a_frame_that_is_cut_is_refused(number):
    with pytest.raises(BadPackedError, match="not what"):
        unpack(number, PACKERS[number](TEXT)[:-9])


@pytest.mark.parametrize("number", [0, 5, 7])
def test_a_codec_that_kafka_does_not_know_is_refused(number):
    with pytest.raises(BadPackedError, match=f"codec {number} does not exist"):
        unpack(number, b"")
