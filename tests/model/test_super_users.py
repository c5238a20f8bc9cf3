"""Super users that somebody probably meant otherwise, and those that a principal is not."""

from __future__ import annotations

import pytest

from aclkit.model.super_users import alike, near_misses


@pytest.mark.parametrize(
    ("user", "said"),
    [
        ("User:a,User:b", "Did you mean 'User:a;User:b'?"),
        ("User:a, b", "Did you mean 'User:a;User:b'?"),
        ("User:CN=a,O=x,User:CN=b,O=x", "splits super.users at ';' only"),
        ("User:CN=b, O=x, C=DE", "Did you mean 'User:CN=b,O=x,C=DE'?"),
        ("User:CN = b,O=x", "Did you mean 'User:CN=b,O=x'?"),
        ("User:", "has no name"),
        ("User:${ADMIN}", "the placeholder 'User:${ADMIN}', which aclkit cannot resolve"),
        ("User:*", "does not stand for every user"),
        ("user:admin", "Did you mean 'User:admin'?"),
        ("Group:ops", "has the type 'Group'"),
        ("User:User:admin", "Did you mean 'User:admin'?"),
        ('"User:admin', "has the type '\"User'"),
    ],
)
def test_a_near_miss_is_said(user, said):
    (found,) = near_misses({user, "User:fine"})
    assert said in found


@pytest.mark.parametrize(
    "user",
    [
        "User:admin", "User:CN=a,OU=b c,O=x", r"User:CN=Doe\, Jane,O=x", "User:ANONYMOUS",
        r"User:CN=a\=b,O=x", "User:a b", "User:spiffe://x/y",
    ],
)  # fmt: skip
def test_a_name_that_kafka_makes_is_no_near_miss(user):
    assert list(near_misses({user})) == []


@pytest.mark.parametrize(
    ("principal", "user"),
    [
        ("User:admin", "User:admin,User:deployer"),
        ("User:deployer", "User:admin, User:deployer"),
        ("User:CN=broker,O=Example,C=DE", "User:CN=broker, O=Example, C=DE"),
        ("User:CN=ops,OU=core,O=Example,C=DE", "User:CN=ops"),
        ("User:CN=ops,OU=core", "User:ops"),
        ("User:CN=ops", "User:CN=ops,OU=core"),
        ("User:Admin", "User:admin"),
    ],
)
def test_a_super_user_that_is_nearly_the_principal_is_named(principal, user):
    assert alike(principal, {user, "User:other"}) == (user,)


@pytest.mark.parametrize("user", ["User:admin", "User:adm", "User:administrator", "User:CN=x,O=y"])
def test_neither_the_principal_itself_nor_another_name_is_named(user):
    assert alike("User:admin", {user}) == ()
