"""authorize_by_resource_type under KIP-1042, compared with all short names."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aclkit.errors import UsageError
from aclkit.kafka.authorizer.authorizer import Authorizer
from aclkit.model.acl import TypeRequest
from aclkit.model.semantics import BROKER, KAFKA, KIP_1042, BrokerSettings, Semantics
from aclkit.rules.decide.any_of_type import TooHardError, authorize_any, reads_as_kafka
from aclkit.rules.decide.rules import decide
from aclkit.rules.names.domain import domain_of
from tests import strategies as small
from tests.factories import acl
from tests.kafka.authorizer.asking import context

FRESH = "z"
NAMES = ["".join(n) for size in range(5) for n in product(f"ab*?{FRESH}", repeat=size)]
CLOSED, OPEN = BrokerSettings(), BrokerSettings(allow_everyone=True)
KIPS = [read for read in small.SEMANTICS if not reads_as_kafka(read)]


def deny(*arguments, **fields):
    return acl(*arguments, permission_type="DENY", **fields)


def may(acls, broker=CLOSED, read=KIP_1042, principal="User:a", resource_type="TOPIC"):
    asked = TypeRequest(principal, "10.0.0.1", "READ", resource_type)
    return authorize_any(acls, asked, broker, read)


def brute_force(acls, asked, broker, read):
    domain = domain_of(asked.resource_type)
    asking = (asked.about(name) for name in NAMES if domain.holds(name))
    is_open = any(decide(acls, each, broker, read).decision == "ALLOWED" for each in asking)
    return "ALLOWED" if is_open else "DENIED"


@settings(max_examples=150)
@given(small.acl_sets(8), small.requests(), st.sampled_from(KIPS), st.sampled_from([CLOSED, OPEN]))
def test_it_is_allowed_exactly_where_some_name_is(acls, asked, read, broker):
    of_type = TypeRequest(asked.principal, asked.host, asked.operation, asked.resource_type)
    assert authorize_any(acls, of_type, broker, read) == brute_force(acls, of_type, broker, read)


@pytest.mark.parametrize(
    ("acls", "answer"),
    [
        ([acl("a?c", pattern_type="GLOB")], "ALLOWED"),
        ([acl("a?c", pattern_type="GLOB"), deny("a*", pattern_type="GLOB")], "DENIED"),
        ([acl("*a", pattern_type="GLOB"), deny("?*", pattern_type="GLOB")], "DENIED"),
        ([acl("a*", pattern_type="GLOB"), deny("a?*", pattern_type="GLOB")], "ALLOWED"),
        ([acl("abc"), deny("a", pattern_type="PREFIXED")], "DENIED"),
        ([acl("a", pattern_type="PREFIXED"), deny("ab", pattern_type="PREFIXED")], "ALLOWED"),
        ([acl("*"), deny("h", pattern_type="PREFIXED")], "ALLOWED"),
        ([acl("abc"), deny("*", principal="User:b")], "ALLOWED"),
        ([acl("abc"), deny("*", operation="WRITE")], "ALLOWED"),
        ([acl("abc", host="10.0.0.9")], "DENIED"),
        ([], "DENIED"),
    ],
)
def test_containment_of_patterns_decides(acls, answer):
    assert may(acls) == answer


def test_denies_that_only_together_contain_an_allow_are_seen():
    apart = [deny("??*", pattern_type="GLOB"), deny("?", pattern_type="GLOB")]
    assert may([acl("?*", pattern_type="GLOB"), *apart]) == "DENIED"
    assert may([acl("?*", pattern_type="GLOB"), *apart[:1]]) == "ALLOWED"
    assert may([acl("?*", pattern_type="GLOB"), deny("*?", pattern_type="GLOB")]) == "DENIED"


def test_what_is_too_hard_is_no_answer_but_an_error():
    acls = [acl("*a*b*", pattern_type="GLOB"), deny("*a*", pattern_type="GLOB")]
    asked = TypeRequest("User:a", "10.0.0.1", "READ", "TOPIC")
    with pytest.raises(TooHardError, match="after 2 states"):
        authorize_any(acls, asked, CLOSED, KIP_1042, states=2)


def test_what_an_allow_implies_counts_unlike_in_kafka():
    one = [acl("foo")]
    asked = TypeRequest("User:a", "10.0.0.1", "DESCRIBE", "TOPIC")
    assert authorize_any(one, asked, CLOSED, KIP_1042) == "ALLOWED"
    authorizer = Authorizer.over_acls(one, semantics=KAFKA)
    assert authorizer.authorize_by_resource_type(context(), "DESCRIBE", "TOPIC") == "DENIED"


def test_the_default_opens_a_type_as_long_as_some_name_is_reached_by_nobodys_acl():
    others = [acl("a", pattern_type="PREFIXED", principal="User:b")]
    assert may(others, OPEN) == "ALLOWED"
    assert may([*others, acl("*", principal="User:b")], OPEN) == "DENIED"


def test_the_cluster_is_decided_by_its_one_name():
    wide = acl("kafka", resource_type="CLUSTER", pattern_type="PREFIXED")
    narrow = deny("kafka-cluster", resource_type="CLUSTER")
    assert may([wide], resource_type="CLUSTER") == "ALLOWED"
    assert may([wide, narrow], resource_type="CLUSTER") == "DENIED"
    assert may([], OPEN, resource_type="CLUSTER") == "ALLOWED"


def test_a_super_user_may_whatever_is_denied():
    broker = BrokerSettings(super_users=frozenset({"User:a"}))
    assert may([deny("*")], broker) == "ALLOWED"


@pytest.mark.parametrize(
    ("read", "answer"),
    [
        (KAFKA, "DENIED"),
        (Semantics(glob_patterns=False, identity_globs=False, wildcard_defect=True), "DENIED"),
        (Semantics(deciding_acl=BROKER), "ALLOWED"),
        (KIP_1042, "ALLOWED"),
    ],
)
def test_kafkas_answer_is_given_where_acls_are_read_as_kafka_reads_them(read, answer):
    authorizer = Authorizer.over_acls([acl("foo")], semantics=read)
    assert authorizer.authorize_by_resource_type(context(), "DESCRIBE", "TOPIC") == answer


@pytest.mark.parametrize(
    ("operation", "resource_type", "message"),
    [
        ("READ", "ANY", "Must specify a non-filter resource type"),
        ("READ", "UNKNOWN", "Unknown resource type"),
        ("ANY", "TOPIC", "Must specify a non-filter operation type"),
        ("UNKNOWN(99)", "TOPIC", "Unknown operation type"),
    ],
)
@pytest.mark.parametrize("read", [KAFKA, KIP_1042])
def test_a_question_that_is_none_is_refused(read, operation, resource_type, message):
    authorizer = Authorizer.over_acls(semantics=read)
    with pytest.raises(UsageError, match=message):
        authorizer.authorize_by_resource_type(context(), operation, resource_type)


def test_the_authorizer_asks_about_its_own_acls():
    authorizer = Authorizer.over_acls([acl("a?c", pattern_type="GLOB")])
    assert authorizer.authorize_by_resource_type(context(), "READ", "TOPIC") == "ALLOWED"
    assert authorizer.authorize_by_resource_type(context(), "READ", "GROUP") == "DENIED"
    assert authorizer.authorize_by_resource_type(context("User:b"), "READ", "TOPIC") == "DENIED"
