"""Redundant, shadowed, overridden: brute force agrees on which ACLs can go, and which cannot."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aclkit.audit.findings.denies import find_overridden
from aclkit.audit.findings.redundant import find_redundant, find_shadowed
from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL, acl_words
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings
from aclkit.rules.decide.rules import decide
from tests.audit.findings.auditing import audit_of, subjects
from tests.factories import acl, request
from tests.pace import within_loops
from tests.strategies import pattern_types, semantics

NAMES = ["".join(name) for length in range(3) for name in product("ab*", repeat=length)]
REQUESTS = [
    request(name, resource_type=resource_type, principal=principal, host=host, operation=operation)
    for name in [*NAMES, "a?b", ANY_OTHER]
    for resource_type in ("TOPIC", "GROUP")
    for principal, host in (
        ("User:a", "10.0.0.1"),
        ("User:ab", "10.0.0.2"),
        ("Group:a", ANY_OTHER),
        (ANY_OTHER_PRINCIPAL, "10.0.0.12"),
    )
    for operation in ("READ", "DESCRIBE", "DESCRIBE_CONFIGS")
]


# Few texts, so that ACLs contain each other often.
def crowds(kinds, texts, principals, hosts):
    return st.lists(
        st.builds(
            acl,
            texts,
            resource_type=st.sampled_from(("TOPIC", "TOPIC", "GROUP")),
            pattern_type=kinds,
            principal=st.sampled_from(principals),
            host=st.sampled_from(hosts),
            operation=st.sampled_from(("READ", "DESCRIBE", "ALL", "ALTER_CONFIGS", "WRITE")),
            permission_type=st.sampled_from(("ALLOW", "ALLOW", "DENY", "UNKNOWN(7)")),
        ),
        min_size=6,
        max_size=25,
    )


with_globs = crowds(
    pattern_types,
    st.text("ab*?", max_size=2),
    ("User:a", "User:a*", "User:*", "*:*", ":a", "Group:a", "a"),
    ("*", "10.0.0.1", "10.*", ""),
)


def decisions(rows, read, asked=REQUESTS):
    """Decide everything; ``allow_everyone`` shows a resource that lost its last ACL."""
    everyone = BrokerSettings(allow_everyone=True)
    return [decide(rows, request, everyone, read).decision for request in asked]


def without(rows, ids):
    return [row for row in rows if row.acl_id not in ids]


def reported(rows, read):
    """Return what may go, each with those that answer in its place."""
    audit = audit_of(*rows, semantics=read)
    found = [*find_redundant(audit), *find_shadowed(audit)]
    return {finding.acl_ids[0]: finding.acl_ids[1:] for finding in found}


def overridden(rows, read):
    found = find_overridden(audit_of(*rows, semantics=read))
    return {finding.acl_ids[0]: finding.acl_ids[1:] for finding in found}


@settings(max_examples=30)
@given(with_globs, semantics)
def test_no_decision_changes_without_the_reported_acls_one_at_a_time_or_all_together(rows, read):
    found = {*reported(rows, read), *overridden(rows, read)}
    before = decisions(rows, read)
    for acl_id in sorted(found)[:4]:
        assert decisions(without(rows, {acl_id}), read) == before
    assert decisions(without(rows, found), read) == before


@pytest.mark.parametrize(
    "wide",
    [
        {"resource_name": "ord", "pattern_type": "PREFIXED"},
        {"resource_name": "o*s", "pattern_type": "GLOB"},
        {"resource_name": "*"},
        {"principal": "User:?"},
        {"host": "10.*"},
        {"operation": "ALL"},
    ],
)
@pytest.mark.parametrize("permission", ["ALLOW", "DENY"])
def test_a_contained_acl_is_shadowed_by_the_one_that_contains_it(wide, permission):
    common = {"host": "10.0.0.1", "permission_type": permission}
    kept = acl(**common | wide, acl_id="1")
    narrow = acl(**common, acl_id="2")
    audit = audit_of(narrow, kept)
    (found,) = find_shadowed(audit)
    assert (found.finding, found.severity) == (f"{permission.lower()}-shadowed", "low")
    assert (found.subject, found.acl_ids) == (str(narrow), ("2", "1"))
    assert found.evidence == (f"ACL 2: {narrow}", f"ACL 1: {kept}")
    own = wide.get("principal") is None
    other = f"its own {acl_words(kept, 'User:a')}" if own else acl_words(kept)
    assert found.message == f"Redundant: {acl_words(narrow)}; {other} already covers it."
    assert found.holds_for == "every-name"
    assert not list(find_redundant(audit))


@pytest.mark.parametrize(
    "other",
    [
        {"resource_name": "orders2"},
        {"resource_name": "o?", "pattern_type": "GLOB"},
        {"resource_type": "GROUP"},
        {"principal": "User:b"},
        {"host": "10.0.0.2"},
        {"operation": "WRITE"},
        {"permission_type": "DENY", "operation": "DELETE"},
    ],
)
def test_an_acl_that_says_something_of_its_own_is_not_reported(other):
    rows = [acl(host="10.0.0.1"), acl(**{"host": "10.0.0.1"} | other)]
    assert not reported(rows, KIP_1042)
    assert not overridden(rows, KIP_1042)


@pytest.mark.parametrize("same", [{}, {"principal": "*:*"}])
def test_of_equal_acls_the_first_by_id_stays(same):
    rows = [acl(acl_id="b", principal="User:*"), acl(acl_id="a", **{"principal": "User:*"} | same)]
    (found,) = find_redundant(audit_of(*rows))
    assert (found.finding, found.acl_ids) == ("redundant-acl", ("b", "a"))
    assert not list(find_shadowed(audit_of(*rows)))


def test_of_two_with_the_same_fields_the_advice_says_that_both_would_go():
    (found,) = find_redundant(audit_of(acl(acl_id="b"), acl(acl_id="a"), semantics=KAFKA))
    assert "add it once" in found.fix
    assert found.message == f"Redundant: {acl_words(acl())} exists more than once."


def test_several_acls_together_make_one_redundant():
    parts = [acl("o", pattern_type="PREFIXED", operation=op) for op in OPERATIONS_OF_TYPE["GROUP"]]
    parts = [replace(part, resource_type="GROUP") for part in parts]
    whole = acl(resource_type="GROUP", operation="ALL")
    (found,) = find_redundant(audit_of(whole, *parts[1:], parts[0]))
    assert found.subject == str(whole)
    first, *others = (part for name in found.acl_ids[1:] for part in parts if part.acl_id == name)
    assert found.message == (
        f"Redundant: {acl_words(whole)}; {len(others) + 1} other ACLs together already cover it "
        f"({acl_words(first)} and {len(others)} more)."
    )
    assert not list(find_redundant(audit_of(whole, *parts[1:])))


def test_an_allow_that_a_wider_deny_takes_back_is_overridden():
    allow = acl(acl_id="1")
    deny = acl("ord", pattern_type="PREFIXED", operation="ALL", permission_type="DENY", acl_id="2")
    (found,) = find_overridden(audit_of(allow, deny))
    assert (found.finding, found.severity) == ("allow-overridden", "medium")
    assert (found.subject, found.acl_ids) == (str(allow), ("1", "2"))
    assert not list(find_overridden(audit_of(allow)))


def test_a_deny_of_read_alone_overrides_no_allow_of_read_because_it_leaves_describe():
    denies = [acl(permission_type="DENY"), acl(permission_type="DENY", operation="DESCRIBE")]
    allow = acl()
    assert not list(find_overridden(audit_of(allow, denies[0])))
    assert subjects(find_overridden(audit_of(allow, *denies))) == [str(allow)]


def test_the_end_of_a_chain_is_named():
    rows = [acl("a", pattern_type="PREFIXED"), acl("ab", pattern_type="PREFIXED"), acl("abc")]
    assert set(reported(rows, KAFKA).values()) == {(rows[0].acl_id,)}


def test_twenty_thousand_acls_take_no_square_of_time():
    rows = [
        acl(
            f"team-{number % 300}.topic-{number // 30}",
            pattern_type=("LITERAL", "PREFIXED", "LITERAL")[number % 3],
            principal=f"User:svc-{number % 5_000}",
            operation=("READ", "WRITE")[number % 2],
        )
        for number in range(20_000)
    ]
    rows += [
        acl(f"team-{n}.", pattern_type="PREFIXED", principal=f"User:svc-{n}") for n in range(300)
    ]
    with within_loops(500):
        assert reported(rows, KIP_1042)
