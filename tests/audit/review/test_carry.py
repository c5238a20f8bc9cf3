"""What is carried over: what was kept and allows no more, whatever has changed since."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aclkit.audit.review.attributes import attributes_of
from aclkit.audit.review.carry import Earlier, Moment, carry_over, signed_off
from aclkit.audit.review.decisions import REMOVE, in_force
from aclkit.audit.review.items import DEFAULT, GRANT
from aclkit.model.acl import Request
from aclkit.model.semantics import KAFKA, KIP_1042, REDPANDA, BrokerSettings
from aclkit.rules.decide.rules import ALLOWED, decide
from aclkit.rules.names.question import Budget
from aclkit.rules.patterns.match import reaches
from tests.audit.review.reviews import decided, items_of, one, review_of
from tests.factories import acl
from tests.fuzz.mutants import rounds
from tests.strategies import SEMANTICS, acl_sets, acls

OPEN = BrokerSettings(allow_everyone=True)
ON_REDPANDA = replace(KAFKA, authorizer=REDPANDA)


def carried(items, earlier, decisions, *, is_valid=True, now=KAFKA, acls_now=None, acls_then=None):
    """Return what is known of items after an earlier review; ACLs matter to the default alone."""
    found = Earlier(
        review=earlier,
        signed=signed_off(earlier, in_force(decisions)),
        then=Moment(semantics=earlier.pins.semantics, acls=acls_then),
    )
    about = attributes_of(items, ())
    return carry_over(
        items, about, Moment(semantics=now, acls=acls_now), found, lambda *_: is_valid, Budget()
    )


def kept(then, now, *, before=KAFKA, after=KAFKA, settings=BrokerSettings()):  # noqa: B008 - frozen
    """Keep all of a state, and carry it over to another one."""
    review = review_of(then, settings=settings, semantics=before)
    items = items_of(now, settings, after)
    return items, carried(
        items, review, decided(review), now=after, acls_now=tuple(now), acls_then=tuple(then)
    )


def test_what_was_kept_and_did_not_change_is_carried_over_with_who_and_when():
    review = review_of()
    found = carried(review.items, review, decided(review))
    assert {about.carried.by for about in found.values()} == {"bob"}
    again = review_of(about=found, name="q2")
    assert again.asked == ()
    # The next one after that still names the day on which it was decided.
    third = carried(review.items, again, [])
    assert {about.carried.review for about in third.values()} == {"q1"}


def test_what_was_to_be_removed_and_is_still_there_is_asked_again():
    review = review_of()
    found = carried(review.items, review, decided(review, REMOVE))
    assert all(about.carried is None for about in found.values())
    assert {about.again.reason for about in found.values()} == {"needed"}


def test_what_was_not_signed_off_or_not_lately_is_asked_again():
    review = review_of()
    for found, why in (
        (carried(review.items, review, []), ""),
        (carried(review.items, review, decided(review), is_valid=False), "too old"),
    ):
        assert all(about.carried is None and about.again is None for about in found.values())
        assert all(why in about.why for about in found.values())


def test_a_sign_off_of_a_review_without_marks_in_its_ids_is_carried_over():
    items = [replace(item, mark="", also=()) for item in items_of()]
    earlier = replace(review_of(), items=tuple(items), about=attributes_of(items, ()))
    found = carried(items_of(), earlier, decided(earlier))
    assert all(about.carried for about in found.values())
    assert {len(name) for name in found} == {17}


READ = acl("t", acl_id="read")
DENIED = acl("t", operation="DESCRIBE", host="10.0.0.1", acl_id="deny", permission_type="DENY")


@pytest.mark.parametrize(
    ("then", "now", "why"),
    [
        ([READ], [READ], ""),
        ([READ], [replace(READ, acl_id="again")], "an ALLOW grants it that did not"),
        ([READ], [READ, replace(READ, acl_id="more")], "an ALLOW grants it that did not"),
        ([READ, replace(READ, acl_id="more")], [READ], ""),
        ([READ], [READ, DENIED], ""),
        ([READ, DENIED], [READ], "for example User:a to DESCRIBE topic t from 10.0.0.1"),
        ([READ, DENIED], [READ, replace(DENIED, acl_id="again")], ""),
        ([READ, DENIED], [READ, replace(DENIED, resource_name="*", acl_id="wide")], ""),
        ([READ, DENIED], [READ, replace(DENIED, host="10.0.0.2", acl_id="d")], "from 10.0.0.1"),
    ],
    ids=[
        "same", "made again", "one more", "one less", "a DENY more", "a DENY less",
        "a DENY made again", "a wider DENY", "another DENY",
    ],
)  # fmt: skip
def test_a_sign_off_holds_while_nothing_more_is_granted(then, now, why):
    items, found = kept(then, now)
    (item,) = (each for each in items if each.principal == "User:a")
    about = found[item.item_id]
    assert why in about.why
    assert (about.carried is None, about.outgrown is None) == (bool(why), not why)


@pytest.mark.parametrize(
    ("granted", "before", "after", "is_carried"),
    [
        (acl("t", principal="User:svc-*"), KAFKA, KIP_1042, False),
        (acl("t", principal="User:svc-*"), KIP_1042, KAFKA, True),
        (acl("t", principal="User:svc"), KAFKA, KIP_1042, True),
        (acl("a*b", pattern_type="GLOB"), KAFKA, KIP_1042, False),
        (acl("t", host="10.0.0.0/8"), KAFKA, replace(KAFKA, cidr_hosts=True), False),
        (acl("*", resource_type="GROUP"), KAFKA, replace(KAFKA, wildcard_defect=False), False),
    ],
)
def test_both_readings_of_an_item_are_compared(granted, before, after, is_carried):
    items, found = kept([granted], [granted], before=before, after=after)
    assert [found[each.item_id].carried is not None for each in items] == [is_carried] * len(items)


@pytest.mark.parametrize(
    ("principal", "before", "after", "is_carried"),
    [
        ("Group:ops", KAFKA, ON_REDPANDA, False),
        ("Group:ops", ON_REDPANDA, ON_REDPANDA, True),
        ("Group:ops", ON_REDPANDA, KAFKA, True),
        ("User:bob", KAFKA, ON_REDPANDA, True),
    ],
)
def test_a_group_that_has_members_only_now_is_asked_again(principal, before, after, is_carried):
    granted = (acl("orders", principal=principal),)
    (item,), about = kept(granted, granted, before=before, after=after)
    assert bool(about[item.item_id].carried) == is_carried
    assert ("members" in about[item.item_id].why) != is_carried


def test_the_default_is_asked_again_where_an_acl_that_shut_a_resource_is_gone():
    shuts = acl("payroll", principal="User:hr", operation="ALL")
    items, found = kept([READ, shuts], [READ], settings=OPEN)
    about = found[one(items, "User:*").item_id]
    assert about.carried is None
    assert "topic payroll" in about.why


def test_the_default_is_carried_over_where_other_acls_shut_as_much():
    shuts = acl("payroll", principal="User:hr", permission_type="DENY")
    wider = acl("pay", pattern_type="PREFIXED", principal="User:x")
    items, found = kept([READ, shuts], [READ, wider], settings=OPEN)
    assert found[one(items, "User:*").item_id].carried is not None


def test_the_default_is_asked_again_where_the_past_is_not_known():
    review = review_of([READ], settings=OPEN)
    found = carried(review.items, review, decided(review), acls_now=(READ,))
    assert "does not know all ACLs" in found[one(review.items, "User:*").item_id].why
    assert found[one(review.items, "User:a").item_id].carried is not None


PRINCIPALS = ("User:a", "User:b", "User:ab", "Group:a", "User:a*", "User:?", "User:z")
HOSTS = ("10.0.0.1", "10.0.0.2", "10.9.9.9", "192.0.2.1")
NAMES = [*map("".join, product("ab*", repeat=1)), *map("".join, product("ab*", repeat=2)), "aba"]
CELLS = [
    Request(principal=who, host=host, operation=operation, resource_type=kind, resource_name=name)
    for who, host, operation, kind, name in product(
        PRINCIPALS, HOSTS, ("READ", "DESCRIBE"), ("TOPIC", "GROUP"), NAMES
    )
    if kind == "GROUP" or "*" not in name  # no topic has such a name
]


def access(item, world, read):
    """Return what an item allows by the rule, decided request by request."""
    if item.kind == DEFAULT:
        return {
            (each.resource_type, each.resource_name)
            for each in CELLS
            if not any(reaches(acl, each.resource_type, each.resource_name, read) for acl in world)
        }
    rules = [*item.acls, *(acl for acl in world if not acl.is_allow)]
    mine = {acl.pattern[0] for acl in item.acls}
    return {
        each for each in CELLS
        if each.resource_type in mine
        and decide(rules, each, BrokerSettings(), read).decision == ALLOWED
    }  # fmt: skip


@settings(max_examples=rounds(40))
@given(
    acl_sets(5),
    st.sets(st.integers(0, 4), max_size=2),
    st.lists(acls(), max_size=2),
    st.sampled_from(SEMANTICS),
    st.sampled_from(SEMANTICS),
)
def test_nothing_is_carried_over_that_grew(then, gone, come, before, after):
    now = [acl for number, acl in enumerate(then) if number not in gone] + come
    items, found = kept(then, now, before=before, after=after, settings=OPEN)
    past = {item.key: item for item in items_of(then, OPEN, before)}
    for item in items:
        if found[item.item_id].carried is not None and item.kind in (GRANT, DEFAULT):
            assert access(item, now, after) <= access(past[item.key], then, before)


@settings(max_examples=rounds(20))
@given(acl_sets(6), st.sampled_from(SEMANTICS))
def test_a_state_that_did_not_change_is_carried_over_whole(then, read):
    items, found = kept(then, then, before=read, after=read, settings=OPEN)
    assert all(found[item.item_id].carried for item in items)
