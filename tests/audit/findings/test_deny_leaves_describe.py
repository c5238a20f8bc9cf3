"""A DENY of READ leaves DESCRIBE: found if and only if the rule itself still allows it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aclkit.audit.findings.denies import find_deny_leaves_describe
from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL, acl_words
from aclkit.model.semantics import KIP_1042, BrokerSettings
from aclkit.rules.decide.rules import answers, decide
from aclkit.rules.patterns.match import reaches
from tests.audit.findings.auditing import audit_of, subjects
from tests.factories import acl, request
from tests.pace import within_loops

# A name, a principal and a host that stand in no ACL, within each that an ACL has. Groups, because
# no topic's name holds a star.
PLACES = [
    (name, principal, host)
    for name in ("a", "ab", "ac", "abc", "*", "*c", ANY_OTHER)
    for principal in ("User:a", "Group:a", ANY_OTHER_PRINCIPAL)
    for host in ("10.0.0.1", ANY_OTHER)
]
crowds = st.lists(
    st.builds(
        acl,
        st.sampled_from(("a", "ab", "*")),
        resource_type=st.just("GROUP"),
        pattern_type=st.sampled_from(("LITERAL", "PREFIXED")),
        principal=st.sampled_from(("User:a", "Group:a", "User:*")),
        host=st.sampled_from(("*", "10.0.0.1")),
        operation=st.sampled_from(("READ", "READ", "DESCRIBE", "WRITE", "ALL", "CREATE")),
        permission_type=st.sampled_from(("ALLOW", "DENY")),
    ),
    max_size=8,
)


@settings(max_examples=300)
@given(crowds)
def test_it_is_found_if_and_only_if_describe_is_allowed_where_it_denies_read(rows):
    found = {finding.acl_ids[0] for finding in find_deny_leaves_describe(audit_of(*rows))}
    for row in rows:
        is_deny_of_read = not row.is_allow and row.operation == "READ"
        left = [
            place
            for name, principal, host in PLACES
            for place in [{"resource_type": "GROUP", "principal": principal, "host": host}]
            if reaches(row, "GROUP", name, KIP_1042)
            and answers(row, request(name, **place), KIP_1042)
            and _describes(rows, request(name, operation="DESCRIBE", **place))
        ]
        assert (row.acl_id in found) == bool(is_deny_of_read and left), str(row)


def _describes(rows, asked):
    return decide(rows, asked, BrokerSettings(), KIP_1042).decision == "ALLOWED"


@pytest.mark.parametrize(
    "deny", [{"host": "10.0.0.1"}, {"principal": "User:*"}, {"resource_name": "*"}]
)
def test_the_two_meet_whichever_is_the_wider(deny):
    row, allow = acl(permission_type="DENY", **deny), acl("ord", pattern_type="PREFIXED")
    (found,) = find_deny_leaves_describe(audit_of(row, allow))
    assert (found.severity, found.acl_ids) == ("low", (row.acl_id, allow.acl_id))
    assert found.message.startswith(
        f"{acl_words(row)} leaves DESCRIBE allowed: {acl_words(allow)} grants it. For example, "
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"host": "::1"},
        {"resource_name": "order s", "permission_type": "ALLOW"},
        {"principal": "a"},
        {"principal": "User:admin"},
    ],
)
def test_an_allow_that_gives_nothing_leaves_nothing(fields):
    deny = acl("*", principal="User:*", permission_type="DENY")
    admin = BrokerSettings(super_users=frozenset({"User:admin"}))
    assert subjects(find_deny_leaves_describe(audit_of(deny, acl(), settings=admin)))
    assert not subjects(find_deny_leaves_describe(audit_of(deny, acl(**fields), settings=admin)))


def test_a_deny_that_never_matches_leaves_no_more_than_it_takes():
    rows = [acl("order s", permission_type="DENY"), acl("ord", pattern_type="PREFIXED")]
    assert not subjects(find_deny_leaves_describe(audit_of(*rows)))


def test_a_deny_of_describe_or_all_closes_it():
    deny, allow = acl(permission_type="DENY"), acl(operation="WRITE")
    for operation in ("DESCRIBE", "ALL"):
        more = acl("*", permission_type="DENY", operation=operation)
        assert not subjects(find_deny_leaves_describe(audit_of(deny, allow, more)))


SOME_HOSTS = [f"10.{n // 250}.{n % 250}.1" for n in range(5_000)]
CROWDS = {
    "one place": [
        acl("*", principal=f"User:{n}", permission_type=permission)
        for n in range(5_000)
        for permission in ("ALLOW", "DENY")
    ],
    "hosts that do not meet": [
        *(acl("*", host=host, permission_type="DENY") for host in SOME_HOSTS),
        *(acl(f"t{n}", host="11.0.0.1") for n in range(5_000)),
    ],
    "everybody below a prefix of many": [
        *(acl(f"t{n}", principal="User:*", permission_type="DENY") for n in range(5_000)),
        *(acl("t", pattern_type="PREFIXED", principal=f"User:{n}") for n in range(5_000)),
    ],
    "many below everybody": [
        acl(
            "t",
            pattern_type="PREFIXED",
            principal=f"User:{n}",
            host="10.0.0.1",
            permission_type="DENY",
        )
        for n in range(5_000)
    ]
    + [acl(f"t{n}", principal="User:*", host="10.0.0.2") for n in range(5_000)],
}


@pytest.mark.parametrize("rows", CROWDS.values(), ids=CROWDS.keys())
def test_many_denies_and_many_allows_take_no_product_of_time(rows):
    audit = audit_of(*rows)
    assert audit.given
    with within_loops(500):
        found = list(find_deny_leaves_describe(audit))
    assert len(found) in (0, 5_000)
