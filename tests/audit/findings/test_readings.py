"""What ACLs and settings odd in themselves are reported as, and which presets read otherwise."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.audit.findings.readings import (
    find_duplicates,
    find_super_users_unknown,
    find_unknown_codes,
    reads_differently,
)
from aclkit.model.acl import acl_words
from aclkit.model.broker_settings import ALLOW_EVERYONE, SUPER_USERS
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings
from aclkit.rules.decide.rules import answers, decide
from aclkit.rules.patterns.match import reaches
from tests.factories import acl, request
from tests.strategies import acl_sets, acls, requests


def test_one_binding_under_several_ids_is_one_finding():
    rows = [acl(acl_id="2"), acl("other"), acl(acl_id="1")]
    (found,) = find_duplicates(rows)
    assert (found.finding, found.acl_ids) == ("duplicate-acl", ("1", "2"))
    assert found.subject == str(rows[0])


@pytest.mark.parametrize(
    ("field", "value", "treated"),
    [
        ("resource_type", "UNKNOWN(9)", "matches no request"),
        ("pattern_type", "UNKNOWN(9)", "acts as PREFIXED"),
        ("pattern_type", "MATCH", "acts as PREFIXED"),
        ("operation", "UNKNOWN(77)", "matches no request"),
        ("permission_type", "UNKNOWN(-1)", "acts as DENY"),
        ("permission_type", "ANY", "acts as DENY"),
    ],
)
def test_an_unknown_code_is_found_with_what_the_broker_makes_of_it(field, value, treated):
    planted = acl(**{field: value})
    rows = [acl(), acl(pattern_type="GLOB"), acl(permission_type="DENY", operation="ALL"), planted]
    (found,) = find_unknown_codes(rows)
    assert (found.finding, found.acl_ids) == ("unknown-code", (planted.acl_id,))
    assert found.message.startswith(acl_words(planted))
    assert f"{value} {treated}" in found.message


@pytest.mark.parametrize(
    ("fields", "is_different"),
    [
        ({}, False),
        ({"pattern_type": "GLOB"}, True),
        ({"pattern_type": "GLOB", "resource_name": ""}, False),
        ({"pattern_type": "PREFIXED", "resource_name": "*"}, False),
        ({"resource_name": "*"}, False),
        ({"resource_name": "*", "resource_type": "CLUSTER"}, False),
        ({"resource_name": "*", "resource_type": "GROUP"}, True),
        ({"resource_name": "*", "resource_type": "USER"}, True),
        ({"resource_name": "a*", "resource_type": "GROUP"}, False),
        ({"principal": "User:*"}, False),
        ({"principal": "Group:*"}, True),
        ({"principal": ":a"}, True),
        ({"principal": "User:"}, True),
        ({"principal": "a*"}, False),
        ({"host": "*"}, False),
        ({"host": "10.?"}, True),
        ({"host": ""}, True),
    ],
)
def test_what_the_presets_read_differently_is_named(fields, is_different):
    row = acl(**fields)
    assert set(reads_differently([row])) == ({row.acl_id} if is_different else set())


@given(acls(), requests())
def test_an_acl_that_is_not_named_answers_the_same_requests_under_both_presets(row, asked):
    is_no_topic = asked.resource_type == "TOPIC" and set(asked.resource_name) & set("*?")
    if reads_differently([row]) or is_no_topic:
        return
    kip, kafka = (
        reaches(row, asked.resource_type, asked.resource_name, read) and answers(row, asked, read)
        for read in (KIP_1042, KAFKA)
    )
    assert kip == kafka


@pytest.mark.parametrize("cidr_hosts", [False, True])
@given(acl_sets(), requests(), st.booleans())
def test_both_presets_decide_alike_but_for_the_acls_that_are_named(
    cidr_hosts, rows, asked, is_open
):
    """Where they do not, one that is named decided in one of them, or closed the resource."""
    is_no_topic = asked.resource_type == "TOPIC" and set(asked.resource_name) & set("*?")
    if is_no_topic:
        return
    presets = [replace(preset, cidr_hosts=cidr_hosts) for preset in (KIP_1042, KAFKA)]
    settings = BrokerSettings(allow_everyone=is_open)
    named = reads_differently(rows)
    for some in ([row for row in rows if row.acl_id not in named], rows):
        kip, kafka = (decide(some, asked, settings, preset) for preset in presets)
        if kip.decision != kafka.decision:
            reach = [{row.acl_id for row in some if reaches(row, *asked.resource, preset)}
                     for preset in presets]  # fmt: skip
            assert some is rows
            assert {kip.acl_id, kafka.acl_id, *(reach[0] ^ reach[1])} & named.keys()


@pytest.mark.parametrize(("resource_type", "name"), [("GROUP", "*b"), ("TRANSACTIONAL_ID", "**")])
def test_the_wildcard_defect_is_a_difference_between_the_presets(resource_type, name):
    row = acl("*", resource_type=resource_type, operation="ALL")
    asked = request(name, resource_type=resource_type, operation="DESCRIBE")
    kip, kafka = (decide([row], asked, BrokerSettings(), read) for read in (KIP_1042, KAFKA))
    assert (kip.decision, kafka.decision) == ("ALLOWED", "DENIED")
    assert "start with '*'" in reads_differently([row])[row.acl_id]


USERS = frozenset({"User:a"})


@pytest.mark.parametrize(
    ("users", "unknown", "evidence"),
    [
        (frozenset(), {SUPER_USERS}, ("super.users: none known",)),
        (USERS, {SUPER_USERS}, ("super.users: only User:a known",)),
        (
            frozenset(), {SUPER_USERS, ALLOW_EVERYONE},
            ("super.users: none known", "allow.everyone.if.no.acl.found: also unknown"),
        ),
    ],
)  # fmt: skip
def test_unknown_super_users_are_one_high_finding(users, unknown, evidence):
    settings = BrokerSettings(super_users=users, unknown=frozenset(unknown))
    (found,) = find_super_users_unknown(settings)
    assert (found.finding, found.severity) == ("super-users-unknown", "high")
    assert (found.subject, found.evidence) == ("super.users", evidence)
    assert found.message == (
        "Super users are unknown, so every answer DENIED is wrong for a super user."
    )


@pytest.mark.parametrize("unknown", [frozenset(), frozenset({ALLOW_EVERYONE})])
def test_known_super_users_are_none_although_there_are_no_super_users(unknown):
    assert list(find_super_users_unknown(BrokerSettings(unknown=unknown))) == []
