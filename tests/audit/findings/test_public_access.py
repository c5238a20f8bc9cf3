"""What everybody may do is found, with its severity."""

from __future__ import annotations

import pytest

from aclkit.audit.findings.public_access import find_public_access
from aclkit.model.semantics import KAFKA, BrokerSettings
from tests.audit.findings.auditing import audit_of, subjects
from tests.factories import acl


@pytest.mark.parametrize(
    ("fields", "severity"),
    [
        ({"principal": "User:*"}, "high"),
        ({"principal": "User:ANONYMOUS"}, "high"),
        ({"principal": "*:*"}, "high"),
        ({"principal": "User:"}, "high"),
        ({"principal": "User:A*"}, "high"),
        ({"principal": "User:*", "host": "**"}, "high"),
        ({"principal": "User:*", "host": "10.0.0.1"}, "medium"),
        ({"principal": "User:*", "host": "10.*"}, "medium"),
        ({"principal": "User:*", "operation": "DESCRIBE"}, "low"),
        ({"principal": "User:*", "operation": "DESCRIBE_CONFIGS", "host": "10.0.0.1"}, "low"),
    ],
)
def test_an_allow_for_everybody_or_anonymous_is_public(fields, severity):
    planted = acl(**fields)
    (found,) = find_public_access(audit_of(acl(), planted))
    assert (found.finding, found.severity, found.subject, found.acl_ids) == (
        "public-access",
        severity,
        str(planted),
        (planted.acl_id,),
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"principal": "User:a"},
        {"principal": "User:a*"},
        {"principal": "Group:*"},
        {"principal": "*"},
        {"principal": "User:*", "permission_type": "DENY"},
        {"principal": "User:*", "permission_type": "UNKNOWN(7)"},
    ],
)
def test_an_acl_for_some_or_a_deny_is_not_public(fields):
    assert not list(find_public_access(audit_of(acl(**fields))))


def test_to_kafka_only_the_exact_wildcard_is_everybody():
    rows = [acl(principal=text) for text in ("*:*", "User:", "User:**", "User:*", "User:A*")]
    found = find_public_access(audit_of(*rows, semantics=KAFKA))
    assert subjects(found) == [str(rows[3])]


def test_what_can_never_match_is_not_public():
    rows = [
        acl("*", pattern_type="PREFIXED", principal="User:*"),
        acl(operation="CLUSTER_ACTION", principal="User:*"),
        acl(host="::1", principal="User:*"),
    ]
    assert not list(find_public_access(audit_of(*rows)))


def test_what_denies_leave_of_a_public_allow_says_how_bad_it_is():
    allow = acl(principal="User:*")
    deny = acl("ord", pattern_type="PREFIXED", principal="User:*", permission_type="DENY")
    (found,) = find_public_access(audit_of(allow, deny))
    assert (found.subject, found.severity) == (str(allow), "low")


def test_a_nameless_super_user_is_public_access_to_everything():
    anonymous = BrokerSettings(super_users=frozenset({"User:ANONYMOUS", "User:admin"}))
    row = acl(principal="User:ANONYMOUS")
    (found,) = find_public_access(audit_of(row, settings=anonymous))
    assert (found.severity, found.subject, found.acl_ids) == ("high", "User:ANONYMOUS", ())
    assert "super user" in found.message


def test_the_fix_names_the_super_user_that_is_to_go():
    settings = BrokerSettings(super_users=frozenset({"User:ANONYMOUS", "User:admin"}))
    row = acl(principal="User:ANONYMOUS")
    (found,) = find_public_access(audit_of(row, settings=settings))
    assert "User:ANONYMOUS" in found.fix
    assert "User:admin" not in found.fix
