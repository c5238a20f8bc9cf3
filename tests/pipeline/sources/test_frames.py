"""Rules of aclkit.pipeline.sources.frames, on golden bytes of Kafka and on broken ones."""

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
from aclkit.pipeline.sources.frames import (
    UndecodableRecord,
    parse_frame,
    parse_values,
    read_integer,
    read_number,
    read_string,
    skip_tags,
)
from aclkit.pipeline.sources.snapshot import read_snapshot
from tests.pipeline.sources.log_bytes import (
    ACL,
    BEGIN,
    END,
    NO_OP,
    REMOVE,
    batch,
    broker_record,
    control_batch,
    feature,
)


def scram(name: bytes = b"bob", mechanism: int = 1) -> bytes:
    secrets = b"\x05SALT" + b"\x05SKEY" + b"\x05VKEY" + b"\x00\x00\x10\x00"
    return b"\x01\x0b\x00" + bytes([len(name) + 1]) + name + bytes([mechanism]) + secrets + b"\x00"


def undecodable(value: bytes | None) -> UndecodableRecord:
    with pytest.raises(UndecodableRecord) as caught:
        parse_frame(value)
    return caught.value


def test_acl_record_gives_its_seven_fields_and_id_as_kafka_names_them():
    assert parse_frame(ACL) == {
        "record_type": "ACCESS_CONTROL_ENTRY_RECORD",
        "acl_id": "QZDDv-R7SyaPgetDPGd0Mw",
        "resource_type": "TOPIC",
        "resource_name": "foo_",
        "pattern_type": "PREFIXED",
        "principal": "User:*",
        "host": "*",
        "operation": "READ",
        "permission_type": "ALLOW",
    }


def test_removal_gives_the_id_alone():
    assert parse_frame(REMOVE) == {
        "record_type": "REMOVE_ACCESS_CONTROL_ENTRY_RECORD",
        "acl_id": "QZDDv-R7SyaPgetDPGd0Mw",
    }


@pytest.mark.parametrize(
    ("golden", "record_type"),
    [
        ("01170000", "BEGIN_TRANSACTION_RECORD"),
        ("0117000100040474786e", "BEGIN_TRANSACTION_RECORD"),
        ("01180000", "END_TRANSACTION_RECORD"),
        ("01190000", "ABORT_TRANSACTION_RECORD"),
        ("0119000100020272", "ABORT_TRANSACTION_RECORD"),
    ],
)
def test_transaction_marks_keep_their_type_and_not_their_text(golden, record_type):
    assert parse_frame(bytes.fromhex(golden)) == {"record_type": record_type}


def test_topic_gives_name_and_id():
    golden = bytes.fromhex("0102000648656c6c6fc86b3b1fe0cb4ce181f4cea4d6e1334c00")
    assert parse_frame(golden) == {
        "record_type": "TOPIC_RECORD",
        "resource_name": "Hello",
        "topic_id": "yGs7H-DLTOGB9M6k1uEzTA",
    }


def test_removed_topic_gives_its_id():
    golden = bytes.fromhex("0109006a8b50173ce54b0c94871b22a1302fc100")
    assert parse_frame(golden) == {
        "record_type": "REMOVE_TOPIC_RECORD",
        "topic_id": "aotQFzzlSwyUhxsioTAvwQ",
    }


@pytest.mark.parametrize(
    ("code", "mechanism"),
    [(1, "SCRAM-SHA-256"), (2, "SCRAM-SHA-512"), (0, "UNKNOWN(0)"), (0xFF, "UNKNOWN(-1)")],
)
def test_scram_credential_gives_user_and_mechanism_and_nothing_secret(code, mechanism):
    assert parse_frame(scram(mechanism=code)) == {
        "record_type": "USER_SCRAM_CREDENTIAL_RECORD",
        "principal": "User:bob",
        "mechanism": mechanism,
    }


def test_removed_scram_credential_gives_user_and_mechanism():
    assert parse_frame(b"\x01\x16\x00\x04bob\x02\x00") == {
        "record_type": "REMOVE_USER_SCRAM_CREDENTIAL_RECORD",
        "principal": "User:bob",
        "mechanism": "SCRAM-SHA-512",
    }


@pytest.mark.parametrize(
    "golden", ["01140000", "010c000e67726f75702e76657273696f6e000100", "011d00000000030000"]
)
def test_known_foreign_records_give_nothing(golden):
    assert parse_frame(bytes.fromhex(golden)) is None


def test_level_of_metadata_version_is_kept():
    golden = bytes.fromhex("010c00116d657461646174612e76657273696f6e001d00")
    assert parse_frame(golden) == {"record_type": "FEATURE_LEVEL_RECORD", "max_level": 29}


LEVELS = feature(b"metadata.version", 7, 33, tags=b"\x01\x05\x02ab")


@pytest.mark.parametrize("version", [0, 1, 2, 3, 4])
def test_registration_gives_broker_and_levels_and_no_endpoint(version):
    golden = broker_record(version, feature(b"group.version", 0, 1), LEVELS, endpoints=2)
    assert parse_frame(golden) == {
        "record_type": "REGISTER_BROKER_RECORD",
        "broker_id": 7,
        "min_level": 7,
        "max_level": 33,
    }


def test_broker_that_names_no_metadata_version_has_no_levels():
    fields = parse_frame(broker_record(0))
    assert (fields["broker_id"], fields["min_level"], fields["max_level"]) == (7, None, None)


def test_unregistration_gives_the_broker():
    golden = b"\x01\x01\0" + struct.pack(">iq", 7, 99) + b"\0"
    assert parse_frame(golden) == {"record_type": "UNREGISTER_BROKER_RECORD", "broker_id": 7}


@pytest.mark.parametrize("end", range(3, len(broker_record(3, LEVELS)) - 4))
def test_registration_that_is_cut_is_a_reject_that_loses_no_acl(end):
    assert not undecodable(broker_record(3, LEVELS)[:end]).loses_acl


def test_version_of_an_acl_record_is_not_checked():
    assert parse_frame(ACL[:2] + b"\x01" + ACL[3:]) == parse_frame(ACL)


def test_numbers_may_be_written_longer_than_they_need():
    assert parse_frame(b"\x81\x00\x92\x00\x80\x00" + ACL[3:]) == parse_frame(ACL)


def test_codes_are_signed_bytes_and_unknown_ones_keep_their_code():
    fields = parse_frame(ACL[:19] + b"\xfd" + ACL[20:-2] + b"\x09" + ACL[-1:])
    assert fields["resource_type"] == "UNKNOWN(-3)"
    assert fields["permission_type"] == "UNKNOWN(9)"


def test_bytes_that_are_no_utf8_become_the_replacement_character():
    assert parse_frame(ACL.replace(b"foo_", b"fo\xff_"))["resource_name"] == "fo\ufffd_"


def test_uuid_of_zeros_is_text_like_any_other():
    assert parse_frame(b"\x01\x13\x00" + bytes(16) + b"\x00")["acl_id"] == "A" * 22


def test_unknown_tagged_fields_are_passed_over():
    assert parse_frame(ACL[:-1] + b"\x02\x00\x01x\x07\x02yz") == parse_frame(ACL)


@pytest.mark.parametrize("cut", range(3, len(ACL)))
def test_acl_record_cut_anywhere_loses_an_acl_fact_and_may_be_shown(cut):
    error = undecodable(ACL[:cut])
    assert error.loses_acl
    assert error.is_acl


@pytest.mark.parametrize("value", [None, b"", b"\x01", b"\x80", b"\x00\x12\x00", b"\x02\x12\x00"])
def test_frame_that_does_not_tell_its_key_may_lose_an_acl_and_is_never_shown(value):
    error = undecodable(value)
    assert error.loses_acl
    assert not error.is_acl


def test_frame_version_other_than_one_is_named():
    assert "unknown frame version 2" in str(undecodable(b"\x02" + ACL[1:]))


def test_bytes_behind_the_message_are_an_error():
    assert "Found 2 byte(s) of garbage after 19" in str(undecodable(REMOVE + b"ab"))


def test_null_in_a_field_that_cannot_be_null_is_an_error():
    assert undecodable(ACL.replace(b"\x05foo_", b"\x00")).loses_acl


def test_broken_transaction_mark_may_lose_acl_facts():
    error = undecodable(b"\x01\x17\x00\x05")
    assert error.loses_acl
    assert not error.is_acl


@pytest.mark.parametrize("value", [b"\x01\x02\x00\x09ab", b"\x01\x0b\x00\x00", b"\x01\x16\x00"])
def test_broken_foreign_record_loses_no_acl_and_is_never_shown(value):
    error = undecodable(value)
    assert not error.loses_acl
    assert not error.is_acl


@pytest.mark.parametrize("key", [6, 13, 16, 30, 126])
def test_record_of_an_unknown_type_loses_no_acl(key):
    error = undecodable(bytes([1, key, 0, 0]))
    assert str(error) == f"unknown record type {key}: Kafka up to 4.4 has no such type"
    assert not error.loses_acl


def test_records_are_told_by_their_index_and_foreign_ones_passed_over():
    values = [NO_OP, ACL, NO_OP, b"\x01\x06\x00", BEGIN, END]
    assert [index for index, _ in parse_values(values)] == [1, 3, 4, 5]


@given(st.binary(max_size=60), st.sampled_from([b"", ACL[:3], ACL[:19], b"\x01\x0b\x00"]))
def test_no_bytes_whatever_raise_anything_else(tail, head):
    assert len(list(parse_values([head + tail]))) <= 1


@pytest.mark.parametrize(("length", "is_read"), [(32_767, True), (32_768, False)])
def test_a_string_longer_than_kafka_reads_is_undecodable(length, is_read):
    name, varint = b"x" * length, bytes([(length + 1) & 0x7F | 0x80])
    varint += bytes([(length + 1) >> 7 & 0x7F | 0x80, (length + 1) >> 14])
    long = ACL.replace(b"\x05foo_", varint + name)
    if is_read:
        assert len(parse_frame(long)["resource_name"]) == length
    else:
        assert "invalid length 32768" in str(undecodable(long))
        assert undecodable(long).loses_acl


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
