"""All remedies of a night, followed together, take away nothing but what its findings name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aclkit.audit.findings.audit_input import AuditInput
from aclkit.audit.findings.redundant import covers_of, find_redundant, find_shadowed, reasons_to_go
from aclkit.audit.findings.registry import find_all
from aclkit.model.semantics import KAFKA
from aclkit.rules.decide.confirm import Comparison
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import Rules
from tests.audit.findings.auditing import audit_of
from tests.audit.findings.test_every_name import systems
from tests.audit.findings.test_planted import audit_sample
from tests.factories import acl

NEEDLESS = ("redundant-acl", "allow-shadowed", "deny-shadowed")
TO_GO = ("public-access", "escalation", "inherited-access", "over-broad", "any-host",
         "orphan-resource", "orphan-principal", "unusual-principal")  # fmt: skip


def unwanted(audit: AuditInput) -> frozenset[str]:
    """Return the ACLs that a finding asks to remove or narrow; DENYs are asked for by none."""
    return frozenset(a.acl_id for a in audit.acls if a.is_allow and reasons_to_go(audit)(a))


def needless(audit: AuditInput) -> frozenset[str]:
    return frozenset(f.acl_ids[0] for f in find_all(audit) if f.finding in NEEDLESS)


def without(audit: AuditInput, gone: frozenset[str]) -> Rules:
    kept = tuple(each for each in audit.acls if each.acl_id not in gone)
    return Rules(acls=kept, settings=audit.settings, semantics=audit.semantics)


@pytest.mark.parametrize("semantics", [KAFKA, None], ids=["kafka", "kip-1042"])
def test_on_the_sample_needless_acls_go_unnoticed_beside_all_that_is_to_go(semantics):
    audit = audit_sample(**({"semantics": semantics} if semantics else {}))
    named, gone = unwanted(audit), needless(audit)
    assert named
    assert gone
    found = Comparison.of(without(audit, named), without(audit, named | gone), Budget())
    assert not found.difference.changes
    assert found.difference.is_known


def test_on_random_systems_needless_acls_go_unnoticed_beside_all_that_is_to_go():
    seen = 0
    for audit, world in systems():
        named, gone = unwanted(audit), needless(audit)
        seen += bool(named) and bool(gone - named)
        assert world.allowed(named | gone) == world.allowed(named), list(map(str, audit.acls))
        assert world.allowed(gone) == world.allowed()
    assert seen


def test_what_is_to_go_is_what_findings_list_or_what_that_makes_needless():
    audit = audit_sample()
    listed = {
        acl_id for f in find_all(audit) if f.finding in TO_GO for acl_id in f.acl_ids
    } & audit.given.keys()
    assert listed <= unwanted(audit)
    assert unwanted(audit) - listed <= covers_of(audit).keys()


def test_a_public_acl_makes_no_acl_of_a_principal_needless():
    own, public = acl("a"), acl("*", principal="User:*")
    assert not list(find_shadowed(audit_of(own, public)))
    assert not list(find_shadowed(audit_of(own, replace(public, principal="*:*"))))


def test_an_acl_that_is_to_be_narrowed_makes_no_other_one_needless():
    read, everything = acl("a"), acl("a", operation="ALL")
    assert not list(find_shadowed(audit_of(read, everything)))
    bound = replace(everything, host="10.0.0.1"), replace(read, host="10.0.0.1")
    assert len(list(find_shadowed(audit_of(*bound)))) == 1


def test_a_principals_own_acl_is_named_before_one_of_many_principals():
    narrow = acl("a", host="10.0.0.1", acl_id="9")
    many = acl("*", host="10.0.0.1", principal="User:?", acl_id="1")
    own = acl("a", operation="ALL", host="10.0.0.1", acl_id="2")
    (found,) = [f for f in find_shadowed(audit_of(narrow, many, own)) if f.acl_ids[0] == "9"]
    assert found.acl_ids == ("9", "2")


@pytest.mark.parametrize("operation", ["READ", "WRITE"])
@pytest.mark.parametrize("resource_type", ["TOPIC", "TRANSACTIONAL_ID"])
def test_the_describe_that_kafka_acls_writes_beside_read_or_write_is_no_finding(
    operation, resource_type
):
    beside = acl(operation=operation, resource_type=resource_type)
    describe = replace(beside, operation="DESCRIBE", acl_id="describe")
    assert not list(find_shadowed(audit_of(beside, describe)))
    elsewhere = replace(beside, pattern_type="PREFIXED", operation="READ", acl_id="elsewhere")
    assert len(list(find_shadowed(audit_of(elsewhere, describe)))) == 1


def test_a_describe_goes_with_the_read_beside_it():
    read, wide = acl("ab", acl_id="2"), acl("a", pattern_type="PREFIXED", acl_id="1")
    describe = replace(read, operation="DESCRIBE", acl_id="3")
    found = {f.acl_ids[0] for f in find_shadowed(audit_of(read, describe, wide))}
    assert found == {"2", "3"}


def test_a_describe_that_is_there_twice_is_still_found_once():
    read = acl("ab", acl_id="1")
    first, second = (replace(read, operation="DESCRIBE", acl_id=name) for name in "23")
    found = [
        *find_redundant(audit_of(read, first, second)),
        *find_shadowed(audit_of(read, first, second)),
    ]
    assert [f.acl_ids[0] for f in found] == ["3"]
