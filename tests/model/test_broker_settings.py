"""What the user says of the brokers' settings, and what the brokers say."""

from __future__ import annotations

import pytest

from aclkit.errors import DataError
from aclkit.model.broker_settings import (
    ALLOW_EVERYONE,
    AUTHORIZER,
    AUTHORIZERS,
    SUPER_USERS,
    BrokerConfig,
    GivenSettings,
    require_known_authorizer,
    resolve,
)
from aclkit.model.semantics import BrokerSettings

ADMIN = frozenset({"User:admin"})


KAFKAS = {AUTHORIZER: AUTHORIZERS[0]}


def brokers(*values):
    return tuple(BrokerConfig(number, told) for number, told in enumerate(values, start=1))


def kafkas(*values):
    """Kafka's own brokers, which tell their authorizer."""
    return brokers(*(KAFKAS | told for told in values))


BOTH = {SUPER_USERS, ALLOW_EVERYONE}


def test_without_a_word_from_anybody_kafkas_defaults_hold_and_are_unknown():
    resolved = resolve(GivenSettings())
    assert (resolved.settings, resolved.settings.unknown) == (BrokerSettings(), BOTH)
    (note,) = resolved.notes
    assert note == (
        "allow.everyone.if.no.acl.found is unknown, so 'false' is assumed. Pass --allow-everyone, "
        "--no-allow-everyone or --server-properties."
    )


@pytest.mark.parametrize(
    ("given", "told", "unknown"),
    [
        (GivenSettings(super_users=frozenset()), (), {ALLOW_EVERYONE}),
        (GivenSettings(super_users=frozenset(), allow_everyone=False), (), set()),
        (GivenSettings(), ({},), set()),
        (GivenSettings(), ({SUPER_USERS: None},), {SUPER_USERS}),
        (GivenSettings(), ({SUPER_USERS: None}, {SUPER_USERS: "User:a"}), {SUPER_USERS}),
        (GivenSettings(super_users=ADMIN), ({SUPER_USERS: None},), set()),
        (GivenSettings(super_users=ADMIN, unresolved=frozenset(BOTH)), ({},), BOTH),
        (GivenSettings(super_users=frozenset({"User:${A}"})), ({},), {SUPER_USERS}),
    ],
)
def test_what_nobody_tells_is_unknown_and_an_empty_value_is_known(given, told, unknown):
    assert resolve(given, kafkas(*told)).settings.unknown == unknown


def test_a_broker_that_does_not_even_tell_its_authorizer_tells_nothing():
    assert resolve(GivenSettings(), brokers({})).settings.unknown == BOTH
    found = resolve(GivenSettings(), brokers({SUPER_USERS: "User:a"})).settings
    assert (found.super_users, found.unknown) == ({"User:a"}, {ALLOW_EVERYONE})


def test_an_option_holds_against_a_file_with_a_placeholder():
    file = GivenSettings(
        super_users=ADMIN, allow_everyone=True, unresolved=frozenset(BOTH), mapping_rules="DEFAULT"
    )
    found = file.overridden_by(GivenSettings(super_users=frozenset()))
    assert (found.super_users, found.unresolved) == (frozenset(), {ALLOW_EVERYONE})
    assert (found.allow_everyone, found.mapping_rules) == (True, "DEFAULT")


def test_near_misses_and_what_a_file_says_are_notes():
    users = frozenset({"User:a,User:b"})
    notes = resolve(GivenSettings(super_users=users, notes=("of a file",)), kafkas({})).notes
    assert notes[0] == "of a file"
    assert "Did you mean 'User:a;User:b'?" in notes[1]


def test_what_the_brokers_say_holds_where_nothing_was_given():
    told = {SUPER_USERS: " User:admin; User:ops ;", ALLOW_EVERYONE: " TRUE"}
    resolved = resolve(GivenSettings(), brokers(told, told))
    assert resolved.settings == BrokerSettings(
        super_users=frozenset({"User:admin", "User:ops"}), allow_everyone=True
    )
    assert (resolved.differences, resolved.notes) == ((), ())


def test_what_was_given_wins_and_what_differs_is_said():
    given = GivenSettings(super_users=ADMIN, allow_everyone=False)
    resolved = resolve(given, brokers({SUPER_USERS: "User:ops", ALLOW_EVERYONE: "true"}))
    assert resolved.settings == BrokerSettings(super_users=ADMIN)
    assert resolved.differences == (
        (SUPER_USERS, "super.users was passed as 'User:admin', but the brokers have 'User:ops'."),
        (
            ALLOW_EVERYONE,
            "allow.everyone.if.no.acl.found was passed as 'false', but the brokers have 'true'.",
        ),
    )


def test_a_key_that_no_broker_sets_is_known_to_be_empty():
    given = GivenSettings(super_users=ADMIN, allow_everyone=True)
    assert [key for key, _ in resolve(given, kafkas({})).differences] == [
        SUPER_USERS,
        ALLOW_EVERYONE,
    ]


def test_the_order_of_super_users_makes_no_difference():
    given = GivenSettings(super_users=frozenset({"User:a", "User:b"}))
    assert resolve(given, brokers({SUPER_USERS: "User:b;User:a"})).differences == ()


def test_values_that_brokers_keep_back_are_a_note_unless_they_were_given():
    hidden = brokers({SUPER_USERS: None, ALLOW_EVERYONE: None})
    resolved = resolve(GivenSettings(), hidden)
    assert resolved.settings == BrokerSettings()
    assert [note.partition(" is hidden by broker 1")[0] for note in resolved.notes] == [
        SUPER_USERS,
        ALLOW_EVERYONE,
    ]
    given = resolve(GivenSettings(super_users=ADMIN, allow_everyone=True), hidden)
    assert (given.settings.super_users, given.differences, given.notes) == (ADMIN, (), ())


def test_brokers_that_differ_among_each_other_are_said_and_the_first_holds():
    told = kafkas({SUPER_USERS: "User:admin"}, {SUPER_USERS: "User:ops"})
    resolved = resolve(GivenSettings(), told)
    assert resolved.settings.super_users == ADMIN
    ((key, message),) = resolved.differences
    assert key == SUPER_USERS
    assert message.endswith("super.users: broker 1: 'User:admin'; broker 2: 'User:ops'.")


def test_a_broker_that_sets_a_key_differs_from_one_that_does_not():
    told = kafkas({ALLOW_EVERYONE: None}, {})
    ((key, message),) = resolve(GivenSettings(allow_everyone=True), told).differences
    assert key == ALLOW_EVERYONE
    assert "broker 1: a hidden value; broker 2: 'false'" in message


@pytest.mark.parametrize("name", ["org.example.OpaAuthorizer", " x "])
def test_another_authorizer_is_refused_with_the_way_out(name):
    with pytest.raises(DataError, match="kafka-acls --list"):
        require_known_authorizer(brokers({AUTHORIZER: name}))


def test_a_broker_without_an_authorizer_is_refused():
    with pytest.raises(DataError, match=r"Broker 2 has no authorizer .* allows everything"):
        require_known_authorizer(brokers({AUTHORIZER: AUTHORIZERS[0]}, {AUTHORIZER: ""}))


def test_kafkas_own_authorizers_pass_and_the_old_ones_are_said():
    told = brokers(*({AUTHORIZER: name} for name in AUTHORIZERS), {}, {AUTHORIZER: None})
    require_known_authorizer(told)
    resolved = resolve(GivenSettings(), told[1:2])
    assert resolved.notes[-1:] == (
        f"The brokers use {AUTHORIZERS[1]}, the authorizer of ZooKeeper clusters. Its rules "
        f"are the same.",
    )
