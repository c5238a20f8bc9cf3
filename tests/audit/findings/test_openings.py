"""No fix removes a DENY without showing what is allowed then."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aclkit.audit.findings import by_hand, drift
from aclkit.audit.findings.openings import MOST, has_denies, with_openings
from aclkit.audit.findings.registry import KINDS, find_all, find_readings
from aclkit.model.acl import Request
from aclkit.model.findings import Finding
from aclkit.model.semantics import KAFKA, BrokerSettings
from aclkit.rules.decide.rules import decide
from tests.audit.findings.auditing import audit_of
from tests.factories import acl
from tests.fuzz.mutants import rounds
from tests.strategies import SEMANTICS, acl_sets

EVERYONE = acl("pay", pattern_type="PREFIXED", principal="User:*", acl_id="all")


def deny(name="pay.secret", **fields):
    return acl(name, permission_type="DENY", acl_id="deny", **{"principal": "User:mig"} | fields)


def fix_of(kind, own, *others, **known):
    finding = KINDS[kind].about(own, "x")
    audit = audit_of(own, *others, **{"semantics": KAFKA} | known)
    (found,) = with_openings([finding], audit)
    assert found.fix.startswith(f"{KINDS[kind].fix} Without the DENY, ")
    return found.fix.removeprefix(f"{KINDS[kind].fix} ")


@pytest.mark.parametrize(
    "kind",
    [
        "orphan-resource", "unmanaged-acl", "sleeping-range", "unknown-code", "duplicate-acl",
        "changed-by-hand", "never-matches", "glob-lookalike",
    ],
)  # fmt: skip
def test_a_fix_shows_what_is_allowed_without_the_deny(kind):
    words = fix_of(kind, deny(), EVERYONE)
    assert "for example, User:mig can READ topic pay.secret from" in words


def test_a_deny_that_another_one_covers_opens_nothing():
    wider = acl("pay", pattern_type="PREFIXED", principal="User:*", permission_type="DENY")
    assert fix_of("deny-shadowed", deny(), EVERYONE, wider) == (
        "Without the DENY, nothing more is allowed."
    )


def test_a_deny_that_shuts_a_resource_opens_it_by_default():
    own = deny(principal="no type")
    known = BrokerSettings(allow_everyone=True)
    assert "topic pay.secret" in fix_of("never-matches", own, settings=known)
    unknown = BrokerSettings(unknown=frozenset(("allow.everyone.if.no.acl.found",)))
    words = fix_of("never-matches", own, settings=unknown)
    assert "more is allowed if allow.everyone.if.no.acl.found is true" in words


def test_a_range_counts_as_newer_brokers_read_it():
    own = deny(host="10.0.0.0/8")
    assert "on brokers of Kafka 4.4 or later" in fix_of("sleeping-range", own, EVERYONE)


def test_all_denys_of_a_principal_go_together():
    one, two = deny("pay.a"), acl("pay.b", principal="User:mig", permission_type="DENY")
    finding = KINDS["orphan-principal"].about("User:mig", "x", acls=[one, two])
    (found,) = with_openings([finding], audit_of(one, two, EVERYONE))
    assert "Without the DENY, more is allowed: for example, User:mig can READ" in found.fix


def test_a_principal_that_is_called_like_an_acl_hides_no_deny():
    name = f"{str(deny())[:-1]}:x"
    one = deny(principal=name)
    finding = KINDS["orphan-principal"].about(name, "x", acls=[one])
    (found,) = with_openings([finding], audit_of(one, EVERYONE))
    assert "Without the DENY, more is allowed" in found.fix


def test_fixes_that_remove_no_deny_stay_as_they_are():
    allow, own = acl("pay.secret", acl_id="allow"), deny(principal="User:*")
    findings = [
        KINDS["allow-overridden"].about(allow, "x", acls=[own]),
        KINDS["deny-leaves-describe"].about(own, "x", acls=[allow]),
        KINDS["missing-acl"].about("User:x", "x"),
    ]
    assert with_openings(findings, audit_of(allow, own)) == findings
    assert not has_denies(findings, [allow, own])


def test_a_fix_that_shows_it_already_stays():
    audit = audit_of(deny(), EVERYONE)
    once = with_openings([KINDS["orphan-resource"].about(deny(), "x")], audit)
    assert with_openings(once, audit_of(deny())) == once


def test_of_very_many_findings_the_last_ones_name_the_command():
    finding = KINDS["orphan-resource"].about(deny(), "x")
    found = with_openings([finding] * (MOST + 1), audit_of(deny(), EVERYONE))
    assert "it is unknown what is allowed. Next: aclkit preview remove-acl" in found[-1].fix
    assert "more is allowed: for example" in found[-2].fix


def test_every_kind_is_one_whose_fix_removes_no_deny_or_shows_it():
    for kind in KINDS.values():
        finding = kind.about(deny(), "x")
        (found,) = with_openings([finding], audit_of(deny(), EVERYONE))
        keeps = kind.id in ("deny-leaves-describe", "reads-differently")
        assert ("Without the DENY" in found.fix) is not keeps


CELLS = [
    Request(principal=who, host=host, operation=operation, resource_type=kind, resource_name=name)
    for who, host, operation, kind, name in product(
        ("User:a", "User:ab", "Group:a", "User:z"), ("10.0.0.1", "10.9.9.9", "192.0.2.1"),
        ("READ", "DESCRIBE"), ("TOPIC", "GROUP"), ("a", "b", "ab", "ba", "aa", "zz"),
    )
]  # fmt: skip


@settings(max_examples=rounds(30))
@given(acl_sets(6), st.sampled_from(SEMANTICS), st.booleans())
def test_where_nothing_more_is_allowed_the_rule_agrees(acls, read, is_open):
    known = BrokerSettings(allow_everyone=is_open)
    audit = audit_of(*acls, semantics=read, settings=known)
    by_id = {each.acl_id: each for each in acls}
    found: list[Finding] = [*find_all(audit), *find_readings(acls, read)]
    found += (drift.UNMANAGED_ACL.about(each, "x") for each in acls)
    found.append(by_hand.CHANGED_BY_HAND.about("User:a created ACLs", "x", acls=acls))
    for finding in with_openings(found, audit):
        if "nothing more is allowed" in finding.fix:
            one_acl = finding.subject.startswith("(pattern=")
            gone = {
                i for i in finding.acl_ids
                if not by_id[i].is_allow and (str(by_id[i]) == finding.subject or not one_acl)
            }  # fmt: skip
            left = [each for each in acls if each.acl_id not in gone]
            for cell in CELLS:
                then, now = (decide(some, cell, known, read).decision for some in (acls, left))
                assert then == now
