"""What everybody may do is found, with its severity."""

from __future__ import annotations

import pytest

from aclkit.audit.public_access import find_public_access
from aclkit.model.semantics import KAFKA, KIP_1042
from tests.factories import acl


@pytest.mark.parametrize(
    ("fields", "severity"),
    [
        ({"principal": "User:*"}, "high"),
        ({"principal": "User:ANONYMOUS"}, "high"),
        ({"principal": "*:*"}, "high"),
        ({"principal": "User:"}, "high"),
        ({"principal": "User:A*"}, "high"),
        ({"principal": "User:*", "host": "**"}, "high"),
        ({"principal": "User:*", "host": "10.0.0.1"}, "medium"),
        ({"principal": "User:*", "host": "10.*"}, "medium"),
        ({"principal": "User:*", "operation": "DESCRIBE"}, "low"),
        ({"principal": "User:*", "operation": "DESCRIBE_CONFIGS", "host": "10.0.0.1"}, "low"),
    ],
)
def test_an_allow_for_everybody_or_anonymous_is_public(fields, severity):
    planted = acl(**fields)
    (found,) = find_public_access([acl(), planted], KIP_1042)
    assert (found.finding, found.severity, found.subject, found.acl_ids) == (
        "public-access",
        severity,
        str(planted),
        (planted.acl_id,),
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"principal": "User:a"},
        {"principal": "User:a*"},
        {"principal": "Group:*"},
        {"principal": "*"},
        {"principal": "User:*", "permission_type": "DENY"},
        {"principal": "User:*", "permission_type": "UNKNOWN(7)"},
    ],
)
def test_an_acl_for_some_or_a_deny_is_not_public(fields):
    assert not list(find_public_access([acl(**fields)], KIP_1042))


def test_to_kafka_only_the_exact_wildcard_is_everybody():
    rows = [acl(principal=text) for text in ("*:*", "User:", "User:**", "User:*", "User:A*")]
    assert [found.acl_ids for found in find_public_access(rows, KAFKA)] == [(rows[3].acl_id,)]
