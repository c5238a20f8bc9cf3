"""What of a URI is secret."""

from __future__ import annotations

import pytest

from aclkit.runtime.uri import has_password, secrets_of


@pytest.mark.parametrize(
    ("uri", "is_there"),
    [
        ("s3a://key:secret@bucket/acls", True),
        ("abfss://container@account.dfs.core.windows.net/acls", False),
        ("s3a://bucket/a:b@c", False),
        ("s3a://bucket", False),
    ],
)
def test_two_names_before_the_host_are_a_user_and_a_password(uri, is_there):
    assert has_password(uri) is is_there


def test_a_password_that_holds_a_slash_is_secret_as_is_the_query():
    assert secrets_of("s3://key:a/b@bucket/log?token=t") == ["a/b", "token=t"]


@pytest.mark.parametrize("path", ["/data/a:b@c?d", "file:///data/a:b@c?d", "s3://bucket/log"])
def test_what_names_no_account_has_no_secrets(path):
    assert secrets_of(path) == []
