"""JSON with ACLs that is not read is named, with what to do instead."""

from __future__ import annotations

import json

import pytest

from aclkit.kafka.desired.other_json import OTHER_JSON
from tests.kafka.desired.holding import document, problems, read

CONFLUENT = {
    "principal": "User:sa-1",
    "permission": "ALLOW",
    "operation": "READ",
    "resource_type": "TOPIC",
    "resource_name": "foo",
    "pattern_type": "LITERAL",
}
NATIVE = {**CONFLUENT, "permission_type": "ALLOW", "host": "*"}
del NATIVE["permission"]


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ([CONFLUENT], "JSON as confluent kafka acl list -o json writes it"),
        (
            {"kind": "KafkaAclList", "data": [{"cluster_id": "x", "host": "*", **CONFLUENT}]},
            "the answer of /acls of Confluent's REST API",
        ),
        ({"acl": [{"permission": "read", "topic": "a*", "username": "u"}]}, "ACLs of Aiven"),
        ({"kafka_acl": [{"id": "x", **NATIVE}]}, "JSON with ACLs of Aiven"),
        (
            {"resourceType": "TOPIC", "aclEntries": [{"principal": "User:a", "operation": "READ"}]},
            "JSON with ACLs of Google Cloud",
        ),
        ([NATIVE], "JSON that aclkit writes for programs"),
        ([{"principal": "User:a", "operations": ["READ"]}], "a form that aclkit does not know"),
    ],
)
def test_each_form_is_named_once_with_what_to_do(value, form):
    (problem,) = problems(read(OTHER_JSON, json.dumps(value)))
    assert form in problem
    assert "kafka-acls --list" in problem


def test_damaged_json_has_its_line():
    (problem,) = problems(read(OTHER_JSON, json.dumps([CONFLUENT], indent=1) + "\n]"))
    assert problem.startswith("file:11: ")
    assert "damaged here" in problem


def test_no_value_of_the_file_is_shown():
    secret = {**CONFLUENT, "password": "hunter2"}
    assert "hunter2" not in "".join(problems(read(OTHER_JSON, json.dumps([secret]))))


@pytest.mark.parametrize(
    "text", ["", "principal: a\noperation: b\n", "{}", '[{"name": "x"}]', "[1"]
)
def test_other_texts_are_not_held(text):
    assert not OTHER_JSON.holds(document(text))


def test_a_text_that_must_be_read_so_is_refused_without_an_error():
    assert problems(OTHER_JSON.read(document("[" * 100_000)))[0].startswith(
        "file:1: The file is not"
    )
