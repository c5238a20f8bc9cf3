"""A file of records adds and removes; a listing is the whole new state."""

from __future__ import annotations

import gzip
import json

import pytest

from aclkit.errors import DataError, UsageError
from aclkit.kafka.acls.text import render_list
from aclkit.kafka.desired.read import Asked
from aclkit.questions.preview import desired_forms
from aclkit.questions.read_state import Files, read_state
from tests.factories import acl
from tests.questions.difference.world import state

ID = "Tm1nLPTKSaCPIAJlEST_Kw"
OTHER = "eLv9uS0WQB-2oX75QlEi6Q"


def add(acl_id=ID, name="t", principal="User:a"):
    return {
        "type": "ACCESS_CONTROL_ENTRY_RECORD", "version": 0,
        "data": {"id": acl_id, "resourceType": 2, "resourceName": name, "patternType": 3,
                 "principal": principal, "host": "*", "operation": 3, "permissionType": 3},
    }  # fmt: skip


def remove(acl_id=ID):
    return {"type": "REMOVE_ACCESS_CONTROL_ENTRY_RECORD", "version": 0, "data": {"id": acl_id}}


def mark(kind):
    return {"type": f"{kind}_TRANSACTION_RECORD", "version": 0, "data": {}}


@pytest.fixture
def change_of(tmp_path):
    def read(content, *acls):
        path = tmp_path / "change"
        if not isinstance(content, str | bytes):
            content = "".join(json.dumps(record) + "\n" for record in content)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_state(Files([str(path)], Asked(allows_empty=True), onto=state(acls)))

    return read


def test_records_add_and_remove_in_their_order(change_of):
    there = acl("u", acl_id=OTHER)
    change = change_of([add(), remove(OTHER)], there)
    assert {a.resource_name for a in change.acls.values()} == {"t"}
    assert change.notes == []
    assert not change_of([add(), remove()]).acls


def test_records_that_change_nothing_are_said(change_of):
    change = change_of([add(), remove(OTHER)], acl("t", acl_id=ID))
    assert set(change.acls) == {ID}
    assert change.notes == [
        f"Offset 0 adds an ACL that already exists: {ID}.",
        f"Offset 1 removes an ACL that does not exist: {OTHER}.",
    ]


def test_records_of_an_aborted_or_open_transaction_have_no_effect(change_of):
    change = change_of([mark("BEGIN"), add(), mark("ABORT"), mark("BEGIN"), add(OTHER)])
    assert not change.acls
    assert change.notes == [
        "Offset 1 has no effect: its transaction is aborted.",
        "Offset 4 has no effect: its transaction is open.",
    ]


def test_a_transaction_record_out_of_place_is_said(change_of):
    change = change_of([add(), mark("END")])
    assert set(change.acls) == {ID}
    assert change.notes == ["Offset 1: END_TRANSACTION_RECORD without a transaction."]


@pytest.mark.parametrize("has_transaction", [False, True])
def test_records_of_other_things_change_nothing(change_of, has_transaction):
    data = {"name": "t", "topicId": ID}
    records = [{"type": "TOPIC_RECORD", "version": 0, "data": data}, add()]
    if has_transaction:
        records = [mark("BEGIN"), *records, mark("END")]
    change = change_of(records)
    assert set(change.acls) == {ID}
    assert change.notes == []


def test_records_of_a_transaction_take_effect_at_its_end(change_of):
    change = change_of([mark("BEGIN"), add(), mark("END")])
    assert set(change.acls) == {ID}


def test_a_change_set_of_utf_16_is_read_as_the_same_of_utf_8(change_of):
    text = json.dumps(add(principal="User:J\u00f6rg"), ensure_ascii=False)
    listing = "\n".join(render_list([acl("t", principal="User:J\u00f6rg")]))
    for content in (text, listing):
        change = change_of(f"\ufeff{content}".encode("utf-16-le"))
        assert [a.principal for a in change.acls.values()] == ["User:J\u00f6rg"]


def test_a_name_of_other_bytes_than_utf_8_becomes_no_other_name(change_of):
    text = json.dumps(add(principal="User:J\u00f6rg"), ensure_ascii=False)
    listing = "\n".join(render_list([acl("t", principal="User:J\u00f6rg")]))
    for content in (text, listing):
        with pytest.raises(DataError, match=r":[12]: .*not UTF-8"):
            change_of(content.encode("latin-1"))


def test_a_listing_of_some_principals_is_no_new_state(change_of):
    listing = render_list([acl("t", principal="User:a")], ["User:a"])
    with pytest.raises(DataError, match="kafka-acls --list without --principal"):
        change_of("\n".join(listing))


def test_a_listing_is_the_whole_new_state_and_ids_stay(change_of):
    stays, goes, comes = acl("a", acl_id="1"), acl("b", acl_id="2"), acl("c", acl_id="3")
    text = "\n".join(render_list([stays, comes])) + "\n"
    after = change_of(text, stays, goes).acls
    assert {a.binding for a in after.values()} == {stays.binding, comes.binding}
    assert after["1"] == stays


def test_an_empty_file_is_a_cluster_without_acls_and_says_so(change_of):
    change = change_of("", acl("a"))
    assert not change.acls
    assert "read as a listing of a cluster without ACLs" in change.notes[0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("hello\n", "it holds no known format of ACLs. Formats: .*acls-list"),
        (json.dumps(add()) + "\n{nonsense\n", ":2: not JSON"),
        (
            json.dumps(add()) + '\n{"type":"SOMETHING"}\n',
            ":2: unknown record type SOMETHING: Kafka up to 4.4",
        ),
    ],
)
def test_a_line_that_cannot_be_used_is_an_error(change_of, content, message):
    with pytest.raises(DataError, match=message):
        change_of(content)


def test_a_missing_file_makes_no_sense(tmp_path):
    with pytest.raises(UsageError, match="the file does not exist"):
        read_state(Files([str(tmp_path / "none")], Asked(), onto=state([])))


def test_records_behind_a_byte_order_mark_are_records(change_of):
    assert len(change_of("\ufeff" + json.dumps(add()) + "\n").acls) == 1


def test_a_packed_file_is_unpacked_no_further_than_a_plain_one_is_read(tmp_path, monkeypatch):
    path = tmp_path / "change.jsonl.gz"
    content = json.dumps(add()).encode() + b"\n"
    path.write_bytes(gzip.compress(content))
    assert len(read_state(Files([str(path)], Asked(), onto=state([]))).acls) == 1
    monkeypatch.setattr(desired_forms, "LARGEST_DATA", 1_000)
    path.write_bytes(gzip.compress(content + b" " * 100_000))
    with pytest.raises(UsageError, match="unpacked: expected a file of at most 1,000 bytes"):
        read_state(Files([str(path)], Asked(), onto=state([])))
    path.write_bytes(gzip.compress(content)[:-20])
    with pytest.raises(UsageError, match=r"gz: cannot be unpacked: "):
        read_state(Files([str(path)], Asked(), onto=state([])))
