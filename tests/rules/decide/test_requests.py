"""What Kafka's handlers let pass: ways, facts, and what a question does not tell."""

from __future__ import annotations

import pytest

from aclkit.model.enums import ResourceType
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.rules.decide.handlers import REQUESTS, requests_about
from aclkit.rules.decide.requests import Asker, Result
from aclkit.rules.decide.rules import Ruling

ALICE = "User:alice"


def ruling(is_allowed):
    return Ruling("ALLOWED" if is_allowed else "DENIED", "test")


def results(*allowed, principal=ALICE, **names):
    """The result of each request, by title, where the principal has just these accesses."""
    asker = Asker(
        principal=principal,
        host="10.0.0.1",
        names=names,
        decide=lambda asked: ruling(f"{asked.operation} {asked.resource_type}" in allowed),
        decide_any=lambda asked: ruling(f"{asked.operation} any {asked.resource_type}" in allowed),
    )
    return {request.title: str(asker.judge(request).result) for request in REQUESTS}


ALL_NAMES = dict.fromkeys(("TOPIC", "GROUP", "TRANSACTIONAL_ID", "DELEGATION_TOKEN"), "x")
BY_NAME, BY_ID = "DeleteTopics by name", "DeleteTopics by topic id"
IDEMPOTENT = "InitProducerId without a transactional id"
TWO_PHASES = "InitProducerId with two-phase commit"


@pytest.mark.parametrize(
    ("title", "allowed", "passes"),
    [
        ("CreateTopics", ["CREATE CLUSTER"], True),
        ("CreateTopics", ["CREATE TOPIC"], True),
        ("CreateTopics", ["ALTER CLUSTER"], False),
        ("Metadata that creates the topic", ["CREATE CLUSTER"], False),
        ("Metadata that creates the topic", ["CREATE CLUSTER", "DESCRIBE TOPIC"], True),
        (BY_NAME, ["DELETE CLUSTER"], True),
        (BY_NAME, ["DELETE TOPIC"], False),
        (BY_NAME, ["DELETE TOPIC", "DESCRIBE TOPIC"], True),
        (BY_ID, ["DELETE TOPIC"], True),
        ("DeleteRecords", ["DELETE CLUSTER"], False),
        (IDEMPOTENT, ["IDEMPOTENT_WRITE CLUSTER"], True),
        (IDEMPOTENT, ["WRITE any TOPIC"], True),
        (IDEMPOTENT, ["WRITE TOPIC", "WRITE TRANSACTIONAL_ID"], False),
        ("InitProducerId with a transactional id", ["IDEMPOTENT_WRITE CLUSTER"], False),
        (TWO_PHASES, ["TWO_PHASE_COMMIT TRANSACTIONAL_ID"], False),
        (TWO_PHASES, ["TWO_PHASE_COMMIT TRANSACTIONAL_ID", "WRITE TRANSACTIONAL_ID"], True),
        ("ListGroups", ["DESCRIBE CLUSTER"], True),
        ("ListGroups", ["DESCRIBE GROUP"], True),
        ("DescribeGroups", ["DESCRIBE CLUSTER"], False),
        ("OffsetForLeaderEpoch", ["CLUSTER_ACTION CLUSTER"], True),
        ("WriteTxnMarkers", ["ALTER CLUSTER"], True),
        ("OffsetDelete", ["DELETE GROUP"], False),
        ("OffsetDelete", ["DELETE GROUP", "READ TOPIC"], True),
        ("DescribeConfigs of a topic", ["DESCRIBE_CONFIGS CLUSTER"], False),
        ("IncrementalAlterConfigs of a topic", ["ALTER_CONFIGS CLUSTER"], False),
        ("DescribeTopicPartitions", ["DESCRIBE CLUSTER"], False),
        ("DescribeCluster", [], True),
        ("DescribeDelegationToken", ["DESCRIBE DELEGATION_TOKEN"], True),
    ],
)  # fmt: skip
def test_a_request_passes_by_any_way_whose_checks_are_all_allowed(title, allowed, passes):
    found = results(*allowed, **ALL_NAMES, USER="User:bob")[title]
    if title == "DescribeDelegationToken" or passes:
        assert found == "PASSES"
    else:
        assert found == "REFUSED"


def test_a_token_for_oneself_needs_no_acl_and_one_for_another_does():
    title = "CreateDelegationToken"
    assert results(USER=ALICE)[title] == "PASSES"
    assert results(USER="User:bob")[title] == "REFUSED"
    assert results("CREATE_TOKENS USER", USER="User:bob")[title] == "PASSES"


def test_whether_any_other_user_is_oneself_is_not_known():
    assert results(principal="User:<any-other>", USER="<any-other>")["CreateDelegationToken"] == (
        "DEPENDS"
    )


def test_tokens_of_oneself_are_shown_and_those_of_others_to_who_may_renew_them():
    assert results(USER=ALICE)["DescribeDelegationToken"] == "PASSES"
    assert results(USER="User:bob")["DescribeDelegationToken"] == "DEPENDS"


def test_no_acl_lets_anybody_renew_or_expire_a_token():
    every = [
        f"{operation} {kind}" for kind, all_ in OPERATIONS_OF_TYPE.items() for operation in all_
    ]
    found = results(*every, **ALL_NAMES)
    assert found["RenewDelegationToken"] == found["ExpireDelegationToken"] == "DEPENDS"


def test_a_check_on_a_resource_that_is_not_told_leaves_it_open():
    assert results("READ GROUP", GROUP="g")["OffsetCommit"] == "DEPENDS"
    assert results("READ TOPIC", GROUP="g")["OffsetCommit"] == "REFUSED"
    assert results("READ GROUP", "READ TOPIC", GROUP="g", TOPIC="t")["OffsetCommit"] == "PASSES"


def test_a_denied_check_refuses_whatever_else_is_open():
    assert results("WRITE TRANSACTIONAL_ID", TRANSACTIONAL_ID="x", GROUP="g")[
        "TxnOffsetCommit"
    ] == "REFUSED"  # fmt: skip


def test_every_operation_of_a_type_is_asked_by_some_request():
    for kind, operations in OPERATIONS_OF_TYPE.items():
        for operation in operations:
            assert list(requests_about(operation, kind)), (operation, kind)


def test_the_table_names_known_operations_and_types_only():
    for check in (c for one in REQUESTS for way in one.ways for c in way.checks):
        assert ResourceType.is_known(check.resource_type)
        known = OPERATIONS_OF_TYPE[check.resource_type]
        assert check.operation in known or check.access == ("DELETE", "CLUSTER")


def test_no_request_stands_twice_in_the_table():
    titles = [request.title for request in REQUESTS]
    assert len(titles) == len(set(titles))


def test_the_best_result_of_the_ways_is_that_of_the_request():
    assert list(Result) == [Result.PASSES, Result.DEPENDS, Result.REFUSED]


@pytest.mark.parametrize(
    ("access", "others"),
    [
        (("CREATE", "TOPIC"), {"CreateTopics", "Metadata that creates the topic"}),
        (("CREATE_TOKENS", "USER"), {"CreateDelegationToken"}),
        (("IDEMPOTENT_WRITE", "CLUSTER"), {IDEMPOTENT}),
        (("DESCRIBE_TOKENS", "USER"), {"DescribeDelegationToken"}),
        (("TWO_PHASE_COMMIT", "TRANSACTIONAL_ID"), {TWO_PHASES}),
        (("DELETE", "TOPIC"), {"DeleteRecords", BY_NAME, BY_ID}),
    ],
)
def test_an_access_leads_to_the_requests_that_are_about_it(access, others):
    assert {request.title for request in requests_about(*access)} == others
