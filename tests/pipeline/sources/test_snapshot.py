"""Rules of aclkit.pipeline.sources.snapshot: a snapshot is used whole or not at all."""

from __future__ import annotations

import struct
from collections import Counter
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.errors import DataError
from aclkit.model import facts as rows
from aclkit.pipeline.sources.log_names import parse_snapshot_name
from aclkit.pipeline.sources.snapshot import read_snapshot
from tests.pipeline.sources.log_bytes import ACL, BEGIN, KRAFT, batch, control_batch, flipped

REAL = (KRAFT / "00000000000000000915-0000000001.checkpoint").read_bytes()
TIME = 1_700_000_000_123
HEADER = control_batch(0, (b"\0\0\0\3", struct.pack(">hq", 0, TIME) + b"\0"))
FOOTER = control_batch(2, (b"\0\0\0\4", b"\0\0\0"))
SMALL = HEADER + batch(1, ACL) + FOOTER


def read(data):
    return read_snapshot(data, "the.checkpoint", 40, 1)


@pytest.mark.parametrize(
    ("name", "parsed"),
    [
        ("00000000000000000915-0000000001.checkpoint", (915, 1)),
        ("00000000000000000000-0000000000.checkpoint", (0, 0)),
        ("00000000000000000915-0000000001.checkpoint.part", None),
        ("00000000000000000915-0000000001.checkpoint.deleted", None),
        ("bootstrap.checkpoint", None),
        ("00000000000000000915.snapshot", None),
    ],
)
def test_name_says_end_offset_and_epoch(name, parsed):
    assert parse_snapshot_name(name) == parsed


def test_real_snapshot_is_read_whole():
    found = read_snapshot(REAL, "s", 915, 1)
    counts = Counter(row.record_type or row.kind for row in found)
    assert counts == {
        **{rows.ADD_ACL: 630, rows.ADD_TOPIC: 86, rows.ADD_SCRAM: 21},
        **{rows.REGISTER_BROKER: 1, rows.FEATURE_LEVEL: 1, rows.RANGE: 2},
    }


def test_facts_stand_at_the_end_offset_at_the_time_of_the_last_contained_record():
    (fact,) = [row for row in read(SMALL) if row.kind == rows.FACT]
    assert (fact.fact, fact.log_offset, fact.epoch) == (rows.SNAPSHOT, 40, 1)
    assert fact.log_time == datetime(2023, 11, 14, 22, 13, 20, 123_000, tzinfo=UTC)


def test_range_is_all_below_the_end_offset():
    found = next(row for row in read(SMALL) if row.kind == rows.RANGE)
    assert (found.fact, found.from_offset, found.to_offset, found.epoch) == ("snapshot", 0, 40, 1)


def committed(data, end=40, epoch=1):
    rows_ = read_snapshot(data, "the.checkpoint", end, epoch)
    return [(r.from_offset, r.to_offset, r.epoch) for r in rows_ if r.fact == rows.COMMITTED]


def test_a_snapshot_proves_that_the_offset_before_its_end_is_committed_with_its_epoch():
    assert committed(SMALL) == [(39, 40, 1)]


def test_a_snapshot_that_is_named_for_another_epoch_than_its_batches_is_another_one():
    mixed = HEADER + batch(1, ACL, epoch=2) + control_batch(2, (b"\0\0\0\4", b"\0\0\0"), epoch=2)
    for data, epoch in ((SMALL, 7), (mixed, 1), (mixed, 2)):
        with pytest.raises(DataError, match=f"the name has epoch {epoch}, but"):
            read_snapshot(data, "the.checkpoint", 40, epoch)


def test_header_may_come_with_version_and_voters():
    header = control_batch(
        0, (b"\0\0\0\3", struct.pack(">hq", 0, TIME) + b"\0"), (b"\0\0\0\5", b"\0\0\0\1\0")
    )
    footer = control_batch(3, (b"\0\0\0\4", b"\0\0\0"))
    assert len(read(header + batch(2, ACL) + footer)) == 3


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "expected a snapshot header"),
        (batch(0, ACL), "expected a snapshot header"),
        (HEADER, "does not end with a footer"),
        (HEADER + batch(1, ACL), "does not end with a footer"),
        (SMALL[:-1], "torn tail"),
        (HEADER + FOOTER, "a batch is missing"),
        (HEADER + flipped(batch(1, ACL), 70) + FOOTER, "CRC"),
        (HEADER + batch(1, ACL[:-4]) + FOOTER, "type 18"),
        (HEADER + batch(1, BEGIN) + FOOTER, "BEGIN_TRANSACTION_RECORD cannot be in a snapshot"),
        (
            control_batch(0, (b"\0\0\0\3", b"\0")) + batch(1, ACL) + FOOTER,
            "header cannot be decoded",
        ),
    ],
)
def test_snapshot_that_is_not_complete_and_sound_is_refused(data, reason):
    with pytest.raises(DataError, match=reason):
        read(data)


def test_bad_foreign_record_is_a_reject_and_does_not_spoil_the_snapshot():
    found = read(HEADER + batch(1, b"\x01\x06\x00") + FOOTER)
    (reject,) = [row for row in found if row.kind == rows.REJECT]
    assert (reject.raw, reject.log_offset) == (None, None)
    assert reject.reason == "unknown record type 6: Kafka up to 4.4 has no such type"


WHOLE = read_snapshot(REAL, "s", 915, 1)


@given(st.integers(0, len(REAL) - 1), st.integers(1, 255))
def test_flipped_byte_refuses_the_snapshot_or_changes_nothing(at, mask):
    try:
        found = read_snapshot(flipped(REAL, at, mask), "s", 915, 1)
    except DataError:
        return
    assert found == WHOLE


@given(st.integers(0, len(REAL) - 1))
def test_cut_snapshot_is_refused(at):
    with pytest.raises(DataError):
        read_snapshot(REAL[:at], "s", 915, 1)


@pytest.mark.parametrize(
    "name",
    [
        f"{2**62:020}-0000000001.checkpoint",
        "99999999999999999999-0000000001.checkpoint",
        f"00000000000000000915-{2**31}.checkpoint",
        "0000000000000000091٥-0000000001.checkpoint",
    ],
)
def test_name_with_an_offset_or_epoch_beyond_any_log_is_none_of_a_snapshot(name):
    assert parse_snapshot_name(name) is None
