"""Rules of aclkit.pipeline.sources.batch: a batch is read as Kafka reads it, or not at all."""

from __future__ import annotations

import struct
import tracemalloc
import zlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kafka import codec
from kafka.record.default_records import DefaultRecordBatchBuilder
from kafka.record.memory_records import MemoryRecords

from aclkit.pipeline.sources import batch as one_batch
from aclkit.pipeline.sources.batch import BadPackedError, unpack
from aclkit.pipeline.sources.batches import Batch, read_batches
from tests.pipeline.sources.log_bytes import (
    ACL,
    KRAFT,
    SYNTHETIC,
    batch,
    damage,
    flipped,
    lost,
    sound,
    with_field,
)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_compressed_batch_is_read_like_a_plain_one(number):
    values = [ACL] * 20
    (packed,) = read_batches(batch(0, *values, codec=number))
    (plain,) = read_batches(batch(0, *values))
    assert packed.records == plain.records


def bomb(number, megabytes):
    """Compress a batch of zeros, as small as the codec makes it."""
    zeros = bytes(1 << 20)
    if number == 1:
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        packed = b"".join(packer.compress(zeros) for _ in range(megabytes)) + packer.flush()
    elif number == 2:
        block = codec.snappy.compress(zeros)
        packed = b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1)
        packed += (struct.pack(">i", len(block)) + block) * megabytes
    elif number == 3:
        packer = codec.lz4.LZ4FrameCompressor()
        packed = packer.begin() + b"".join(packer.compress(zeros) for _ in range(megabytes))
        packed += packer.flush()
    else:
        packer = codec.zstd.ZstdCompressor().compressobj()
        packed = b"".join(packer.compress(zeros) for _ in range(megabytes)) + packer.flush()
    head = struct.pack(">qii", 0, 49 + len(packed), 1) + b"\2" + bytes(4)
    head += struct.pack(">hiqqqhii", number, 0, 0, 0, -1, -1, -1, 1)
    return with_field(head + packed, 21, ">h", number)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_batch_that_unpacks_to_gigabytes_is_damage_and_takes_no_memory(monkeypatch, number):
    monkeypatch.setattr(one_batch, "MOST_BYTES", 1 << 20)
    packed = bomb(number, 64)
    tracemalloc.start()
    (found,) = damage(packed + batch(1, ACL))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.reason == ("the batch cannot be decoded: it unpacks to more than 1,048,576 bytes")
    assert (found.from_offset, found.to_offset) == (0, 1)
    assert peak < (8 << 20) + len(packed)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
@pytest.mark.parametrize("kept", [0, 1, 7, 15, 16, 19, 20, 21])
def test_compressed_records_cut_anywhere_are_damage(number, kept):
    whole = batch(0, *[ACL] * 20, codec=number)
    cut = whole[: 61 + kept]
    cut = with_field(cut[:8] + struct.pack(">i", len(cut) - 12) + cut[12:], 21, ">h", number)
    assert [(d.from_offset, d.to_offset) for d in damage(cut + batch(20, ACL))] == [(0, 20)]


def test_snappy_block_of_negative_length_is_damage():
    packed = b"\x82SNAPPY\0" + struct.pack(">iii", 1, 1, -4)
    head = batch(0, ACL)[:61]
    bad = head[:8] + struct.pack(">i", 49 + len(packed)) + head[12:] + packed
    assert lost(with_field(bad, 21, ">h", 2) + batch(1, ACL)) == [(0, 1)]


@pytest.mark.parametrize(
    "path", [*KRAFT.glob("*.log"), *KRAFT.glob("*.checkpoint"), *SYNTHETIC.glob("*/*.log")], ids=str
)
def test_plain_walk_and_kafka_python_read_the_same_records(path):
    data = path.read_bytes()
    at, walked = 0, 0
    while header := one_batch.header_at(data, at):
        plain = one_batch._plain_records(data, header)
        assert plain in (None, one_batch._records(data, header))
        walked += plain is not None
        at = header.end
    assert walked


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=130))
def test_plain_walk_reads_any_value(values):
    (found,) = read_batches(batch(0, *values))
    assert found.records.values == values


def odd_batch(number):
    """One batch of a codec with keys, headers, nulls and times of their own."""
    builder = DefaultRecordBatchBuilder(2, number, False, -1, -1, -1, 1 << 20)
    records = [
        (1_700_000_000_000, b"k", b"v", [("h", b"x"), ("i", None)]),
        (1_700_000_000_005, None, None, []),
        (1_699_999_999_999, b"", b"", []),
        (1_700_000_000_000, None, ACL * 3, []),
    ]
    for index, (stamp, key, value, headers) in enumerate(records):
        builder.append(index, stamp, key, value, headers)
    return with_field(bytes(builder.build()), 12, ">i", 1)


def as_kafka_python_reads(data):
    """Return the records of one sound batch, None if kafka-python takes it for no such batch."""
    try:
        (one,) = MemoryRecords(data)
        return [(r.offset, r.timestamp, r.key, r.value) for r in one] if one.magic == 2 else None
    except Exception:  # noqa: BLE001 - it raises what it likes on what it cannot read
        return None


@pytest.mark.parametrize("number", range(5))
def test_batch_with_any_bit_flipped_is_read_as_kafka_python_reads_it_or_not_at_all(number):
    whole = odd_batch(number)
    for bit in range(21 * 8, len(whole) * 8):
        changed = with_field(flipped(whole, bit // 8, 1 << bit % 8), 0, ">q", 0)
        for found in read_batches(changed):
            if isinstance(found, Batch) and found.records.values:
                numbered = enumerate(zip(*found.records, strict=True))
                records = [(n, stamp, key, value) for n, (stamp, key, value) in numbered]
                assert records == as_kafka_python_reads(changed), bit
    assert as_kafka_python_reads(whole)
    assert [len(item.records.values) for item in read_batches(whole)] == [4]


@pytest.mark.parametrize("number", range(5))
def test_batch_cut_anywhere_is_never_read(number):
    whole = odd_batch(number)
    for kept in range(len(whole)):
        assert sound(whole[:kept]) == []


@given(st.binary(max_size=60), st.sampled_from([0, 1, 2, 3, 200, 2**31 - 1, -1]))
@example(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 1)
@example(b"\x01\x00\x00\x00\x01", 1)
@example(b"\x0e\x00\x00\x00\x01\x01\xfe\xff\xff\xff\x0f", 1)
def test_records_of_any_bytes_are_read_as_kafka_python_reads_them_or_not_at_all(body, count):
    head = struct.pack(">qii", 0, 49 + len(body), 1) + b"\2" + bytes(4)
    head += struct.pack(">hiqqqhii", 0, max(count - 1, -1), 0, 0, -1, -1, -1, count)
    data = with_field(head + body, 0, ">q", 0)
    for found in read_batches(data):
        if isinstance(found, Batch):
            kafkas = as_kafka_python_reads(data)
            assert [record[3] for record in kafkas] == list(found.records.values)


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
    monkeypatch.setattr(one_batch, "MOST_BYTES", len(TEXT))
    assert unpack(number, packed) == TEXT
    monkeypatch.setattr(one_batch, "MOST_BYTES", len(TEXT) - 1)
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
