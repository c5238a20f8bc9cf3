"""why says what a broker makes of an answer: which requests pass all the same, or need more."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from aclkit.model.resource import parse_resource
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings
from aclkit.questions.query.why import explain_why
from aclkit.questions.query.words import passage_lines
from aclkit.rules.decide.requests import Result
from tests.factories import acl
from tests.questions.query.in_memory import CLUSTER, Life, open_memory


@pytest.fixture(params=[KAFKA, KIP_1042], ids=["kafka", "kip-1042"])
def ask(request):
    def ask(question, *acls, **options):
        principal, operation, resource = question.split()
        brokers = BrokerSettings(super_users=frozenset({"User:admin"}))
        settings = json.dumps(
            {"semantics": asdict(request.param), "super_users": list(brokers.super_users),
             "allow_everyone": False}
        )  # fmt: skip
        lives = [one if isinstance(one, Life) else Life(one, at) for at, one in enumerate(acls)]
        connection, published = open_memory(lives, head=len(lives) + 1, settings=settings)
        with connection:
            return explain_why(
                connection, published, CLUSTER, principal, operation,
                parse_resource(resource), **options,
            )  # fmt: skip

    return ask


def cluster(operation, **fields):
    return acl("kafka-cluster", resource_type="CLUSTER", operation=operation, **fields)


def lines(answer):
    return list(passage_lines(answer))


def test_create_on_the_cluster_lets_a_topic_be_created(ask):
    answer = ask("User:a CREATE topic:orders", cluster("CREATE"))
    assert answer.ruling.decision == "DENIED"
    assert lines(answer) == [
        "The broker lets CreateTopics pass because CREATE on cluster is allowed by ALLOW CREATE "
        "on the cluster for User:a from any host."
    ]


def test_a_deny_on_the_topic_does_not_stop_who_may_create_on_the_cluster(ask):
    deny = acl(operation="CREATE", permission_type="DENY")
    assert "lets CreateTopics pass" in lines(
        ask("User:a CREATE topic:orders", deny, cluster("ALL"))
    )[0]  # fmt: skip


def test_create_on_the_topic_or_on_nothing_has_no_line(ask):
    assert lines(ask("User:a CREATE topic:orders", acl(operation="ALL"))) == []
    assert lines(ask("User:a CREATE topic:orders", cluster("ALTER"))) == []


def test_creating_by_metadata_needs_describe_besides(ask):
    create, describe = acl(operation="CREATE"), acl(operation="DESCRIBE", permission_type="DENY")
    (line,) = lines(ask("User:a CREATE topic:orders", create, describe))
    assert line.startswith(
        "The broker refuses Metadata that creates the topic because DESCRIBE on topic:orders is "
        "denied by DENY DESCRIBE"
    )


def test_a_topic_is_deleted_by_name_only_where_it_may_be_described(ask):
    delete, describe = acl(operation="DELETE"), acl(operation="DESCRIBE", permission_type="DENY")
    (line,) = lines(ask("User:a DELETE topic:orders", delete, describe))
    assert line.startswith("The broker refuses DeleteTopics by name because DESCRIBE on topic:ord")


def test_all_on_the_cluster_lets_topics_be_deleted_but_no_records(ask):
    (line,) = lines(ask("User:a DELETE topic:orders", cluster("ALL")))
    assert line.startswith(
        "The broker lets DeleteTopics by name, DeleteTopics by topic id pass because DELETE on "
        "cluster is allowed by ALLOW ALL"
    )


def test_a_token_for_oneself_needs_no_acl(ask):
    assert lines(ask("User:a CREATE_TOKENS user:User:a")) == [
        "The broker lets CreateDelegationToken pass over SASL or mutual TLS (not authenticated "
        "by a token itself) because User:a asks for itself, and no ACL is checked."
    ]
    assert lines(ask("User:a CREATE_TOKENS user:User:b")) == []


def test_write_on_some_topic_lets_an_idempotent_producer_begin(ask):
    (line,) = lines(ask("User:a IDEMPOTENT_WRITE cluster", acl(operation="WRITE")))
    assert line == (
        "The broker lets InitProducerId without a transactional id pass because WRITE on some "
        "topic is allowed (authorizeByResourceType)."
    )
    assert lines(ask("User:a IDEMPOTENT_WRITE cluster", acl(operation="READ"))) == []
    deny = acl("*", operation="WRITE", permission_type="DENY")
    assert lines(ask("User:a IDEMPOTENT_WRITE cluster", acl(operation="WRITE"), deny)) == []


@pytest.mark.parametrize("ask", [KAFKA], indirect=True)
def test_an_acl_that_makes_the_broker_throw_lets_no_idempotent_producer_begin(ask):
    acls = acl("a", principal="nobody"), acl("b", operation="WRITE")
    assert lines(ask("User:a IDEMPOTENT_WRITE cluster", *acls)) == []


def test_create_on_the_cluster_is_open_by_topic_to_who_may_create_it(ask):
    assert lines(ask("User:a CREATE cluster")) == [
        "The broker lets Metadata that creates the topic pass if User:a can DESCRIBE and CREATE "
        "the topic.",
        "The broker lets CreateTopics pass if User:a can CREATE the topic.",
    ]


def test_describe_on_the_cluster_lists_every_group(ask):
    (line,) = lines(ask("User:a DESCRIBE group:g", cluster("DESCRIBE")))
    assert line.startswith("The broker lets ListGroups pass because DESCRIBE on cluster is allowed")


def test_a_replica_reads_what_its_user_may_not(ask):
    (line,) = lines(ask("User:a READ topic:orders", cluster("CLUSTER_ACTION")))
    assert line.startswith(
        "The broker lets Fetch pass with the id of a replica because CLUSTER_ACTION on cluster is"
    )


def test_a_token_is_shown_to_its_owner_and_renewed_by_nobody_else(ask):
    answer = ask("User:a DESCRIBE delegation-token:t1")
    assert lines(answer) == [
        "The broker lets DescribeDelegationToken pass if User:a can DESCRIBE_TOKENS the user, or "
        "User:a owns the token or can renew it, and no ACL is checked.",
        "The broker lets RenewDelegationToken, ExpireDelegationToken pass if User:a owns the "
        "token or can renew it, and no ACL is checked.",
    ]


def test_a_super_user_is_told_only_what_no_acl_and_no_super_user_can_do(ask):
    (line,) = lines(ask("User:admin DESCRIBE delegation-token:t1"))
    assert "RenewDelegationToken" in line
    assert lines(ask("User:admin CREATE topic:orders")) == []


def test_what_an_allowed_access_needs_besides_stands_in_one_line(ask):
    (line,) = lines(ask("User:a DELETE group:g", acl("g", resource_type="GROUP", operation="ALL")))
    assert line == (
        "User:a also needs READ on the topic (for OffsetDelete, DeleteShareGroupOffsets)."
    )


def test_two_phase_commit_needs_write_besides(ask):
    two = acl("x", resource_type="TRANSACTIONAL_ID", operation="TWO_PHASE_COMMIT")
    (line,) = lines(ask("User:a TWO_PHASE_COMMIT transactional-id:x", two))
    assert line == (
        "The broker refuses InitProducerId with two-phase commit because WRITE on "
        "transactional-id:x is denied (no ACL allows it)."
    )


def test_ways_are_decided_from_the_same_host(ask):
    there = cluster("CREATE", host="10.0.0.7")
    assert lines(ask("User:a CREATE topic:orders", there)) == []
    assert lines(ask("User:a CREATE topic:orders", there, host="10.0.0.7"))


def test_ways_are_decided_as_of_the_same_moment(ask):
    gone = Life(cluster("CREATE"), 0, removed=1)
    acls = gone, acl("x"), acl("y")
    assert lines(ask("User:a CREATE topic:orders", *acls)) == []
    assert lines(ask("User:a CREATE topic:orders", *acls, moment=1))


def test_a_name_is_no_format_of_the_sentence(ask):
    (line,) = lines(ask("User:{0}\x1b CREATE_TOKENS user:User:{0}\x1b"))
    assert "User:{0}\x1b asks for itself" in line


def test_every_request_that_hangs_on_the_access_is_told_with_its_result(ask):
    answer = ask("User:a CREATE topic:orders", cluster("CREATE"))
    assert {each.request.title: each.result for each in answer.passages} == {
        "CreateTopics": Result.PASSES, "Metadata that creates the topic": Result.REFUSED,
    }  # fmt: skip
