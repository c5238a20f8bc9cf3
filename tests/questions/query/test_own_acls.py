"""why says what a principal has on other names, and on which groups a consumer can read."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from aclkit.model.broker_settings import ALLOW_EVERYONE
from aclkit.model.resource import Resource
from aclkit.model.semantics import KIP_1042, BrokerSettings
from aclkit.questions.query.why import explain_why
from aclkit.questions.query.words import passage_lines, why_hints
from tests.questions.query.in_memory import CLUSTER, Life, open_memory
from tests.questions.query.small_warehouse import acl

NEED = "A consumer also needs READ on its group"
READ = acl(1, principal="User:app")


def group(number, name, **fields):
    fields = {"principal": "User:app", **fields}
    return acl(number, resource_type="GROUP", resource_name=name, **fields)


def hints(*acls, name="payments", host=None, unknown=frozenset()):
    settings = BrokerSettings(unknown=unknown)
    text = json.dumps(
        {"semantics": asdict(KIP_1042), "super_users": [], "allow_everyone": False,
         "unknown": sorted(settings.unknown)}
    )  # fmt: skip
    lives = [Life(one, at) for at, one in enumerate(acls)]
    connection, published = open_memory(lives, head=len(lives) + 1, settings=text)
    with connection:
        answer = explain_why(
            connection, published, CLUSTER, "User:app", "READ", Resource("TOPIC", name), host=host
        )
    return [*passage_lines(answer), *why_hints(answer)]


def group_hint(*acls, **options):
    (found,) = [hint for hint in hints(READ, *acls, **options) if NEED in hint]
    return found


def test_a_group_that_some_hosts_can_read_is_named_with_these():
    one = group(2, "g1", host="10.0.0.1")
    assert group_hint(one) == f"{NEED}. ACLs allow User:app that on group g1 (literal) from " + (
        "10.0.0.1, from some hosts only."
    )
    assert group_hint(one, host="10.0.0.1").endswith("that on group g1 (literal).")
    assert group_hint(one, host="10.0.0.2") == (
        f"{NEED}, and no ACL allows User:app that on any group."
    )


def test_beside_groups_that_every_host_can_read_stand_those_of_some():
    told = group_hint(group(2, "g1", host="10.0.0.1"), group(3, "g2"))
    assert told.endswith("that on group g2 (literal), g1 (literal) from 10.0.0.1.")


@pytest.mark.parametrize(
    ("name", "kind"), [("*", "LITERAL"), ("", "PREFIXED"), ("**", "GLOB"), ("*", "GLOB")]
)
def test_a_pattern_that_matches_every_group_is_said_to_be_for_all(name, kind):
    told = group_hint(group(2, name, pattern_type=kind, principal="User:*"))
    assert told.endswith(f"that on group {name or repr('')} (all).")


@pytest.mark.parametrize("done", ["READ", "ALL"])
def test_denies_that_take_some_groups_away_are_told(done):
    deny = group(3, "g", pattern_type="PREFIXED", operation=done, permission_type="DENY")
    for wide in (group(2, "*", principal="User:*"), group(2, "", pattern_type="PREFIXED")):
        assert group_hint(wide, deny).endswith("DENYs override it on some groups.")
    prefix = group(2, "", pattern_type="PREFIXED")
    assert "DENYs" in group_hint(prefix, deny)
    assert "DENYs" not in group_hint(group(2, "a"), deny)
    for other in ("User:other", "has no principal type"):
        assert "DENYs" not in group_hint(prefix, group(3, "g", principal=other))


def test_a_deny_of_another_operation_takes_no_group_away():
    deny = group(3, "g", operation="DELETE", permission_type="DENY")
    assert "DENYs" not in group_hint(group(2, "*"), deny)


def test_denies_that_take_every_group_from_some_hosts_are_told():
    deny = group(3, "*", permission_type="DENY", host="10.0.0.1")
    assert group_hint(group(2, "g1"), deny).endswith(
        "on group g1 (literal). DENYs override it from some hosts."
    )
    assert "no ACL allows" in group_hint(group(2, "g1"), deny, host="10.0.0.1")
    assert "DENYs" not in group_hint(group(2, "g1"), deny, host="10.0.0.2")


def test_where_the_default_is_unknown_no_group_is_said_to_be_denied():
    told = group_hint(unknown=frozenset({ALLOW_EVERYONE}))
    assert told == (
        f"{NEED}. No ACL allows User:app that. Where no ACL applies to the group, "
        f"{ALLOW_EVERYONE} decides."
    )


def test_the_need_of_a_group_is_said_once():
    found = hints(READ, group(2, "g1"))
    assert [line for line in found if "group" in line] == [
        f"{NEED}. ACLs allow User:app that on group g1 (literal)."
    ]


def test_acls_on_other_names_are_told_with_their_hosts():
    acls = [
        acl(1, principal="User:app", resource_name="pay", host="10.0.0.1"),
        acl(2, principal="User:app", resource_name="pay", operation="WRITE"),
    ]
    found = hints(*acls)
    end = "which does not match payments. LITERAL is this very name; PREFIXED would match it."
    assert f"User:app has READ on topic pay (literal) from 10.0.0.1, {end}" in found
    assert f"User:app has WRITE on topic pay (literal), {end}" in found


def test_no_wider_deny_is_proposed():
    deny = acl(1, principal="User:app", resource_name="pay", permission_type="DENY")
    assert "User:app is denied READ on topic pay (literal), which does not match payments." in (
        hints(deny)
    )


def test_patterns_that_are_not_shown_are_counted_once_each():
    hosts = ("*", "10.0.0.1")
    acls = [
        acl(2 * at + two, principal="User:app", resource_name=f"x{at}", host=host)
        for at in range(4)
        for two, host in enumerate(hosts)
    ]
    found = hints(*acls)
    assert sum("which does not match" in hint for hint in found) == 5
    assert "User:app has ACLs on 1 more pattern of that type." in found
