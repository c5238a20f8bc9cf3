"""Where the other reading of ACLs decides otherwise, an answer says so, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.model.acl import ANY_OTHER
from aclkit.model.resource import Resource
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings, other_reading
from aclkit.questions.query.other_reading import decided_otherwise, decided_otherwise_for
from aclkit.rules.decide.counterfactual import Case
from aclkit.rules.decide.rules import decide
from aclkit.rules.patterns.match import reaches
from tests import strategies as drawn
from tests.factories import acl, request

NAMES = ("User:a", "User:b", "User:ab", "Group:a")
HOSTS = ("10.0.0.1", "10.0.0.2", "192.168.0.1")
PLAIN = BrokerSettings()
BROKERS = st.builds(
    BrokerSettings,
    super_users=st.sampled_from((frozenset(), frozenset({"User:a"}))),
    allow_everyone=st.booleans(),
)
OPERATIONS = st.sampled_from(("READ", "DESCRIBE", "ALTER_CONFIGS"))


def ask(acls, asked, settings=PLAIN, semantics=KAFKA):
    reaching = [one for one in acls if reaches(one, *asked.resource, semantics)]
    case = Case(request=asked, reaching=reaching, settings=settings, semantics=semantics)
    return list(decided_otherwise(case, acls))


@given(drawn.acl_sets(8), drawn.requests(), OPERATIONS, BROKERS, drawn.semantics)
def test_a_request_is_said_to_be_decided_otherwise_where_it_is(
    acls, asked, operation, settings, semantics
):
    asked = replace(asked, operation=operation)
    found = [one.ruling for one in ask(acls, asked, settings, semantics) if one.host == asked.host]
    ours = decide(acls, asked, settings, semantics)
    theirs = decide(acls, asked, settings, other_reading(semantics))
    assert [ruling.decision for ruling in found] == (
        [theirs.decision] if theirs.decision != ours.decision else []
    )


@given(drawn.acl_sets(8), drawn.requests(), OPERATIONS, BROKERS, drawn.semantics)
def test_the_principals_of_a_resource_are_those_that_the_rule_decides_otherwise_for(
    acls, asked, operation, settings, semantics
):
    resource = Resource(*asked.resource)
    found = decided_otherwise_for(
        acls, NAMES, resource, HOSTS, settings, semantics, frozenset({operation})
    )
    allowed, denied = set(), set()
    for principal in NAMES:
        for host in HOSTS:
            one = replace(asked, principal=principal, host=host, operation=operation)
            ours, theirs = (
                decide(acls, one, settings, way).decision
                for way in (semantics, other_reading(semantics))
            )
            if ours != theirs:
                (allowed if theirs == "ALLOWED" else denied).add(principal)
    assert (
        (set(found.allowed), set(found.denied)) == (allowed, denied)
        if found
        else (not allowed and not denied)
    )


SERVICES = acl("pay", principal="User:svc-*")


@pytest.mark.parametrize(
    ("semantics", "preset", "decision"),
    [(KAFKA, "kip-1042", "ALLOWED"), (KIP_1042, "kafka", "DENIED")],
)
def test_the_other_readings_preset_is_named(semantics, preset, decision):
    (one,) = ask([SERVICES], request("pay", principal="User:svc-1"), semantics=semantics)
    assert (one.preset, one.ruling.decision) == (preset, decision)


def test_a_request_from_any_host_is_asked_from_hosts_that_are_read_differently_too():
    rows = [acl("pay", host="10.0.*"), acl("pay", principal="User:?", host="10.9.9.9")]
    found = ask(rows, request("pay", host=ANY_OTHER))
    assert [(one.host, one.ruling.acl) for one in found] == [
        ("10.0.*", rows[0]), ("10.9.9.9", rows[1]),
    ]  # fmt: skip


def test_a_name_below_a_wildcard_literal_is_alike_but_for_those_that_begin_with_a_star():
    everything = [acl("*", resource_type="GROUP")]
    assert not ask(everything, request("g", resource_type="GROUP"))
    (one,) = ask(everything, request("*g", resource_type="GROUP"))
    assert one.ruling.decision == "ALLOWED"
