"""The items of a review: every access once, none without effect, and ids that last."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from aclkit.audit.review.items import DEFAULT, SUPER_USER, derive_items
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings
from aclkit.rules.decide.rules import decide
from aclkit.rules.names.domain import domain_of
from aclkit.rules.names.rows import Rules
from aclkit.rules.patterns.match import host_matches, principal_matches, reaches
from tests.audit.review.reviews import ACLS, ADMIN, SETTINGS, items_of, one
from tests.factories import acl
from tests.strategies import acl_sets, requests, semantics

DENY = {"permission_type": "DENY"}


def test_an_item_says_who_can_do_what_from_where_and_because_of_which_acls():
    item = one(items_of(), "User:eve")
    assert item.words == "User:eve can WRITE, DESCRIBE on topic orders from 10.0.0.9"
    assert item.because_words == ["because ALLOW WRITE on topic orders from 10.0.0.9"]


def test_acls_on_one_pattern_from_one_host_are_one_item():
    both = [acl(operation="READ"), acl(operation="WRITE"), acl(operation="READ", host="10.0.0.1")]
    found = {item.host: item.operations for item in items_of(both, BrokerSettings())}
    assert found == {"*": ("READ", "WRITE", "DESCRIBE"), "10.0.0.1": ("READ", "DESCRIBE")}


def test_super_users_everyone_and_the_default_are_items():
    items = items_of(settings=replace(SETTINGS, allow_everyone=True))
    kinds = {(item.kind, item.principal) for item in items}
    assert {(SUPER_USER, ADMIN), (DEFAULT, "User:*"), ("grant", "User:*")} <= kinds
    assert any(item.words.startswith("Every principal can DESCRIBE") for item in items)


def test_what_a_deny_overrides_for_every_name_is_no_access():
    assert items_of([acl(), acl("*", principal="User:*", **DENY)], BrokerSettings()) != ()
    denied = [acl(), acl("*", principal="User:*", operation="ALL", **DENY)]
    assert items_of(denied, BrokerSettings()) == ()


def test_an_allow_that_grants_nothing_is_not_lost_but_named():
    denied = [acl(acl_id="idle"), acl("*", operation="ALL", **DENY)]
    rules = Rules(acls=tuple(denied), settings=BrokerSettings(), semantics=KAFKA)
    assert [each.acl_id for each in derive_items(rules).idle] == ["idle"]


def test_a_deny_of_a_part_stays_with_the_item_as_what_limits_it():
    acls = [acl("pay", pattern_type="PREFIXED"), acl("pay.secret", acl_id="d", **DENY)]
    (item,) = items_of(acls, BrokerSettings())
    assert [each.acl_id for each in item.limited_by] == ["d"]
    assert item.operations == ("READ", "DESCRIBE")


def test_a_wider_item_is_named_as_what_grants_the_same():
    items = items_of()
    wide, narrow = (one(items, "User:bob", name) for name in ("pay", "pay.x"))
    assert [(each.item, each.operations) for each in narrow.also] == [
        (wide.item_id, ("READ", "DESCRIBE"))
    ]
    assert wide.also == ()


def test_a_super_users_own_acls_are_items_that_the_super_user_item_covers():
    items = items_of([acl(principal=ADMIN)])
    grant = next(item for item in items if item.acls)
    power = next(item for item in items if item.kind == SUPER_USER)
    assert [each.item for each in grant.also] == [power.item_id]


def test_an_id_depends_on_the_access_and_not_on_ids_or_order_of_acls():
    again = [replace(each, acl_id=f"other-{each.acl_id}") for each in reversed(ACLS)]
    assert {i.item_id for i in items_of(again)} == {i.item_id for i in items_of()}
    wider = [*ACLS, acl("orders", principal="User:eve", host="10.0.0.9", operation="READ")]
    changed = {i.item_id for i in items_of(wider)} ^ {i.item_id for i in items_of()}
    assert changed == set()  # the DENY of READ overrides it
    wider[-1] = replace(wider[-1], operation="ALTER")
    assert len({i.item_id for i in items_of(wider)} ^ {i.item_id for i in items_of()}) == 2


@given(acl_sets(8), st.lists(requests(), min_size=1, max_size=5), semantics)
def test_whatever_the_rule_allows_is_in_an_item(acls, asked, reading):
    items = items_of(acls, BrokerSettings(), reading)
    for request in asked:
        is_possible = domain_of(request.resource_type).holds(request.resource_name)
        decision = decide(acls, request, BrokerSettings(), reading).decision
        if not is_possible or request.operation == "ALL" or decision != "ALLOWED":
            continue
        assert any(
            request.operation in item.operations
            and any(
                reaches(a, *request.resource, reading)
                and principal_matches(a.principal, request.principal, reading)
                and host_matches(a.host, request.host, reading)
                for a in item.acls
            )
            for item in items
        )


@given(acl_sets(8), st.sampled_from((KAFKA, KIP_1042)), st.randoms())
def test_removing_items_removes_no_other_item(acls, reading, random):
    items = items_of(acls, BrokerSettings(), reading)
    removed = [item for item in items if random.random() < 0.5]
    gone = {a.acl_id for item in removed for a in item.acls}
    left = items_of([a for a in acls if a.acl_id not in gone], BrokerSettings(), reading)
    kept = [item.identity for item in items if item not in removed]
    assert [item.identity for item in left] == kept


@given(acl_sets(10), semantics)
def test_each_allow_is_in_one_item_or_idle(acls, reading):
    rules = Rules(acls=tuple(acls), settings=BrokerSettings(), semantics=reading)
    found = derive_items(rules)
    ids = [a.acl_id for item in found.items for a in item.acls] + [a.acl_id for a in found.idle]
    assert sorted(ids) == sorted(a.acl_id for a in acls if a.is_allow)
    assert len({item.item_id for item in found.items}) == len(found.items)
