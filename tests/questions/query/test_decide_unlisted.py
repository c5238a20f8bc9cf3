"""What no inventory holds is decided as the pure rule decides it, and without going through all."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aclkit.model.acl import ANY_OTHER, Request
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import Resource
from aclkit.model.semantics import BROKER, KIP_1042, BrokerSettings
from aclkit.questions.query.decide_unlisted import decide_outside
from aclkit.rules.decide.order import BrokerRescan
from aclkit.rules.decide.rules import decide
from aclkit.rules.patterns import identity
from aclkit.rules.patterns.match import principal_matches, reaches
from tests import strategies as small
from tests.factories import acl

NAMES = st.lists(
    st.text("ab*?#", max_size=3) | st.just("!late"), min_size=1, max_size=4, unique=True
)
BROKERS = replace(KIP_1042, deciding_acl=BROKER)
HOSTS = ("10.0.0.1", "10.0.0.2", ANY_OTHER)


def expected(acls, principals, resources, settings, semantics):
    search = BrokerRescan.of((a.resource_type, a.pattern_type, a.resource_name) for a in acls)
    decided = {}
    for principal in principals:
        for resource in resources:
            for operation in OPERATIONS_OF_TYPE[resource.resource_type]:
                for host in HOSTS:
                    request = Request.of(principal, host, operation, resource)
                    is_last = search.wildcard_is_last(*resource)
                    ruling = decide(acls, request, settings, semantics, wildcard_is_last=is_last)
                    acl_id = ruling.acl.acl_id if ruling.acl else None
                    decided[principal, resource, operation, host] = (
                        ruling.decision, ruling.rule, acl_id,
                    )  # fmt: skip
    return decided


def _first(drawn):
    return drawn[:1]


PRINCIPALS = st.lists(small.principals, min_size=1, max_size=4, unique=True)


@given(small.acl_sets(8), PRINCIPALS, NAMES.map(_first), st.booleans(), small.semantics)
def test_every_principal_of_one_resource_is_decided_as_by_the_pure_rule(
    acls, principals, names, allow_everyone, semantics
):
    agree(acls, principals, names, allow_everyone, semantics)


@settings(max_examples=200)
@given(small.acl_sets(5), PRINCIPALS.map(_first), NAMES, st.booleans(), small.semantics)
def test_every_resource_of_one_principal_is_decided_as_by_the_pure_rule(
    acls, principals, names, allow_everyone, semantics
):
    agree(acls, principals, names, allow_everyone, semantics)


def agree(acls, principals, names, allow_everyone, semantics):
    resources = [Resource("TOPIC", name) for name in names]
    broker = BrokerSettings(super_users=frozenset({"User:b"}), allow_everyone=allow_everyone)
    unreached = frozenset(
        r
        for r in resources[: 0 if len(resources) == 1 else None]
        if not any(reaches(a, "TOPIC", r.resource_name, semantics) for a in acls)
    )
    found = {
        (principal, one.resource, one.operation, host): tuple(verdict)
        for one in decide_outside(acls, principals, resources, HOSTS, unreached, broker, semantics)
        for principal in one.principals
        for host, verdict in one.by_host.items()
    }
    assert found == expected(acls, principals, resources, broker, semantics)


@pytest.mark.parametrize("names", [["#b"], ["#b", "#ab", "!", "b"]])
def test_deciding_acl_of_a_name_below_the_wildcard_is_the_brokers(names):
    """PREFIXED ``*`` reaches none of them, and ends the broker's second scan."""
    wildcard = acl("*", resource_type="GROUP")
    near = acl("#", resource_type="GROUP", pattern_type="PREFIXED")
    end = acl("*", resource_type="GROUP", pattern_type="PREFIXED", principal="User:x")
    for acls, first in (([wildcard, near], near), ([wildcard, near, end], wildcard)):
        arguments = acls, ["User:a"], [Resource("GROUP", name) for name in names]
        broker = BrokerSettings()
        found = {
            (one.principals[0], one.resource, one.operation, host): tuple(verdict)
            for one in decide_outside(*arguments, HOSTS, frozenset(), broker, BROKERS)
            for host, verdict in one.by_host.items()
        }
        assert found == expected(*arguments, broker, BROKERS)
        assert found["User:a", Resource("GROUP", "#b"), "READ", ANY_OTHER][2] == first.acl_id


def test_names_that_the_same_denials_reach_fare_apart_on_both_sides_of_the_wildcard():
    denials = [
        acl("*", resource_type="GROUP", permission_type="DENY"),
        acl("", resource_type="GROUP", pattern_type="PREFIXED", permission_type="DENY"),
    ]
    resources = [Resource("GROUP", name) for name in ("b", "!")]
    named = {
        one.resource.resource_name: one.by_host[ANY_OTHER].acl_id
        for one in decide_outside(
            denials, ["User:a"], resources, HOSTS, frozenset(), BrokerSettings(), BROKERS
        )
        if one.operation == "READ"
    }
    assert named == {"b": denials[0].acl_id, "!": denials[1].acl_id}


def test_many_principals_and_acls_are_not_compared_pair_by_pair(monkeypatch):
    calls = []

    def counted(*arguments):
        calls.append(arguments)
        return principal_matches(*arguments)

    monkeypatch.setattr(identity, "principal_matches", counted)
    principals = [f"User:u{number:04}" for number in range(300)]
    acls = [acl("t", principal=name) for name in principals]
    broker = BrokerSettings(allow_everyone=True)
    found = list(
        decide_outside(
            acls, principals, [Resource("TOPIC", "t")], HOSTS, frozenset(), broker, KIP_1042
        )
    )
    assert len(found) == len(principals) * len(OPERATIONS_OF_TYPE["TOPIC"])
    assert 0 < len(calls) < 5 * len(principals)
