"""What the remedy of each kind of finding does to ACLs, or why a person must decide."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aclkit.audit.findings import remedies
from aclkit.audit.findings.audit_input import AuditInput
from aclkit.audit.findings.registry import KINDS, find_all
from aclkit.audit.findings.remedies import advice_of
from aclkit.model.acl import Acl
from aclkit.model.findings import Finding
from aclkit.model.semantics import BrokerSettings
from aclkit.questions.remedy.change_set import Advice, ForPerson, Proposal
from aclkit.rules.names.rows import operations_of
from tests.audit.findings.test_planted import CASES, audit_sample, new

CLUSTER = new("kafka-cluster", resource_type="CLUSTER", operation="ALL")


def advice(audit: AuditInput, kind: str, subject: str) -> Advice:
    """Return the advice on one finding."""
    acls = {acl.acl_id: acl for acl in audit.acls}
    (found,) = (f for f in find_all(audit) if (f.finding, f.subject) == (kind, subject))
    return advice_of(found, acls)


def proposal(kind: str, acl: Acl, *beside: Acl, **known: object) -> Proposal:
    found = advice(audit_sample(acl, *beside, **known), kind, str(acl))
    assert isinstance(found, Proposal), found
    assert found.remove == (acl,)
    return found


def test_every_kind_has_a_remedy_or_a_reason_why_a_person_must_decide() -> None:
    groups = remedies._REVOKED, remedies._WITHOUT_EFFECT, remedies._BY_KIND.keys()
    assert set().union(*groups) == KINDS.keys()
    assert sum(map(len, groups)) == len(KINDS)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kind)
def test_what_is_planted_for_a_kind_is_what_its_remedy_is_about(case) -> None:
    audit = audit_sample(case.planted, *case.beside, **case.known)
    found = advice(audit, *case.key)
    acls = found.remove if isinstance(found, Proposal) else found.acls
    assert case.planted in acls
    if isinstance(found, Proposal):
        assert not set(acls) & {*case.beside, *found.by}


def test_an_administrator_keeps_what_lets_it_gain_nothing_more() -> None:
    found = proposal("escalation", CLUSTER)
    granted = frozenset[str]().union(*map(operations_of, found.add))
    assert granted == {"CREATE", "DESCRIBE", "DESCRIBE_CONFIGS", "IDEMPOTENT_WRITE"}
    assert {(acl.principal, acl.host) for acl in found.add} == {(CLUSTER.principal, CLUSTER.host)}
    tokens = new("User:alice", resource_type="USER", operation="ALL")
    assert [acl.operation for acl in proposal("escalation", tokens).add] == ["DESCRIBE_TOKENS"]


def test_a_finding_that_asks_to_revoke_says_so_and_one_without_effect_not() -> None:
    assert proposal("public-access", new(principal="User:*")).revokes
    wide = new("new.", pattern_type="PREFIXED")
    shadowed = proposal("allow-shadowed", new(), wide)
    assert (shadowed.revokes, shadowed.by) == (False, (wide,))


def test_a_deny_that_protects_nothing_stays_until_a_person_knows_what_it_was_for() -> None:
    deny = new("a b", permission_type="DENY")
    found = advice(audit_sample(deny), "never-matches", str(deny))
    assert isinstance(found, ForPerson)
    assert (found.acls, found.holds) == ((deny,), True)
    assert not proposal("never-matches", new("a b")).revokes


def test_a_user_that_may_come_over_tls_is_for_a_person_and_a_deleted_one_not() -> None:
    left = new(principal="User:left")
    found = advice(audit_sample(left), "orphan-principal", "User:left")
    assert isinstance(found, ForPerson)
    audit = audit_sample(left)
    gone = replace(audit.users[0], name="User:left", last_offset=9)
    again = advice(replace(audit, users=(*audit.users, gone)), "orphan-principal", "User:left")
    assert isinstance(again, Proposal)
    assert again.remove == (left,)


def test_of_several_copies_kafka_acls_cannot_remove_one() -> None:
    copies = new(acl_id="1"), new(acl_id="2")
    found = advice(audit_sample(*copies), "redundant-acl", str(copies[0]))
    assert isinstance(found, ForPerson)
    assert found.holds


def test_a_super_user_without_a_name_is_no_matter_of_acls() -> None:
    supers = BrokerSettings(super_users=frozenset({"User:ANONYMOUS"}))
    found = advice(audit_sample(settings=supers), "public-access", "User:ANONYMOUS")
    assert isinstance(found, ForPerson)
    assert found.why == "No change of ACLs ends it."


def test_a_finding_whose_acl_has_gone_since_is_for_a_person() -> None:
    found = Finding(finding="unused-grant", severity="low", subject=str(new()), message="m.",
                    fix="f.", acl_ids=("gone",))  # fmt: skip
    told = advice_of(found, {})
    assert isinstance(told, ForPerson)
    assert told.why == "No ACL of it is in force any more."
