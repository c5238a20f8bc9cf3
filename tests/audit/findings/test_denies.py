"""Findings on DENYs: what they leave, and what is allowed without them."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aclkit.audit.findings import by_hand, drift
from aclkit.audit.findings.denies import MOST, find_deny_leaves_describe, has_denies, with_openings
from aclkit.audit.findings.registry import KINDS, find_all, find_readings
from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL, Request, acl_words
from aclkit.model.findings import Finding
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings
from aclkit.rules.decide.rules import answers, decide
from aclkit.rules.patterns.match import reaches
from tests.audit.findings.auditing import audit_of, subjects
from tests.factories import acl, request
from tests.fuzz.mutants import rounds
from tests.pace import within_loops
from tests.strategies import SEMANTICS, acl_sets

# A name, a principal and a host that stand in no ACL, within each that an ACL has. Groups, because
# no topic's name holds a star.
PLACES = [
    (name, principal, host)
    for name in ("a", "ab", "ac", "abc", "*", "*c", ANY_OTHER)
    for principal in ("User:a", "Group:a", ANY_OTHER_PRINCIPAL)
    for host in ("10.0.0.1", ANY_OTHER)
]
crowds = st.lists(
    st.builds(
        acl,
        st.sampled_from(("a", "ab", "*")),
        resource_type=st.just("GROUP"),
        pattern_type=st.sampled_from(("LITERAL", "PREFIXED")),
        principal=st.sampled_from(("User:a", "Group:a", "User:*")),
        host=st.sampled_from(("*", "10.0.0.1")),
        operation=st.sampled_from(("READ", "READ", "DESCRIBE", "WRITE", "ALL", "CREATE")),
        permission_type=st.sampled_from(("ALLOW", "DENY")),
    ),
    max_size=8,
)


@settings(max_examples=300)
@given(crowds)
def test_it_is_found_if_and_only_if_describe_is_allowed_where_it_denies_read(rows):
    found = {finding.acl_ids[0] for finding in find_deny_leaves_describe(audit_of(*rows))}
    for row in rows:
        is_deny_of_read = not row.is_allow and row.operation == "READ"
        left = [
            place
            for name, principal, host in PLACES
            for place in [{"resource_type": "GROUP", "principal": principal, "host": host}]
            if reaches(row, "GROUP", name, KIP_1042)
            and answers(row, request(name, **place), KIP_1042)
            and _describes(rows, request(name, operation="DESCRIBE", **place))
        ]
        assert (row.acl_id in found) == bool(is_deny_of_read and left), str(row)


def _describes(rows, asked):
    return decide(rows, asked, BrokerSettings(), KIP_1042).decision == "ALLOWED"


@pytest.mark.parametrize(
    "deny", [{"host": "10.0.0.1"}, {"principal": "User:*"}, {"resource_name": "*"}]
)
def test_the_two_meet_whichever_is_the_wider(deny):
    row, allow = acl(permission_type="DENY", **deny), acl("ord", pattern_type="PREFIXED")
    (found,) = find_deny_leaves_describe(audit_of(row, allow))
    assert (found.severity, found.acl_ids) == ("low", (row.acl_id, allow.acl_id))
    assert found.message.startswith(
        f"{acl_words(row)} leaves DESCRIBE allowed: {acl_words(allow)} grants it. For example, "
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"host": "::1"},
        {"resource_name": "order s", "permission_type": "ALLOW"},
        {"principal": "a"},
        {"principal": "User:admin"},
    ],
)
def test_an_allow_that_gives_nothing_leaves_nothing(fields):
    deny = acl("*", principal="User:*", permission_type="DENY")
    admin = BrokerSettings(super_users=frozenset({"User:admin"}))
    assert subjects(find_deny_leaves_describe(audit_of(deny, acl(), settings=admin)))
    assert not subjects(find_deny_leaves_describe(audit_of(deny, acl(**fields), settings=admin)))


def test_a_deny_that_never_matches_leaves_no_more_than_it_takes():
    rows = [acl("order s", permission_type="DENY"), acl("ord", pattern_type="PREFIXED")]
    assert not subjects(find_deny_leaves_describe(audit_of(*rows)))


def test_a_deny_of_describe_or_all_closes_it():
    deny, allow = acl(permission_type="DENY"), acl(operation="WRITE")
    for operation in ("DESCRIBE", "ALL"):
        more = acl("*", permission_type="DENY", operation=operation)
        assert not subjects(find_deny_leaves_describe(audit_of(deny, allow, more)))


SOME_HOSTS = [f"10.{n // 250}.{n % 250}.1" for n in range(5_000)]
CROWDS = {
    "one place": [
        acl("*", principal=f"User:{n}", permission_type=permission)
        for n in range(5_000)
        for permission in ("ALLOW", "DENY")
    ],
    "hosts that do not meet": [
        *(acl("*", host=host, permission_type="DENY") for host in SOME_HOSTS),
        *(acl(f"t{n}", host="11.0.0.1") for n in range(5_000)),
    ],
    "everybody below a prefix of many": [
        *(acl(f"t{n}", principal="User:*", permission_type="DENY") for n in range(5_000)),
        *(acl("t", pattern_type="PREFIXED", principal=f"User:{n}") for n in range(5_000)),
    ],
    "many below everybody": [
        acl(
            "t",
            pattern_type="PREFIXED",
            principal=f"User:{n}",
            host="10.0.0.1",
            permission_type="DENY",
        )
        for n in range(5_000)
    ]
    + [acl(f"t{n}", principal="User:*", host="10.0.0.2") for n in range(5_000)],
}


@pytest.mark.parametrize("rows", CROWDS.values(), ids=CROWDS.keys())
def test_many_denies_and_many_allows_take_no_product_of_time(rows):
    audit = audit_of(*rows)
    assert audit.given
    with within_loops(500):
        found = list(find_deny_leaves_describe(audit))
    assert len(found) in (0, 5_000)


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
