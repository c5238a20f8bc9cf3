"""The rule, sentence by sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.model.acl import ANY_OTHER
from aclkit.model.semantics import BROKER, KAFKA, KIP_1042, BrokerSettings
from aclkit.rules.decide.rules import Ruling, answers, decide
from aclkit.rules.patterns.match import reaches
from tests.factories import acl, request
from tests.strategies import SEMANTICS, acl_sets, acls, requests, semantics

OFF = BrokerSettings()
EVERYONE = BrokerSettings(allow_everyone=True)
SUPER = BrokerSettings(super_users=frozenset({"User:a"}))
DENIED_BY_DEFAULT = Ruling("DENIED", "DefaultDeny")
ALLOWED_BY_DEFAULT = Ruling("ALLOWED", "DefaultAllow")


def deny(*args, **fields):
    return acl(*args, permission_type="DENY", **fields)


def ruling(acls, asked=None, settings=OFF, read=KIP_1042):
    return decide(acls, asked or request(), settings, read)


@pytest.mark.parametrize("read", SEMANTICS)
def test_a_super_user_is_allowed_whatever_is_denied(read):
    assert ruling([deny("*", operation="ALL")], None, SUPER, read) == Ruling("ALLOWED", "SuperUser")


@pytest.mark.parametrize("read", SEMANTICS)
def test_super_users_are_compared_as_text_and_never_as_globs(read):
    settings = BrokerSettings(super_users=frozenset({"User:*"}))
    assert ruling([], None, settings, read) == DENIED_BY_DEFAULT
    asked = request(principal="User:*")
    assert ruling([], asked, settings, read).rule == "SuperUser"


@pytest.mark.parametrize("read", SEMANTICS)
def test_deny_on_prefix_beats_allow_on_literal(read):
    denying = deny("or", pattern_type="PREFIXED")
    assert ruling([acl("orders"), denying], read=read) == Ruling("DENIED", "MatchingAcl", denying)


def test_deny_on_a_glob_elsewhere_beats_allow_on_literal():
    denying = deny("*-secret", pattern_type="GLOB")
    allowing = acl("pay-secret")
    asked = request("pay-secret")
    assert ruling([allowing, denying], asked) == Ruling("DENIED", "MatchingAcl", denying)
    assert ruling([allowing, denying], asked, read=KAFKA) == Ruling(
        "ALLOWED", "MatchingAcl", allowing
    )


def test_an_unknown_permission_denies():
    odd = acl(permission_type="UNKNOWN(9)")
    assert ruling([acl(), odd]) == Ruling("DENIED", "MatchingAcl", odd)


@pytest.mark.parametrize(
    "change",
    [
        {"resource_type": "GROUP"},
        {"resource_name": "other"},
        {"principal": "User:b"},
        {"principal": "a"},
        {"host": "10.0.0.2"},
        {"operation": "WRITE"},
    ],
)
def test_all_five_must_match(change):
    assert ruling([replace(acl(), **change)]) == DENIED_BY_DEFAULT


@pytest.mark.parametrize("operation", ["READ", "WRITE", "DELETE", "ALTER"])
def test_an_allow_on_read_write_delete_or_alter_also_covers_describe(operation):
    asked = request(operation="DESCRIBE")
    assert ruling([acl(operation=operation)], asked).decision == "ALLOWED"
    assert (
        ruling([deny(operation=operation), acl(operation="DESCRIBE")], asked).decision == "ALLOWED"
    )


def test_an_allow_on_alter_configs_also_covers_describe_configs_and_a_deny_does_not():
    asked = request(operation="DESCRIBE_CONFIGS")
    assert ruling([acl(operation="ALTER_CONFIGS")], asked).decision == "ALLOWED"
    blocked = [deny(operation="ALTER_CONFIGS"), acl(operation="DESCRIBE_CONFIGS")]
    assert ruling(blocked, asked).decision == "ALLOWED"


def test_everyone_is_allowed_only_where_no_acl_of_anybody_reaches_the_resource():
    assert ruling([], settings=EVERYONE) == ALLOWED_BY_DEFAULT
    assert ruling([acl(resource_type="GROUP")], settings=EVERYONE) == ALLOWED_BY_DEFAULT
    assert ruling([], settings=OFF) == DENIED_BY_DEFAULT


@pytest.mark.parametrize(
    "other",
    [
        acl(principal="User:b"),
        acl(host="10.0.0.2"),
        acl(operation="WRITE"),
        acl("*", principal="User:b"),
        acl("or", pattern_type="PREFIXED", principal="User:b"),
        deny(principal="User:b"),
        acl(principal="no-colon"),
    ],
    ids=["principal", "host", "operation", "wildcard", "prefix", "deny", "has no principal type"],
)
def test_any_acl_of_the_resource_ends_the_default(other):
    assert ruling([other], settings=EVERYONE) == DENIED_BY_DEFAULT


def test_user_star_matches_every_principal_of_every_type():
    assert ruling([acl(principal="User:*")], request(principal="Group:g")).decision == "ALLOWED"


def test_an_unknown_pattern_code_acts_as_prefixed():
    assert ruling([acl("or", pattern_type="UNKNOWN(9)")]).decision == "ALLOWED"


def test_the_wildcard_defect_lets_a_deny_on_everything_miss_a_star_name():
    denying = deny("*", resource_type="GROUP", operation="ALL")
    asked = request("*g", resource_type="GROUP")
    assert ruling([denying], asked, EVERYONE, KAFKA) == ALLOWED_BY_DEFAULT
    assert ruling([denying], asked, EVERYONE, KIP_1042) == Ruling("DENIED", "MatchingAcl", denying)


def test_any_other_is_reached_by_what_reaches_every_name_only():
    asked = request(ANY_OTHER, host=ANY_OTHER)
    assert ruling([acl("*", principal="User:*")], asked).decision == "ALLOWED"
    assert ruling([acl(ANY_OTHER, principal="User:*")], asked) == DENIED_BY_DEFAULT
    assert ruling([acl("*", principal="User:*", host="10.*")], asked) == DENIED_BY_DEFAULT


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (acl("orders"), acl("order", pattern_type="PREFIXED")),
        (acl("order", pattern_type="PREFIXED"), acl("order*", pattern_type="GLOB")),
        (acl("*", principal="User:a"), acl("*", principal="User:?")),
        (acl("*", principal="User:?"), acl("*", principal="User:*")),
        (acl(host="10.0.0.1"), acl(host="10.0.0.*")),
        (acl(host="10.0.0.*"), acl(host="*")),
        (acl(operation="DESCRIBE"), acl(operation="READ")),
        (acl(operation="READ"), acl(operation="ALL")),
        (acl(operation="READ"), acl(operation="WRITE")),
        (
            acl("or?ers", pattern_type="GLOB"),
            acl("ord?rs", pattern_type="GLOB", principal="User:*"),
        ),
        (acl(acl_id="A"), acl(acl_id="B")),
    ],
)
def test_the_most_specific_acl_decides_in_whatever_order_they_come(first, second):
    asked = request(operation="DESCRIBE")
    for pair in ([first, second], [second, first]):
        found = ruling(pair, asked).acl
        if first.resource_name == "or?ers":
            assert found == second, "a longer literal start comes before the principal"
        else:
            assert found == first


def test_the_broker_names_the_last_allow_and_the_first_deny():
    read = replace(KIP_1042, deciding_acl=BROKER)
    allows = [acl("orders"), acl("or", pattern_type="PREFIXED"), acl("*")]
    denies = [deny("orders"), deny("or", pattern_type="PREFIXED"), deny("*")]
    assert ruling(allows, read=read).acl == allows[2]
    assert ruling(denies, read=read).acl == denies[0]


@given(acl_sets(), requests(), st.booleans())
def test_globs_aside_both_presets_decide_alike(acls, asked, allow_everyone):
    plain = [
        each
        for each in acls
        if each.pattern_type == "PREFIXED"
        and not set("*?") & set(each.principal.removesuffix(":*") + each.host.removeprefix("*"))
        and each.host
        and each.principal not in (":a", "User:")
    ]
    settings = BrokerSettings(allow_everyone=allow_everyone)
    ours, kafkas = (decide(plain, asked, settings, read) for read in (KIP_1042, KAFKA))
    assert (ours.decision, ours.rule) == (kafkas.decision, kafkas.rule)


@given(acl_sets(), requests(), semantics, st.booleans(), st.randoms(use_true_random=False))
def test_the_order_of_the_acls_cannot_matter(acls, asked, read, allow_everyone, random):
    settings = BrokerSettings(allow_everyone=allow_everyone)
    shuffled = random.sample(acls, len(acls))
    assert decide(acls, asked, settings, read) == decide(shuffled, asked, settings, read)


@given(acl_sets(), requests(), semantics)
def test_a_matching_deny_beats_any_allow(acls, asked, read):
    hits = [
        each
        for each in acls
        if reaches(each, asked.resource_type, asked.resource_name, read)
        and answers(each, asked, read)
    ]
    found = decide(acls, asked, OFF, read)
    assert (found.decision == "DENIED") == (not hits or any(not each.is_allow for each in hits))
    assert found.acl in (hits or [None])


@given(acl_sets(), acls(), requests(), semantics)
def test_a_further_allow_never_takes_access_away_where_default_is_deny(acls, more, asked, read):
    if more.is_allow and decide(acls, asked, OFF, read).decision == "ALLOWED":
        assert decide([*acls, more], asked, OFF, read).decision == "ALLOWED"
