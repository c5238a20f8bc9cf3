"""Access that reaches too far, and names and halves that are not what they seem."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aclkit.audit.findings.audit_input import Life
from aclkit.audit.findings.never_matches import find_glob_lookalikes
from aclkit.audit.findings.public_access import ANY_HOST
from aclkit.audit.findings.registry import REGISTRY
from aclkit.audit.findings.required_pairs import (
    find_read_without_group,
    find_transactional_without_write,
)
from aclkit.audit.findings.too_much import find_open_to_everyone, find_over_broad
from aclkit.model.acl import ANY_OTHER, acl_words
from aclkit.model.semantics import KAFKA, BrokerSettings
from tests.audit.findings.auditing import audit_of, subjects
from tests.factories import acl

find_any_host = REGISTRY[ANY_HOST]

TOPICS = [Life(name=f"{'ab'[n % 2]}.{n}", first_offset=1) for n in range(20)]
EVERYONE = BrokerSettings(allow_everyone=True)


@pytest.mark.parametrize(
    ("name", "kind", "share", "is_found"),
    [
        ("a.", "PREFIXED", 0.5, False),
        ("a.", "PREFIXED", 0.49, True),
        ("", "PREFIXED", 0.99, True),
        ("*", "LITERAL", 0.5, True),
        ("*.1*", "GLOB", 0.5, True),
        ("*.1*", "GLOB", 0.55, False),
    ],
)
def test_broad_is_what_reaches_more_than_the_share(name, kind, share, is_found):
    row = acl(name, pattern_type=kind)
    audit = audit_of(row, topics=TOPICS, broad_share=share)
    assert subjects(find_over_broad(audit)) == [str(row)] * is_found


def test_a_deny_another_type_and_a_small_cluster_are_not_broad():
    rows = [acl("*", permission_type="DENY"), acl("*", resource_type="GROUP")]
    assert not list(find_over_broad(audit_of(*rows, topics=TOPICS)))
    assert not list(find_over_broad(audit_of(acl("*"), topics=TOPICS[:9])))


def test_broad_writing_is_worse_than_broad_reading():
    rows = [acl("*", operation=operation) for operation in ("READ", "DELETE", "ALL")]
    found = find_over_broad(audit_of(*rows, topics=TOPICS))
    assert [finding.severity for finding in found] == ["low", "medium", "medium"]


@pytest.mark.parametrize(
    ("operation", "resource_type", "severity"),
    [
        ("DELETE", "TOPIC", "low"),
        ("ALTER_CONFIGS", "GROUP", "low"),
        ("ALL", "TOPIC", "low"),
        ("WRITE", "TOPIC", "info"),
        ("CREATE", "CLUSTER", "info"),
        ("ALTER", "CLUSTER", "medium"),
        ("CREATE_TOKENS", "USER", "medium"),
    ],
)
def test_sensitive_operations_are_to_be_bound_to_a_host(operation, resource_type, severity):
    name = {"CLUSTER": "kafka-cluster", "USER": "User:b"}.get(resource_type, "x")
    row = acl(name, resource_type=resource_type, operation=operation)
    (found,) = find_any_host(audit_of(row))
    assert (found.subject, found.severity) == (f"User:a on {resource_type}", severity)
    assert found.acl_ids == (row.acl_id,)
    assert not list(find_any_host(audit_of(replace(row, host="10.0.0.1"))))


def test_the_acls_of_a_principal_on_a_type_are_one_finding_the_worst_first():
    rows = [
        acl("a", operation="WRITE", acl_id="1"),
        acl("b", operation="DELETE", acl_id="2"),
        acl("c", operation="ALTER", acl_id="3"),
        acl("d", operation="READ", acl_id="4"),
    ]
    (found,) = find_any_host(audit_of(*rows))
    assert found.acl_ids == ("3", "2", "1")
    assert found.message == (
        "User:a has ALTER, DELETE, WRITE on topics from any host: "
        f"{acl_words(rows[2], 'User:a', 'TOPIC')} and 2 more."
    )
    others = [
        acl(operation="DELETE", principal="User:b"),
        acl(resource_type="GROUP", operation="ALL"),
    ]
    assert subjects(find_any_host(audit_of(*rows, *others))) == [
        "User:a on TOPIC", "User:b on TOPIC", "User:a on GROUP",
    ]  # fmt: skip


def test_any_host_is_silent_on_what_is_not_sensitive():
    rows = [
        acl(operation="READ"),
        acl(operation="ALL", permission_type="DENY", principal="User:b"),
        acl("t", resource_type="TRANSACTIONAL_ID", operation="ALL"),
        acl("a b", operation="DELETE"),
    ]
    assert not list(find_any_host(audit_of(*rows)))


@pytest.mark.parametrize("principal", ["User:*", "User:ANONYMOUS", "User:admin"])
def test_any_host_is_silent_on_what_is_public_and_on_super_users(principal):
    admin = BrokerSettings(super_users=frozenset({"User:admin"}))
    row = acl(operation="DELETE", principal=principal)
    assert not list(find_any_host(audit_of(row, settings=admin)))


def test_an_acl_that_another_makes_needless_would_bind_nothing():
    wide, narrow = acl("ord", pattern_type="PREFIXED", operation="ALL"), acl(operation="DELETE")
    (found,) = find_any_host(audit_of(wide, narrow))
    assert found.acl_ids == (wide.acl_id,)


def test_an_acl_that_only_a_public_one_makes_needless_counts_for_the_public_one_is_to_go():
    wide = acl("ord", pattern_type="PREFIXED", operation="ALL", principal="User:*")
    narrow = acl(operation="DELETE")
    (found,) = find_any_host(audit_of(wide, narrow))
    assert found.acl_ids == (narrow.acl_id,)


def test_what_a_deny_takes_is_not_sensitive_any_more():
    rows = [acl(operation="ALL")]
    rows += [
        acl(operation=operation, permission_type="DENY", principal="User:*")
        for operation in ("DELETE", "ALTER", "ALTER_CONFIGS")
    ]
    (found,) = find_any_host(audit_of(*rows))
    assert (found.severity, "WRITE, CREATE" in found.message) == ("info", True)


def test_a_glob_for_any_host_counts_where_globs_are_read():
    rows = [acl(operation="DELETE", host="**")]
    assert len(list(find_any_host(audit_of(*rows)))) == 1
    assert not list(find_any_host(audit_of(*rows, semantics=KAFKA)))


def test_under_allow_everyone_what_no_acl_reaches_is_open():
    rows = [acl("a.", pattern_type="PREFIXED", permission_type="DENY")]
    found = subjects(find_open_to_everyone(audit_of(*rows, topics=TOPICS[:2], settings=EVERYONE)))
    assert found == ["cluster", "topic:b.1", f"topic:{ANY_OTHER}"]


def test_an_acl_that_reaches_every_name_closes_all_of_a_type():
    audit = audit_of(acl("*"), topics=TOPICS, settings=EVERYONE)
    assert subjects(find_open_to_everyone(audit)) == ["cluster"]


def test_without_allow_everyone_nothing_is_open():
    assert not list(find_open_to_everyone(audit_of(topics=TOPICS)))


@pytest.mark.parametrize("name", ["app-*", "a?", "**"])
def test_a_group_named_like_a_glob_is_found_in_literal_and_prefixed(name):
    for kind in ("LITERAL", "PREFIXED"):
        rows = [acl(name, resource_type="GROUP", pattern_type=kind, permission_type="DENY")]
        (found,) = find_glob_lookalikes(audit_of(*rows))
        assert (found.finding, found.severity) == ("glob-lookalike", "medium")


@pytest.mark.parametrize(
    "fields",
    [
        {"resource_name": "*"},
        {"resource_name": "app"},
        {"resource_name": "app-*", "pattern_type": "GLOB"},
        {"resource_name": "app-*", "resource_type": "TOPIC"},
    ],
)
def test_what_is_a_glob_or_no_lookalike_is_silent(fields):
    row = acl(**{"resource_type": "GROUP"} | fields)
    assert not list(find_glob_lookalikes(audit_of(row)))


@pytest.mark.parametrize(
    "group",
    [
        {},
        {"principal": "User:*"},
        {"principal": "User:?"},
        {"operation": "ALL"},
        {"pattern_type": "PREFIXED"},
    ],
)
def test_a_reader_with_some_group_lacks_none(group):
    rows = [acl(), acl("b", operation="ALL")]
    (found,) = find_read_without_group(audit_of(*rows))
    assert (found.subject, found.acl_ids) == ("User:a", tuple(row.acl_id for row in rows))
    assert not list(find_read_without_group(audit_of(*rows, acl(resource_type="GROUP", **group))))


@pytest.mark.parametrize(
    "group",
    [{"operation": "DESCRIBE"}, {"principal": "User:b"}, {"permission_type": "DENY"}],
)
def test_a_group_that_gives_no_read_does_not_help(group):
    audit = audit_of(acl(), acl(resource_type="GROUP", **group))
    assert subjects(find_read_without_group(audit)) == ["User:a"]


def test_super_users_and_everybody_lack_no_group():
    rows = [acl(principal="User:*"), acl(principal="User:admin")]
    admin = BrokerSettings(super_users=frozenset({"User:admin"}))
    assert not list(find_read_without_group(audit_of(*rows, settings=admin)))


def test_where_everyone_may_use_a_group_without_acl_nobody_lacks_one():
    assert not list(find_read_without_group(audit_of(acl(), settings=EVERYONE)))
    closing = acl("*", resource_type="GROUP", principal="User:b")
    found = find_read_without_group(audit_of(acl(), closing, settings=EVERYONE))
    assert subjects(found) == ["User:a"]


def test_what_is_denied_or_never_matches_is_no_half():
    deny = {"principal": "User:*", "permission_type": "DENY"}
    assert not list(find_read_without_group(audit_of(acl(operation="ALL"), acl(**deny))))
    groups = [
        acl("g", resource_type="GROUP", operation="ALL"),
        acl("*", resource_type="GROUP", **deny),
        acl("g", resource_type="GROUP", host="localhost"),
    ]
    assert subjects(find_read_without_group(audit_of(acl(), *groups))) == ["User:a"]


def test_an_all_of_which_only_reading_is_left_is_broad_reading():
    taken = ("WRITE", "CREATE", "DELETE", "ALTER", "ALTER_CONFIGS")
    denies = [acl("*", operation=o, permission_type="DENY", principal="User:*") for o in taken]
    (found,) = find_over_broad(audit_of(acl("*", operation="ALL"), *denies, topics=TOPICS))
    assert found.severity == "low"


def test_a_super_user_and_what_never_matches_are_not_broad():
    admin = BrokerSettings(super_users=frozenset({"User:admin"}))
    rows = [acl("*", principal="User:admin"), acl("*", operation="CLUSTER_ACTION")]
    assert not list(find_over_broad(audit_of(*rows, topics=TOPICS, settings=admin)))


def test_a_transactional_id_is_of_use_with_a_topic_to_write_to():
    row = acl("t", resource_type="TRANSACTIONAL_ID", operation="ALL")
    assert subjects(find_transactional_without_write(audit_of(row, acl()))) == ["User:a"]
    write = acl(operation="WRITE")
    assert not list(find_transactional_without_write(audit_of(row, write)))
