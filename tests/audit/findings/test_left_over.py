"""What lifetimes tell: orphans, and access that a re-created topic took over."""

from __future__ import annotations

import pytest

from aclkit.audit.findings.audit_input import Life
from aclkit.audit.findings.left_over import (
    find_inherited_access,
    find_orphan_principals,
    find_orphan_resources,
)
from aclkit.model.semantics import BrokerSettings
from tests.audit.findings.auditing import audit_of, subjects
from tests.factories import acl

ALIVE = Life(name="orders", first_offset=1)
OLD = Life(name="orders", first_offset=1, last_offset=20, topic_id="x")
NEW = Life(name="orders", first_offset=30, topic_id="y")
SOMEBODY = Life(name="User:z", first_offset=1)


def test_an_orphan_resource_says_when_its_topic_went():
    (found,) = find_orphan_resources(audit_of(acl(), topics=[OLD]))
    assert "deleted at offset 20" in found.message
    assert (found.severity, found.holds_for) == ("low", "inventory")


def test_a_topic_that_never_was_is_said_to_be_so():
    (found,) = find_orphan_resources(audit_of(acl("x"), topics=[ALIVE]))
    assert "applies to no topic: the log never had topic x." in found.message


@pytest.mark.parametrize(
    "row",
    [
        acl(),
        acl("*"),
        acl("none", pattern_type="PREFIXED"),
        acl("none", resource_type="GROUP"),
        acl("none", operation="CREATE"),
    ],
)
def test_no_orphan_is_what_exists_or_is_no_topic_by_name(row):
    assert not list(find_orphan_resources(audit_of(row, topics=[ALIVE])))


def test_where_no_topics_or_users_are_known_nothing_is_said():
    audit = audit_of(acl(), acl("x", principal="User:gone"))
    assert not [*find_orphan_resources(audit), *find_orphan_principals(audit)]


def test_a_topic_of_the_users_own_inventory_exists():
    audit = audit_of(acl("mine"), topics=[ALIVE], listed_topics=frozenset({"mine"}))
    assert not list(find_orphan_resources(audit))


def test_the_acls_of_a_deleted_user_are_one_finding():
    rows = [acl(), acl("b"), acl(principal="User:z")]
    lives = [Life(name="User:a", first_offset=1, last_offset=9), SOMEBODY]
    (found,) = find_orphan_principals(audit_of(*rows, users=lives))
    assert (found.subject, found.severity) == ("User:a", "medium")
    assert found.acl_ids == (rows[0].acl_id, rows[1].acl_id)
    assert "deleted at offset 9" in found.message


def test_a_user_that_the_log_never_knew_may_come_by_another_way():
    (found,) = find_orphan_principals(audit_of(acl(), users=[SOMEBODY]))
    assert (found.subject, found.severity) == ("User:a", "info")


def test_a_user_with_one_credential_left_is_no_orphan():
    lives = [
        Life(name="User:a", first_offset=1, last_offset=9),
        Life(name="User:a", first_offset=2),
    ]
    assert not list(find_orphan_principals(audit_of(acl(), users=lives)))


@pytest.mark.parametrize(
    "principal", ["User:CN=a,O=b", "User:*", "User:a*", "Group:a", "a", "User:admin", "User:mine"]
)
def test_no_orphan_is_who_may_come_by_another_way(principal):
    audit = audit_of(
        acl(principal=principal),
        users=[SOMEBODY],
        settings=BrokerSettings(super_users=frozenset({"User:admin"})),
        listed_principals=frozenset({"User:mine"}),
    )
    assert not list(find_orphan_principals(audit))


@pytest.mark.parametrize(("added", "is_found"), [(5, True), (19, True), (20, False), (25, False)])
def test_access_is_inherited_from_before_the_deletion_only(added, is_found):
    row = acl(acl_id="1")
    audit = audit_of(row, topics=[OLD, NEW], added_offsets={"1": added})
    assert subjects(find_inherited_access(audit)) == [str(row)] * is_found


@pytest.mark.parametrize(
    "lives",
    [
        [NEW],
        [OLD],
        [OLD, Life(name="orders", first_offset=30, topic_id="x")],
        [OLD, Life(name="orders", first_offset=30, last_offset=40, topic_id="y")],
        [OLD, Life(name="other", first_offset=30, topic_id="y")],
    ],
)
def test_nothing_is_inherited_without_a_second_topic_of_the_name(lives):
    audit = audit_of(acl(acl_id="1"), topics=lives, added_offsets={"1": 5})
    assert not list(find_inherited_access(audit))


def test_the_last_two_of_several_lives_count():
    lives = [OLD, Life(name="orders", first_offset=30, last_offset=40, topic_id="y")]
    lives.append(Life(name="orders", first_offset=50, topic_id="z"))
    audit = audit_of(acl(acl_id="1"), topics=lives, added_offsets={"1": 35})
    (found,) = find_inherited_access(audit)
    assert found.evidence[-1] == "topic deleted at offset 40, created again at 50"
