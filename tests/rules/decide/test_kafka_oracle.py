"""300 random ACL sets, answered by Kafka 4.3.1: decisions, deciders, by type, filters, order."""

from __future__ import annotations

import pytest

from aclkit.model.acl import TypeRequest
from aclkit.model.semantics import KAFKA
from aclkit.rules.decide.any_of_type import authorize_by_resource_type
from aclkit.rules.decide.order import standard_acl_key
from aclkit.rules.decide.rules import decide
from aclkit.rules.patterns.trie import PatternIndex
from tests.factories import request
from tests.kafka_answers import filters_of, read_worlds


@pytest.fixture(scope="module")
def worlds():
    return read_worlds()


def queries(row):
    """Each question, and what Kafka said: the decision, and the place of the ACL or the rule."""
    for principal, host, operation, resource_type, name, *answer in row["queries"]:
        fields = {"principal": principal, "host": host, "operation": operation}
        yield request(name, resource_type=resource_type, **fields), tuple(answer)


def said(ruling, acls):
    return ruling.decision, ruling.rule if ruling.acl is None else acls.index(ruling.acl)


def test_the_file_is_whole(worlds):
    assert len(worlds) == 300
    assert sum(len(row["queries"]) for _, _, row in worlds) == 7500


def test_decision_rule_and_deciding_acl_are_kafkas(worlds):
    for acls, settings, row in worlds:
        for asked, answer in queries(row):
            assert said(decide(acls, asked, settings, KAFKA), acls) == answer, asked


def test_authorize_by_resource_type_is_kafkas(worlds):
    for acls, settings, row in worlds:
        for principal, host, operation, resource_type, decision in row["by_type"]:
            asked = TypeRequest(principal, host, operation, resource_type)
            found = authorize_by_resource_type(acls, asked, settings)
            assert found == decision, (row["id"], principal, host, operation, resource_type)


def test_filters_select_what_kafkas_do(worlds):
    for acls, _, row in worlds:
        for binding, places in filters_of(row):
            selected = [at for at, each in enumerate(acls) if binding.matches(each, KAFKA)]
            assert selected == sorted(places), (row["id"], binding)


def test_the_standard_order_is_kafkas(worlds):
    for acls, _, row in worlds:
        order = sorted(range(len(acls)), key=lambda at: standard_acl_key(acls[at]))
        assert order == row["sorted_order"], row["id"]


def test_the_index_finds_the_candidates_of_every_query(worlds):
    """The decision by the index's ACLs alone is the decision by all ACLs."""
    for acls, settings, row in worlds:
        index = PatternIndex.build(
            [
                (at, each.resource_type, each.pattern_type, each.resource_name)
                for at, each in enumerate(acls)
            ],
            KAFKA,
        )
        for asked, answer in queries(row):
            candidates = [acls[at] for at in index.matches(*asked.resource)]
            assert said(decide(candidates, asked, settings, KAFKA), acls) == answer, asked
