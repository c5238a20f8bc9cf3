"""What files of a team come to on top of a state: their scope, the worst case, the way there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aclkit.errors import UsageError
from aclkit.kafka.desired.model import DesiredAcl, Owner, Part, Place, ResourceChange
from aclkit.kafka.desired.read import Desired
from aclkit.model.semantics import BrokerSettings
from aclkit.questions.preview.desired import apply_desired
from aclkit.questions.state import State
from tests.factories import acl

SETTINGS = BrokerSettings()
MINE = acl("orders", principal="User:a", acl_id="mine")
FOREIGN = acl("orders", principal="User:z", acl_id="foreign")
BEFORE = [MINE, FOREIGN]


def state(*acls):
    return State(acls={each.acl_id: each for each in acls}, settings=SETTINGS)


def wanted(one, line=1, address=""):
    return DesiredAcl(replace(one, acl_id=""), Place("file", line, address))


def part(reach, *acls, **more):
    return Part(
        document="file", form="csv", reach=reach, acls=[wanted(each) for each in acls], **more
    )


def applied(*parts, before=BEFORE, scope=None, **more):
    return apply_desired(Desired(parts, []), state(*before), scope, **more)


def names(found):
    return sorted((each.principal, each.resource_name) for each in found.acls.values())


NEW = acl("payments", principal="User:a")


def test_a_listing_is_the_whole_state():
    assert names(applied(part("all", NEW)).after) == [("User:a", "payments")]


def test_an_acl_that_stays_keeps_its_id():
    assert [*applied(part("all", MINE)).after.acls] == ["mine"]


@pytest.mark.parametrize(
    ("scope", "left"),
    [
        ("add", [("User:a", "orders"), ("User:a", "payments"), ("User:z", "orders")]),
        ("principals", [("User:a", "payments"), ("User:z", "orders")]),
        ("all", [("User:a", "payments")]),
    ],
)
def test_a_csv_removes_what_its_scope_says(scope, left):
    assert names(applied(part("asked", NEW), scope=scope).after) == left


def test_without_a_scope_the_error_shows_what_each_would_remove():
    with pytest.raises(UsageError) as error:
        applied(part("asked", NEW))
    text = str(error.value)
    assert "add         removes 0 ACLs" in text
    assert "principals  removes 1 ACL: ALLOW READ on topic orders for User:a" in text
    assert "all         removes 2 ACLs" in text


def test_two_csvs_are_one_state():
    both = applied(part("asked", MINE), part("asked", FOREIGN), scope="all")
    assert names(both.after) == names(state(*BEFORE))


def test_a_kafka_user_empties_the_variant_that_it_does_not_use():
    owner = Owner(("User:a", "User:CN=a"), Place("file", 1))
    before = [MINE, FOREIGN, acl("orders", principal="User:CN=a")]
    found = applied(part("owners", NEW, owners=[owner]), before=before)
    assert names(found.after) == [("User:a", "payments"), ("User:z", "orders")]


def test_the_operator_removes_users_without_a_kafka_user_and_no_paused_one():
    owner, paused = (Owner((f"User:{n}", f"User:CN={n}"), Place("file")) for n in "ab")
    before = [MINE, FOREIGN, acl("orders", principal="User:b"), acl("t", principal="Group:g")]
    users = part("owners", MINE, owners=[owner], untouched=[paused])
    left = names(applied(users, before=before, with_operator=True).after)
    assert left == [("Group:g", "t"), ("User:a", "orders"), ("User:b", "orders")]


# Plans


def change(address, *, deletes=None, creates=None, keeps=None, create_first=False):
    place = Place("plan.json", 0, address)
    acls = (
        None if each is None else wanted(each, 0, address) for each in (deletes, creates, keeps)
    )
    old, new, kept = acls
    return ResourceChange(
        place=place,
        actions=("x",),
        deletes=old,
        creates=new,
        keeps=kept,
        is_create_first=create_first,
    )


def planned(*changes, before=BEFORE):
    found = Part(document="plan.json", form="terraform-plan", reach="change", changes=changes)
    return applied(found, before=before)


def test_a_plan_changes_only_its_own_acls():
    assert names(planned(change("x.a", deletes=MINE, creates=NEW)).after) == [
        ("User:a", "payments"),
        ("User:z", "orders"),
    ]


def test_of_an_undefined_order_the_existing_acl_is_lost():
    moved = planned(change("x.old", deletes=MINE), change("x.new", creates=MINE))
    assert names(moved.after) == [("User:z", "orders")]


def test_of_an_undefined_order_an_acl_that_does_not_exist_comes():
    moved = planned(change("x.old", deletes=NEW), change("x.new", creates=NEW))
    assert ("User:a", "payments") in names(moved.after)


def test_a_replaced_acl_is_off_for_a_time_and_there_at_the_end():
    found = planned(change("x.a", deletes=MINE, creates=MINE))
    assert names(found.after) == names(found.moments.most) == names(state(*BEFORE))
    assert names(found.moments.least) == [("User:z", "orders")]


def test_of_a_replacement_old_and_new_may_be_there_at_once_or_both_be_off():
    narrowed = replace(MINE, host="10.0.0.1")
    moments = planned(change("x.a", deletes=MINE, creates=narrowed)).moments
    assert {each.host for each in moments.most.acls.values()} == {"10.0.0.1", "*"}
    assert names(moments.least) == [("User:z", "orders")]


def test_a_deny_that_is_replaced_is_off_where_most_is_allowed():
    deny = replace(MINE, permission_type="DENY")
    moments = planned(change("x.a", deletes=deny, creates=deny)).moments
    assert deny.binding not in {each.binding for each in moments.most.acls.values()}
    assert deny.binding in {each.binding for each in moments.least.acls.values()}


def test_an_acl_that_a_plan_holds_stays_though_a_listing_is_the_whole():
    plan = part("change", MINE, changes=[change("x.a", keeps=MINE)])
    assert names(applied(part("all", FOREIGN), plan).after) == names(state(*BEFORE))


def test_what_a_plan_deletes_and_a_file_holds_may_be_gone_and_may_stay():
    found = applied(part("all", MINE, FOREIGN), part("change", changes=[change("x", deletes=MINE)]))
    assert names(found.after) == names(found.ends.least) == [("User:z", "orders")]
    assert names(found.ends.most) == names(state(*BEFORE))
    assert any("A plan deletes what a file holds" in note for note in found.notes)


OWNER = Owner(("User:a", "User:CN=a"), Place("users.yaml", 1))
DEFERRED = replace(change("x.a", deletes=MINE), is_deferred=True)


@pytest.mark.parametrize(
    ("kafka_users", "with_operator"),
    [
        (part("owners", owners=[OWNER]), None),
        (part("owners", NEW, owners=[OWNER]), False),
        (part("owners", owners=[Owner(("User:q", "User:CN=q"), Place("users.yaml"))]), True),
    ],
)
def test_the_operator_removes_an_acl_although_a_plan_holds_it(kafka_users, with_operator):
    plan = part("change", MINE, changes=[change("x.a", keeps=MINE)])
    found = applied(plan, kafka_users, before=[MINE], with_operator=with_operator)
    assert MINE.binding not in {each.binding for each in found.after.acls.values()}


@pytest.mark.parametrize("other", ["plan", "file"])
def test_what_others_make_for_a_user_the_operator_may_remove(other):
    plan = part("change", NEW, changes=[change("x.a", creates=NEW)])
    makes = plan if other == "plan" else part("asked", NEW)
    found = applied(makes, part("owners", MINE, owners=[OWNER]), scope="add")
    assert names(found.after) == names(found.ends.least) == names(state(*BEFORE))
    assert ("User:a", "payments") in names(found.ends.most)
    assert any("The User Operator removes what a plan" in note for note in found.notes)


def test_what_a_plan_may_delete_later_a_kafka_user_makes_again():
    plan = part("change", changes=[DEFERRED])
    found = applied(plan, part("owners", MINE, owners=[OWNER]))
    steps = [
        (is_creation, each.binding) for doing in found.doings for is_creation, each in doing.steps
    ]
    assert steps == [(False, MINE.binding), (True, MINE.binding)]


def test_a_new_acl_takes_no_id_that_is_in_use():
    two = planned(change("x.a", creates=NEW), change("x.b", deletes=MINE, creates=MINE))
    assert len(two.moments.most.acls) == len(two.after.acls) == 3


@pytest.mark.parametrize(
    ("of", "note"),
    [
        ({"creates": MINE}, "x.a creates an ACL that already exists"),
        ({"deletes": NEW}, "x.a deletes an ACL that does not exist"),
        ({"keeps": NEW}, "x.a keeps an ACL that does not exist"),
    ],
)
def test_where_plan_and_cluster_disagree_it_is_said(of, note):
    assert any(note in each for each in planned(change("x.a", **of)).notes)
