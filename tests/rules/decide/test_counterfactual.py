"""What would be without an ACL is what the rule says without it; the least ACL allows."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings
from aclkit.rules.decide.counterfactual import Case, least_allowing_acl
from aclkit.rules.decide.rules import ALLOWED, DEFAULT_DENY, decide
from aclkit.rules.names.compare import EQUIVALENT, compare
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import Rules
from aclkit.rules.patterns.match import reaches
from tests import strategies as small
from tests.factories import acl, request

SETTINGS = st.builds(
    BrokerSettings,
    super_users=st.sampled_from((frozenset(), frozenset({"User:a"}))),
    allow_everyone=st.booleans(),
)


def reaching(acls, asked, semantics):
    return [a for a in acls if reaches(a, asked.resource_type, asked.resource_name, semantics)]


@given(small.acl_sets(6), small.requests(), SETTINGS, small.semantics, st.booleans())
def test_without_an_acl_it_is_as_decided_again_without_it(acls, asked, brokers, semantics, is_last):
    case = Case(
        request=asked, reaching=reaching(acls, asked, semantics), settings=brokers,
        semantics=semantics, wildcard_is_last=is_last,
    )  # fmt: skip
    ruling = case.decide()
    assert ruling == decide(acls, asked, brokers, semantics, wildcard_is_last=is_last)
    for gone in case.reaching:
        left = [one for one in acls if one != gone]
        again = decide(left, asked, brokers, semantics, wildcard_is_last=is_last)
        assert case.decide_without(gone, ruling) == again


@given(small.acl_sets(6), small.requests(), SETTINGS, small.semantics)
def test_the_least_acl_allows_what_no_acl_denies(acls, asked, brokers, semantics):
    before = decide(acls, asked, brokers, semantics)
    assume(before.rule == DEFAULT_DENY)
    assume(asked.operation != "ALL")
    after = decide([*acls, least_allowing_acl(asked)], asked, brokers, semantics)
    assert after.decision == ALLOWED


@given(small.acl_sets(), small.requests(), small.semantics)
def test_every_acl_that_allows_opens_at_least_as_much_as_the_least(acls, asked, semantics):
    assume(asked.operation != "ALL" and asked.resource_name != "*")
    least = least_allowing_acl(asked)
    for wide in acls:
        if decide([wide], asked, BrokerSettings(), semantics).decision == ALLOWED:
            alone, both = (
                Rules(acls=rows, settings=BrokerSettings(), semantics=semantics)
                for rows in ([wide], [wide, least])
            )
            assert compare(alone, both, Budget()).verdict == EQUIVALENT


@pytest.mark.parametrize("semantics", [KIP_1042, KAFKA], ids=["kip-1042", "kafka"])
def test_for_any_other_the_least_acl_matches_every_name(semantics):
    asked = request(ANY_OTHER, principal=ANY_OTHER_PRINCIPAL, host=ANY_OTHER)
    least = least_allowing_acl(asked)
    assert least.binding == ("TOPIC", "*", "LITERAL", "User:*", "*", "READ", "ALLOW")
    assert decide([least], asked, BrokerSettings(), semantics).decision == ALLOWED


def test_a_resource_named_star_is_not_opened_by_all_names():
    least = least_allowing_acl(request("*", resource_type="GROUP"))
    assert (least.pattern_type, least.resource_name) == ("PREFIXED", "*")


def test_the_only_acl_of_a_resource_takes_the_default_from_others():
    brokers = BrokerSettings(allow_everyone=True)
    other = acl(principal="User:b")
    case = Case(request=request(), reaching=[other], settings=brokers, semantics=KIP_1042)
    assert case.decide().rule == DEFAULT_DENY
    assert case.decide_without(other, case.decide()).decision == ALLOWED
