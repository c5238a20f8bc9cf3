"""The text of kafka-dump-log: facts, what was read, and what was not."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.errors import DataError
from aclkit.pipeline.sources.dump_log import read_dump_log

DATA = Path(__file__).parents[2] / "data"
KEY = "Mg9lU+8mjPN4rDMdxz2eF5txZH2MZM4xwviYh3mGs1Y="
DUMPING = "Dumping x/00000000000000000000.log"
BOOTSTRAP = "KRaft bootstrap snapshot"
HEADER = 'SnapshotHeader {"version":0,"lastContainedLogTimestamp":1795252623507}'
FOOTER = 'SnapshotFooter {"version":0}'


def payload(kind, **data):
    body = json.dumps({"type": kind, "version": 0, "data": data}, separators=(",", ":"))
    return f"payload: {body}"


def acl(n, **changes):
    data = {"id": f"EjRWeJCrze8AAAAAAAAA{n:02d}"[:21] + "A", "resourceType": 2}
    data |= {"resourceName": f"t{n}", "patternType": 3, "principal": "User:a", "host": "*"}
    data |= {"operation": 3, "permissionType": 3}
    return payload("ACCESS_CONTROL_ENTRY_RECORD", **(data | changes))


NOOP = payload("NO_OP_RECORD")
SCRAM = payload("USER_SCRAM_CREDENTIAL_RECORD", name="u", mechanism=1, storedKey=KEY, salt=KEY)


def header(base, last, *, epoch=1, valid="true", control="false"):
    return (
        f"baseOffset: {base} lastOffset: {last} count: {last - base + 1} baseSequence: -1 "
        f"partitionLeaderEpoch: {epoch} isTransactional: false isControl: {control} "
        f"deleteHorizonMs: OptionalLong.empty position: 0 CreateTime: 1700000000000 size: 91 "
        f"magic: 2 compresscodec: none crc: 1 isvalid: {valid}"
    )


def record(offset, body):
    return (
        f"| offset: {offset} CreateTime: 1700000001000 keySize: -1 valueSize: 1 sequence: -1 "
        f"headerKeys: [] {body}"
    )


def batch(base, *bodies, **options):
    lines = [record(base + n, body) for n, body in enumerate(bodies)]
    return [header(base, base + len(bodies) - 1, **options), *lines]


def checkpoint(*bodies, end=100, footer=FOOTER):
    return [
        *("Dumping x.checkpoint", f"Snapshot end offset: {end}, epoch: 3"),
        *batch(0, HEADER, control="true"),
        *batch(1, *bodies),
        *(batch(1 + len(bodies), footer, control="true") if footer else ()),
    ]


def read(*lines):
    return list(read_dump_log([f"{line}\n" for line in lines], "s"))


def facts(rows):
    return [(r.log_offset, r.resource_name) for r in rows if r.kind == "fact"]


def ranges(rows):
    kept = [r for r in rows if r.kind == "range"]
    return [(r.fact, r.from_offset, r.to_offset, r.epoch) for r in kept]


def rejects(rows):
    return [(r.position, r.log_offset) for r in rows if r.kind == "reject"]


def read_file(name):
    with (DATA / name).open(encoding="utf-8", errors="replace") as lines:
        return list(read_dump_log(lines, name))


def test_a_real_log_gives_all_its_facts_and_one_range():
    rows = read_file("kraft-4.1-text/kafka-dump-log.txt")
    kinds = Counter(row.record_type for row in rows)
    assert kinds["ACCESS_CONTROL_ENTRY_RECORD"] == 660
    assert kinds["REMOVE_ACCESS_CONTROL_ENTRY_RECORD"] == 33
    assert kinds["TOPIC_RECORD"] == 87
    assert ranges(rows) == [("record", 0, 1020, 1)]
    assert rejects(rows) == []


def test_a_real_checkpoint_is_a_snapshot():
    rows = read_file("kraft-4.1-text/kafka-dump-checkpoint.txt")
    acls = [row for row in rows if row.record_type == "ACCESS_CONTROL_ENTRY_RECORD"]
    assert len(acls) == 630
    assert {(row.fact, row.log_offset, row.epoch) for row in acls} == {("snapshot", 915, 1)}
    assert {row.log_time.isoformat() for row in acls} == {"2026-11-21T09:17:03.507000+00:00"}
    assert ranges(rows) == [("snapshot", 0, 915, 1), ("committed", 914, 915, 1)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("basic", [("record", 0, 8, 1)]),
        ("codecs", [("record", 0, 102, 1)]),
        ("control", [("record", 0, 5, 1)]),
        ("gap", [("record", 0, 3, 1), ("record", 10, 11, 1)]),
        ("truncated", [("record", 0, 3, 1)]),
        ("txn", [("record", 0, 22, 1)]),
        ("txn_open", [("record", 0, 25, 1)]),
    ],
)
def test_what_was_read_of_a_synthetic_log(name, expected):
    rows = read_file(f"synthetic-4.2/{name}/00000000000000000000.log.dump.txt")
    assert ranges(rows) == expected
    assert len(rejects(rows)) == (name == "truncated")


def test_ranges_are_joined_within_an_epoch():
    rows = read(DUMPING, *batch(0, NOOP), *batch(1, NOOP, NOOP), *batch(3, NOOP, epoch=2))
    assert ranges(rows) == [("record", 0, 3, 1), ("record", 3, 4, 2), ("epoch", 3, 4, 2)]
    assert rows[-1].follows == 1


def test_a_fact_has_offset_epoch_and_time_of_its_record():
    (row, _) = read(DUMPING, *batch(5, acl(1), epoch=4))
    assert (row.log_offset, row.epoch) == (5, 4)
    assert row.log_time.timestamp() == 1700000001


def test_a_batch_with_a_bad_checksum_gives_no_facts():
    rows = read(DUMPING, *batch(0, acl(1)), *batch(1, acl(2), acl(3), valid="false"))
    assert facts(rows) == [(0, "t1")]
    assert ranges(rows) == [("record", 0, 1, 1), ("unreadable", 1, 3, 1)]
    assert rejects(rows) == [(4, 1)]


def test_a_record_that_the_tool_could_not_decode_is_unreadable():
    error = "payload: Error at 1, skipping. Failed to deserialize record with type 18"
    rows = read(DUMPING, *batch(0, acl(1), error, acl(2)))
    assert facts(rows) == [(0, "t1"), (2, "t2")]
    assert ranges(rows) == [("record", 0, 1, 1), ("unreadable", 1, 2, 1), ("record", 2, 3, 1)]
    assert rejects(rows) == [(4, 1)]


def test_an_error_that_only_speaks_of_an_unknown_type_may_lose_an_acl():
    error = "payload: Error at 0, skipping. bad name: x Unknown metadata id 30"
    assert ranges(read(DUMPING, *batch(0, error))) == [("unreadable", 0, 1, 1)]


@pytest.mark.parametrize(
    ("key", "is_lost"), [(30, False), (127, False), (18, True), (19, True), (24, True)]
)
def test_a_record_that_is_newer_than_the_tool_loses_no_acl(key, is_lost):
    cause = "org.apache.kafka.common.errors.UnsupportedVersionException"
    error = f"payload: Error at 1, skipping. {cause}: Unknown metadata id {key}"
    rows = read(DUMPING, *batch(0, acl(1), error, acl(2)))
    assert facts(rows) == [(0, "t1"), (2, "t2")]
    lost = [("record", 0, 1, 1), ("unreadable", 1, 2, 1), ("record", 2, 3, 1)]
    assert ranges(rows) == (lost if is_lost else [("record", 0, 3, 1)])
    (reject,) = [row for row in rows if row.kind == "reject"]
    assert reject.reason == f"unknown record type {key}: Kafka up to 4.4 has no such type"


@pytest.mark.parametrize(
    ("body", "is_lost"),
    [
        (acl(1, operation=999), True),
        (acl(1)[:-20], True),
        ("payload: {", True),
        ("", True),
        (SCRAM[:-5], False),
        (payload("TOPIC_RECORD", name=5), False),
        (payload("SHINY_RECORD"), False),
    ],
)
def test_only_a_bad_payload_that_may_be_an_acl_is_unreadable(body, is_lost):
    rows = read(DUMPING, *batch(0, body))
    assert ranges(rows) == [("unreadable" if is_lost else "record", 0, 1, 1)]
    assert rejects(rows) == [(3, 0)]


def test_a_dump_without_decoder_is_named_so():
    path = Path(__file__).parents[2] / "data" / "pasted-listings" / "dump-without-decoder.txt"
    with (
        path.open(encoding="utf-8", errors="replace") as lines,
        pytest.raises(DataError, match="--cluster-metadata-decoder is missing"),
    ):
        list(read_dump_log(lines, "dump"))


@pytest.mark.parametrize("has_lines", [True, False])
def test_a_dump_that_shows_no_payload_is_named_so(has_lines):
    lines = [*batch(0, "", ""), *batch(2, "", "")]
    kept = [line for line in lines if has_lines or line.startswith("baseOffset")]
    with pytest.raises(DataError, match="--cluster-metadata-decoder is missing"):
        read(DUMPING, *kept)


def test_a_dump_of_which_some_records_are_decoded_is_read():
    rows = read(DUMPING, *batch(0, acl(1), "payload: \x01\x02", "payload: \x01"))
    assert facts(rows) == [(0, "t1")]


def test_a_line_that_is_missing_in_its_batch_is_a_hole():
    lines = batch(0, acl(1), acl(2), acl(3))
    rows = read(DUMPING, lines[0], lines[1], lines[3])
    assert facts(rows) == [(0, "t1"), (2, "t3")]
    assert ranges(rows) == [("record", 0, 1, 1), ("unreadable", 1, 2, 1), ("record", 2, 3, 1)]


def test_a_header_that_cannot_be_read_makes_its_records_unreadable():
    rows = read(DUMPING, "baseOffset: 0 lastOffset: 0 isvalid: tr", record(0, acl(1)))
    assert facts(rows) == []
    assert ranges(rows) == [("unreadable", 0, 1, None)]


def test_a_torn_tail_is_no_hole():
    rows = read(DUMPING, *batch(0, acl(1)), "Found 75 invalid bytes at the end of x.log")
    assert ranges(rows) == [("record", 0, 1, 1)]
    assert rejects(rows) == [(4, None)]


def test_control_records_take_offsets_and_say_nothing():
    rows = read(DUMPING, *batch(0, "LeaderChange: {}", control="true"), *batch(1, acl(1)))
    assert facts(rows) == [(1, "t1")]
    assert ranges(rows) == [("record", 0, 2, 1)]


@pytest.mark.parametrize("indent", [" ", "| "])
def test_without_metadata_offsets_are_counted_and_control_records_are_blank_lines(indent):
    rows = read(DUMPING, "", f"{indent}{NOOP}", f"{indent}{acl(1)}", f"{indent}{acl(2)}")
    assert facts(rows) == [(2, "t1"), (3, "t2")]
    assert ranges(rows) == [("record", 0, 4, None)]
    assert {row.log_time for row in rows} == {None}


def test_without_metadata_a_batch_header_gives_offsets_and_time():
    rows = read(DUMPING, header(0, 0, control="true"), "", header(1, 2), f" {NOOP}", f" {acl(1)}")
    assert facts(rows) == [(2, "t1")]
    assert ranges(rows) == [("record", 0, 3, 1)]
    assert rows[0].log_time.timestamp() == 1700000000


def test_without_batch_headers_there_is_no_hole_check():
    rows = read(record(3, acl(1)), record(7, acl(2, operation="x")), record(9, acl(3)))
    assert facts(rows) == [(3, "t1"), (9, "t3")]
    assert ranges(rows) == [
        ("record", 0, 7, None),
        ("unreadable", 7, 8, None),
        ("record", 8, 10, None),
    ]


def test_records_without_offset_before_the_first_header_are_rejected():
    rows = read(f" {acl(1)}", *batch(5, acl(2)))
    assert facts(rows) == [(5, "t2")]
    assert ranges(rows) == [("record", 5, 6, 1)]
    assert rejects(rows) == [(1, None)]


def test_counting_begins_at_the_logs_starting_offset():
    rows = read(DUMPING, "Log starting offset: 40", f" {acl(1)}")
    assert facts(rows) == [(40, "t1")]
    assert ranges(rows) == [("record", 40, 41, None)]


def test_dumps_of_several_files_may_follow_each_other():
    rows = read(DUMPING, *batch(0, acl(1)), *checkpoint(acl(2)), DUMPING, *batch(1, acl(3)))
    assert facts(rows) == [(0, "t1"), (100, "t2"), (1, "t3")]
    assert [r[:3] for r in ranges(rows)] == [
        ("record", 0, 1),
        ("snapshot", 0, 100),
        ("record", 1, 2),
    ]


@pytest.mark.parametrize(
    "lines",
    [
        checkpoint(acl(1), footer=""),
        checkpoint(acl(1), acl(2)[:-9]),
        checkpoint(acl(1), "payload: Error at 2, skipping. x"),
        checkpoint(acl(1), payload("BEGIN_TRANSACTION_RECORD")),
        [*checkpoint(acl(1))[:5], *checkpoint(acl(1))[6:]],
        checkpoint(acl(1))[2:],
        [checkpoint()[0], "Snapshot end offset: 1x", *checkpoint(acl(1))[2:]],
        [*checkpoint(acl(1))[:4], *checkpoint(acl(1))[6:]],
    ],
)
def test_an_incomplete_snapshot_says_nothing(lines):
    rows = read(*lines)
    assert facts(rows) == []
    assert ranges(rows) == []
    assert any("incomplete snapshot" in row.reason for row in rows if row.kind == "reject")


@pytest.mark.parametrize("line", [BOOTSTRAP, "Snapshot end offset: 0, epoch: 0"])
def test_a_bootstrap_snapshot_is_no_state(line):
    lines = checkpoint(acl(1))
    assert read(lines[0], line, *lines[2:]) == []


def test_names_may_hold_what_looks_like_a_line():
    name = 'x\n| offset: 9 payload: {"'
    rows = read(DUMPING, *batch(0, acl(1, resourceName=name)))
    assert facts(rows) == [(0, name)]


def test_a_foreign_line_is_rejected_with_its_number():
    rows = read(DUMPING, "  1 is followed by 10", *batch(0, acl(1)))
    assert rejects(rows) == [(2, None)]
    assert facts(rows) == [(0, "t1")]


@pytest.mark.parametrize(
    "lines", [[], [""], ["hello", '{"storedKey":"' + KEY + '"}'], [acl(1)[9:]]]
)
def test_another_kind_of_file_is_refused(lines):
    with pytest.raises(DataError, match="expected the text of kafka-dump-log") as raised:
        read(*lines)
    assert KEY not in str(raised.value)


def test_no_credential_of_a_record_is_kept():
    assert KEY not in repr(read(DUMPING, *batch(0, SCRAM, SCRAM[:-3], "x" + SCRAM), SCRAM))


LINES = [DUMPING, *batch(0, acl(1), SCRAM, NOOP), f" {SCRAM}", "", *checkpoint(acl(1), SCRAM)]


@given(st.lists(st.tuples(st.sampled_from(LINES), st.integers(0, 400), st.text(max_size=3))))
def test_mutated_lines_never_fail_nor_show_a_credential(mutations):
    lines = [line[:at] + patch + line[at + 1 :] for line, at, patch in mutations]
    try:
        shown = repr(list(read_dump_log(lines, "s")))
    except DataError as error:
        shown = str(error)
    assert KEY not in shown


@given(st.lists(st.text()))
def test_any_text_is_read_or_refused(lines):
    try:
        rows = list(read_dump_log(lines, "s"))
    except DataError:
        return
    assert all(row.kind in ("fact", "range", "reject") for row in rows)


@pytest.mark.parametrize("control", ["true", "false"])
def test_invented_count_takes_no_offset_from_the_batches_behind_it(control):
    body = "LeaderChange: {}" if control == "true" else acl(0)
    inflated = header(0, 999_999, control=control)
    rows = read(DUMPING, inflated, record(0, body), *batch(1, acl(1)), *batch(2, acl(2)))
    assert ranges(rows) == [("record", 0, 3, 1)]
    (reject,) = [row for row in rows if row.kind == "reject"]
    assert (reject.log_offset, reject.reason) == (1, "1000000 records announced, 1 lines found")
