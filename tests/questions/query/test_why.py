"""why says what the pure rule says, ranks what takes part, and names what would help."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.errors import UsageError
from aclkit.kafka.acls.command import kafka_acls_command
from aclkit.model.acl import ANY_OTHER, Request
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import Resource
from aclkit.model.semantics import BROKER, KAFKA, KIP_1042, BrokerSettings
from aclkit.questions.query.why import MOST_NEAR, MOST_OTHERS, explain_why
from aclkit.questions.query.why_answer import why_object
from aclkit.questions.query.words import hosts_words, why_hints, why_sentence
from aclkit.rules.decide.order import BrokerRescan
from aclkit.rules.decide.rules import answers, decide
from aclkit.rules.patterns.match import principal_matches, reaches
from aclkit.warehouse.duck import connect
from aclkit.warehouse.published import open_warehouse
from tests import strategies as drawn
from tests.questions.query import small_warehouse as small
from tests.questions.query.in_memory import CLUSTER, Life, open_memory
from tests.questions.query.small_warehouse import acl

SETTINGS = BrokerSettings(super_users=frozenset({small.SUPER_USER}), allow_everyone=True)
PAYMENTS = Resource("TOPIC", "payments")


@pytest.fixture
def why(connection, published):
    def ask(principal, operation, resource=PAYMENTS, **options):
        return explain_why(
            connection, published, small.CLUSTER, principal, operation, resource, **options
        )

    return ask


def settings_json(brokers=SETTINGS, semantics=KIP_1042):
    return json.dumps(
        {"semantics": asdict(semantics), "super_users": sorted(brokers.super_users),
         "allow_everyone": brokers.allow_everyone, "unknown": sorted(brokers.unknown)}
    )  # fmt: skip


def ask_memory(acls, asked, *, brokers=SETTINGS, semantics=KIP_1042, hosts=(), host=None):
    lives = [Life(one, number) for number, one in enumerate(acls)]
    connection, published = open_memory(
        lives,
        head=len(lives) + 1,
        settings=settings_json(brokers, semantics),
        tables={"host": [{"host": name} for name in hosts]},
    )
    resource = Resource(asked.resource_type, asked.resource_name)
    with connection:
        return explain_why(
            connection, published, CLUSTER, asked.principal, asked.operation, resource, host=host
        )


@pytest.mark.parametrize("semantics", [KIP_1042, KAFKA], ids=["kip-1042", "kafka"])
def test_cells_of_a_warehouse_are_the_pure_rule(root, semantics):
    small.build(root, semantics=semantics, settings=SETTINGS)
    published = open_warehouse(str(root))
    with connect(published) as connection:
        # One in eleven: each host, operation and resource takes its turn.
        for request in islice(small.requests(), 0, None, 11):
            resource = Resource(request.resource_type, request.resource_name)
            answer = explain_why(
                connection, published, small.CLUSTER, request.principal, request.operation,
                resource, host=request.host,
            )  # fmt: skip
            assert answer.ruling == decide(small.ACLS, request, SETTINGS, semantics)
            assert answer.unknown == ()
            assert why_sentence(answer).startswith(f"{request.principal} can ") or (
                answer.ruling.decision == "DENIED"
            )


OPERATIONS = st.sampled_from(("READ", "DESCRIBE", "ALTER_CONFIGS", "DESCRIBE_CONFIGS"))
BROKERS = st.builds(
    BrokerSettings,
    super_users=st.sampled_from((frozenset(), frozenset({"User:a"}))),
    allow_everyone=st.booleans(),
)


@given(drawn.acl_sets(8), drawn.requests(), OPERATIONS, BROKERS, drawn.semantics)
def test_any_request_is_decided_as_by_the_pure_rule(acls, asked, operation, brokers, semantics):
    asked = replace(asked, operation=operation)
    host = None if asked.host == ANY_OTHER else asked.host
    answer = ask_memory(acls, asked, brokers=brokers, semantics=semantics, host=host)
    search = BrokerRescan.of((a.resource_type, a.pattern_type, a.resource_name) for a in acls)
    is_last = search.wildcard_is_last(asked.resource_type, asked.resource_name)
    ruling = decide(acls, asked, brokers, semantics, wildcard_is_last=is_last)
    assert answer.ruling == ruling
    if answer.acls:
        assert answer.acls[0].acl == ruling.acl
    assert [part.rank for part in answer.acls] == [*range(1, len(answer.acls) + 1)]
    for part in (*answer.acls, *answer.near):
        left = [one for one in acls if one != part.acl]
        again = decide(left, asked, brokers, semantics, wildcard_is_last=is_last)
        assert (part.without.decision, part.without.rule) == (again.decision, again.rule)
        assert part.changes == (again.decision != ruling.decision)


@given(drawn.acl_sets(8), drawn.requests(), OPERATIONS, BROKERS, drawn.semantics)
def test_every_acl_that_reaches_is_ranked_near_or_another_ones(
    acls, asked, operation, brokers, semantics
):
    asked = replace(asked, operation=operation, host=ANY_OTHER)
    answer = ask_memory(acls, asked, brokers=brokers, semantics=semantics)
    reached = [a for a in acls if reaches(a, asked.resource_type, asked.resource_name, semantics)]
    mine = [a for a in reached if principal_matches(a.principal, asked.principal, semantics)]
    assert answer.other_count == len(reached) - len(mine)
    if answer.ruling.rule == "SuperUser":
        assert answer.acls == answer.near == ()
        return
    hits = {one.acl_id for one in mine if answers(one, asked, semantics)}
    assert {part.acl.acl_id for part in answer.acls} == hits
    assert {part.acl.acl_id for part in answer.near} == {one.acl_id for one in mine} - hits
    assert all(part.rank is None and part.because for part in answer.near)


HOSTS = ("10.0.0.1", "10.0.0.2", "10.0.0.33", "11.0.0.1")


@given(drawn.acl_sets(8), drawn.requests(), OPERATIONS, drawn.semantics)
def test_hosts_that_fare_otherwise_are_told_and_no_others(acls, asked, operation, semantics):
    asked = replace(asked, operation=operation)
    answer = ask_memory(acls, asked, semantics=semantics, hosts=(*HOSTS, ANY_OTHER))
    search = BrokerRescan.of((a.resource_type, a.pattern_type, a.resource_name) for a in acls)
    is_last = search.wildcard_is_last(asked.resource_type, asked.resource_name)
    told = {host: ruling for hosts, ruling in answer.elsewhere for host in hosts}
    for host in HOSTS:
        there = replace(asked, host=host)
        ruling = decide(acls, there, SETTINGS, semantics, wildcard_is_last=is_last)
        assert told.get(host, answer.ruling) == ruling
    assert answer.ruling not in told.values()


def test_a_host_of_no_inventory_is_told_when_an_acl_names_it(why):
    answer = why("User:alice", "WRITE", Resource("TOPIC", "elsewhere"))
    ((hosts, ruling),) = answer.elsewhere
    assert hosts == ("10.0.1.1",)
    assert ruling.acl == small.ACLS[5]
    assert hosts_words(hosts, ruling) == (
        "From 10.0.1.1 it is allowed: ALLOW WRITE on all topics for User:alice from 10.0.1.1."
    )


def test_a_host_glob_stands_for_the_hosts_it_matches(why):
    answer = why("User:carol", "WRITE")
    ((hosts, ruling),) = answer.elsewhere
    assert hosts == ("10.0.0.*", "10.0.0.1", "10.0.0.2")
    assert ruling.decision == "ALLOWED"
    assert "a host that no ACL names" in why_sentence(answer)


def test_with_a_host_no_other_hosts_are_told(why):
    assert why("User:carol", "WRITE", host="10.0.0.1").elsewhere == ()


def test_the_sentence_of_an_allow_names_the_acl(why):
    assert why_sentence(why("User:bob", "WRITE")) == (
        "User:bob can WRITE topic:payments from any host: ALLOW ALL on topic pay* (prefix) for "
        "User:bob from any host."
    )


def test_a_deny_is_ranked_first_and_what_is_behind_it_is_told(why):
    answer = why("User:bob", "READ", host="10.0.0.1")
    assert [part.acl.acl_id for part in answer.acls] == ["acl-04", "acl-02"]
    assert [part.because for part in answer.acls] == [None, "a DENY beats every ALLOW"]
    assert [part.beaten_by for part in answer.acls] == [None, 1]
    assert [part.changes for part in answer.acls] == [True, False]
    assert answer.without_denies.acl.acl_id == "acl-02"
    assert answer.least is None
    assert why_sentence(answer) == (
        "User:bob cannot READ topic:payments from 10.0.0.1: DENY READ on topic payments for "
        "User:bob from 10.0.0.1."
    )


def test_without_the_denies_those_of_others_still_reach_it():
    acls = [acl(1, permission_type="DENY"), acl(2, principal="User:b", permission_type="DENY")]
    answer = ask_memory(acls, drawn_request("User:alice"))
    assert answer.without_denies.rule == "DefaultDeny"
    assert ask_memory(acls[:1], drawn_request("User:alice")).without_denies.rule == "DefaultAllow"


def test_a_super_user_asks_no_acl(why):
    answer = why(small.SUPER_USER, "ALTER")
    assert answer.acls == ()
    assert answer.not_super == decide(
        small.ACLS,
        Request(
            principal=small.SUPER_USER, host=ANY_OTHER, operation="ALTER",
            resource_type="TOPIC", resource_name="payments",
        ),
        replace(SETTINGS, super_users=frozenset()),
        KIP_1042,
    )  # fmt: skip
    assert why_sentence(answer) == (
        "User:admin can ALTER topic:payments from any host: it is a super user, so no ACL is "
        "checked."
    )


def test_default_allow_says_that_no_acl_reaches_it():
    answer = ask_memory([acl(1)], replace(drawn_request(), resource_name="free"))
    assert (answer.ruling.rule, answer.least) == ("DefaultAllow", None)
    assert why_sentence(answer).endswith(
        "no ACL applies to the resource, and allow.everyone.if.no.acl.found is true."
    )


def test_default_deny_without_any_acl_says_so():
    answer = ask_memory([], drawn_request(), brokers=BrokerSettings())
    assert why_sentence(answer).endswith(
        "no ACL applies to the resource, and allow.everyone.if.no.acl.found is false."
    )
    assert answer.least is not None


def test_default_deny_counts_the_others():
    acls = [acl(n, principal=f"User:p{n % 7}") for n in range(20)]
    answer = ask_memory(acls, drawn_request())
    assert answer.ruling.rule == "DefaultDeny"
    assert (answer.other_count, len(answer.others)) == (20, MOST_OTHERS)
    assert why_sentence(answer).endswith(
        "no ACL allows it (20 ACLs apply to the resource: 20 for other principals); "
        "allow.everyone.if.no.acl.found counts only where no ACL applies."
    )


def drawn_request(principal="User:new"):
    return Request(
        principal=principal, host=ANY_OTHER, operation="READ",
        resource_type="TOPIC", resource_name="payments",
    )  # fmt: skip


def test_near_misses_are_bounded_and_counted():
    acls = [acl(n, host=f"10.0.0.{n}") for n in range(MOST_NEAR + 5)]
    answer = ask_memory(acls, drawn_request("User:alice"))
    assert (len(answer.near), answer.near_count) == (MOST_NEAR, MOST_NEAR + 5)
    assert "15 ACLs apply to the resource: 15 for another host or operation" in why_sentence(answer)
    assert answer.near[0].because == "only from 10.0.0.0"


def test_a_deny_that_implies_nothing_is_a_near_miss():
    answer = ask_memory(
        [acl(1, permission_type="DENY")], replace(drawn_request("User:alice"), operation="DESCRIBE")
    )
    assert answer.near[0].because == "denies READ, not DESCRIBE"


def test_the_least_acl_comes_as_kafka_writes_it():
    answer = ask_memory([], drawn_request("User:CN=a b,O=c"), host="::1", brokers=BrokerSettings())
    assert str(answer.least) == (
        "(pattern=ResourcePattern(resourceType=TOPIC, name=payments, patternType=LITERAL), "
        "entry=(principal=User:CN=a b,O=c, host=0:0:0:0:0:0:0:1, operation=READ, "
        "permissionType=ALLOW))"
    )
    assert kafka_acls_command(answer.least) == (
        "kafka-acls --bootstrap-server HOST:PORT --add --topic payments "
        "--allow-principal 'User:CN=a b,O=c' --allow-host 0:0:0:0:0:0:0:1 --operation Read"
    )


def test_a_name_that_kafka_acls_would_trim_has_no_command():
    assert kafka_acls_command(acl(1, principal="User:a ")) is None


@pytest.mark.parametrize(
    ("principal", "resource", "host", "unknown"),
    [
        ("User:alice", PAYMENTS, "10.0.0.1", ()),
        ("User:new", PAYMENTS, None, ("User:new",)),
        ("User:new", Resource("TOPIC", "new"), "10.9.9.9", ("User:new", "10.9.9.9", "topic:new")),
    ],
)
def test_what_is_in_no_inventory_is_decided_and_named(why, principal, resource, host, unknown):
    answer = why(principal, "READ", resource, host=host)
    assert tuple(each.name for each in answer.unknown) == unknown
    for operation in OPERATIONS_OF_TYPE["TOPIC"]:
        asked = Request.of(principal, host or ANY_OTHER, operation, resource)
        answer = why(principal, operation, resource, host=host)
        assert answer.ruling == decide(small.ACLS, asked, SETTINGS, KIP_1042)


def test_bad_requests_are_the_askers_fault(why):
    with pytest.raises(UsageError, match="has no principal type"):
        why("alice", "READ")
    with pytest.raises(UsageError, match=r"'CLUSTER_ACTION' does not apply\. Topics have: READ"):
        why("User:alice", "CLUSTER_ACTION")
    with pytest.raises(UsageError, match="Pass one operation instead of ANY"):
        why("User:alice", "any")
    with pytest.raises(UsageError, match="Invalid host"):
        why("User:alice", "READ", host="localhost")
    with pytest.raises(
        UsageError,
        match=r"Offset 101 is beyond the log, which was read up to 100\. Expected 0 to 100\.",
    ):
        why("User:alice", "READ", moment=101)


def test_before_any_materialize_the_next_step_is_named(root):
    small.publish(root, {}, job="replay")
    published = open_warehouse(str(root))
    with connect(published) as connection, pytest.raises(UsageError, match=r"Next: .*materialize"):
        explain_why(connection, published, small.CLUSTER, "User:a", "READ", PAYMENTS)


SERVICE = "User:CN=serviceaccount,OU=ServiceAccountUsers,O=Unknown,L=Unknown,ST=Unknown,C=Unknown"
ACCOUNTS = [f"{land}-accounts-{end}" for land in ("nl", "de", "cz")
            for end in ("localtopic", "remotetopic")]  # fmt: skip


@pytest.mark.parametrize("topic", ACCOUNTS)
def test_kip_1042_all_acls_that_impact_the_decision_are_listed(topic):
    prefixes = [
        acl(number, resource_name=f"{land}-accounts-", pattern_type="PREFIXED",
            principal=SERVICE, operation="WRITE")
        for number, land in enumerate(("nl", "de", "cz"))
    ]  # fmt: skip
    glob = acl(3, resource_name="??-accounts-*", pattern_type="GLOB", principal=SERVICE,
               operation="WRITE")  # fmt: skip
    asked = replace(drawn_request(SERVICE), resource_name=topic, operation="WRITE")
    answer = ask_memory([*prefixes, glob], asked)
    own = next(one for one in prefixes if topic.startswith(one.resource_name))
    assert [part.acl for part in answer.acls] == [own, glob]
    assert answer.acls[1].because == "longer pattern (12 letters, not 10)"
    assert [part.fit.pattern for part in answer.acls] == ["prefix", "glob"]
    (alone,) = ask_memory([glob], asked, brokers=BrokerSettings()).acls
    assert (alone.fit.pattern, alone.changes) == ("glob", True)


def test_a_broker_names_the_acl_that_its_search_meets_last():
    asked = replace(drawn_request("User:alice"), resource_type="GROUP", resource_name="!late")
    named, wildcard, ends_searches = (
        acl(number, resource_type="GROUP", resource_name=name, pattern_type=pattern_type)
        for number, (name, pattern_type) in enumerate(
            [("!late", "LITERAL"), ("*", "LITERAL"), ("*", "PREFIXED")]
        )
    )
    brokers = replace(KIP_1042, deciding_acl=BROKER)
    for acls, first in (
        ([named, wildcard], named),
        ([named, wildcard, ends_searches], wildcard),
    ):
        answer = ask_memory(acls, asked, semantics=brokers)
        assert answer.acls[0].acl == answer.ruling.acl == first


def test_a_search_that_a_broker_never_ends_is_told():
    asked = replace(drawn_request(), resource_type="GROUP", resource_name="#x")
    acls = [acl(1, resource_type="GROUP", resource_name="#y")]
    brokers = replace(KIP_1042, deciding_acl=BROKER)
    assert "never ends" in ask_memory(acls, asked, semantics=brokers).fault
    assert ask_memory(acls, asked).fault is None
    denied = [*acls, acl(2, resource_type="GROUP", resource_name="#", pattern_type="PREFIXED",
                         principal="User:*", permission_type="DENY")]  # fmt: skip
    assert ask_memory(denied, asked, semantics=brokers).fault is None


RANGES = replace(KAFKA, cidr_hosts=True)
OF_ALL_HOSTS = [
    acl(1, host="10.0.0.0/8"),
    acl(2, host="10.1.0.0/16", permission_type="DENY"),
    acl(3, host="10.1.2.3"),
    acl(4, host="10.0.0.0/33"),
]


def test_ranges_fare_otherwise_than_any_other_host_each_with_its_atom():
    asked = Request.of("User:alice", ANY_OTHER, "READ", PAYMENTS)
    answer = ask_memory(OF_ALL_HOSTS, asked, semantics=RANGES, brokers=BrokerSettings())
    assert answer.ruling.decision == "DENIED"
    assert {(hosts, ruling.acl_id) for hosts, ruling in answer.elsewhere} == {
        (("<any-other in 10.0.0.0/8>",), "acl-01"),
        (("10.1.2.3", "<any-other in 10.1.0.0/16>"), "acl-02"),
    }


def test_an_address_is_decided_by_the_ranges_that_hold_it():
    asked = Request.of("User:alice", ANY_OTHER, "READ", PAYMENTS)
    for host, acl_id in (("10.9.9.9", "acl-01"), ("10.1.9.9", "acl-02"), ("9.9.9.9", None)):
        answer = ask_memory(OF_ALL_HOSTS, asked, semantics=RANGES, host=host)
        assert answer.ruling.acl_id == acl_id


def test_what_no_acl_names_within_a_range_can_be_asked_about_and_opened():
    asked = Request.of("User:alice", ANY_OTHER, "READ", PAYMENTS)
    atom = "<any-other in 10.1.0.0/16>"
    answer = ask_memory(OF_ALL_HOSTS, asked, semantics=RANGES, host=atom)
    assert answer.ruling.acl_id == "acl-02"
    assert why_sentence(answer).startswith(f"User:alice cannot READ topic:payments from {atom}")
    closed = ask_memory(OF_ALL_HOSTS[3:], asked, semantics=RANGES, host=atom)
    assert closed.least is not None
    assert closed.least.host == "10.1.0.0/16"


def test_where_ranges_do_not_decide_their_atoms_are_no_hosts():
    asked = Request.of("User:alice", ANY_OTHER, "READ", PAYMENTS)
    with pytest.raises(UsageError, match="Invalid host '<any-other in"):
        ask_memory(OF_ALL_HOSTS, asked, semantics=KAFKA, host="<any-other in 10.1.0.0/16>")
    answer = ask_memory(OF_ALL_HOSTS, asked, semantics=KAFKA)
    assert [hosts for hosts, _ in answer.elsewhere] == [("10.1.2.3",)]


@pytest.mark.parametrize(
    ("operation", "resource", "reason"),
    [
        ("CREATE_TOKENS", Resource("USER", "alice"), "USER 'alice' has no colon"),
        ("READ", Resource("TOPIC", "a b"), "topic names cannot contain ' '"),
    ],
)
def test_no_acl_is_proposed_that_could_never_match(operation, resource, reason):
    asked = Request.of("User:a", "10.0.0.1", operation, resource)
    answer = ask_memory([], asked, brokers=BrokerSettings(), host="10.0.0.1")
    assert answer.least is None
    assert reason in answer.never[0]
    assert any(f"No ACL can allow it: {reason}" in hint for hint in why_hints(answer))
    told = why_object(answer)
    assert (told["least_acl"], told["never"]) == (None, list(answer.never))


@pytest.mark.parametrize(("everyone", "is_told"), [(True, False), (False, True)])
def test_a_consumers_group_is_no_need_where_the_default_allows_it(everyone, is_told):
    asked = Request.of("User:a", "10.0.0.1", "READ", Resource("TOPIC", "t"))
    rows = [acl(1, resource_name="t", principal="User:a", host="*")]
    answer = ask_memory(
        rows, asked, brokers=BrokerSettings(allow_everyone=everyone), host="10.0.0.1"
    )
    assert any("needs READ on its group" in hint for hint in why_hints(answer)) is is_told
