"""Whether an answer depends on the broker, and which broker decides how."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aclkit.model.acl import ANY_OTHER, Request
from aclkit.model.resource import Resource
from aclkit.model.semantics import KAFKA, BrokerSettings
from aclkit.questions.query.other_reading import rulings_by_broker
from aclkit.rules.decide.counterfactual import Case
from tests.upgrading import ACLS, NEW, OLD, ROLLING

HOSTS = ("10.0.0.1", "10.1.0.1", "9.9.9.9", ANY_OTHER)


def sides(principal, host, brokers=ROLLING, *, semantics=KAFKA, offset=100, users=()):
    case = Case(
        request=Request.of(principal, host, "READ", Resource("TOPIC", "payments")),
        reaching=[acl for acl in ACLS if acl.resource_name in ("payments", "pay")],
        settings=BrokerSettings(super_users=frozenset(users)),
        semantics=semantics,
    )
    return [
        [(side.hosts, side.brokers, side.ruling.decision) for side in pair]
        for pair in rulings_by_broker(case, HOSTS, brokers, offset)
    ]


@pytest.mark.parametrize("semantics", [KAFKA, replace(KAFKA, cidr_hosts=True)])
def test_each_side_is_told_whichever_of_them_is_published(semantics):
    assert sides("User:bob", "10.9.9.9", semantics=semantics) == [
        [(("10.9.9.9",), (2,), "DENIED"), (("10.9.9.9",), (1,), "ALLOWED")]
    ]


def test_an_access_that_all_decide_alike_is_not_told():
    assert sides("User:bob", "10.1.2.3") == []
    assert sides("User:bob", "9.9.9.9") == []
    assert sides("User:bob", "10.9.9.9", users=["User:bob"]) == []


@pytest.mark.parametrize("brokers", [OLD, NEW, ()])
def test_brokers_that_are_alike_or_unknown_are_not_told(brokers):
    assert sides("User:bob", "10.9.9.9", brokers) == []


def test_from_any_host_the_hosts_are_told_that_depend_on_the_broker():
    ((old, new),) = sides("User:bob", ANY_OTHER)
    assert old == (("10.0.0.1", "<any-other in 10.0.0.0/8>"), (2,), "DENIED")
    assert new[1:] == ((1,), "ALLOWED")
    ((old, new),) = sides("User:alice", ANY_OTHER)
    assert (old[2], new[2]) == ("ALLOWED", "DENIED")
    assert old[0] == ("<any-other in 2001:db8::/32>", "<any-other in 2001:db8::/33>")


def test_of_a_past_in_which_brokers_were_others_nothing_is_said():
    assert sides("User:bob", "10.9.9.9", offset=1) == []
    assert sides("User:bob", "10.9.9.9", offset=2)
