"""What Kafka's authorizer answers."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aclkit.errors import UsageError
from aclkit.kafka.verify.kafka import Kafka
from aclkit.kafka.verify.wire import Reply
from aclkit.model.semantics import BrokerSettings
from tests.factories import acl, request
from tests.tools.benchmarks.kafka_loop import measure

pytestmark = pytest.mark.kafka

CLOSED = BrokerSettings()
OPEN = BrokerSettings(super_users=frozenset({"User:root", "User:CN=a, O=b"}), allow_everyone=True)


def ask(kafka, acls, asked, broker=CLOSED) -> Reply:
    kafka.load(acls, broker)
    (answer,) = kafka.ask([asked])
    return answer


def test_the_deciding_acl_is_named(kafka):
    acls = [acl("or", pattern_type="PREFIXED"), acl(permission_type="DENY"), acl("*")]
    assert ask(kafka, acls, request()) == Reply("DENIED", "MatchingAcl", acls[1])
    assert ask(kafka, acls[::2], request()) == Reply("ALLOWED", "MatchingAcl", acls[2])


def test_both_values_of_the_default(kafka):
    assert ask(kafka, [], request()) == Reply("DENIED", "DefaultDeny")
    assert ask(kafka, [], request(), OPEN) == Reply("ALLOWED", "DefaultAllow")
    assert ask(kafka, [acl(host="::1")], request(), OPEN) == Reply("DENIED", "DefaultDeny")


@pytest.mark.parametrize("principal", sorted(OPEN.super_users))
def test_super_users_are_kafkas(kafka, principal):
    deny = acl(principal="User:*", permission_type="DENY")
    assert ask(kafka, [deny], request(principal=principal), OPEN) == Reply("ALLOWED", "SuperUser")


def test_ipv6_hosts_are_written_as_java_does(kafka):
    acls = [acl(host="0:0:0:0:0:0:0:1"), acl(host="::1", operation="WRITE")]
    kafka.load(acls, CLOSED)
    asked = [request(host="0:0:0:0:0:0:0:1", operation=name) for name in ("READ", "WRITE")]
    assert [answer.decision for answer in kafka.ask(asked)] == ["ALLOWED", "DENIED"]


def test_ids_with_the_same_fields_and_codes_that_nobody_knows_are_one_acl(kafka):
    acls = [acl(pattern_type=name) for name in ("UNKNOWN(9)", "UNKNOWN(10)", "GLOB")]
    assert ask(kafka, [*acls, acl("x"), acl("x")], request("x")).acl.resource_name == "x"
    assert ask(kafka, acls, request()) == Reply("ALLOWED", "MatchingAcl", acls[0])


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.text(st.characters(), min_size=1).map("n".__add__), max_size=30, unique=True))
def test_java_reads_every_text_as_it_is(kafka, names):
    acls = [acl(name, principal=f"User:{name}", host=name) for name in names]
    acls += [acl(name, principal=f"User:{name}") for name in names]
    kafka.load(acls, CLOSED)
    answers = kafka.ask([request(name, principal=f"User:{name}") for name in names])
    assert [answer.acl for answer in answers] == acls[len(names) :]


def test_what_kafka_throws_is_an_answer(kafka):
    kafka.load([acl(principal="nobody")], CLOSED)
    first, second, third = kafka.ask([request(principal="User:*"), request(), request("other")])
    assert first.rule == "throws java.lang.IllegalArgumentException: duplicate element: User:*"
    assert second.rule.startswith("throws java.lang.IllegalStateException: Could not parse")
    assert (first.decision, second.decision, third.decision) == (None, None, "DENIED")


def test_two_letters_shared_below_the_wildcard_throw(kafka):
    found = ask(kafka, [acl("#abc", resource_type="GROUP")], request("#abd", resource_type="GROUP"))
    assert found.rule.startswith("throws java.lang.StringIndexOutOfBoundsException")


def test_what_makes_no_sense_is_refused(kafka):
    with pytest.raises(UsageError, match="at least one request"):
        measure(kafka, [], 1)
    with Kafka(()) as empty, pytest.raises(UsageError, match="ACLs to be loaded"):
        empty.ask([request()])
