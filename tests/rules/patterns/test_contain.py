"""What contains what, by example, and never wrongly: names are gone through one by one."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL
from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.rules.patterns.contain import (
    acl_contains,
    host_contains,
    operation_contains,
    pattern_contains,
    principal_contains,
)
from aclkit.rules.patterns.match import host_matches, pattern_matches, principal_matches
from tests.factories import acl
from tests.pace import within_loops
from tests.strategies import acl_hosts, acl_principals, pattern_types, semantics

NAMES = ["".join(name) for length in range(6) for name in product("ab*?", repeat=length)]
SHORT_NAMES = [name for name in NAMES if len(name) <= 3]
NAMED = [f"{kind}:{name}" for kind in ("User", "Group", "U", "") for name in SHORT_NAMES]
HOSTS = ["10.0.0.1", "10.0.0.2", "10.0.0.12", "10.1", "0:0:0:0:0:0:0:1", "a", ANY_OTHER]

patterns = st.tuples(pattern_types, st.text("ab*?", max_size=5))


@given(patterns, patterns, semantics)
@example(("LITERAL", "*"), ("GLOB", "?*"), KAFKA)
@example(("GLOB", "*?"), ("GLOB", "*"), KIP_1042)
def test_a_contained_pattern_matches_no_name_that_its_container_misses(wide, narrow, read):
    if pattern_contains(*wide, *narrow, read):
        for name in [*NAMES, ANY_OTHER]:
            if pattern_matches(*narrow, name, read):
                assert pattern_matches(*wide, name, read), name


def test_every_pair_of_short_patterns_is_judged_soundly():
    kinds = ("LITERAL", "PREFIXED", "GLOB")
    texts = ["".join(text) for length in range(3) for text in product("a*?", repeat=length)]
    shapes = list(product(kinds, texts))
    for read in (KIP_1042, KAFKA):
        reached = {
            shape: frozenset(n for n in [*NAMES, ANY_OTHER] if pattern_matches(*shape, n, read))
            for shape in shapes
        }
        for wide, narrow in product(shapes, shapes):
            if pattern_contains(*wide, *narrow, read):
                assert reached[narrow] <= reached[wide], (wide, narrow, read)


@given(patterns, patterns, patterns, semantics)
def test_containment_of_patterns_is_transitive(first, second, third, read):
    if pattern_contains(*first, *second, read) and pattern_contains(*second, *third, read):
        assert pattern_contains(*first, *third, read)


@pytest.mark.parametrize(
    ("wide", "narrow", "under_kip", "under_kafka"),
    [
        (("PREFIXED", "a"), ("LITERAL", "ab"), True, True),
        (("PREFIXED", "a"), ("PREFIXED", "ab"), True, True),
        (("PREFIXED", "ab"), ("PREFIXED", "a"), False, False),
        (("GLOB", "a*"), ("PREFIXED", "a"), True, False),
        (("PREFIXED", "a"), ("GLOB", "a?b*"), True, True),
        (("GLOB", "a*b*"), ("GLOB", "a?cb"), True, False),
        (("GLOB", "a?"), ("GLOB", "a*"), False, False),
        (("GLOB", "?"), ("GLOB", "b"), True, False),
        (("LITERAL", "a"), ("GLOB", "a"), True, False),
        (("LITERAL", "a"), ("PREFIXED", "a"), False, False),
        (("LITERAL", "*"), ("PREFIXED", "a"), True, True),
        (("LITERAL", "*"), ("PREFIXED", "*"), True, False),
        (("LITERAL", "*"), ("PREFIXED", ""), True, False),
        (("PREFIXED", ""), ("LITERAL", "*"), True, True),
        (("GLOB", "**"), ("LITERAL", "*"), True, False),
        (("PREFIXED", "*"), ("LITERAL", "*"), False, False),
        (("UNKNOWN(9)", "a"), ("LITERAL", "ab"), True, True),
    ],
)
def test_ordinary_containments_are_found(wide, narrow, under_kip, under_kafka):
    assert pattern_contains(*wide, *narrow, KIP_1042) is under_kip
    assert pattern_contains(*wide, *narrow, KAFKA) is under_kafka


@given(acl_principals, acl_principals, semantics)
def test_a_contained_principal_stands_for_nobody_that_its_container_does_not(wide, narrow, read):
    if principal_contains(wide, narrow, read):
        for principal in [*NAMED, ANY_OTHER_PRINCIPAL]:
            if principal_matches(narrow, principal, read):
                assert principal_matches(wide, principal, read), principal


@given(acl_hosts, acl_hosts, semantics)
def test_a_contained_host_stands_for_no_host_that_its_container_does_not(wide, narrow, read):
    if host_contains(wide, narrow, read):
        for host in HOSTS:
            if host_matches(narrow, host, read):
                assert host_matches(wide, host, read), host


def test_globs_in_principal_and_host_contain_only_where_they_are_read_as_globs():
    assert principal_contains("*:*", "User:*", KIP_1042)
    assert principal_contains("User:a*", "User:ab", KIP_1042)
    assert not principal_contains("User:a*", "User:ab", KAFKA)
    assert principal_contains("User:*", "Group:a", KAFKA)
    assert not principal_contains("User:a*", "User:*", KIP_1042)
    assert host_contains("10.*", "10.0.0.?", KIP_1042)
    assert not host_contains("10.*", "10.0.0.1", KAFKA)
    assert host_contains("*", "10.*", KAFKA)


@pytest.mark.parametrize(
    ("wide", "narrow", "permission_type", "contains"),
    [
        ("ALL", "READ", "ALLOW", True),
        ("READ", "DESCRIBE", "ALLOW", True),
        ("READ", "DESCRIBE", "DENY", False),
        ("ALL", "DESCRIBE", "DENY", True),
        ("DESCRIBE", "READ", "ALLOW", False),
        ("READ", "ALL", "ALLOW", False),
        ("READ", "WRITE", "ALLOW", False),
    ],
)
def test_operations_are_contained_with_what_an_allow_implies(
    wide, narrow, permission_type, contains
):
    first = acl(operation=wide, permission_type=permission_type)
    second = acl(operation=narrow, permission_type=permission_type)
    assert acl_contains(first, second, KIP_1042) is contains


def test_an_acl_contains_none_of_another_type_or_permission():
    wide = acl("*", principal="User:*", operation="ALL")
    assert acl_contains(wide, acl("orders"), KIP_1042)
    assert not acl_contains(wide, acl("orders", resource_type="GROUP"), KIP_1042)
    assert not acl_contains(wide, acl("orders", permission_type="DENY"), KIP_1042)
    deny = acl("*", principal="User:*", operation="ALL", permission_type="DENY")
    assert acl_contains(deny, acl("orders", permission_type="UNKNOWN(7)"), KIP_1042)


def test_a_hostile_pair_of_globs_takes_no_longer_than_the_product_of_their_lengths():
    with within_loops(50):
        assert not pattern_contains("GLOB", "*a" * 120 + "b", "GLOB", "a" * 249, KIP_1042)


@pytest.mark.parametrize(
    ("wide", "narrow", "is_contained"),
    [
        ("READ", "DESCRIBE", True),
        ("DESCRIBE", "READ", False),
        ("ALL", "READ", True),
        ("READ", "ALL", False),
        ("READ", "CREATE_TOKENS", True),
    ],
)
def test_an_operation_contains_what_it_answers_of_the_type(wide, narrow, is_contained):
    assert operation_contains(acl(operation=wide), acl(operation=narrow)) is is_contained


def test_all_of_a_type_with_one_operation_is_that_operation():
    wide = acl(resource_type="DELEGATION_TOKEN", operation="DESCRIBE")
    assert operation_contains(wide, acl(resource_type="DELEGATION_TOKEN", operation="ALL"))


def test_operations_of_an_unknown_type_are_compared_themselves():
    def of(operation):
        return acl(resource_type="UNKNOWN(9)", operation=operation)

    assert operation_contains(of("ALL"), of("READ"))
    assert operation_contains(of("READ"), of("READ"))
    assert not operation_contains(of("READ"), of("ALL"))
