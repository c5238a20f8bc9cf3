"""A run after another one: its decisions are the rule's, and its changes their difference."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aclkit.model.semantics import KAFKA, KIP_1042
from tests import strategies as small
from tests.factories import acl
from tests.pipeline.explain.two_runs import Night, run_twice

PEOPLE = ("User:a", "User:b", "User:ab", "Group:a", "User:root")
PLACES = ("10.0.0.1", "10.0.0.2", "10.9.9.9")
THINGS = (
    ("TOPIC", "a"), ("TOPIC", "ab"), ("GROUP", ""), ("GROUP", "a"), ("GROUP", "b"),
    ("CLUSTER", "kafka-cluster"),
)  # fmt: skip
IDS = tuple("123456")
# A broker's own order is Spark's work where a name lies below ``*``, and the empty one does.
BY_ITSELF = replace(KAFKA, deciding_acl=KIP_1042.deciding_acl)
SEMANTICS = (KIP_1042, BY_ITSELF, replace(BY_ITSELF, cidr_hosts=True))


def some(names):
    """Most of some names, in their order."""
    return st.sets(st.sampled_from(names), min_size=1).map(
        lambda chosen: tuple(name for name in names if name in chosen)
    )


@st.composite
def nights(draw):
    """Two runs of a cluster: an id may go, come, or stand for another ACL the second time."""
    semantics = draw(st.sampled_from(SEMANTICS))
    known = {name: draw(small.acls()) for name in draw(st.sets(st.sampled_from(IDS)))}
    later = dict(known)
    for name in draw(st.lists(st.sampled_from(IDS), max_size=3)):
        later[name] = draw(st.none() | small.acls())
    is_same = draw(st.booleans())
    found, asked = [], None
    for acls in (known, later):
        if asked is None or not is_same:
            asked = {
                "principals": draw(some(PEOPLE)),
                "hosts": draw(some(PLACES)),
                "resources": draw(some(THINGS)),
                "super_users": frozenset(draw(st.sets(st.just("User:root")))),
            }
        there = [replace(one, acl_id=name) for name, one in sorted(acls.items()) if one is not None]
        found.append(Night(acls=there, semantics=semantics, **asked))
    return found


@settings(max_examples=25, deadline=None)
@given(nights())
def test_the_second_run_decides_as_the_rule_does_and_says_how_it_differs_from_the_first(both):
    first, second = both
    found = run_twice(first, second)
    was, now = first.by_the_rule(), second.by_the_rule()
    assert found.explained() == now
    expected = {
        cell: (was[cell][0], now[cell][0])
        for cell in was.keys() & now.keys()
        if was[cell][0] != now[cell][0]
    }
    assert found.cells() == expected


ONE = acl("t", acl_id="1")
FIRST = Night(
    acls=[ONE, acl("t", principal="User:*", operation="DESCRIBE", acl_id="2")],
    semantics=KIP_1042,
)
SAID = {
    "principal": {"principal": "User:b"},
    "pattern": {"pattern_type": "PREFIXED"},
    "host": {"host": "10.0.0.1"},
    "operation": {"operation": "WRITE"},
    "permission": {"permission_type": "DENY"},
    "name": {"resource_name": "u"},
    "type": {"resource_type": "GROUP"},
}


@pytest.mark.parametrize("what", SAID)
def test_an_id_that_stands_for_another_acl_is_decided_anew(what):
    """As after --forget and the corrected source: the id is the same, its content is not."""
    things = (("TOPIC", "t"), ("TOPIC", "u"), ("TOPIC", "tt"), ("GROUP", "t"))
    first = replace(FIRST, resources=things, hosts=("10.0.0.1",))
    second = replace(first, acls=[replace(ONE, **SAID[what]), *FIRST.acls[1:]])
    found = run_twice(first, second)
    was, now = first.by_the_rule(), second.by_the_rule()
    expected = {c: (was[c][0], now[c][0]) for c in was if was[c][0] != now[c][0]}
    assert expected
    assert found.cells() == expected
    assert {row["cause"] for row in found.changes} == {"acl"}


def names_of(rows, side):
    """What came, or went, by the rows of names that one run only asked about."""
    return {
        (row["principal"], row["resource_type"], row["resource_name"])
        for row in rows
        if row["ruleset_before" if side == "came" else "ruleset_after"] is None
    }


INVENTORIES = {
    "a principal": ({"principals": (*FIRST.principals, "User:c")}, ("User:c", None, None)),
    "a super user": (
        {"principals": (*FIRST.principals, "User:root"), "super_users": frozenset({"User:root"})},
        ("User:root", None, None),
    ),
    "a principal that an ACL names": (
        {"principals": (*FIRST.principals, "User:c"),
         "acls": [*FIRST.acls, acl("t", principal="User:c", acl_id="3")]},
        ("User:c", None, None),
    ),
    "a host": ({"hosts": ("10.0.0.1",)}, (None, "HOST", "10.0.0.1")),
    "a resource": ({"resources": (*FIRST.resources, ("GROUP", ""))}, (None, "GROUP", "")),
}  # fmt: skip


@pytest.mark.parametrize("what", INVENTORIES)
def test_who_comes_or_goes_is_named_and_is_no_gain_or_loss_of_others(what):
    said, name = INVENTORIES[what]
    more = replace(FIRST, **said)
    for first, second, side in ((FIRST, more, "came"), (more, FIRST, "gone")):
        found = run_twice(first, second)
        assert found.cells() == {}
        assert [(row["cause"], row["gained"], row["lost"]) for row in found.changes] == [
            ("inventory", 0, 0)
        ]
        assert names_of(found.changes, side) == {name}
        assert names_of(found.changes, "gone" if side == "came" else "came") == set()


def test_a_run_of_the_same_names_names_nobody():
    assert run_twice(FIRST, FIRST).changes == []


def test_a_deny_on_the_empty_name_is_decided_by_the_first_run_and_by_the_next():
    allow = acl("*", resource_type="GROUP", principal="User:*", acl_id="1")
    deny = acl("", resource_type="GROUP", principal="User:a", permission_type="DENY", acl_id="2")
    first = Night(acls=[allow], resources=(("GROUP", ""), ("GROUP", "g")), semantics=KIP_1042)
    second = replace(first, acls=[allow, deny])
    for one, other in ((first, second), (second, second), (second, first)):
        found = run_twice(one, other)
        assert found.explained() == other.by_the_rule()
