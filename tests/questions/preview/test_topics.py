"""A topic to come is decided as the pure rule decides it, and shows what governs it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aclkit.errors import UsageError
from aclkit.model.resource import Resource
from aclkit.questions.preview.topics import parse_topic, preview_topics
from aclkit.rules.decide.rules import ALLOWED
from aclkit.rules.patterns.match import reaches
from tests import strategies as small
from tests.factories import acl
from tests.questions.difference.world import ASKED, decisions, state, topics

NAMES = st.lists(st.text("ab._", min_size=1, max_size=3).filter(lambda n: n not in (".", "..")),
                 min_size=1, max_size=2, unique=True)  # fmt: skip


def knowing(inventory, acls, *semantics, **settings):
    return replace(state(acls, *semantics, **settings), inventory=inventory)


@settings(max_examples=50)
@given(small.acl_sets(8), NAMES, st.booleans(), small.semantics)
def test_every_decision_on_topics_to_come_is_the_pure_rules(acls, names, allow_everyone, semantics):
    of = knowing(ASKED, acls, semantics, allow_everyone=allow_everyone)
    found = {}
    for topic in preview_topics(names, of):
        for access in topic.accesses:
            for host in access.hosts:
                cell = access.principal, host, access.operation, topic.topic
                found[cell] = tuple(access.verdict)
        assert {a.acl_id for a in topic.governed_by} == {
            a.acl_id for a in acls if reaches(a, "TOPIC", topic.topic.resource_name, semantics)
        }
    asked = topics(*names, principals=ASKED.principals, hosts=ASKED.hosts)
    assert found == decisions(of, semantics, asked)


def test_kip_1042s_new_topic_is_governed_by_the_pattern():
    pattern = acl("*-accounts-*", pattern_type="GLOB", principal="User:app1")
    others = [acl("nl-accounts-", pattern_type="PREFIXED"), acl("us-orders")]
    (topic,) = preview_topics(["us-accounts-privatetopic"], knowing(topics(), [pattern, *others]))
    assert topic.governed_by == (pattern,)
    assert not topic.is_known


def test_the_most_specific_pattern_stands_first():
    acls = [acl("*"), acl("pay", pattern_type="PREFIXED"), acl("payments")]
    (topic,) = preview_topics(["payments"], knowing(topics("payments"), acls))
    assert [a.resource_name for a in topic.governed_by] == ["payments", "pay", "*"]
    assert topic.is_known


def test_what_is_allowed_stands_first_and_is_counted():
    (topic,) = preview_topics(["t"], knowing(topics(), [acl("t")]))
    assert [a.verdict.decision == ALLOWED for a in topic.accesses[:3]] == [True, True, False]
    assert (topic.count("ALLOWED"), topic.count("DENIED")) == (4, 28)


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "a*", "é", "x" * 250, "a\n"])
def test_no_broker_creates_a_topic_of_such_a_name(name):
    with pytest.raises(UsageError, match="Invalid topic name"):
        parse_topic(name)


def test_legal_names_are_topics():
    assert parse_topic("A.b_c-9" * 35) == Resource("TOPIC", "A.b_c-9" * 35)
