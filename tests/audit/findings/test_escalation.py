"""Escalation: who can get more than the ACLs say, and what would be reached."""

from __future__ import annotations

import pytest

from aclkit.audit.findings.escalation import find_escalations
from aclkit.model.semantics import BrokerSettings
from tests.audit.findings.auditing import audit_of, subjects
from tests.factories import acl
from tests.pace import within_loops

AB = {"asked_principals": ["User:ab"]}
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
    assert found.evidence[1].endswith("; 2 principals and 7 resources are known")


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


def test_a_power_that_a_deny_takes_is_none():
    deny = cluster("ALTER", permission_type="DENY", principal="User:*")
    (found,) = find_escalations(audit_of(cluster("ALL"), deny))
    assert [line.split(":")[0] for line in found.evidence[1:]] == [
        "CLUSTER_ACTION", "ALTER_CONFIGS",
    ]  # fmt: skip
    assert not list(find_escalations(audit_of(cluster("ALTER"), deny)))
    denied = tokens("*", operation="CREATE_TOKENS", permission_type="DENY", principal="User:*")
    assert not list(find_escalations(audit_of(tokens("User:a", operation="ALL"), denied)))


def test_super_users_gain_nothing():
    rows = [cluster("ALTER", principal="User:admin"), tokens("*", principal="User:admin")]
    assert not list(find_escalations(audit_of(*rows, settings=ADMIN)))


def test_tokens_reach_what_their_users_may():
    rows = [tokens("User:a", acl_id="0"), acl(acl_id="1"), acl("b", acl_id="2")]
    (found,) = find_escalations(audit_of(*rows))
    assert (found.severity, found.subject) == ("medium", str(rows[0]))
    assert found.evidence[1:] == (f"User:a: 2 ALLOWs, the first of them {rows[1]}",)


@pytest.mark.parametrize("superpowered", ["User:admin", "User:a"])
def test_a_token_of_somebody_who_reaches_everything_is_high(superpowered):
    rows = [tokens(superpowered), cluster("ALTER", principal="User:a")]
    found = [f for f in find_escalations(audit_of(*rows, settings=ADMIN)) if "token" in f.message]
    assert [finding.severity for finding in found] == ["high"]
    assert found[0].message.endswith(f" {superpowered} has full access.")


@pytest.mark.parametrize("principal", ["User:a*", "User:*"])
def test_somebody_may_be_mighty_by_a_glob(principal):
    rows = [tokens("User:ab"), cluster("ALTER", principal=principal)]
    found = {finding.subject: finding for finding in find_escalations(audit_of(*rows, **AB))}
    assert found[str(rows[0])].severity == "high"


def test_a_token_of_somebody_whose_alter_is_denied_is_not_high():
    rows = [tokens("User:ab"), cluster("ALL", principal="User:ab")]
    rows.append(cluster("ALTER", principal="User:*", permission_type="DENY"))
    found = {finding.subject: finding for finding in find_escalations(audit_of(*rows, **AB))}
    assert found[str(rows[0])].severity == "medium"


@pytest.mark.parametrize(
    ("row", "whose"),
    [
        (tokens("User:ghost"), "can act as User:ghost: "),
        (tokens("*"), "can act as users that do not exist yet: "),
    ],
)
def test_tokens_of_users_that_nobody_knows_yet_are_said_to_be_so(row, whose):
    (found,) = find_escalations(audit_of(row))
    assert whose in found.message
    assert (found.severity, len(found.evidence)) == ("medium", 1)


def test_many_acls_on_many_users_take_no_product_of_time():
    rows = [
        tokens("*", principal=f"User:{n % 500}", host=f"10.0.{n // 250}.{n % 250}")
        for n in range(2_000)
    ]
    rows += [acl(f"t-{n}", principal=f"User:{n % 500}") for n in range(20_000)]
    with within_loops(500):
        assert len(list(find_escalations(audit_of(*rows)))) == 2_000


def test_tokens_by_pattern_reach_all_that_match_but_oneself():
    row = tokens("User:", pattern_type="PREFIXED")
    known = {"asked_principals": ["User:eve", "User:x", "User:y", "Group:z"]}
    (found,) = find_escalations(audit_of(row, **known))
    assert "can act as 2 known users: " in found.message
    assert found.evidence[1:] == ("User:x: no ALLOW names it", "User:y: no ALLOW names it")


def test_tokens_of_oneself_need_no_acl_and_are_none():
    assert not subjects(find_escalations(audit_of(tokens("User:eve"))))
    row = tokens("User:a", operation="DESCRIBE_TOKENS")
    assert not subjects(find_escalations(audit_of(row)))
