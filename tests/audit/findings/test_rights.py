"""Rights that aclkit's own user lacks: what brokers refuse, and what they hide without a word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.audit.findings.rights import find_missing_rights, hidden_parts
from aclkit.model.acl import Acl
from aclkit.model.broker_settings import SUPER_USERS
from aclkit.model.semantics import KAFKA, BrokerSettings
from aclkit.model.unread import (
    ANY_USER,
    FAILED,
    GROUPS,
    HIDDEN,
    NOT_OFFERED,
    RIGHT,
    RIGHTS,
    SETTINGS,
    TOKENS,
    TOPICS,
    TRANSACTIONAL_IDS,
    USERS,
)

ME = "User:me"
FILTERED = (TRANSACTIONAL_IDS, TOKENS)
KNOWN = BrokerSettings(super_users=frozenset({"User:root"}))


def acl(resource_type, operation, **other):
    fields = {
        "acl_id": "", "resource_type": resource_type, "resource_name": "*",
        "pattern_type": "LITERAL", "principal": ME, "host": "*", "operation": operation,
        "permission_type": "ALLOW",
    }  # fmt: skip
    return Acl(**(fields | other))


def hidden(*acls, asked_by=ME, settings=KNOWN):
    return {*hidden_parts(FILTERED, asked_by, acls, settings, KAFKA)}


TXN, TOKEN = acl("TRANSACTIONAL_ID", "DESCRIBE"), acl("DELEGATION_TOKEN", "DESCRIBE")


@pytest.mark.parametrize(
    ("acls", "expected"),
    [
        ([], {TRANSACTIONAL_IDS, TOKENS}),
        ([TXN, TOKEN], set()),
        ([TXN], {TOKENS}),
        ([acl("TRANSACTIONAL_ID", "WRITE"), TOKEN], set()),
        ([acl("TRANSACTIONAL_ID", "ALL", principal="User:*"), TOKEN], set()),
        ([acl("TRANSACTIONAL_ID", "DESCRIBE", resource_name="tx"), TOKEN], {TRANSACTIONAL_IDS}),
        ([acl("TRANSACTIONAL_ID", "DESCRIBE", host="10.0.0.1"), TOKEN], {TRANSACTIONAL_IDS}),
        ([acl("TRANSACTIONAL_ID", "DESCRIBE", principal="User:b"), TOKEN], {TRANSACTIONAL_IDS}),
        ([TXN, acl("USER", "DESCRIBE_TOKENS")], set()),
        (
            [TXN, TOKEN, acl("TRANSACTIONAL_ID", "DESCRIBE", resource_name="pay",
                             pattern_type="PREFIXED", permission_type="DENY")],
            {TRANSACTIONAL_IDS},
        ),
        (
            [TXN, TOKEN, acl("TRANSACTIONAL_ID", "ALL", resource_name="x", principal="User:*",
                             permission_type="DENY")],
            {TRANSACTIONAL_IDS},
        ),
        (
            [TXN, TOKEN, acl("TRANSACTIONAL_ID", "WRITE", resource_name="x",
                             permission_type="DENY")],
            set(),
        ),
    ],
)  # fmt: skip
def test_a_part_is_hidden_unless_the_user_can_describe_every_name(acls, expected):
    assert hidden(*acls) == expected


def test_nothing_is_hidden_from_a_super_user_and_of_an_unknown_user_nothing_is_known():
    assert hidden(asked_by="User:root") == set()
    assert hidden(asked_by=ANY_USER) == set()
    assert hidden(settings=BrokerSettings(unknown=frozenset({SUPER_USERS}))) == set()


def test_where_no_acl_applies_and_everyone_is_allowed_nothing_is_hidden():
    assert hidden(settings=BrokerSettings(allow_everyone=True)) == set()


@given(
    st.dictionaries(
        st.sampled_from([TOPICS, USERS, GROUPS, TRANSACTIONAL_IDS, TOKENS, SETTINGS]),
        st.sampled_from([RIGHT, HIDDEN, NOT_OFFERED, FAILED]),
    )
)
def test_each_missing_right_is_one_finding_and_nothing_else_is(unread):
    found = [*find_missing_rights(unread)]
    lacking = {part for part, cause in unread.items() if cause in (RIGHT, HIDDEN)}
    assert len({each.subject for each in found}) == len(found)
    assert len(found) == len({RIGHTS[part] for part in lacking})
    for part in unread:
        assert any(f" {part}" in each.message.partition(" were not")[0] for each in found) == (
            part in lacking
        )
    assert all("kafka-acls --bootstrap-server HOST:PORT --add" in each.fix for each in found)
