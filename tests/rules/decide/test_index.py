"""The index over all ACLs: the answers of the pure rule, without looking at all of them."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from aclkit.model.acl import Request
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings
from aclkit.rules.decide import index as indexed
from aclkit.rules.decide.index import AclIndex
from aclkit.rules.decide.order import BrokerRescan
from aclkit.rules.decide.rules import answers, decide
from aclkit.rules.patterns.match import reaches
from tests import strategies as small
from tests.factories import acl, request

SUPER = frozenset({"User:b"})


def specified(acls, asked, settings, read):
    rescan = BrokerRescan.among(acls)
    is_last = rescan.wildcard_is_last(asked.resource_type, asked.resource_name)
    return decide(acls, asked, settings, read, wildcard_is_last=is_last)


@given(
    small.acl_sets(),
    st.lists(small.requests(small.hosts), max_size=8),
    small.semantics,
    st.booleans(),
)
def test_every_answer_rule_and_deciding_acl_is_that_of_the_pure_rule(acls, asked, read, everyone):
    settings = BrokerSettings(super_users=SUPER, allow_everyone=everyone)
    index = AclIndex.of(acls, read)
    for one in asked:
        assert index.decide(one, settings) == specified(acls, one, settings, read)


@given(
    small.acl_sets(), st.lists(small.requests(small.hosts), max_size=4), small.semantics, st.data()
)
def test_acls_added_and_removed_one_by_one_are_the_same_as_acls_loaded_at_once(
    acls, asked, read, data
):
    gone = [each for each in acls if data.draw(st.booleans())]
    index = AclIndex.of((), read)
    for each in acls:
        index = index.changed(add=[each])
    for each in gone:
        index = index.changed(remove=[each.acl_id])
    kept = [each for each in acls if each not in gone]
    assert index.by_id == AclIndex.of(kept, read).by_id
    assert sorted(a.acl_id for a in index.of_type("TOPIC")) == sorted(
        a.acl_id for a in kept if a.resource_type == "TOPIC"
    )
    settings = BrokerSettings(allow_everyone=True)
    for one in asked:
        assert index.decide(one, settings) == specified(kept, one, settings, read)


@given(small.acl_sets(), small.requests(small.hosts), small.semantics)
def test_the_acls_that_reach_a_resource_are_those_whose_pattern_matches(acls, asked, read):
    resource = asked.resource_type, asked.resource_name
    found = AclIndex.of(acls, read).reaching(*resource)
    right = [one.acl_id for one in acls if reaches(one, *resource, read)]
    assert sorted(one.acl_id for one in found) == sorted(right)


def test_acls_that_cannot_answer_are_not_looked_at(monkeypatch):
    acls = [acl("*", principal=f"User:u{n}", host=f"10.0.{n % 9}.{n % 250}") for n in range(900)]
    seen = []

    def counted(one, *arguments):
        seen.append(one)
        return answers(one, *arguments)

    monkeypatch.setattr(indexed, "answers", counted)
    index = AclIndex.of([*acls, *(acl(f"t{n}") for n in range(500))], KIP_1042)
    ruling = index.decide(
        Request(principal="User:u7", host="10.0.7.7", operation="READ",
                resource_type="TOPIC", resource_name="t"),
        BrokerSettings(),
    )  # fmt: skip
    assert (ruling.acl, seen) == (acls[7], [acls[7]])


def test_a_range_that_came_and_went_leaves_an_equal_index():
    ranged = replace(KAFKA, cidr_hosts=True)
    empty = AclIndex.of([acl("a", acl_id="stays")], ranged)
    came = empty.changed(add=[acl("a", acl_id="goes", host="10.0.0.0/8")])
    assert came.decide(request("a", host="10.1.1.1"), BrokerSettings()).decision == "ALLOWED"
    assert came.changed(remove=["goes"]) == empty
