"""Ranks follow the deciding ACL of the rule: take the first away and the second decides."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.model.acl import ANY_OTHER
from aclkit.model.semantics import BROKER, KAFKA, KIP_1042, BrokerSettings
from aclkit.rules.decide.counterfactual import Fit, fit
from aclkit.rules.decide.order import Order, WildcardLast
from aclkit.rules.decide.rules import answers, decide
from aclkit.rules.patterns.match import reaches
from tests import strategies as small
from tests.factories import acl, request

NO_SETTINGS = BrokerSettings()


def order(asked, semantics, *, is_last=False):
    last = WildcardLast.of(asked.resource_name, wildcard_is_last=is_last)
    return Order(asked.operation, semantics, last)


def matching(acls, asked, semantics):
    return [
        one
        for one in acls
        if reaches(one, asked.resource_type, asked.resource_name, semantics)
        and answers(one, asked, semantics)
    ]


@given(small.acl_sets(), small.requests(), small.semantics, st.booleans())
def test_each_rank_decides_when_those_before_it_are_gone(acls, asked, semantics, is_last):
    ranked = order(asked, semantics, is_last=is_last).ranked(matching(acls, asked, semantics))
    for place, acl_there in enumerate(ranked):
        gone = {one.acl_id for one in ranked[:place]}
        left = [one for one in acls if one.acl_id not in gone]
        ruling = decide(left, asked, NO_SETTINGS, semantics, wildcard_is_last=is_last)
        assert ruling.acl == acl_there


@given(small.acl_sets(), small.requests(), small.semantics)
def test_ranked_are_exactly_the_acls_that_match(acls, asked, semantics):
    hits = matching(acls, asked, semantics)
    ranked = order(asked, semantics).ranked(hits)
    assert sorted(one.acl_id for one in ranked) == sorted(one.acl_id for one in hits)
    reached = [a for a in acls if reaches(a, asked.resource_type, asked.resource_name, semantics)]
    fitting = [one.acl_id for one in reached if not fit(one, asked, semantics).misses]
    assert sorted(fitting) == sorted(one.acl_id for one in hits)


@given(small.acl_sets(), small.requests(), small.semantics, st.booleans())
def test_whatever_is_beaten_is_beaten_for_a_reason(acls, asked, semantics, is_last):
    ranked = order(asked, semantics, is_last=is_last).ranked(matching(acls, asked, semantics))
    for better, worse in pairwise(ranked):
        assert order(asked, semantics, is_last=is_last).reason(better, worse)


@given(small.acl_sets(), small.requests(), small.semantics)
def test_the_order_is_total_so_that_no_two_acls_share_a_place(acls, asked, semantics):
    ranks = order(asked, semantics)
    for one in acls:
        for other in acls:
            before = ranks.is_before(one, other), ranks.is_before(other, one)
            assert sum(before) == (one != other)


REASONS = [
    ({"permission_type": "DENY", "pattern_type": "PREFIXED", "resource_name": "o"}, {},
     "a DENY beats every ALLOW"),
    ({}, {"resource_name": "ord", "pattern_type": "PREFIXED"},
     "longer pattern (6 letters, not 3)"),
    ({"resource_name": "ord*", "pattern_type": "GLOB"},
     {"resource_name": "*ord*", "pattern_type": "GLOB"}, "fewer * in the pattern (1, not 2)"),
    ({"resource_name": "ord??*", "pattern_type": "GLOB"},
     {"resource_name": "ord?*", "pattern_type": "GLOB"}, "more ? in the pattern (2, not 1)"),
    ({"resource_name": "or*s", "pattern_type": "GLOB"},
     {"resource_name": "o*rs", "pattern_type": "GLOB"},
     "longer literal start of the pattern (2 letters, not 1)"),
    ({"resource_name": "ord", "pattern_type": "PREFIXED"},
     {"resource_name": "ord*", "pattern_type": "GLOB"}, "pattern type PREFIXED, not GLOB"),
    ({}, {"principal": "User:?"}, "principal exact, not glob"),
    ({"principal": "User:?"}, {"principal": "User:*"}, "principal glob, not wildcard"),
    ({"host": "10.0.0.1"}, {"host": "10.*"}, "host exact, not glob"),
    ({"host": "10.0.*"}, {"host": "10.*"}, "longer host (5 letters, not 3)"),
    ({"operation": "DESCRIBE"}, {}, "operation equal, not implied"),
    ({}, {"operation": "ALL"}, "operation implied, not all"),
    ({"acl_id": "a"}, {"acl_id": "b"}, "equally specific; its id is first in code-point order"),
    ({"operation": "ALTER"}, {}, "equally specific; its operation is first in code-point order"),
]  # fmt: skip


@pytest.mark.parametrize(("better", "worse", "reason"), REASONS)
def test_reason_is_the_first_thing_that_counts(better, worse, reason):
    asked = request(operation="DESCRIBE")
    pair = acl(**better), acl(**worse)
    assert order(asked, KIP_1042).ranked(reversed(pair)) == list(pair)
    assert order(asked, KIP_1042).reason(*pair) == reason


BROKER_REASONS = [
    ({"resource_name": "o", "pattern_type": "PREFIXED"}, {}, "resource name, descending"),
    ({"principal": "User:a"}, {"principal": "User:*"}, "principal"),
    ({"host": "10.0.0.1"}, {}, "host"),
    ({"operation": "ALTER"}, {}, "operation"),
    ({"acl_id": "b"}, {"acl_id": "a"}, "id"),
]


@pytest.mark.parametrize(("better", "worse", "by"), BROKER_REASONS)
def test_a_broker_names_the_last_allow(better, worse, by):
    asked = request(operation="DESCRIBE")
    pair = acl(**better), acl(**worse)
    assert order(asked, KAFKA).ranked(pair) == list(pair)
    wanted = f"a broker names the last ALLOW it meets; first in the broker's order by {by}"
    assert order(asked, KAFKA).reason(*pair) == wanted


def test_a_broker_stops_at_the_first_deny():
    pair = acl(permission_type="DENY"), acl("*", permission_type="DENY")
    assert order(request(), KAFKA).ranked(reversed(pair)) == list(pair)
    assert "stops at the first DENY" in order(request(), KAFKA).reason(*pair)


def test_a_broker_meets_a_denying_wildcard_before_the_empty_prefix():
    pair = (
        acl("*", permission_type="DENY"),
        acl("", pattern_type="PREFIXED", permission_type="DENY"),
    )
    assert order(request(), KAFKA).ranked(reversed(pair)) == list(pair)


def test_a_broker_may_meet_the_wildcard_last():
    asked = request("!a")
    wildcard, own = acl("*"), acl("!a")
    brokers = replace(KIP_1042, deciding_acl=BROKER)
    scanned = order(asked, brokers, is_last=True)
    assert scanned.ranked([own, wildcard]) == [wildcard, own]
    assert "here the pattern * comes last" in scanned.reason(wildcard, own)


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({}, ("literal", 0, "exact", "wildcard", "equal")),
        ({"resource_name": "ord", "pattern_type": "PREFIXED"},
         ("prefix", 3, "exact", "wildcard", "equal")),
        ({"resource_name": "o?d*s", "pattern_type": "GLOB", "principal": "User:?"},
         ("glob", 3, "glob", "wildcard", "equal")),
        ({"resource_name": "*", "principal": "User:*", "host": "10.0.0.1", "operation": "ALL"},
         ("wildcard", 6, "wildcard", "exact", "all")),
        ({"resource_name": "", "pattern_type": "PREFIXED", "host": "10.*"},
         ("wildcard", 6, "exact", "glob", "equal")),
        ({"principal": "User:b", "host": "10.0.0.2", "operation": "WRITE"},
         ("literal", 0, None, None, None)),
    ],
)  # fmt: skip
def test_fit_says_how_each_part_matches(fields, wanted):
    pattern, skipped, principal, host, operation = wanted
    assert fit(acl(**fields), request(), KIP_1042) == Fit(
        pattern=pattern, skipped=skipped, principal=principal, host=host, operation=operation
    )


def test_any_other_has_no_letters_to_skip():
    assert fit(acl("*"), request(ANY_OTHER), KIP_1042).skipped is None


def test_code_5_is_a_prefix_where_globs_are_off():
    assert fit(acl("ord", pattern_type="GLOB"), request(), KAFKA).pattern == "prefix"


def test_implied_operations_are_told_from_equal_ones():
    assert fit(acl(), request(operation="DESCRIBE"), KIP_1042).operation == "implied"
