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


def brokers(*values):
    return tuple(BrokerConfig(number, told) for number, told in enumerate(values, start=1))


def test_without_a_word_from_anybody_kafkas_defaults_hold():
    assert resolve(GivenSettings()).settings == BrokerSettings()


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
        (SUPER_USERS, "super.users was given as 'User:admin', and the brokers have 'User:ops'."),
        (
            ALLOW_EVERYONE,
            "allow.everyone.if.no.acl.found was given as 'false', and the brokers have 'true'.",
        ),
    )


def test_a_key_that_no_broker_sets_is_known_to_be_empty():
    given = GivenSettings(super_users=ADMIN, allow_everyone=True)
    assert [key for key, _ in resolve(given, brokers({})).differences] == [
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
    assert [note.partition(" is set on broker 1")[0] for note in resolved.notes] == [
        SUPER_USERS,
        ALLOW_EVERYONE,
    ]
    given = resolve(GivenSettings(super_users=ADMIN, allow_everyone=True), hidden)
    assert (given.settings.super_users, given.differences, given.notes) == (ADMIN, (), ())


def test_brokers_that_differ_among_each_other_are_said_and_the_first_holds():
    told = brokers({SUPER_USERS: "User:admin"}, {SUPER_USERS: "User:ops"})
    resolved = resolve(GivenSettings(), told)
    assert resolved.settings.super_users == ADMIN
    ((key, message),) = resolved.differences
    assert key == SUPER_USERS
    assert message.endswith("super.users: broker 1: 'User:admin'; broker 2: 'User:ops'.")


def test_a_broker_that_sets_a_key_differs_from_one_that_does_not():
    told = brokers({ALLOW_EVERYONE: None}, {})
    ((key, message),) = resolve(GivenSettings(allow_everyone=True), told).differences
    assert key == ALLOW_EVERYONE
    assert "broker 1: a value kept back; broker 2: 'false'" in message


@pytest.mark.parametrize("name", ["org.example.OpaAuthorizer", " x "])
def test_another_authorizer_is_refused_with_the_way_out(name):
    with pytest.raises(DataError, match="kafka-acls --list"):
        require_known_authorizer(brokers({AUTHORIZER: name}))


def test_kafkas_own_authorizers_pass_and_the_old_ones_are_said():
    told = brokers(*({AUTHORIZER: name} for name in AUTHORIZERS), {}, {AUTHORIZER: None})
    require_known_authorizer(told)
    resolved = resolve(GivenSettings(), told[1:2])
    assert resolved.notes == (
        f"the brokers decide by {AUTHORIZERS[1]}, of ZooKeeper's time, whose rule is the same",
    )
