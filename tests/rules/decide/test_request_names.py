"""A request by Kafka's name: which of its variants a resource means, and what it needs."""

from __future__ import annotations

import pytest

from aclkit.errors import UsageError
from aclkit.model.enums import AclOperation
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.rules.decide.handlers import (
    REQUESTS,
    asked_request,
    is_request,
    likely_request,
    needs_words,
)

CHECKED = sorted(
    {
        (request.name, check.resource_type)
        for request in REQUESTS
        for way in request.ways
        for check in way.checks
        if not check.of_any and check.operation in OPERATIONS_OF_TYPE[check.resource_type]
    }
)


@pytest.mark.parametrize(("name", "resource_type"), CHECKED)
def test_each_request_is_found_for_each_type_that_it_checks(name, resource_type):
    found = asked_request(name.lower(), resource_type)
    assert found.request.name == name
    checks = {check.access for way in found.request.ways for check in way.checks}
    assert (found.operation, resource_type) in checks


@pytest.mark.parametrize(
    ("name", "resource_type", "title", "operation"),
    [
        ("Produce", "TOPIC", "Produce", "WRITE"),
        ("Produce", "TRANSACTIONAL_ID", "Produce in a transaction", "WRITE"),
        ("OffsetCommit", "TOPIC", "OffsetCommit", "READ"),
        ("FindCoordinator", "GROUP", "FindCoordinator of a group", "DESCRIBE"),
        ("Metadata", "CLUSTER", "Metadata that creates the topic", "CREATE"),
        ("DeleteTopics", "TOPIC", "DeleteTopics by name", "DELETE"),
        (
            "InitProducerId", "TRANSACTIONAL_ID",
            "InitProducerId with a transactional id", "WRITE",
        ),
    ],
)  # fmt: skip
def test_of_several_variants_the_plainest_is_meant(name, resource_type, title, operation):
    found = asked_request(name, resource_type)
    assert (found.request.title, found.operation) == (title, operation)


@pytest.mark.parametrize(
    ("name", "resource_type", "wrong"),
    [
        ("JoinGroup", "TOPIC", "JoinGroup checks no topic. Did you mean group:NAME?"),
        ("ExpireDelegationToken", "DELEGATION_TOKEN", "ExpireDelegationToken is decided without"),
        ("RenewDelegationToken", "DELEGATION_TOKEN", "is decided without ACLs"),
    ],
)
def test_a_request_that_does_not_fit_is_refused(name, resource_type, wrong):
    with pytest.raises(UsageError, match=wrong.replace("?", r"\?")):
        asked_request(name, resource_type)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("JoinGroup", "READ on the group"),
        ("OffsetCommit", "READ on the group and READ on the topic"),
    ],
)
def test_what_a_request_needs_is_written_out(name, words):
    assert needs_words(asked_request(name, "GROUP").request) == words


def test_no_operation_is_the_name_of_a_request():
    assert [name for name in AclOperation.__members__ if is_request(name)] == []


@pytest.mark.parametrize(
    ("text", "likely"),
    [("fetchh", "Fetch"), ("JOIN_GROUP", "JoinGroup"), ("REED", None), ("xyz", None)],
)
def test_a_misspelt_request_gets_the_likely_one(text, likely):
    assert likely_request(text, "TOPIC") == likely


def test_a_controller_asks_for_what_a_broker_does_not():
    words = needs_words(asked_request("DescribeCluster", "CLUSTER").request)
    assert words == (
        "no ACL (if a broker gets it), or ALTER on the cluster "
        "(if a controller gets it, as with --bootstrap-controller)"
    )
