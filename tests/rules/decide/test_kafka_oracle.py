"""300 random ACL sets, answered by Kafka 4.3.1: decisions, deciders, by type, filters, order."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from aclkit.model.acl import TypeRequest
from aclkit.model.filter import AccessControlEntryFilter, AclBindingFilter, ResourcePatternFilter
from aclkit.model.principal import parse_super_users
from aclkit.model.semantics import KAFKA, BrokerSettings
from aclkit.rules.decide.by_resource_type import authorize_by_resource_type
from aclkit.rules.decide.order import standard_acl_key
from aclkit.rules.decide.rules import decide
from aclkit.rules.patterns.trie import PatternIndex
from tests.factories import acl, request

ORACLE = Path(__file__).parents[2] / "data" / "kafka_oracle.jsonl.gz"


@pytest.fixture(scope="module")
def worlds():
    """Each world: its ACLs, the broker's settings, and what Kafka said."""
    with gzip.open(ORACLE, "rt", encoding="utf-8") as file:
        return [world(json.loads(line)) for line in file]


def world(row):
    acls = [
        acl(
            name,
            resource_type=resource_type,
            pattern_type=pattern_type,
            principal=principal,
            host=host,
            operation=operation,
            permission_type=permission_type,
        )
        for resource_type, name, pattern_type, principal, host, operation, permission_type in row[
            "acls"
        ]
    ]
    settings = BrokerSettings(
        super_users=parse_super_users(row["super_users"]),
        allow_everyone=row["allow_everyone_if_no_acl_found"],
    )
    return acls, settings, row


def test_the_file_is_whole(worlds):
    assert len(worlds) == 300
    assert sum(len(row["queries"]) for _, _, row in worlds) == 7500


def test_decision_rule_and_deciding_acl_are_kafkas(worlds):
    for acls, settings, row in worlds:
        for principal, host, operation, resource_type, name, decision, decider in row["queries"]:
            asked = request(
                name,
                resource_type=resource_type,
                principal=principal,
                host=host,
                operation=operation,
            )
            found = decide(acls, asked, settings, KAFKA)
            by = found.rule if found.acl is None else acls.index(found.acl)
            assert (found.decision, by) == (decision, decider), asked


def test_authorize_by_resource_type_is_kafkas(worlds):
    for acls, settings, row in worlds:
        for principal, host, operation, resource_type, decision in row["by_type"]:
            asked = TypeRequest(principal, host, operation, resource_type)
            found = authorize_by_resource_type(acls, asked, settings)
            assert found == decision, (row["id"], principal, host, operation, resource_type)


def test_filters_select_what_kafkas_do(worlds):
    for acls, _, row in worlds:
        for *fields, indices in row["filters"]:
            resource_type, name, pattern_type, principal, host, operation, permission_type = fields
            binding = AclBindingFilter(
                pattern=ResourcePatternFilter(
                    resource_type=resource_type, resource_name=name, pattern_type=pattern_type
                ),
                entry=AccessControlEntryFilter(
                    principal=principal,
                    host=host,
                    operation=operation,
                    permission_type=permission_type,
                ),
            )
            selected = [at for at, each in enumerate(acls) if binding.matches(each, KAFKA)]
            assert selected == sorted(indices), (row["id"], fields)


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
        for principal, host, operation, resource_type, name, decision, decider in row["queries"]:
            asked = request(
                name,
                resource_type=resource_type,
                principal=principal,
                host=host,
                operation=operation,
            )
            candidates = [acls[at] for at in index.matches(resource_type, name)]
            found = decide(candidates, asked, settings, KAFKA)
            by = found.rule if found.acl is None else acls.index(found.acl)
            assert (found.decision, by) == (decision, decider), asked
