"""What ACLs with a pattern grant is part of what a principal can, and is what each name says."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from aclkit.model.acl import ANY_OTHER, Request, pattern_words
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import Resource
from aclkit.model.semantics import KIP_1042, BrokerSettings
from aclkit.questions.query.pattern_grants import pattern_grants, reach_words, together
from aclkit.questions.query.what_can import what_can
from aclkit.rules.decide.rules import decide
from aclkit.rules.names.cover import ALL, SOME
from aclkit.rules.patterns.match import pattern_matches
from aclkit.warehouse.duck import connect
from aclkit.warehouse.published import open_warehouse
from tests.questions.query import small_warehouse as small
from tests.questions.query.small_warehouse import acl

SETTINGS = BrokerSettings()
HOSTS = frozenset({"10.0.0.1", "10.0.0.2", ANY_OTHER})
SHORT = ["".join(letters) for size in range(1, 5) for letters in product("ab", repeat=size)]
DRAWN = st.lists(
    st.tuples(
        st.text("ab*?", min_size=1, max_size=2),
        st.sampled_from(["LITERAL", "PREFIXED", "GLOB"]),
        st.sampled_from(["*", "10.0.0.1"]),
        st.sampled_from(["READ", "WRITE", "ALL"]),
        st.sampled_from(["ALLOW", "DENY"]),
    ),
    min_size=1,
    max_size=5,
)


def of(drawn):
    names = ("resource_name", "pattern_type", "host", "operation", "permission_type")
    return [acl(at, **dict(zip(names, one, strict=True))) for at, one in enumerate(drawn)]


def is_allowed(acls, name, operation, host):
    request = Request.of("User:alice", host, operation, Resource("TOPIC", name))
    return decide(acls, request, SETTINGS, KIP_1042).decision == "ALLOWED"


def hosts_of(grant):
    return HOSTS if grant.hosts == "*" else grant.hosts.split(",")


@given(DRAWN)
def test_a_grant_says_what_each_name_of_its_pattern_says(drawn):
    acls, known = of(drawn), ["a", "ab", "bb"]
    for grant in pattern_grants(acls, {"TOPIC": known}, HOSTS, KIP_1042):
        matched = [n for n in SHORT if pattern_matches(*grant.acl.pattern[1:], n, KIP_1042)]
        for host in hosts_of(grant):
            fares = {n: is_allowed(acls, n, grant.operation, host) for n in matched}
            assert grant.extent in ((ALL, SOME) if all(fares.values()) else (SOME,))
            assert [n for n in known if fares.get(n)] == list(grant.names)
            assert grant.reaches == len(grant.names)


@given(DRAWN)
def test_what_is_allowed_by_a_pattern_is_told(drawn):
    acls = of(drawn)
    grants = list(pattern_grants(acls, {"TOPIC": []}, HOSTS, KIP_1042))
    for each in acls:
        is_every = all(pattern_matches(*each.pattern[1:], n, KIP_1042) for n in ["a", "b"])
        if not each.is_allow or is_every:  # the row of any other name tells that
            continue
        for name, host, operation in product(SHORT[:14], HOSTS, ("READ", "WRITE", "DESCRIBE")):
            request = Request.of("User:alice", host, operation, Resource("TOPIC", name))
            if decide([each], request, SETTINGS, KIP_1042).decision == "ALLOWED" and is_allowed(
                acls, name, operation, host
            ):
                assert any(
                    grant.acl.pattern == each.pattern
                    and grant.operation == operation
                    and host in hosts_of(grant)
                    for grant in grants
                )


def test_a_grant_that_denies_override_on_every_name_is_no_access():
    acls = [
        acl(1, resource_name="app-", pattern_type="PREFIXED"),
        acl(2, resource_name="app", pattern_type="PREFIXED", operation="ALL",
            permission_type="DENY"),
    ]  # fmt: skip
    grants = list(pattern_grants(acls, {}, HOSTS, KIP_1042, None))
    assert {grant.decision for grant in grants} == {"DENIED"}


def test_words_of_a_grant_name_pattern_and_known_names():
    acls = [
        acl(1, resource_name="pay", pattern_type="PREFIXED"),
        acl(2, resource_name="pay-x", permission_type="DENY"),
    ]
    known = {"TOPIC": ["pay-a", "pay-b", "pay-c", "pay-x", ANY_OTHER]}
    read, describe = pattern_grants(acls, known, HOSTS, KIP_1042)
    assert pattern_words(read.acl) == "topic pay* (prefix)"
    told = [reach_words(access) for grant in (read, describe) for access in together([grant])]
    assert told == [
        "3: pay-a, pay-b and 1 more; DENYs override it on some names",
        "4: pay-a, pay-b and 2 more",
    ]


def test_the_empty_name_of_a_pattern_is_visible():
    assert pattern_words(acl(1, resource_type="GROUP", resource_name="")) == "group ''"


def asked(root, principal, **options):
    published = open_warehouse(str(root))
    with connect(published) as connection:
        answer = what_can(connection, published, small.CLUSTER, principal, **options)
    return {(str(grant.resource), grant.operation, grant.hosts) for grant in answer.grants}


def test_what_can_has_the_grants_of_a_principal_whether_it_is_known_or_not(tmp_path):
    acls = [
        acl(1, resource_type="GROUP", resource_name="app-", pattern_type="PREFIXED"),
        acl(2, resource_type="TRANSACTIONAL_ID", resource_name="app-", pattern_type="PREFIXED",
            operation="WRITE"),
        acl(3, resource_name="log-*", pattern_type="GLOB", principal="User:*", host="10.0.0.1"),
        acl(4, resource_name="gone", principal="User:bob"),
        acl(5, resource_name="payments", principal="User:bob"),
        acl(6, resource_name="*"),
    ]  # fmt: skip
    small.build(tmp_path, acls)
    logs = {("topic:log-*", "READ", "10.0.0.1"), ("topic:log-*", "DESCRIBE", "10.0.0.1")}
    group = {("group:app-", "READ", "*"), ("group:app-", "DESCRIBE", "*")}
    ids = {("transactional-id:app-", o, "*") for o in ("WRITE", "DESCRIBE")}
    assert asked(tmp_path, "User:alice") == {*group, *ids, *logs}
    assert asked(tmp_path, "User:alice", resource_type="GROUP") == group
    here = {(*grant[:2], "10.0.0.1") for grant in group}
    assert asked(tmp_path, "User:alice", resource_type="GROUP", host="10.0.0.1") == here
    assert asked(tmp_path, "User:bob") == {
        *logs, ("topic:gone", "READ", "*"), ("topic:gone", "DESCRIBE", "*"),
    }  # fmt: skip
    assert asked(tmp_path, "User:stranger") == logs
    assert asked(tmp_path, "User:stranger", decision="DENIED") == set()
    assert asked(tmp_path, "User:alice", resource_type="TOPIC", resource_name="log-1") == set()
    assert asked(tmp_path, small.SUPER_USER) == set()


def test_an_operation_of_which_denies_take_a_part_stays_with_the_others_of_its_acl():
    acls = [
        acl(0, resource_name="pay", pattern_type="PREFIXED", operation="ALL"),
        acl(1, resource_name="pay-a", operation="WRITE", permission_type="DENY"),
    ]
    (access,) = together(pattern_grants(acls, {"TOPIC": ["pay-a", "pay-b"]}, HOSTS, KIP_1042))
    assert access.operations == list(OPERATIONS_OF_TYPE["TOPIC"])
    assert access.grant.reaches == 2
    assert access.less == "; DENYs override WRITE on some names"
