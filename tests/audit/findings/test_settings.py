"""Findings about the brokers' settings."""

from __future__ import annotations

import pytest

from aclkit.audit.findings.settings import find_super_users_unknown
from aclkit.model.broker_settings import ALLOW_EVERYONE, SUPER_USERS
from aclkit.model.semantics import BrokerSettings

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
