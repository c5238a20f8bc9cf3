"""What the User Operator removes besides, where it stops, and users that several files have."""

from __future__ import annotations

import pytest

from aclkit.kafka.desired.kafka_user import read
from aclkit.kafka.desired.model import Document, Owner, Place
from aclkit.kafka.desired.user_operator import (
    operator_cannot_read,
    operator_removes,
    users_twice,
)
from tests.factories import acl

LABELS = "labels: {strimzi.io/cluster: village}"


def user(metadata=f"name: mill, {LABELS}"):
    head = "apiVersion: kafka.strimzi.io/v1\nkind: KafkaUser\n"
    return f"{head}metadata: {{{metadata}}}\nspec: {{}}\n"


def principals(*names):
    return [acl("t", principal=name, acl_id="") for name in names]


def test_an_operator_removes_acls_of_users_without_kafka_user():
    owner = Owner(("User:mill", "User:CN=mill"), Place("f", 1))
    acls = principals("User:mill", "User:CN=mill", "User:stranger", "User:CN=stranger")
    assert [each.principal for each in operator_removes([owner], acls)] == [
        "User:stranger",
        "User:CN=stranger",
    ]


@pytest.mark.parametrize(
    "name",
    ["User:*", "User:ANONYMOUS", "User:CN=ANONYMOUS", "Group:a", "User:CN=a,O=b", "User:O=b,CN=a"],
)
def test_an_operator_leaves_acls_of_other_principals(name):
    assert not operator_removes([], principals(name))


def test_an_operator_leaves_the_acls_of_a_paused_user():
    annotation = 'annotations: {strimzi.io/pause-reconciliation: "true"}'
    part = read(Document("users.yaml", user(f"name: mill, {LABELS}, {annotation}")))
    acls = principals("User:mill", "User:CN=mill", "User:stranger")
    owners = [*part.owners, *part.untouched]
    assert [each.principal for each in operator_removes(owners, acls)] == ["User:stranger"]


def test_an_operator_stops_at_acls_that_strimzi_has_no_words_for():
    odd = [
        acl("t", resource_type="DELEGATION_TOKEN"),
        acl("t", resource_type="USER"),
        acl("t", operation="TWO_PHASE_COMMIT"),
        acl("t", pattern_type="GLOB"),
    ]
    other = [acl("t"), acl("t", resource_type="USER", principal="Group:a")]
    assert operator_cannot_read([*odd, *other]) == odd


def test_a_user_in_two_files_is_a_problem_that_names_both():
    one, other = (read(Document(name, user())) for name in ("a.yaml", "b.yaml"))
    third = read(Document("c.yaml", user("name: mill, labels: {strimzi.io/cluster: b}")))
    assert [str(problem) for problem in users_twice([one, third, other])] == [
        "b.yaml:1: The KafkaUser 'mill' is in a.yaml:1 too. Remove one of them"
    ]


@pytest.mark.parametrize(("one", "other"), [("", LABELS), (LABELS, ""), ("", "")])
def test_a_document_without_cluster_may_be_a_patch_of_another_file(one, other):
    parts = [
        read(Document(name, user(f"name: mill, {labels}")))
        for name, labels in (("a.yaml", one), ("b.yaml", other))
    ]
    assert [problem.place.file for problem in users_twice(parts)] == ["b.yaml"]
