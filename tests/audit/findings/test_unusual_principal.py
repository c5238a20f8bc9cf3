"""Principals that Kafka's own builder never makes are found, and no others."""

from __future__ import annotations

import pytest

from aclkit.audit.findings.never_matches import find_unusual_principals
from aclkit.model.acl import acl_words
from aclkit.model.semantics import KAFKA, KIP_1042
from tests.audit.findings.auditing import audit_of
from tests.factories import acl

UNUSUAL = {
    "Group:ops": "clients have principals of the type User, not 'Group'",
    "Regex:svc-.*": "clients have principals of the type User, not 'Regex'",
    "user:alice": "clients have principals of the type User, not 'user'",
    ":alice": "clients have principals of the type User, not ''",
    "User:alice ": "the principal's name starts or ends with white space",
    "User:\talice": "the principal's name starts or ends with white space",
    "User:": "the principal's name is empty",
    "User:CN=a, OU=b": "brokers write the name as 'CN=a,OU=b'",
    "User:cn=a,o=b": "brokers write the name as 'CN=a,O=b'",
    "User:serialNumber=1,CN=a": "brokers write the name as '2.5.4.5=#130131,CN=a'",
}
USUAL = ("User:*", "User:alice", "User:a b", "User:CN=a,OU=b", "User:a=b", "User:l=1", "User:cn=a",
         "User:E=a", "User:ANONYMOUS", "User:svc-*", "alice")  # fmt: skip


def found(*principals, semantics=KAFKA, **fields):
    rows = [acl(principal=principal, **fields) for principal in principals]
    return list(find_unusual_principals(audit_of(*rows, semantics=semantics)))


@pytest.mark.parametrize(("principal", "reason"), UNUSUAL.items())
def test_a_principal_that_no_builder_of_kafka_makes_is_found_with_the_reason(principal, reason):
    (finding,) = found(principal)
    assert finding.message == f"{acl_words(acl(principal=principal))} grants nothing: {reason}."
    assert finding.severity == "low"


def test_a_deny_for_such_a_principal_weighs_more_for_it_protects_nothing():
    (finding,) = found("Group:ops", permission_type="DENY")
    assert finding.severity == "medium"
    assert finding.message.startswith(
        "DENY READ on topic orders for Group:ops from any host protects nothing: "
    )


@pytest.mark.parametrize("principal", USUAL)
def test_a_principal_that_a_client_may_have_is_no_finding(principal):
    assert found(principal) == []


def test_a_wildcard_principal_of_kip_1042_is_no_finding():
    assert found("*:ops", ":ops", "User:", "User:a? ", semantics=KIP_1042) == []
    assert len(found("*:ops", ":ops", "User:", "User:a? ", semantics=KAFKA)) == 4


def test_there_are_no_such_findings_where_a_principal_builder_is_configured():
    audit = audit_of(*(acl(principal=principal) for principal in UNUSUAL), has_builder=True)
    assert list(find_unusual_principals(audit)) == []
