"""300 random ACL sets that Kafka 4.3.1 answered, put to the authorizer."""

from __future__ import annotations

import pytest

from aclkit.kafka.authorizer.authorizer import Authorizer
from aclkit.model.semantics import KAFKA
from tests.factories import request
from tests.kafka.authorizer.asking import action, context
from tests.kafka_answers import filters_of, read_worlds


@pytest.fixture(scope="module")
def worlds():
    return [world(acls, row) for acls, _, row in read_worlds()]


def world(acls, row):
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
        for binding, places in filters_of(row):
            found = [acls.index(each) for each in authorizer.acls(binding)]
            assert found == [at for at in row["sorted_order"] if at in places]
