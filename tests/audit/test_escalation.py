"""Escalation: who can get more than the ACLs say, and what would be reached."""

from __future__ import annotations

import pytest

from aclkit.audit.escalation import find_escalations
from aclkit.model.semantics import BrokerSettings
from tests.audit.auditing import audit_of, subjects
from tests.factories import acl

ADMIN = BrokerSettings(super_users=frozenset({"User:admin"}))


def cluster(operation, **fields):
    name = fields.pop("resource_name", "kafka-cluster")
    return acl(name, resource_type="CLUSTER", operation=operation, **fields)


def tokens(name, **fields):
    fields = {"operation": "CREATE_TOKENS", "principal": "User:eve"} | fields
    return acl(name, resource_type="USER", **fields)


@pytest.mark.parametrize(
    ("operation", "severity"),
    [
        ("ALTER", "high"),
        ("ALL", "high"),
        ("CLUSTER_ACTION", "high"),
        ("ALTER_CONFIGS", "medium"),
    ],
)
def test_operations_on_the_cluster_that_are_worth_more(operation, severity):
    known = {"asked_principals": ["User:a", "User:b"], "resource_count": 7}
    (found,) = find_escalations(audit_of(cluster(operation), **known))
    assert (found.finding, found.severity) == ("escalation", severity)
    assert "2 principals and 7 resources" in found.message


@pytest.mark.parametrize("operation", ["CREATE", "DESCRIBE", "IDEMPOTENT_WRITE"])
def test_other_operations_on_the_cluster_are_not(operation):
    assert not list(find_escalations(audit_of(cluster(operation))))


def test_an_all_on_the_cluster_tells_all_three_powers():
    (found,) = find_escalations(audit_of(cluster("ALL", resource_name="*")))
    assert len(found.evidence) == 4
    assert [line.split(":")[0] for line in found.evidence[1:]] == [
        "ALTER", "CLUSTER_ACTION", "ALTER_CONFIGS",
    ]  # fmt: skip


def test_what_does_not_reach_the_cluster_or_is_denied_gives_nothing():
    rows = [
        cluster("ALTER", resource_name="other"),
        cluster("ALTER", permission_type="DENY"),
        cluster("ALTER"),
        cluster("DESCRIBE", permission_type="DENY"),
    ]
    assert not list(find_escalations(audit_of(*rows)))


def test_super_users_gain_nothing():
    rows = [cluster("ALTER", principal="User:admin"), tokens("*", principal="User:admin")]
    assert not list(find_escalations(audit_of(*rows, settings=ADMIN)))


def test_tokens_reach_what_their_users_may():
    rows = [tokens("User:a", acl_id="0"), acl(acl_id="1"), acl("b", acl_id="2")]
    (found,) = find_escalations(audit_of(*rows))
    assert (found.severity, found.subject) == ("medium", str(rows[0]))
    assert found.evidence[1:] == (f"User:a: 2 ALLOWs, the first of them {rows[1]}",)


@pytest.mark.parametrize("mighty", ["User:admin", "User:a"])
def test_a_token_of_somebody_who_reaches_everything_is_high(mighty):
    rows = [tokens(mighty), cluster("ALTER", principal="User:a")]
    found = [f for f in find_escalations(audit_of(*rows, settings=ADMIN)) if "token" in f.message]
    assert [finding.severity for finding in found] == ["high"]
    assert f"{mighty} can reach everything" in found[0].message


def test_tokens_by_pattern_reach_all_that_match_but_oneself():
    row = tokens("User:", pattern_type="PREFIXED")
    known = {"asked_principals": ["User:eve", "User:x", "User:y", "Group:z"]}
    (found,) = find_escalations(audit_of(row, **known))
    assert "2 known users" in found.message
    assert found.evidence[1:] == ("User:x: no ALLOW names it", "User:y: no ALLOW names it")


def test_tokens_of_oneself_need_no_acl_and_are_none():
    assert not subjects(find_escalations(audit_of(tokens("User:eve"))))
    row = tokens("User:a", operation="DESCRIBE_TOKENS")
    assert not subjects(find_escalations(audit_of(row)))
