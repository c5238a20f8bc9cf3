"""who-can and what-can for people: patterns counted and said once, the most powerful first."""

from __future__ import annotations

from contextlib import closing

import pytest

from aclkit.answer.document import Sentence, Table
from aclkit.model.resource import Resource
from aclkit.model.semantics import BrokerSettings
from aclkit.questions.query.access import who_can
from aclkit.questions.query.access_answer import who_can_answer
from aclkit.questions.query.table_words import AccessRow, access_parts
from aclkit.questions.query.what_can import what_can
from aclkit.questions.query.what_can_answer import what_can_answer
from aclkit.warehouse.duck import connect
from aclkit.warehouse.published import open_warehouse
from tests.questions.query import small_warehouse as small
from tests.questions.query.small_warehouse import acl

PAYMENTS = Resource("TOPIC", "payments")
ACLS = (
    acl(1, resource_name="pay", pattern_type="PREFIXED", operation="READ"),
    acl(2, resource_name="orders", operation="WRITE"),
    acl(3, resource_type="CLUSTER", resource_name="kafka-cluster", operation="ALTER"),
    acl(4, principal="User:bob", operation="ALL"),
)


@pytest.fixture
def opened(root):
    small.build(root, ACLS, BrokerSettings())
    published = open_warehouse(str(root))
    with closing(connect(published)) as connection:
        yield connection, published, small.CLUSTER


def table_of(parts):
    (table,) = (part for part in parts if isinstance(part, Table))
    return table


def sentences(parts):
    return [part.text for part in parts if isinstance(part, Sentence)]


def what_rows(opened, principal):
    answer = what_can_answer(what_can(*opened, principal), principal, "ALLOWED")
    return list(table_of(answer.parts()).rows)


def test_a_pattern_counts_the_known_names_and_they_are_not_repeated(opened):
    about = [row[0] for row in what_rows(opened, "User:alice")]
    assert [name for name in about if "pay" in name] == ["topic:pay* (2 topics)"]


def test_what_a_principal_can_do_has_the_most_powerful_first(opened):
    assert [row[0] for row in what_rows(opened, "User:alice")] == [
        "cluster", "topic:orders", "topic:pay* (2 topics)",
    ]  # fmt: skip


def test_what_a_principal_can_do_begins_with_counts_of_known_resources(opened):
    answer = what_can_answer(what_can(*opened, "User:alice"), "User:alice", "ALLOWED")
    (first, *_) = sentences(answer.parts())
    assert first == "User:alice can access the cluster and 3 topics."


def test_who_can_do_something_has_the_most_powerful_first(opened):
    answer = who_can_answer(who_can(*opened, "ANY", PAYMENTS), "ANY", PAYMENTS, "ALLOWED")
    assert [row[0] for row in table_of(answer.parts()).rows] == ["User:bob", "User:alice"]
    assert sentences(answer.parts())[0] == "2 principals can access topic:payments."


def test_that_no_principal_can_is_a_sentence_and_no_table(opened):
    free = Resource("TOPIC", "free")
    answer = who_can_answer(who_can(*opened, "READ", free), "READ", free, "ALLOWED")
    assert list(answer.parts()) == [Sentence("No principal can READ topic:free.")]


def row(name, hosts, because="ALLOW READ"):
    return AccessRow(name, "READ", "ALLOWED", hosts, because)


def test_the_hosts_that_most_rows_have_are_said_once():
    rows = [row("User:a", "10.0.0.1"), row("User:b", "10.0.0.1"), row("User:c", "10.0.0.2")]
    said, table = access_parts("principal", rows, has_decision=False, has_operations=False)
    assert said == Sentence("Client address: 10.0.0.1, unless a row names others.")
    assert [cells[-1] for cells in table.rows] == [
        "ALLOW READ", "ALLOW READ", "ALLOW READ from 10.0.0.2",
    ]  # fmt: skip


def test_hosts_that_all_rows_have_hold_without_exception():
    said, _ = access_parts("principal", [row("User:a", "10.0.0.1")], has_decision=False)
    assert said == Sentence("Client address: 10.0.0.1.")


EVERY = {"principal": "User:*", "resource_name": "payments"}


@pytest.mark.parametrize(
    ("acls", "first"),
    [
        (
            [acl(1, **EVERY)],
            "Every client can READ topic:payments: 5 known principals, and all that no ACL names.",
        ),
        (
            [acl(1, **EVERY), acl(2, principal="User:bob", permission_type="DENY")],
            "Every client can READ topic:payments, except 1 of 5 known principals.",
        ),
        (
            [acl(1, **EVERY, host="10.0.0.1")],
            "Every client can READ topic:payments from some hosts: 5 known principals, and all "
            "that no ACL names.",
        ),
        ([acl(1)], "1 principal can READ topic:payments."),
    ],
)
def test_the_first_line_is_that_every_client_can(tmp_path, acls, first):
    small.build(tmp_path / "w", acls, BrokerSettings())
    published = open_warehouse(str(tmp_path / "w"))
    with closing(connect(published)) as connection:
        found = who_can(connection, published, small.CLUSTER, "READ", PAYMENTS)
        answer = who_can_answer(found, "READ", PAYMENTS, "ALLOWED")
        assert sentences(answer.parts())[0] == first
