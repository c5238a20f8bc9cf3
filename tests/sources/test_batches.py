"""Rules of aclkit.sources.batches: every byte of a file is accounted for."""

from __future__ import annotations

import struct
import time
import tracemalloc
import zlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kafka import codec
from kafka.record.default_records import DefaultRecordBatchBuilder
from kafka.record.memory_records import MemoryRecords
from kafka.record.util import calc_crc32c

from aclkit.sources import batches, codecs
from aclkit.sources.batches import Batch, Damage, read_batches
from tests.sources.log_bytes import (
    ACL,
    KRAFT,
    NO_OP,
    SYNTHETIC,
    batch,
    control_batch,
    flipped,
    with_field,
)

FIRST, SECOND, THIRD = batch(0, ACL), batch(1, NO_OP, ACL), batch(3, ACL)
LOG = FIRST + SECOND + THIRD


def sound(data):
    return [(i.base_offset, i.last_offset) for i in read_batches(data) if isinstance(i, Batch)]


def lost(data):
    return [(i.from_offset, i.to_offset) for i in read_batches(data) if isinstance(i, Damage)]


def damage(data):
    return [item for item in read_batches(data) if isinstance(item, Damage)]


def test_batches_come_in_order_with_their_place_and_records():
    first, second, _ = read_batches(LOG)
    assert (first.position, first.base_offset, first.last_offset, first.epoch) == (0, 0, 0, 1)
    assert second.position == len(FIRST)
    assert second.records.values == [NO_OP, ACL]
    assert second.records.timestamps == [1_700_000_000_000] * 2


def test_empty_file_has_no_batches():
    assert list(read_batches(b"")) == []


@pytest.mark.parametrize("zeros", [1, 16, 17, 61, 5000])
def test_zeros_up_to_the_end_are_preallocated_space(zeros):
    assert sound(LOG + bytes(zeros)) == [(0, 0), (1, 2), (3, 3)]
    assert lost(LOG + bytes(zeros)) == []


@pytest.mark.parametrize("kept", range(8, len(THIRD)))
def test_last_batch_cut_anywhere_is_a_torn_tail_that_loses_nothing(kept):
    """Its first seven bytes are zeros, and so is preallocated space."""
    data = FIRST + SECOND + THIRD[:kept]
    assert sound(data) == [(0, 0), (1, 2)]
    (torn,) = damage(data)
    assert torn.reason.startswith("torn tail")
    assert (torn.position, torn.from_offset) == (len(FIRST + SECOND), None)


def test_batch_with_a_bad_crc_is_never_trusted_and_loses_what_it_claims():
    data = FIRST + flipped(SECOND, 70) + THIRD
    assert sound(data) == [(0, 0), (3, 3)]
    assert lost(data) == [(1, 3)]


def test_last_batch_with_a_bad_crc_loses_what_it_claims():
    assert lost(LOG[:-1] + b"\x01" + bytes(100)) == [(3, 4)]


def test_bad_crc_with_an_impossible_count_loses_all_up_to_the_next_batch():
    broken = struct.pack(">i", 7)
    data = FIRST + SECOND[:57] + broken + SECOND[61:] + THIRD
    assert lost(data) == [(1, 3)]


@pytest.mark.parametrize("length", [-(2**31), -1, 0, 5, 48, 49, 60, 200, 10_000, 2**31 - 1])
def test_corrupt_length_loses_one_batch_and_reading_goes_on(length):
    broken = SECOND[:8] + struct.pack(">i", length) + SECOND[12:]
    assert sound(FIRST + broken + THIRD) == [(0, 0), (3, 3)]
    assert lost(FIRST + broken + THIRD) == [(1, 3)]


def test_corrupt_length_of_the_last_batch_is_not_a_torn_tail():
    broken = THIRD[:8] + struct.pack(">i", 2**30) + THIRD[12:]
    assert lost(FIRST + SECOND + broken) == [(3, 4)]


def test_last_batch_with_a_bad_crc_and_garbage_behind_it_is_not_a_torn_tail():
    assert lost(LOG + flipped(batch(4, ACL), 70) + b"junk") == [(4, 5)]


@pytest.mark.parametrize("magic", [0, 1, 3, 255])
def test_batch_of_another_magic_is_lost_and_reading_goes_on(magic):
    data = FIRST + SECOND[:16] + bytes([magic]) + SECOND[17:] + THIRD
    assert sound(data) == [(0, 0), (3, 3)]
    assert lost(data) == [(1, 3)]


@pytest.mark.parametrize("garbage", [b"x", b"\x00" * 90, b"\x02" * 200, bytes(range(256))])
def test_garbage_between_batches_is_damage_that_loses_no_offset(garbage):
    data = FIRST + garbage + SECOND + THIRD
    assert sound(data) == [(0, 0), (1, 2), (3, 3)]
    (found,) = damage(data)
    assert (found.position, found.size) == (len(FIRST), len(garbage))
    assert found.from_offset is None


def test_garbage_at_the_end_may_have_been_a_batch():
    assert lost(LOG + b"\x07" * 80) == [(4, 5)]


@pytest.mark.parametrize("base", [-5, 0, 2**40, 2**63 - 1])
def test_base_offset_out_of_line_with_both_neighbours_is_damage(base):
    data = FIRST + struct.pack(">q", base) + SECOND[8:] + THIRD
    assert sound(data) == [(0, 0), (3, 3)]
    assert lost(data) == [(1, 3)]


@pytest.mark.parametrize("epoch", [-1, 0, 2, 2**30])
def test_epoch_out_of_line_with_both_neighbours_is_damage(epoch):
    data = FIRST + SECOND[:12] + struct.pack(">i", epoch) + SECOND[16:] + THIRD
    assert sound(data) == [(0, 0), (3, 3)]
    assert lost(data) == [(1, 3)]


@pytest.mark.parametrize("base", [0, 2, 3, 4, 6, 2**40])
def test_flipped_base_offset_never_gives_a_wrong_one_where_two_batches_follow(base):
    one = [batch(offset, ACL) for offset in range(5)]
    true = [(offset, offset) for offset in range(5)]
    for at in range(3):
        broken = struct.pack(">q", base) + one[at][8:]
        assert set(sound(b"".join([*one[:at], broken, *one[at + 1 :]]))) <= set(true)


@pytest.mark.parametrize("epoch", [1, 2, 4, 9])
def test_epoch_that_rises_is_not_doubted_for_one_damaged_batch_behind_it(epoch):
    ones, threes = batch(0, ACL), [batch(offset, ACL, epoch=3) for offset in (1, 2, 3, 4)]
    threes[1] = threes[1][:12] + struct.pack(">i", epoch) + threes[1][16:]
    assert sound(ones + b"".join(threes)) == [(0, 0), (1, 1), (3, 3), (4, 4)]


def test_epoch_that_rises_and_stays_is_sound():
    assert sound(batch(0, ACL) + batch(1, ACL, epoch=4) + batch(2, ACL, epoch=4)) == [
        (0, 0),
        (1, 1),
        (2, 2),
    ]


def test_gap_between_batches_is_no_damage():
    assert sound(batch(0, ACL) + batch(9, ACL) + batch(10, ACL)) == [(0, 0), (9, 9), (10, 10)]


def test_batch_that_is_there_twice_is_read_once_and_nothing_is_lost():
    assert sound(FIRST + SECOND + SECOND + THIRD) == [(0, 0), (1, 2), (3, 3)]
    assert lost(FIRST + SECOND + SECOND + THIRD) == [(None, None)]


def test_fewer_records_than_offsets_is_damage():
    data = FIRST + with_field(SECOND, 23, ">i", 4) + batch(6, ACL)
    assert lost(data) == [(1, 6)]


def test_records_that_do_not_decode_in_spite_of_the_crc_are_damage():
    data = FIRST + with_field(SECOND, 61, ">b", 3) + THIRD
    assert lost(data) == [(1, 3)]


def test_control_batch_is_sound_even_if_its_records_do_not_decode():
    odd = with_field(batch(0, b"\xff"), 21, ">h", 1 << 5)
    (found,) = read_batches(odd)
    assert found.is_control
    assert found.records.values == ()


def test_control_records_have_their_keys():
    (found,) = read_batches(control_batch(0, (b"\0\0\0\2", b"v")))
    assert found.is_control
    assert found.records.keys == [b"\0\0\0\2"]


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_compressed_batch_is_read_like_a_plain_one(number):
    values = [ACL] * 20
    (packed,) = read_batches(batch(0, *values, codec=number))
    (plain,) = read_batches(batch(0, *values))
    assert packed.records == plain.records


@pytest.mark.parametrize("name", ["snappy", "lz4", "zstd"])
def test_missing_codec_names_the_package_and_loses_the_batch(monkeypatch, name):
    number = ["none", "gzip", "snappy", "lz4", "zstd"].index(name)
    data = FIRST + batch(1, *[ACL] * 20, codec=number) + batch(21, ACL)
    monkeypatch.setattr(codec, f"has_{name}", lambda: False)
    (found,) = damage(data)
    assert found.reason == (
        f"the batch does not decode: it is compressed with {name}: pip install aclkit[codecs]"
    )
    assert (found.from_offset, found.to_offset) == (1, 21)


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
    monkeypatch.setattr(codecs, "MOST_BYTES", 1 << 20)
    packed = bomb(number, 64)
    tracemalloc.start()
    (found,) = damage(packed + batch(1, ACL))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.reason == "the batch does not decode: it unpacks to more than 1,048,576 bytes"
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


def looked_at(monkeypatch, data):
    """Count the bytes whose CRC is computed while a file is read."""
    counted = []

    def crc(view):
        counted.append(len(view))
        return calc_crc32c(view)

    monkeypatch.setattr(batches, "calc_crc32c", crc)
    found = list(read_batches(data))
    return found, sum(counted)


def test_headers_made_to_seem_sound_do_not_have_the_file_read_for_each_of_them(monkeypatch):
    number = 4_000
    size = 61 * number + 100
    head = struct.pack(">qii", 1, size, 1) + b"\2" + bytes(4)
    head += struct.pack(">hiqqqhii", 0, 0, 0, 0, -1, -1, -1, 1)
    data = b"x" + b"".join(
        head[:8] + struct.pack(">i", size - 61 * n - 12) + head[12:] for n in range(number)
    )
    data += bytes(99) + b"x"
    (found,), bytes_read = looked_at(monkeypatch, data)
    assert "given up" in found.reason
    assert bytes_read <= 1_002 * len(data)


def test_garbage_between_many_batches_is_looked_at_once(monkeypatch):
    number = 300
    data = b"".join(b"x" + batch(offset, ACL) for offset in range(number))
    found, bytes_read = looked_at(monkeypatch, data)
    assert len(found) == 2 * number
    assert bytes_read <= 3 * len(data)


@pytest.mark.slow
def test_reading_takes_time_in_proportion_to_the_file():
    def seconds(number):
        data = b"".join(b"x" + batch(offset, ACL) for offset in range(number))
        started = time.perf_counter()
        assert sum(1 for _ in read_batches(data)) == 2 * number
        return time.perf_counter() - started

    assert seconds(40_000) < 12 * min(seconds(10_000) for _ in range(2))


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 7])
def test_batch_that_does_not_decompress_is_damage(number):
    data = FIRST + with_field(SECOND, 21, ">h", number) + THIRD
    assert sound(data) == [(0, 0), (3, 3)]
    assert lost(data) == [(1, 3)]


@pytest.mark.parametrize(
    "path", [*KRAFT.glob("*.log"), *KRAFT.glob("*.checkpoint"), *SYNTHETIC.glob("*/*.log")], ids=str
)
def test_plain_walk_and_kafka_python_read_the_same_records(path):
    data = path.read_bytes()
    at, walked = 0, 0
    while header := batches._header_at(data, at):
        plain = batches._plain_records(data, header)
        assert plain in (None, batches._records(data, header))
        walked += plain is not None
        at = header.end
    assert walked


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=130))
def test_plain_walk_reads_any_value(values):
    (found,) = read_batches(batch(0, *values))
    assert found.records.values == values


@given(st.binary(max_size=400))
def test_no_bytes_whatever_raise_and_all_are_accounted_for(data):
    for item in read_batches(LOG + data):
        assert isinstance(item, Batch | Damage)
    assert sound(LOG + data)[:3] == [(0, 0), (1, 2), (3, 3)]


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
