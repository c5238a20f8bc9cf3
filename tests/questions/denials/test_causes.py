"""Why an access is refused, by the ACLs of today and before."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from aclkit.model.resource import Resource
from aclkit.model.semantics import KAFKA, BrokerSettings
from aclkit.questions.denials.answer import denial_words, denials_answer, reason_words, summary
from aclkit.questions.denials.causes import (
    ALLOWED_NOW,
    DENIED_BY,
    LISTING,
    NO_ACL,
    NO_NAME,
    REMOVED,
    Facts,
    Refused,
    explain_denial,
)
from aclkit.questions.query.lifetimes import Lifetime
from aclkit.rules.decide.index import AclIndex
from tests.factories import acl

DAY = datetime(2026, 11, 20, tzinfo=UTC)


def refused(operation="READ", requests=("Fetch",), hosts=("10.0.0.1",), kind="TOPIC", **more):
    return Refused(
        principal="User:a",
        operation=operation,
        resource=Resource(kind, "orders"),
        requests=requests,
        hosts=hosts,
        lines=5,
        days=1,
        first_at=DAY,
        last_at=DAY,
        **{"is_new": False, **more},
    )


def facts(*acls, removed=(), topics=("orders",)):
    lives = [
        Lifetime(
            acl=each,
            added_offset=1,
            effective_offset=1,
            added_at=None,
            added_by="record",
            removed_offset=offset,
            removed_at=DAY,
        )
        for offset, each in removed
    ]
    return Facts(
        index=AclIndex.of(acls, KAFKA),
        removed=lives,
        settings=BrokerSettings(),
        semantics=KAFKA,
        topics=topics,
    )


def test_without_any_acl_the_smallest_one_is_proposed():
    found = explain_denial(refused(), facts())
    assert (found.cause, found.acl) == (NO_ACL, None)
    assert (found.least.principal, found.least.host, found.least.operation) == (
        "User:a", "10.0.0.1", "READ",
    )  # fmt: skip


def test_for_several_hosts_the_smallest_acl_is_for_any_host():
    assert explain_denial(refused(hosts=("10.0.0.1", "10.0.0.2")), facts()).least.host == "*"


def test_the_last_acl_that_allowed_it_and_was_removed_is_named():
    old, last = acl("orders"), acl("*", principal="User:*")
    found = explain_denial(refused(), facts(removed=[(90, last), (50, old)]))
    assert (found.cause, found.acl, found.removed_offset) == (REMOVED, last, 90)
    assert "was removed at offset 90 (2026-11-20)" in reason_words(found)


@pytest.mark.parametrize(
    "other",
    [
        acl("orders", host="10.9.9.9"),
        acl("orders", operation="WRITE"),
        acl("orders", principal="User:b"),
        acl("invoices"),
        acl("orders.", pattern_type="PREFIXED"),
        acl("orders", resource_type="GROUP"),
        acl("orders", permission_type="DENY"),
    ],
    ids=str,
)
def test_a_removed_acl_that_did_not_allow_it_is_not_the_cause(other):
    assert explain_denial(refused(), facts(removed=[(90, other)])).cause == NO_ACL


def test_a_deny_is_the_cause_and_no_acl_is_proposed():
    deny = acl("orders", permission_type="DENY")
    found = explain_denial(refused(), facts(deny, acl("orders"), removed=[(9, acl("orders"))]))
    assert (found.cause, found.acl, found.least) == (DENIED_BY, deny, None)


def test_a_topic_that_does_not_exist_is_told():
    assert explain_denial(refused(), facts(topics=())).cause == NO_NAME


def test_of_groups_it_is_not_known_whether_they_exist():
    found = explain_denial(refused(kind="GROUP", requests=("JoinGroup",)), facts(topics=()))
    assert (found.cause, found.exists) == (NO_ACL, None)


def test_what_is_allowed_from_every_host_by_now_is_told_apart():
    assert explain_denial(refused(), facts(acl("orders"))).cause == ALLOWED_NOW


def test_what_is_still_refused_from_one_of_the_hosts_counts():
    one = acl("orders", host="10.0.0.1")
    found = explain_denial(refused(hosts=("10.0.0.1", "10.0.0.2")), facts(one))
    assert found.cause == NO_ACL


@pytest.mark.parametrize(
    ("operation", "requests", "cause"),
    [
        ("DESCRIBE", ("Metadata",), LISTING),
        ("DESCRIBE", ("FindCoordinator", "Metadata"), LISTING),
        ("DESCRIBE", ("Metadata", "ListOffsets"), NO_ACL),
        ("READ", ("Fetch",), NO_ACL),
    ],
)
def test_only_describe_by_listings_is_a_listing(operation, requests, cause):
    assert explain_denial(refused(operation, requests), facts()).cause == cause


def test_the_answer_counts_accesses_principals_and_what_is_new():
    denials = [explain_denial(refused(is_new=True), facts()), explain_denial(refused(), facts())]
    assert summary(denials) == "2 accesses of 1 principal refused, 1 of them new."
    assert summary([]) == "No access is refused."
    assert denial_words(denials[0].refused) == (
        "User:a: READ on topic:orders (Fetch), 5 times from 10.0.0.1, on 2026-11-20"
    )


def test_rows_have_a_cell_for_each_column():
    answer = denials_answer([explain_denial(refused(), facts())], [])
    (row,) = answer.rows
    assert len(row) == len(answer.columns)
