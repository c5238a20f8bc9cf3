"""Principals: type and name, and super.users."""

from __future__ import annotations

import pytest

from aclkit.errors import UsageError
from aclkit.model.principal import parse_principal, parse_super_users, split_principal


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("User:alice", ("User", "alice")),
        ("User:CN=a:b", ("User", "CN=a:b")),
        (":alice", ("", "alice")),
        ("User:", ("User", "")),
        (":", ("", "")),
        (" User: a ", (" User", " a ")),
    ],
)
def test_the_first_colon_splits_and_nothing_is_trimmed(text, parts):
    assert split_principal(text) == parse_principal(text) == parts


@pytest.mark.parametrize("text", ["", "alice"])
def test_a_principal_without_colon_is_an_error_where_a_person_typed_it(text):
    assert split_principal(text) is None
    with pytest.raises(UsageError, match="has no principal type"):
        parse_principal(text)


def test_super_users_are_split_at_semicolons_so_that_names_may_hold_commas():
    users = parse_super_users("User:superuser1; User:CN=a,OU=b ;;")
    assert users == {"User:superuser1", "User:CN=a,OU=b"}


@pytest.mark.parametrize("text", ["", " ", ";"])
def test_blank_super_users_are_none(text):
    assert parse_super_users(text) == frozenset()


def test_a_super_user_may_lack_a_type_but_not_the_colon():
    assert parse_super_users(":alice") == {":alice"}
    with pytest.raises(UsageError, match="'bob'"):
        parse_super_users("bob;:alice")


def test_super_users_are_trimmed_as_java_trims():
    """String.trim takes what is not above a space, and nothing that is only Unicode's space."""
    told = " \t\x00User:a\u00a0;\x01User:b\x1f;\u3000:c"
    assert parse_super_users(told) == {"User:a\u00a0", "User:b", "\u3000:c"}
