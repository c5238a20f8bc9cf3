"""Rules of aclkit.pipeline.sources.segment: facts, ranges and rejects of a segment."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.model import facts as rows
from aclkit.model.enums import AclOperation, AclPermissionType, PatternType, ResourceType
from aclkit.pipeline.sources.arrow import to_record_batch
from aclkit.pipeline.sources.batches import Neighbour
from aclkit.pipeline.sources.segment import read_segment, readable_time
from tests.pipeline.sources.log_bytes import (
    ACL,
    DATA,
    KRAFT,
    NO_OP,
    SYNTHETIC,
    batch,
    control_batch,
    flipped,
)

SEGMENT = "00000000000000000000.log"
UPGRADE = DATA / "upgrade-4.4"
KRAFT_LOG = (KRAFT / SEGMENT).read_bytes()
LINE = re.compile(r"\| offset: (\d+) CreateTime: (\d+) .* payload: (\{.*\})")
KEPT = {
    rows.ADD_ACL,
    rows.REMOVE_ACL,
    rows.BEGIN_TXN,
    rows.END_TXN,
    rows.ABORT_TXN,
    rows.ADD_TOPIC,
    rows.REMOVE_TOPIC,
    rows.ADD_SCRAM,
    *rows.BROKER_RECORDS,
}
SECRET = b"tHe-StOrEd-KeY-oF-bOb"


def read(data):
    return list(read_segment(data, "the.log"))


def of_kind(data, kind):
    return [row for row in read(data) if row.kind == kind]


def ranges(data):
    return [(r.fact, r.from_offset, r.to_offset, r.epoch) for r in of_kind(data, rows.RANGE)]


FIELDS = [
    *("log_offset", "log_time", "record_type", "acl_id", "resource_type", "resource_name"),
    *("pattern_type", "principal", "host", "operation", "permission_type"),
    *("topic_id", "mechanism", "broker_id", "min_level", "max_level"),
]


def fields_of(fact):
    return tuple(getattr(fact, name) for name in FIELDS)


def dumped(text):
    """What kafka-dump-log printed of the records that aclkit keeps."""
    for offset, time, payload in LINE.findall(text):
        record = json.loads(payload)
        data, kind = record["data"], record["type"]
        if kind not in KEPT or (kind == rows.FEATURE_LEVEL and data["name"] != "metadata.version"):
            continue
        levels = {one["name"]: one for one in data.get("features", [])}.get("metadata.version", {})
        is_acl, is_scram = kind == rows.ADD_ACL, kind == rows.ADD_SCRAM
        yield (
            int(offset),
            rows.log_time(int(time)),
            kind,
            data.get("id"),
            ResourceType.name_of(data["resourceType"]) if is_acl else None,
            data["resourceName"]
            if is_acl
            else data.get("name")
            if kind in (rows.ADD_TOPIC, rows.BEGIN_TXN)
            else None,
            PatternType.name_of(data["patternType"]) if is_acl else None,
            f"User:{data['name']}" if is_scram else data.get("principal"),
            data.get("host"),
            AclOperation.name_of(data["operation"]) if is_acl else None,
            AclPermissionType.name_of(data["permissionType"]) if is_acl else None,
            data.get("topicId"),
            "SCRAM-SHA-256" if is_scram else None,
            data.get("brokerId"),
            levels.get("minSupportedVersion"),
            data.get("featureLevel", levels.get("maxSupportedVersion")),
        )


def without_transaction_name(fields):
    return (*fields[:5], None, *fields[6:]) if fields[2] == rows.BEGIN_TXN else fields


LOGS = [
    (KRAFT / SEGMENT, DATA / "kraft-4.1-text" / "kafka-dump-log.txt"),
    (UPGRADE / "__cluster_metadata-0" / SEGMENT, UPGRADE / "kafka-dump-log.txt.gz"),
    *((p, p.with_name(f"{SEGMENT}.dump.txt")) for p in sorted(SYNTHETIC.glob(f"*/{SEGMENT}"))),
]


@pytest.mark.parametrize(("log", "dump"), LOGS, ids=lambda path: path.parent.name)
def test_facts_are_what_kafka_dump_log_prints(log: Path, dump: Path):
    facts = [row for row in read(log.read_bytes()) if row.kind == rows.FACT]
    text = gzip.decompress(dump.read_bytes()) if dump.suffix == ".gz" else dump.read_bytes()
    expected = [without_transaction_name(fields) for fields in dumped(text.decode())]
    assert [fields_of(fact) for fact in facts] == expected
    assert {fact.fact for fact in facts} == {rows.RECORD}
    restarts = {UPGRADE.name: {1, 2}}
    assert {fact.epoch for fact in facts} == restarts.get(log.parents[1].name, {1})


def test_real_log_is_read_whole():
    counts = Counter(row.record_type or row.kind for row in read(KRAFT_LOG))
    assert counts == {
        rows.ADD_ACL: 660,
        rows.REMOVE_ACL: 33,
        rows.ADD_TOPIC: 87,
        rows.REMOVE_TOPIC: 1,
        rows.ADD_SCRAM: 21,
        rows.REGISTER_BROKER: 1,
        rows.FEATURE_LEVEL: 1,
        rows.BEGIN_TXN: 1,
        rows.END_TXN: 1,
        rows.RANGE: 1,
    }
    assert ranges(KRAFT_LOG) == [(rows.RECORD, 0, 1020, 1)]


def test_log_of_an_upgrade_to_4_4_is_read_whole_and_leaves_the_acls_that_kafka_lists():
    found = read((UPGRADE / "__cluster_metadata-0" / SEGMENT).read_bytes())
    counts = Counter(row.record_type or row.kind for row in found)
    assert counts == {
        rows.ADD_ACL: 121,
        rows.REMOVE_ACL: 12,
        rows.ADD_TOPIC: 8,
        rows.REGISTER_BROKER: 2,
        rows.FEATURE_LEVEL: 3,
        rows.BEGIN_TXN: 1,
        rows.END_TXN: 1,
        rows.RANGE: 3,
    }
    alive = {row.acl_id: row for row in found if row.record_type == rows.ADD_ACL}
    for row in found:
        if row.record_type == rows.REMOVE_ACL:
            del alive[row.acl_id]
    columns = ("resource_type", "resource_name", "pattern_type", "principal", "host")
    columns += ("operation", "permission_type")
    bindings = Counter("\t".join(getattr(row, c) for c in columns) for row in alive.values())
    assert bindings == Counter((UPGRADE / "acls.tsv").read_text(encoding="utf-8").splitlines())
    assert bindings.total() == 109


def test_gap_between_offsets_shows_between_ranges():
    data = (SYNTHETIC / "gap" / SEGMENT).read_bytes()
    assert ranges(data) == [(rows.RECORD, 0, 3, 1), (rows.RECORD, 10, 11, 1)]
    assert of_kind(data, rows.REJECT) == []


def test_torn_tail_is_a_reject_and_no_unreadable_range():
    data = (SYNTHETIC / "truncated" / SEGMENT).read_bytes()
    (reject,) = of_kind(data, rows.REJECT)
    assert reject.position == 286
    assert reject.digest == hashlib.sha256(data[286:]).hexdigest()
    assert ranges(data) == [(rows.RECORD, 0, 3, 1)]


def test_ranges_end_where_the_epoch_changes():
    data = batch(0, ACL) + batch(1, NO_OP) + control_batch(2, (b"\0\0\0\2", b"v"), epoch=3)
    told = (rows.EPOCH, 2, 3, 3)
    assert ranges(data) == [told, (rows.RECORD, 0, 2, 1), (rows.RECORD, 2, 3, 3)]


def begun(data, *, behind=None, **known):
    found = read_segment(data, "00000000000000000000.log", behind, **known)
    return [(r.from_offset, r.epoch, r.follows) for r in found if r.fact == rows.EPOCH]


LEADER = (b"\0\0\0\2", b"v")


def test_an_epoch_that_follows_another_without_a_gap_is_told_with_the_one_it_follows():
    log = batch(0, ACL) + control_batch(1, LEADER, epoch=3)
    assert begun(log) == [(1, 3, 1)]
    assert begun(log[len(batch(0, ACL)) :], first=1, after=1) == [(1, 3, 1)]
    assert begun(batch(0, ACL), behind=Neighbour(1, 3)) == [(1, 3, 1)]


def test_of_an_epoch_after_a_gap_it_is_not_known_what_it_follows():
    assert (
        begun(batch(0, ACL) + flipped(batch(1, ACL), 70) + control_batch(2, LEADER, epoch=3)) == []
    )
    assert begun(batch(0, ACL), behind=Neighbour(2, 3)) == []
    assert begun(batch(0, ACL), behind=Neighbour(1, 1)) == []
    assert begun(control_batch(0, LEADER, epoch=3)) == []


def test_control_batches_count_as_read_and_give_no_facts():
    data = control_batch(0, (b"\0\0\0\2", b"v"), (b"\0\0\0\x63", b"?")) + batch(2, ACL)
    assert ranges(data) == [(rows.RECORD, 0, 3, 1)]
    assert len(of_kind(data, rows.FACT)) == 1


def test_undecodable_acl_splits_the_range_around_it_and_shows_its_bytes():
    broken = ACL[:-3]
    data = batch(0, NO_OP) + batch(1, ACL, broken, ACL)
    assert sorted(ranges(data), key=lambda r: r[1]) == [
        (rows.RECORD, 0, 2, 1),
        (rows.UNREADABLE, 2, 3, 1),
        (rows.RECORD, 3, 4, 1),
    ]
    (reject,) = of_kind(data, rows.REJECT)
    assert (reject.log_offset, reject.position) == (2, len(batch(0, NO_OP)))
    assert reject.raw == broken.hex()
    assert reject.digest == hashlib.sha256(broken).hexdigest()


@pytest.mark.parametrize("foreign", [b"\x01\x06\x00\x00", b"\x01\x02\x00\x09ab"])
def test_bad_foreign_record_is_a_reject_without_bytes_and_loses_nothing(foreign):
    data = batch(0, ACL, foreign, ACL)
    (reject,) = of_kind(data, rows.REJECT)
    assert (reject.log_offset, reject.raw) == (1, None)
    assert ranges(data) == [(rows.RECORD, 0, 3, 1)]


def test_batch_with_a_bad_crc_is_unreadable_and_shows_no_bytes():
    bad = flipped(batch(1, ACL, ACL), 80)
    data = batch(0, ACL) + bad + batch(3, ACL)
    assert sorted(ranges(data), key=lambda r: r[1]) == [
        (rows.RECORD, 0, 1, 1),
        (rows.UNREADABLE, 1, 3, None),
        (rows.RECORD, 3, 4, 1),
    ]
    (reject,) = of_kind(data, rows.REJECT)
    assert (reject.raw, reject.digest) == (None, hashlib.sha256(bad).hexdigest())


def test_damaged_beginning_is_lost_from_the_offset_that_the_segment_is_named_for():
    data = flipped(batch(70, ACL), 16, mask=0xFF)
    found = read_segment(data, "d/__cluster_metadata-0/00000000000000000070.log")
    (lost,) = [row for row in found if row.kind == rows.RANGE]
    assert (lost.fact, lost.from_offset, lost.to_offset) == (rows.UNREADABLE, 70, 71)


def test_time_that_no_calendar_holds_is_no_time():
    facts = of_kind(batch(0, ACL, time=-1) + batch(1, ACL, time=2**62), rows.FACT)
    assert [fact.log_time for fact in facts] == [None, None]


def test_time_keeps_its_milliseconds():
    (fact,) = of_kind(batch(0, ACL, time=1_700_000_000_123), rows.FACT)
    assert fact.log_time == datetime(2023, 11, 14, 22, 13, 20, 123_000, tzinfo=UTC)


def scram(tail=b"\x00"):
    field = bytes([len(SECRET) + 1]) + SECRET
    return b"\x01\x0b\x00\x04bob\x01" + field * 3 + b"\x00\x00\x10\x00" + tail


@pytest.mark.parametrize(
    "data",
    [
        batch(0, scram()),
        batch(0, scram(tail=b"more")),
        batch(0, scram()[:-20]),
        batch(0, b"\x02" + scram()[1:]),
        batch(0, b"\x01\x1e" + scram()[2:]),
        batch(0, b"\x01\x16" + scram()[2:]),
        flipped(batch(0, scram()), 90),
        batch(0, scram())[:-9],
        batch(0, ACL) + scram() + batch(1, ACL),
    ],
)
def test_no_credential_is_in_any_row(data):
    texts = [str(value) for row in read(data) for value in to_record_batch([row]).to_pylist()]
    assert texts
    for secret in (SECRET.decode(), SECRET.hex(), base64.b64encode(SECRET).decode()[:20]):
        assert not any(secret in text for text in texts)


def test_segment_named_for_an_offset_beyond_any_log_is_read_from_0():
    found = list(read_segment(flipped(batch(3, ACL), 16, mask=0xFF), f"{'9' * 20}.log"))
    (lost,) = [row for row in found if row.kind == rows.RANGE]
    assert (lost.from_offset, lost.to_offset) == (0, 1)
    to_record_batch(found)


@pytest.mark.parametrize(
    ("milliseconds", "year"),
    [(-1, None), (0, 1970), (253_402_300_799_999, 9999), (253_402_300_800_000, None)],
)
def test_time_that_no_calendar_holds_is_none(milliseconds, year):
    time = readable_time(milliseconds)
    assert (time and time.year) == year


FACTS = {fields_of(row) for row in read(KRAFT_LOG) if row.kind == rows.FACT}


@given(st.integers(0, len(KRAFT_LOG) - 1), st.integers(1, 255))
def test_flipped_byte_never_raises_and_never_gives_a_wrong_fact(at, mask):
    """The last batch has no neighbour behind it that could contradict its offset or epoch."""
    found = read(flipped(KRAFT_LOG, at, mask))
    in_last_header = len(KRAFT_LOG) - 72 <= at < len(KRAFT_LOG) - 56
    facts = {fields_of(row) for row in found if row.kind == rows.FACT}
    assert facts <= FACTS or in_last_header
    known = sum(r.to_offset - r.from_offset for r in found if r.kind == rows.RANGE)
    assert known == 1020 or in_last_header


@given(st.integers(0, len(KRAFT_LOG)))
def test_log_cut_anywhere_gives_its_first_facts(at):
    facts = [fields_of(row) for row in read(KRAFT_LOG[:at]) if row.kind == rows.FACT]
    whole = [fields_of(row) for row in read(KRAFT_LOG) if row.kind == rows.FACT]
    assert facts == whole[: len(facts)]
