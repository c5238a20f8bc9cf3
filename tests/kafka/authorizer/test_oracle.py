"""300 random ACL sets that Kafka 4.3.1 answered, put to the authorizer."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from aclkit.kafka.authorizer import Authorizer
from aclkit.model.filter import AccessControlEntryFilter, AclBindingFilter, ResourcePatternFilter
from aclkit.model.semantics import KAFKA
from tests.factories import acl, request
from tests.kafka.authorizer.asking import action, context

ORACLE = Path(__file__).parents[2] / "data" / "kafka_oracle.jsonl.gz"
FIELDS = ("resource_type", "pattern_type", "principal", "host", "operation", "permission_type")


@pytest.fixture(scope="module")
def worlds():
    with gzip.open(ORACLE, "rt", encoding="utf-8") as file:
        return [world(json.loads(line)) for line in file]


def world(row):
    acls = [
        acl(name, **dict(zip(FIELDS, (resource_type, *rest), strict=True)))
        for resource_type, name, *rest in row["acls"]
    ]
    authorizer = Authorizer.over_acls(acls, semantics=KAFKA)
    authorizer.configure(
        {
            "super.users": row["super_users"],
            "allow.everyone.if.no.acl.found": row["allow_everyone_if_no_acl_found"],
        }
    )
    return authorizer, acls, row


def test_decision_rule_and_deciding_acl_are_kafkas(worlds):
    for authorizer, acls, row in worlds:
        for principal, host, operation, resource_type, name, decision, decider in row["queries"]:
            who = context(principal, host)
            assert authorizer.authorize(who, [action(name, operation, resource_type)]) == [decision]
            found = authorizer.decide(
                request(name, resource_type=resource_type, principal=principal,
                        host=who.client_address, operation=operation)
            )  # fmt: skip
            assert (found.rule if found.acl is None else acls.index(found.acl)) == decider


def test_answers_by_resource_type_are_kafkas(worlds):
    for authorizer, _, row in worlds:
        for principal, host, operation, resource_type, decision in row["by_type"]:
            found = authorizer.authorize_by_resource_type(
                context(principal, host), operation, resource_type
            )
            assert found == decision, (row["id"], principal, host, operation, resource_type)


def test_filters_select_what_kafkas_do_in_kafkas_order(worlds):
    for authorizer, acls, row in worlds:
        assert authorizer.acl_count() == len(acls)
        assert [acls.index(each) for each in authorizer.acls()] == row["sorted_order"]
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
            found = [acls.index(each) for each in authorizer.acls(binding)]
            assert found == [at for at in row["sorted_order"] if at in indices]
