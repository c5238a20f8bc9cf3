"""JSON lines with records of the metadata log."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.errors import DataError
from aclkit.pipeline.sources.records import read_records

KEY = "Mg9lU+8mjPN4rDMdxz2eF5txZH2MZM4xwviYh3mGs1Y="
ID = "EjRWeJCrze8AAAAAAAAAAQ"


def line(kind="RemoveAccessControlEntryRecord", data=None, **more):
    body = {**more, "type": kind, "version": 0, "data": {"id": ID} if data is None else data}
    return json.dumps(body)


def at(offset, **more):
    return line(offset=offset, timestamp=1_700_000_000_000, **more)


def noop(**more):
    return line("NO_OP_RECORD", {}, **more)


def read(*lines):
    return list(read_records([f"{text}\n" for text in lines], "s"))


def facts(rows):
    return [row.log_offset for row in rows if row.kind == "fact"]


def ranges(rows):
    kept = [r for r in rows if r.kind == "range"]
    assert {row.epoch for row in kept} <= {None}
    return [(r.fact, r.from_offset, r.to_offset) for r in kept]


def rejects(rows):
    return [(row.position, row.log_offset) for row in rows if row.kind == "reject"]


def test_a_line_gives_a_fact_with_offset_time_and_epoch():
    row, _ = read(at(12, epoch=3))
    assert (row.log_offset, row.epoch, row.acl_id) == (12, 3, ID)
    assert row.log_time.timestamp() == 1_700_000_000
    assert row.record_type == "REMOVE_ACCESS_CONTROL_ENTRY_RECORD"


def test_there_is_no_hole_check():
    assert ranges(read(at(3), at(90))) == [("record", 0, 91)]


def test_without_offsets_every_non_blank_line_counts():
    rows = read(noop(), "", line(), "garbage", line())
    assert facts(rows) == [1, 3]
    assert rejects(rows) == [(4, 2)]
    assert ranges(rows) == [("record", 0, 2), ("unreadable", 2, 3), ("record", 3, 4)]


def test_lines_without_offset_are_rejected_where_others_state_one():
    rows = read(line(), "garbage", at(5), line(), at(6))
    assert facts(rows) == [5, 6]
    assert rejects(rows) == [(1, None), (2, None), (4, None)]
    assert ranges(rows) == [("record", 0, 7)]


@pytest.mark.parametrize(
    "bad",
    [
        at(1, data={}),
        at(1)[:-4],
        at(1, data={"id": 5}),
        line(offset=1, timestamp=10**30),
        line(offset=1, timestamp=-1),
        line(offset=1, timestamp=True),
        line(offset=1, epoch="x"),
        at(1).replace('"version": 0', '"version": NaN'),
        at(1).replace('"version": 0', '"version": 0, "version": 0'),
        at(1).replace('"version": 0', '"version": ' + "9" * 5_000),
    ],
)
def test_a_bad_line_that_may_be_an_acl_makes_its_offset_unreadable(bad):
    rows = read(at(0), bad, at(2))
    assert facts(rows) == [0, 2]
    assert rejects(rows) == [(2, 1)]
    assert ranges(rows) == [("record", 0, 1), ("unreadable", 1, 2), ("record", 2, 3)]


def test_a_bad_line_of_another_record_loses_no_acl():
    rows = read(at(0), line("TOPIC_RECORD", {"name": 5}, offset=1), at(2))
    assert rejects(rows) == [(2, 1)]
    assert ranges(rows) == [("record", 0, 3)]


@pytest.mark.parametrize("offset", [-1, 2**63, "1", 1.0, True, None])
def test_a_bad_offset_is_a_reject(offset):
    rows = read(at(0), line(offset=offset))
    assert rejects(rows) == [(2, None)]
    assert ranges(rows) == [("record", 0, 1)]


def test_an_unreadable_line_beyond_the_last_fact_does_not_stretch_what_was_read():
    rows = read(at(0), '{"offset": 900, "type')
    assert ranges(rows) == [("record", 0, 1), ("unreadable", 900, 901)]


@pytest.mark.parametrize("lines", [[], [""], ["offset,type"], ["[1]", "5"], ["[" * 99_999]])
def test_a_file_without_any_json_object_is_another_kind(lines):
    with pytest.raises(DataError, match="expected JSON lines"):
        read(*lines)


def test_no_credential_is_kept():
    scram = line("UserScramCredentialRecord", {"name": "u", "mechanism": 1, "storedKey": KEY})
    rows = read(scram, scram[:-1], scram.replace("1", "x"), f"x{scram}")
    assert facts(rows) == [0]
    assert KEY not in repr(rows)


GOOD = [at(0), line(), line("UserScramCredentialRecord", {"name": "u", "storedKey": KEY})]


@given(st.lists(st.tuples(st.sampled_from(GOOD), st.integers(0, 200), st.text(max_size=3))))
def test_mutated_lines_never_fail_nor_show_a_credential(mutations):
    lines = [text[:at] + patch + text[at + 1 :] for text, at, patch in mutations]
    try:
        shown = repr(list(read_records(lines, "s")))
    except DataError as error:
        shown = str(error)
    assert KEY not in shown


@given(st.lists(st.binary()))
def test_any_bytes_are_read_or_refused(lines):
    texts = [raw.decode("utf-8", "replace") for raw in lines]
    try:
        rows = read(*texts)
    except DataError:
        return
    assert all(row.source == "s" for row in rows)
