"""What a request to add or remove comes to."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aclkit.kafka.acls.creation import acl_filters
from aclkit.kafka.acls.options import AclOptions
from aclkit.model.filter import AclBindingFilter
from aclkit.model.semantics import KIP_1042
from aclkit.pipeline.replay.changes import add_to, remove_from
from tests import strategies
from tests.factories import acl


def test_an_equal_acl_under_another_id_is_there_already():
    change = add_to([acl(acl_id="old")], [acl(acl_id="new"), acl("other", acl_id="fresh")])
    assert [a.acl_id for a in change.existing] == ["new"]
    assert [a.acl_id for a in change.added] == ["fresh"]


def test_an_acl_that_is_asked_for_twice_is_added_once():
    assert [a.acl_id for a in add_to([], [acl(acl_id="1"), acl(acl_id="2")]).added] == ["1"]


def test_match_removes_all_that_reach_a_name():
    alive = [acl("payments"), acl("pay", pattern_type="PREFIXED"), acl("*"), acl("orders")]
    filters = acl_filters(AclOptions(topic=("payments",), resource_pattern_type="match"))
    assert remove_from(alive, filters, KIP_1042).removed == tuple(alive[:3])


def test_only_what_was_confirmed_goes():
    alive = [acl(acl_id="seen"), acl(acl_id="since", principal="User:b")]
    filters = acl_filters(AclOptions(topic=("orders",)))
    assert remove_from(alive, filters, KIP_1042, only={"seen"}).removed == (alive[0],)


@given(strategies.acl_sets(), strategies.acl_sets())
def test_after_adding_all_that_was_wanted_is_there_once(alive, wanted):
    change = add_to(alive, wanted)
    added = [a.binding for a in change.added]
    assert len(added) == len(set(added))
    assert not set(added) & {a.binding for a in alive}
    assert {a.binding for a in wanted} <= {a.binding for a in (*alive, *change.added)}


@given(strategies.acl_sets(), st.booleans())
def test_the_filter_of_everything_removes_everything(alive, twice):
    filters = [AclBindingFilter()] * (1 + twice)
    assert remove_from(alive, filters, KIP_1042).removed == tuple(alive)
