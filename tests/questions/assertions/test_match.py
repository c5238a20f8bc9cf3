"""Which names an assertion is about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL
from aclkit.model.resource import Resource
from aclkit.model.semantics import KIP_1042
from aclkit.questions.assertions.match import (
    has_attributes,
    matches,
    means_principal,
    means_resource,
    operations_on,
)
from aclkit.questions.assertions.model import Pattern, ResourcePattern, What, Who
from aclkit.rules.patterns.match import pattern_matches

NAMES = (Pattern("GLOB", "User:svc-*"),)
TOPIC = Resource("TOPIC", "pay.in")


@given(
    st.sampled_from(["PREFIXED", "GLOB"]), st.text("ab*?", min_size=1, max_size=4), st.text("ab")
)
def test_a_pattern_means_what_an_acl_of_that_pattern_reaches(kind, text, name):
    assert matches(Pattern(kind, text), name) == pattern_matches(kind, text, name, KIP_1042)


@pytest.mark.parametrize(
    ("pattern", "name", "is_meant"),
    [
        (Pattern("LITERAL", "*"), "*", True),
        (Pattern("LITERAL", "*"), "a", False),
        (Pattern("GLOB", "*"), ANY_OTHER, True),
        (Pattern("GLOB", "p*"), ANY_OTHER, False),
        (Pattern("PREFIXED", ""), ANY_OTHER, True),
        (Pattern("GLOB", "User:*"), ANY_OTHER_PRINCIPAL, True),
        (Pattern("GLOB", "Us*"), ANY_OTHER_PRINCIPAL, True),
        (Pattern("GLOB", "User:s*"), ANY_OTHER_PRINCIPAL, False),
        (Pattern("GLOB", "Group:*"), ANY_OTHER_PRINCIPAL, False),
    ],
)
def test_any_other_is_meant_only_by_what_means_every_name(pattern, name, is_meant):
    assert matches(pattern, name) is is_meant


def test_exceptions_are_left_out_and_only_turns_the_choice_round():
    who = Who(names=NAMES, but=(Pattern("LITERAL", "User:svc-x"),))
    assert means_principal(who, "User:svc-a", is_super_user=False)
    assert not means_principal(who, "User:svc-x", is_super_user=False)
    inverted = Who(names=NAMES, is_inverted=True)
    assert not means_principal(inverted, "User:svc-a", is_super_user=False)
    assert means_principal(inverted, "User:bob", is_super_user=False)
    assert means_principal(inverted, ANY_OTHER_PRINCIPAL, is_super_user=False)


def test_super_users_are_left_out_on_request_whoever_is_meant():
    for inverted in (True, False):
        who = Who(is_inverted=inverted, super_users=False)
        assert not means_principal(who, "User:admin", is_super_user=True)


def test_a_missing_attribute_matches_nothing():
    wanted = {"team": (Pattern("LITERAL", "pay"), Pattern("GLOB", "plat-*"))}
    assert has_attributes(wanted, {"team": "plat-1"})
    assert not has_attributes(wanted, {"team": "other"})
    assert not has_attributes(wanted, {})


def test_only_with_attributes_forbids_whom_no_inventory_describes():
    who = Who(attributes={"team": (Pattern("LITERAL", "pay"),)}, is_inverted=True)
    assert not means_principal(who, "User:a", is_super_user=False, attributes={"team": "pay"})
    assert means_principal(who, "User:stranger", is_super_user=False)


def test_a_type_without_any_of_the_operations_is_not_meant():
    what = What(operations=frozenset({"CREATE_TOKENS"}))
    assert not means_resource(what, TOPIC)
    assert means_resource(what, Resource("USER", "User:a"))
    assert operations_on(What(operations=frozenset({"READ"})), "GROUP") == ("READ",)


def test_a_resource_is_meant_by_type_name_and_attributes():
    pattern = ResourcePattern("TOPIC", Pattern("PREFIXED", "pay."))
    assert means_resource(What(names=(pattern,)), TOPIC)
    assert not means_resource(What(names=(pattern,)), Resource("GROUP", "pay.in"))
    assert not means_resource(What(names=(pattern,), but=(pattern,)), TOPIC)
    secret = What(attributes={"class": (Pattern("LITERAL", "secret"),)})
    assert means_resource(secret, TOPIC, {"class": "secret"})
    assert not means_resource(secret, TOPIC)
