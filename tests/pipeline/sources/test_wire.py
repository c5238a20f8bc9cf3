"""Values of Kafka's messages, compared with those that kio reads and writes."""

from __future__ import annotations

import struct
from datetime import UTC, datetime, timedelta
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kio.schema.snapshot_header_record.v0 import SnapshotHeaderRecord
from kio.serial import entity_writer, readers, writers
from kio.serial.errors import SerialError
from kio.static.primitive import i16, i64

from aclkit.errors import DataError
from aclkit.pipeline.sources.snapshot import read_snapshot
from aclkit.pipeline.sources.wire import read_integer, read_number, read_string, skip_tags
from tests.pipeline.sources.log_bytes import ACL, batch, control_batch

# Bytes that are likely to be numbers of several bytes, and to end too early.
BYTES = st.lists(st.sampled_from([0, 1, 2, 3, 0x7F, 0x80, 0xFF]) | st.integers(0, 255)).map(bytes)
PAIRS = [
    (read_number, readers.read_unsigned_varint),
    (read_string, readers.read_compact_string_as_bytes),
    (lambda value, at: read_integer(value, at, 1), readers.read_int8),
    (lambda value, at: read_integer(value, at, 2), readers.read_int16),
    (lambda value, at: read_integer(value, at, 4), readers.read_int32),
    (lambda value, at: read_integer(value, at, 8), readers.read_int64),
]


def outcome(read, value, at):
    """Value and end; None where there is no value."""
    try:
        return read(value, at)
    except (SerialError, ValueError):
        return None


@given(BYTES, st.integers(0, 4))
def test_each_value_and_its_end_are_those_of_kio(value, at):
    for ours, theirs in PAIRS:
        read = outcome(theirs, value, at)
        assert outcome(ours, value, at) == (read and (read[0], at + read[1]))


@given(st.integers(0, 2**31 - 1))
def test_a_number_that_kio_writes_is_read(number):
    buffer = BytesIO()
    writers.write_unsigned_varint(buffer, number)
    assert read_number(buffer.getvalue(), 0) == (number, len(buffer.getvalue()))


@given(st.lists(st.tuples(st.integers(0, 9), st.binary(max_size=3)), max_size=3), st.integers(1, 3))
def test_tags_are_passed_over_and_must_be_whole(tags, cut):
    fields = b"".join(bytes([tag, len(content)]) + content for tag, content in tags)
    value = bytes([len(tags)]) + fields
    assert skip_tags(b"x" + value + b"y", 1) == 1 + len(value)
    if cut <= len(fields):
        with pytest.raises(ValueError, match="ends after the end"):
            skip_tags(value[:-cut], 0)


def snapshot(header):
    footer = control_batch(2, (b"\0\0\0\4", b"\0\0\0"))
    data = control_batch(0, (b"\0\0\0\3", header)) + batch(1, ACL) + footer
    return read_snapshot(data, "the.checkpoint", 40, 1)


@given(st.integers(0, 2**15 - 1), st.integers(0, 253_402_300_799_999))
def test_the_header_that_kio_writes_gives_the_time_of_the_facts(version, milliseconds):
    buffer = BytesIO()
    entity_writer(SnapshotHeaderRecord)(
        buffer,
        SnapshotHeaderRecord(version=i16(version), last_contained_log_timestamp=i64(milliseconds)),
    )
    *_, fact = snapshot(buffer.getvalue())
    assert fact.log_time == datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)


def test_a_header_with_a_tag_of_a_later_kafka_is_read():
    *_, fact = snapshot(struct.pack(">hq", 0, 1_000) + bytes([1, 7, 2]) + b"ab")
    assert fact.log_time == datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)


@pytest.mark.parametrize("length", [0, 1, 9, 10])
def test_a_header_that_is_cut_is_no_header(length):
    with pytest.raises(DataError, match="the snapshot's header cannot be decoded: a number ends"):
        snapshot((struct.pack(">hq", 0, 1_000) + b"\0")[:length])
