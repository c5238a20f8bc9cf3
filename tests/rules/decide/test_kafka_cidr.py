"""300 random ACL sets with ranges, answered by Kafka 4.4.0: decisions, deciders, by type.

The file writes the addresses of clients as people do; a broker gets them as Java writes them.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from aclkit.model.acl import TypeRequest
from aclkit.model.host import parse_host
from aclkit.model.semantics import KAFKA
from aclkit.rules.decide.any_of_type import authorize_any
from aclkit.rules.decide.index import AclIndex
from aclkit.rules.decide.rules import decide
from tests.factories import request
from tests.kafka_answers import SETS_WITH_RANGES, read_worlds
from tests.rules.decide.test_kafka_oracle import said

KAFKA_4_4 = replace(KAFKA, cidr_hosts=True)


@pytest.fixture(scope="module")
def worlds():
    return read_worlds(SETS_WITH_RANGES)


def queries(worlds):
    for acls, settings, row in worlds:
        for principal, host, operation, kind, name, *answer in row["queries"]:
            fields = {"principal": principal, "host": parse_host(host), "operation": operation}
            yield acls, settings, request(name, resource_type=kind, **fields), tuple(answer)


def test_the_file_is_whole(worlds):
    assert len(worlds) == 300
    assert sum(1 for _ in queries(worlds)) == 12_000


def test_decision_and_deciding_acl_are_kafkas(worlds):
    for acls, settings, asked, answer in queries(worlds):
        assert said(decide(acls, asked, settings, KAFKA_4_4), acls) == answer, asked


def test_the_index_decides_like_kafka(worlds):
    indexes = {}
    for acls, settings, asked, answer in queries(worlds):
        if id(acls) not in indexes:
            indexes[id(acls)] = AclIndex.of(acls, KAFKA_4_4)
        found = indexes[id(acls)].decide(asked, settings)
        assert said(found, acls) == answer, asked


def test_authorize_by_resource_type_is_kafkas(worlds):
    count = 0
    for acls, settings, row in worlds:
        for principal, host, operation, kind, decision in row["by_type"]:
            asked = TypeRequest(principal, parse_host(host), operation, kind)
            assert authorize_any(acls, asked, settings, KAFKA_4_4) == decision, (row["id"], asked)
            count += 1
    assert count > 1_000


def test_ranges_made_a_difference(worlds):
    """Without them some answers would be others: the file tests what it is for."""
    differ = sum(
        said(decide(acls, asked, settings, KAFKA), acls) != answer
        for acls, settings, asked, answer in queries(worlds)
    )
    assert differ > 500
