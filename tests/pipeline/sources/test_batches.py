"""Rules of aclkit.pipeline.sources.batches: every byte of a file is accounted for."""

from __future__ import annotations

import struct
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka import codec
from kafka.record.util import calc_crc32c

from aclkit.pipeline.sources import batch as one_batch
from aclkit.pipeline.sources.batches import Batch, Damage, Neighbour, read_batches
from tests.pipeline.sources.log_bytes import (
    ACL,
    NO_OP,
    batch,
    control_batch,
    damage,
    flipped,
    lost,
    sound,
    with_field,
)

FIRST, SECOND, THIRD = batch(0, ACL), batch(1, NO_OP, ACL), batch(3, ACL)
LOG = FIRST + SECOND + THIRD


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


LEADER_CHANGE = (b"\0\0\0\2", b"v")


def test_batch_that_says_control_of_records_that_are_none_is_damage():
    odd = FIRST + with_field(SECOND, 21, ">h", 1 << 5) + THIRD
    assert sound(odd) == [(0, 0), (3, 3)]
    assert lost(odd) == [(1, 3)]


def inflated(one, count):
    """Invent a count of records and offsets; the CRC holds."""
    return with_field(with_field(one, 57, ">i", count), 23, ">i", count - 1)


@pytest.mark.parametrize("count", [2, 3, 7, 1_000_000, 2**31 - 1])
@pytest.mark.parametrize("one", [control_batch(1, LEADER_CHANGE), batch(1, ACL)], ids=len)
def test_invented_count_costs_one_batch_and_no_offset_behind_it(one, count):
    behind = b"".join(batch(offset, ACL) for offset in range(2, 31))
    data = FIRST + inflated(one, count) + behind
    assert sound(data) == [(0, 0), *((offset, offset) for offset in range(2, 31))]
    assert lost(data) == [(1, 2)]


@pytest.mark.parametrize("count", [2, 7, 1_000_000])
def test_invented_count_of_the_last_batch_claims_no_more_than_is_known(count):
    assert lost(FIRST + inflated(control_batch(1, LEADER_CHANGE), count)) == [(1, 2)]
    known = list(
        read_batches(FIRST + inflated(control_batch(1, LEADER_CHANGE), count), 0, Neighbour(2, 1))
    )
    assert (known[1].from_offset, known[1].to_offset) == (1, 2)


@pytest.mark.parametrize("base", [2, 3, 6, 10, 11, 2**40])
def test_base_offset_that_all_batches_behind_contradict_costs_one_batch(base):
    batches = [batch(offset, ACL) for offset in range(12)]
    batches[1] = struct.pack(">q", base) + batches[1][8:]
    data = b"".join(batches)
    assert sound(data) == [(0, 0), *((offset, offset) for offset in range(2, 12))]
    assert lost(data) == [(1, 2)]


def test_two_batches_that_lie_in_the_same_way_cost_two():
    batches = [batch(offset, ACL) for offset in range(12)]
    for at in (3, 4):
        batches[at] = struct.pack(">qii", at + 100, len(batches[at]) - 12, 9) + batches[at][16:]
    assert lost(b"".join(batches)) == [(3, 4), (4, 5)]


def test_batch_that_has_swallowed_the_next_one_with_a_right_crc_gives_it_back():
    swallowed = FIRST[:8] + struct.pack(">i", len(FIRST + SECOND) - 12) + FIRST[12:] + SECOND
    data = with_field(swallowed, 0, ">q", 0) + THIRD
    assert sound(data) == [(1, 2), (3, 3)]
    assert lost(data) == [(0, 1)]


def test_times_that_contradict_each_other_are_damage():
    data = FIRST + with_field(SECOND, 27, ">q", 5) + THIRD
    assert sound(data) == [(0, 0), (3, 3)]


def test_epoch_that_rises_in_the_last_batch_needs_the_record_that_begins_it():
    assert sound(FIRST + SECOND + batch(3, ACL, epoch=2)) == [(0, 0), (1, 2)]
    began = control_batch(3, LEADER_CHANGE, epoch=2)
    assert sound(FIRST + SECOND + began) == [(0, 0), (1, 2), (3, 3)]


def test_next_file_of_the_log_testifies_against_the_last_batch():
    last = control_batch(1, LEADER_CHANGE, epoch=9)
    assert sound(FIRST + last) == [(0, 0), (1, 1)]
    reasons = [i.reason for i in read_batches(FIRST + last, 0, Neighbour(2, 1)) if _is_damage(i)]
    assert reasons == ["leader epoch 9 before 1"]
    leap = struct.pack(">q", 5) + batch(1, ACL)[8:]
    (damaged,) = [i for i in read_batches(FIRST + leap, 0, Neighbour(2, 1)) if _is_damage(i)]
    assert (damaged.from_offset, damaged.to_offset) == (1, 2)


def test_torn_tail_of_a_file_that_the_log_goes_on_behind_loses_what_is_missing():
    (_, torn) = read_batches(FIRST + SECOND[:-4], 0, Neighbour(3, 1))
    assert (torn.from_offset, torn.to_offset) == (1, 3)


def test_first_batch_elsewhere_than_the_file_is_named_for_needs_one_that_goes_on_from_it():
    assert [_is_damage(i) for i in read_batches(batch(7, ACL), 4)] == [True]
    assert [_is_damage(i) for i in read_batches(batch(7, ACL) + batch(8, ACL), 4)] == [False] * 2
    assert [_is_damage(i) for i in read_batches(batch(7, ACL))] == [False]


def _is_damage(item):
    return isinstance(item, Damage)


def test_control_records_have_their_keys():
    (found,) = read_batches(control_batch(0, (b"\0\0\0\2", b"v")))
    assert found.is_control
    assert found.records.keys == [b"\0\0\0\2"]


@pytest.mark.parametrize("name", ["snappy", "lz4", "zstd"])
def test_missing_codec_names_the_package_and_loses_the_batch(monkeypatch, name):
    number = ["none", "gzip", "snappy", "lz4", "zstd"].index(name)
    data = FIRST + batch(1, *[ACL] * 20, codec=number) + batch(21, ACL)
    monkeypatch.setattr(codec, f"has_{name}", lambda: False)
    (found,) = damage(data)
    assert found.reason == (
        f"the batch cannot be decoded: it is compressed with {name}: pip install aclkit[codecs]"
    )
    assert (found.from_offset, found.to_offset) == (1, 21)


def looked_at(monkeypatch, data):
    """Count the bytes whose CRC is computed while a file is read."""
    counted = []

    def crc(view):
        counted.append(len(view))
        return calc_crc32c(view)

    monkeypatch.setattr(one_batch, "calc_crc32c", crc)
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
    assert "reading stopped" in found.reason
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
        started = time.process_time()
        assert sum(1 for _ in read_batches(data)) == 2 * number
        return time.process_time() - started

    assert seconds(40_000) < 12 * min(seconds(10_000) for _ in range(2))


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 7])
def test_batch_that_does_not_decompress_is_damage(number):
    data = FIRST + with_field(SECOND, 21, ">h", number) + THIRD
    assert sound(data) == [(0, 0), (3, 3)]
    assert lost(data) == [(1, 3)]


@given(st.binary(max_size=400))
def test_no_bytes_whatever_raise_and_all_are_accounted_for(data):
    for item in read_batches(LOG + data):
        assert isinstance(item, Batch | Damage)
    assert sound(LOG + data)[:3] == [(0, 0), (1, 2), (3, 3)]
