"""Why an access is refused, by the ACLs of today and before."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aclkit.model.acl import Request
from aclkit.model.resource import Resource
from aclkit.model.semantics import KAFKA, BrokerSettings
from aclkit.questions.denials.answer import (
    denial_words,
    denials_answer,
    find_refused,
    proposed_fixes,
    rather_words,
    reason_words,
    summary,
)
from aclkit.questions.denials.causes import (
    ALLOWED_NOW,
    DENIED_BY,
    LISTING,
    NO_ACL,
    NO_NAME,
    REMOVED,
    Facts,
    Refused,
    Removed,
    explain_denials,
)
from aclkit.questions.query.fixes import fix_line
from aclkit.questions.query.lifetimes import Lifetime
from aclkit.rules.decide.index import AclIndex
from tests.factories import acl
from tests.fuzz.mutants import rounds

DAY = datetime(2026, 11, 20, tzinfo=UTC)
HOUR = timedelta(hours=1)


def refused(operation="READ", requests=("Fetch",), host="10.0.0.1", kind="TOPIC", **more):
    name = "kafka-cluster" if kind == "CLUSTER" else "orders"
    fields = {"principal": "User:a", "lines": 5, "first_at": DAY, "last_at": DAY, "is_new": False}
    return Refused(
        operation=operation,
        resource=Resource(kind, name),
        requests=requests,
        hosts=(host,),
        log_days=frozenset([DAY]),
        **{**fields, **more},
    )


def facts(*acls, removed=(), topics=("orders",), has_all_topics=True):
    """Facts; ``removed`` are ACLs with the offset of their removal, in force before the refusal."""
    lives = (life(acl, offset) for offset, acl in removed)
    return facts_of(*acls, lives=lives, topics=topics, has_all_topics=has_all_topics)


def facts_of(*acls, lives=(), topics=("orders",), has_all_topics=True):
    return Facts(
        index=AclIndex.of(acls, KAFKA),
        removed=Removed.of(lives, KAFKA),
        settings=BrokerSettings(),
        topics=topics,
        has_all_topics=has_all_topics,
    )


def life(acl, offset, added_at=DAY - HOUR, removed_at=DAY):
    return Lifetime(
        acl=acl,
        added_offset=1,
        effective_offset=1,
        added_at=added_at,
        added_by="record",
        removed_offset=offset,
        removed_at=removed_at,
    )


def denials(*accesses, given=None):
    return list(explain_denials(accesses, given or facts()))


def denial(access, given=None):
    (found,) = denials(access, given=given)
    return found


def fixes(*accesses, given=None):
    """What is proposed: operation, resource type and host, of each access."""
    return [
        [[(acl.operation, acl.resource_type, acl.host) for acl in acls] for acls in each.fixes]
        for each in denials(*accesses, given=given)
    ]


def test_without_any_acl_the_smallest_one_is_proposed():
    found = denial(refused())
    assert (found.cause, found.acl) == (NO_ACL, None)
    assert fixes(refused()) == [[[("READ", "TOPIC", "10.0.0.1")]]]


def test_for_several_hosts_the_smallest_acl_is_for_any_host():
    assert fixes(refused(), refused(host="10.0.0.2")) == [[[("READ", "TOPIC", "*")]]]


def test_hosts_with_the_same_cause_are_one_the_most_frequent_first():
    found = denials(refused(lines=2), refused(host="10.0.0.2", lines=7))
    assert [(each.refused.hosts, each.refused.lines) for each in found] == [
        (("10.0.0.2", "10.0.0.1"), 9)
    ]


def test_two_hosts_with_two_causes_are_two():
    deny = acl("orders", permission_type="DENY", host="10.0.0.2")
    found = denials(refused(), refused(host="10.0.0.2"), given=facts(deny))
    assert [(each.refused.hosts, each.cause, each.acl) for each in found] == [
        (("10.0.0.1",), NO_ACL, None),
        (("10.0.0.2",), DENIED_BY, deny),
    ]


def test_beside_a_deny_for_one_host_the_others_are_named():
    deny = acl("orders", permission_type="DENY", host="10.0.0.2")
    three = [refused(host=f"10.0.0.{n}", lines=9 - n) for n in (1, 2, 3)]
    found = denials(*three, given=facts(deny))
    ((acls,),) = (each.fixes for each in found if each.fixes)
    assert [acl.host for acl in acls] == ["10.0.0.1", "10.0.0.3"]
    assert "--allow-host 10.0.0.1 --allow-host 10.0.0.3" in fix_line(*proposed_fixes(found[0]))


def test_the_last_acl_that_allowed_it_and_was_removed_is_named():
    old, last = acl("orders"), acl("*", principal="User:*")
    found = denial(refused(), facts(removed=[(90, last), (50, old)]))
    assert (found.cause, found.acl, found.removed_offset) == (REMOVED, last, 90)
    assert "was removed at offset 90 (2026-11-20)" in reason_words(found)


def test_of_an_acl_that_came_and_went_twice_the_last_removal_counts():
    lives = [life(acl("orders"), 90), life(acl("orders"), 50)]
    assert denial(refused(), facts_of(lives=lives)).removed_offset == 90


def test_an_acl_that_came_after_the_last_refusal_is_not_the_cause():
    late = life(acl("orders"), 90, added_at=DAY + HOUR, removed_at=DAY + 2 * HOUR)
    assert denial(refused(), facts_of(lives=[late])).cause == NO_ACL
    later = refused(last_at=DAY + 3 * HOUR)
    assert denial(later, facts_of(lives=[late])).cause == REMOVED


@pytest.mark.parametrize("times", [{"last_at": None}, {}])
def test_without_times_no_removal_is_claimed(times):
    unknown = life(acl("orders"), 90, added_at=None if not times else DAY - HOUR)
    assert denial(refused(**times), facts_of(lives=[unknown])).cause == NO_ACL


@pytest.mark.parametrize(
    "other",
    [
        acl("orders", host="10.9.9.9"),
        acl("orders", operation="WRITE"),
        acl("orders", principal="User:b"),
        acl("invoices"),
        acl("orders.", pattern_type="PREFIXED"),
        acl("orders", resource_type="GROUP"),
        acl("orders", permission_type="DENY"),
    ],
    ids=str,
)
def test_a_removed_acl_that_did_not_allow_it_is_not_the_cause(other):
    assert denial(refused(), facts(removed=[(90, other)])).cause == NO_ACL


def test_a_deny_is_the_cause_and_no_acl_is_proposed():
    deny = acl("orders", permission_type="DENY")
    given = facts(deny, acl("orders"), removed=[(9, acl("orders"))])
    found = denial(refused(), given)
    assert (found.cause, found.acl, found.fixes) == (DENIED_BY, deny, ())


def test_a_topic_does_not_exist_only_where_all_topics_are_known():
    assert denial(refused(), facts(topics=())).cause == NO_NAME
    found = denial(refused(), facts(topics=(), has_all_topics=False))
    assert (found.cause, found.exists) == (NO_ACL, None)


def test_who_is_refused_to_create_a_topic_does_not_miss_it():
    given = facts(topics=("other",))
    assert denial(refused("CREATE", ("CreateTopics",)), given).cause == NO_ACL


def test_of_groups_it_is_not_known_whether_they_exist():
    found = denial(refused(kind="GROUP", requests=("JoinGroup",)), facts(topics=()))
    assert (found.cause, found.exists) == (NO_ACL, None)


def test_what_is_allowed_by_now_is_kept_apart_host_by_host():
    given = facts(acl("orders", host="10.0.0.1"))
    found = denials(refused(), refused(host="10.0.0.2"), given=given)
    assert [each.cause for each in found] == [ALLOWED_NOW, NO_ACL]


REFUSALS = [
    ("DESCRIBE", "TOPIC", ("Metadata",)),
    ("DESCRIBE", "TOPIC", ("DescribeTopicPartitions",)),
    ("DESCRIBE", "GROUP", ("FindCoordinator",)),
    ("DESCRIBE", "TRANSACTIONAL_ID", ("FindCoordinator",)),
    ("DESCRIBE", "TOPIC", ("DescribeTransactions", "ListOffsets")),
    ("ALTER", "CLUSTER", ("DescribeCluster",)),
    ("DESCRIBE_CONFIGS", "CLUSTER", ("ListClientMetricsResources",)),
    ("DESCRIBE", "GROUP", ()),
]
LEFT_OUT = [
    ("DESCRIBE", "TRANSACTIONAL_ID", ("ListTransactions",)),
    ("DESCRIBE", "GROUP", ("ListGroups",)),
    ("DESCRIBE", "CLUSTER", ("DescribeCluster", "ListGroups", "Metadata")),
    ("DESCRIBE", "TOPIC", ("DescribeTransactions",)),
    ("DESCRIBE", "DELEGATION_TOKEN", ("DescribeDelegationToken",)),
]


@pytest.mark.parametrize(
    ("access", "cause"),
    [*((each, NO_ACL) for each in REFUSALS), *((each, LISTING) for each in LEFT_OUT)],
)
def test_only_what_a_request_leaves_out_of_its_answer_is_no_refusal(access, cause):
    operation, kind, requests = access
    assert denial(refused(operation, requests, kind=kind)).cause == cause


def test_a_client_that_cannot_find_its_group_looks_for_removed_acls_and_denies_too():
    of_group = {"resource_type": "GROUP"}
    access = refused("DESCRIBE", ("FindCoordinator",), kind="GROUP")
    removed = facts(removed=[(9, acl("orders", **of_group))])
    assert denial(access, removed).cause == REMOVED
    deny = acl("orders", operation="DESCRIBE", permission_type="DENY", **of_group)
    assert denial(access, facts(deny)).cause == DENIED_BY


def test_a_consumer_is_given_read_on_its_group_and_topic():
    group = refused("DESCRIBE", ("FindCoordinator",), kind="GROUP")
    topic = refused("DESCRIBE", ("Metadata",))
    assert fixes(topic, group) == [
        [[("READ", "TOPIC", "10.0.0.1")]],
        [[("READ", "GROUP", "10.0.0.1")]],
    ]


def test_a_transactional_producer_is_given_write():
    its_id = refused("DESCRIBE", ("FindCoordinator",), kind="TRANSACTIONAL_ID")
    topic = refused("DESCRIBE", ("Metadata",))
    assert fixes(its_id, topic) == [
        [[("WRITE", "TRANSACTIONAL_ID", "10.0.0.1")]],
        [[("WRITE", "TOPIC", "10.0.0.1")]],
    ]


def test_where_it_is_unknown_what_a_client_does_with_a_topic_the_reader_chooses():
    topic, of_another = refused("DESCRIBE", ("Metadata",)), {"principal": "User:b"}
    group = refused("DESCRIBE", ("FindCoordinator",), kind="GROUP", **of_another)
    (found, _) = denials(topic, group)
    assert [fix.words for fix in proposed_fixes(found)] == [
        "To allow it, if the client reads the topic",
        "To allow it, if the client writes to the topic",
    ]


def deny(operation, kind="GROUP", **fields):
    return acl(
        "orders", resource_type=kind, principal="User:a", operation=operation,
        permission_type="DENY", acl_id=f"deny-{operation}", **fields,
    )  # fmt: skip


def test_an_acl_that_a_deny_makes_useless_to_the_client_is_not_proposed():
    access = refused("DESCRIBE", ("FindCoordinator",), kind="GROUP")
    found = denial(access, facts(deny("READ")))
    assert (found.cause, found.fixes) == (NO_ACL, ())
    words = "DENY READ on group orders for User:a from any host stops what the client needs next"
    assert reason_words(found) == words
    (finding,) = find_refused([found], 1)
    assert words in finding.message


def test_of_two_ways_only_the_one_that_no_deny_stops_is_proposed_and_for_whom_is_said():
    access = refused("DESCRIBE", ("Metadata",))
    found = denial(access, facts(deny("READ", "TOPIC")))
    (fix,) = proposed_fixes(found)
    assert fix_line(fix).startswith("To allow it, if the client writes to the topic: ")
    row = dict(zip(denials_answer([], []).columns, next(iter(denials_answer([found], []).rows)),
                   strict=True))  # fmt: skip
    assert (row["command"], len(row["commands"])) == (None, 1)


def test_hosts_that_a_deny_stops_next_are_told_from_the_others():
    one, two = (refused("DESCRIBE", ("FindCoordinator",), kind="GROUP", host=host)
                for host in ("10.0.0.1", "10.0.0.2"))  # fmt: skip
    given = facts(deny("READ", host="10.0.0.2"))
    assert fixes(one, two, given=given) == [[[("READ", "GROUP", "10.0.0.1")]], []]


def test_a_listing_of_groups_does_not_show_that_a_client_reads():
    listing = refused("DESCRIBE", ("ListGroups",), kind="GROUP")
    topic = refused("DESCRIBE", ("Metadata",))
    assert [acls[0][0] for acls in fixes(listing, topic)[1]] == ["READ", "WRITE"]


def test_an_acl_that_was_removed_shows_what_a_client_does():
    topic = refused("DESCRIBE", ("Metadata",))
    given = facts(removed=[(9, acl("orders", operation="WRITE"))])
    assert fixes(topic, given=given) == [[[("WRITE", "TOPIC", "10.0.0.1")]]]


def test_who_only_looks_at_groups_is_given_describe():
    assert fixes(refused("DESCRIBE", ("DescribeGroups",), kind="GROUP")) == [
        [[("DESCRIBE", "GROUP", "10.0.0.1")]]
    ]


@pytest.mark.parametrize(
    ("operation", "request_name", "rather", "warning"),
    [
        ("CLUSTER_ACTION", "AddPartitionsToTxn", "Update the client", "makes User:a a broker"),
        ("CLUSTER_ACTION", "Vote", "Only brokers and controllers", "makes User:a a broker"),
        ("ALTER", "CreateAcls", "", "makes User:a an administrator"),
        ("ALTER", "DescribeCluster", "Use --bootstrap-server", "makes User:a an administrator"),
        ("ALTER_CONFIGS", "AlterConfigs", "", "configuration of every broker"),
        ("CREATE", "CreateTopics", "CREATE on the topics", "create topics of any name"),
    ],
)
def test_a_right_on_the_cluster_is_proposed_only_after_what_it_makes_of_the_client(
    operation, request_name, rather, warning
):
    found = denial(refused(operation, (request_name,), kind="CLUSTER", lines=100))
    assert rather in (rather_words(found) or "")
    (fix,) = proposed_fixes(found)
    assert warning in fix.words
    (finding,) = find_refused([found])
    assert finding.fix.index(warning) < finding.fix.index("kafka-acls")


def test_the_answer_counts_accesses_principals_and_what_is_new():
    found = [denial(refused(is_new=True)), denial(refused())]
    assert summary(found) == "2 accesses of 1 principal refused, 1 of them new."
    assert summary([]) == "No access is refused."
    assert denial_words(found[0].refused) == (
        "User:a: READ on topic:orders (Fetch), 5 times from 10.0.0.1, on 2026-11-20"
    )


def test_rows_have_a_cell_for_each_column():
    answer = denials_answer([denial(refused())], [])
    (row,) = answer.rows
    assert len(row) == len(answer.columns)


ASKED = [
    ("DESCRIBE", "FindCoordinator", "GROUP"), ("READ", "JoinGroup", "GROUP"),
    ("DESCRIBE", "Metadata", "TOPIC"), ("READ", "Fetch", "TOPIC"),
    ("CREATE", "CreateTopics", "TOPIC"), ("DESCRIBE", "FindCoordinator", "TRANSACTIONAL_ID"),
]  # fmt: skip
ANY_ACL = st.builds(
    acl,
    st.sampled_from(["orders", "*", "other"]),
    resource_type=st.sampled_from(["GROUP", "TOPIC", "TRANSACTIONAL_ID"]),
    principal=st.sampled_from(["User:a", "User:*"]),
    host=st.sampled_from(["*", "10.0.0.1", "10.0.0.2"]),
    operation=st.sampled_from(["READ", "WRITE", "DESCRIBE", "ALL"]),
    permission_type=st.sampled_from(["ALLOW", "DENY"]),
)
ACCESSES = st.lists(
    st.tuples(st.sampled_from(ASKED), st.sampled_from(["10.0.0.1", "10.0.0.2"])),
    min_size=1, max_size=4, unique=True,
)  # fmt: skip


@settings(max_examples=rounds(60), deadline=None)
@given(st.lists(ANY_ACL, max_size=5), ACCESSES)
def test_what_is_proposed_lets_the_client_in_and_none_of_it_can_be_left_out(acls, accesses):
    acls = [replace(each, acl_id=str(at)) for at, each in enumerate(acls)]
    asked = [refused(operation, (name,), host, kind) for (operation, name, kind), host in accesses]
    for found in denials(*asked, given=facts(*acls)):
        resource, hosts = found.refused.resource, found.refused.hosts
        for fix in proposed_fixes(found):
            wanted = [
                Request.of("User:a", host, operation, resource)
                for host in hosts
                for operation in (found.refused.operation, fix.acls[0].operation)
            ]
            less = [[one for one in fix.acls if one is not gone] for gone in fix.acls]
            for added, suffices in [(fix.acls, True), *((some, False) for some in less)]:
                index = AclIndex.of([*acls, *added], KAFKA)
                passes = [index.decide(one, BrokerSettings()).decision for one in wanted]
                assert (set(passes) == {"ALLOWED"}) == suffices
