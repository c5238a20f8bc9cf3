"""KIP-1042, GLOB patterns: what the proposal says of authorizing, asked of the authorizer."""

from __future__ import annotations

from functools import partial

import pytest

from aclkit.kafka.authorizer.authorizer import Authorizer
from aclkit.model.filter import AclBindingFilter, ResourcePatternFilter
from aclkit.model.semantics import KIP_1042
from tests.factories import acl, request
from tests.kafka.authorizer.asking import answer, context

SERVICE = "User:CN=serviceaccount,OU=ServiceAccountUsers,O=Unknown,L=Unknown,ST=Unknown,C=Unknown"
ACCOUNTS = [
    f"{land}-accounts-{end}topic" for land in ("nl", "de", "cz") for end in ("local", "remote")
]
OTHERS = ["nl-account-localtopic", "n-accounts-localtopic", "accounts", "nld-accounts-localtopic"]
PRODUCER = ("WRITE", "DESCRIBE", "CREATE")
over_acls = partial(Authorizer.over_acls, semantics=KIP_1042)


def producer(pattern, pattern_type="GLOB", **fields):
    """kafka-acls --producer --topic: three ACLs."""
    return [
        acl(pattern, pattern_type=pattern_type, principal=SERVICE, operation=operation, **fields)
        for operation in PRODUCER
    ]


def answers(authorizer, operation="WRITE", names=(*ACCOUNTS, *OTHERS)):
    return {n for n in names if answer(authorizer, SERVICE, n, operation) == "ALLOWED"}


def affecting(authorizer, name, resource_type="TOPIC"):
    """The tool's list: all ACLs that affect a name."""
    pattern = ResourcePatternFilter(
        resource_type=resource_type, resource_name=name, pattern_type="MATCH"
    )
    return authorizer.acls(AclBindingFilter(pattern=pattern))


def test_one_glob_does_what_three_prefixes_did():
    prefixed = [p for land in ("nl", "de", "cz") for p in producer(f"{land}-accounts-", "PREFIXED")]
    one = over_acls(producer("??-accounts-*"))
    three = over_acls(prefixed)
    for operation in PRODUCER:
        assert answers(one, operation) == answers(three, operation) == set(ACCOUNTS)
    assert answers(one, "READ") == answers(three, "READ") == set()
    for authorizer in (one, three):
        found = [
            authorizer.authorize_by_resource_type(context(SERVICE), operation, "TOPIC")
            for operation in ("WRITE", "READ")
        ]
        assert found == ["ALLOWED", "DENIED"]


def test_the_tool_for_a_decision_lists_every_acl_that_affects_it():
    globs = producer("??-accounts-*")
    deny = acl("*-remotetopic", pattern_type="GLOB", principal=SERVICE, permission_type="DENY",
               operation="WRITE")  # fmt: skip
    unrelated = acl("us-*", pattern_type="GLOB", principal=SERVICE)
    authorizer = over_acls([*globs, deny, unrelated])
    for name in ACCOUNTS:
        wanted = {each.acl_id for each in globs}
        wanted |= {deny.acl_id} if name.endswith("-remotetopic") else set()
        assert {each.acl_id for each in affecting(authorizer, name)} == wanted
    ruling = authorizer.decide(request(ACCOUNTS[1], principal=SERVICE, operation="WRITE"))
    assert (ruling.decision, ruling.acl) == ("DENIED", deny)


def test_the_tool_for_a_new_acl_finds_the_six_topics_affected():
    with over_acls() as authorizer:
        before = answers(authorizer)
        for future in authorizer.create_acls(context(), producer("*-accounts-*")):
            assert future.result(timeout=10).exception is None
        gained = answers(authorizer) - before
    assert gained & set(ACCOUNTS) == set(ACCOUNTS)
    assert gained - set(ACCOUNTS) == {"n-accounts-localtopic", "nld-accounts-localtopic"}


def test_the_tool_for_a_new_topic_finds_the_acl_that_will_govern_it():
    authorizer = over_acls([*producer("*-accounts-*"), *producer("nl-", "PREFIXED")])
    found = affecting(authorizer, "us-accounts-privatetopic")
    assert {each.resource_name for each in found} == {"*-accounts-*"}
    assert answer(authorizer, SERVICE, "us-accounts-privatetopic", "WRITE") == "ALLOWED"


def test_a_glob_on_groups_is_read_the_same_way():
    group = acl("*-testgroup-*", resource_type="GROUP", pattern_type="GLOB", principal=SERVICE)
    authorizer = over_acls([group])
    found = [
        answer(authorizer, SERVICE, name, resource_type="GROUP")
        for name in ("a-testgroup-b", "-testgroup-", "testgroup-b")
    ]
    assert found == ["ALLOWED", "ALLOWED", "DENIED"]


def test_a_matching_deny_overrides_every_allow_wherever_it_stands():
    for deny in (("*", "LITERAL"), ("He*m*n", "GLOB"), ("", "GLOB"), ("H", "PREFIXED")):
        authorizer = over_acls(
            [acl("Helmsman"), acl(deny[0], pattern_type=deny[1], permission_type="DENY")]
        )
        assert answer(authorizer, resource_name="Helmsman") == "DENIED"


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("Hello", "Hello"),
        ("HelloWorld", "HelloWo*d*"),
        ("HelloWonderful", "HelloWo*d*"),
        ("HelloWorldWide", "HelloWo*d*"),
        ("HelloDolly", "Hello"),
        ("Hermesmoon", "He*m*m*"),
        ("Helmsman", "He*m*m*"),
        ("HelloWiked", "HelloW*"),
        ("Helpme", None),
    ],
)
def test_the_most_specific_matching_acl_decides(name, pattern):
    stored = [
        acl("Hello", pattern_type="PREFIXED"),
        *(acl(glob, pattern_type="GLOB") for glob in ("HelloWo*d*", "HelloW*", "He*m*m*")),
    ]
    ruling = over_acls(stored).decide(request(name))
    assert (ruling.acl.resource_name if ruling.acl else None) == pattern


@pytest.mark.parametrize(
    ("pattern_type", "matched"),
    [
        ("LITERAL", {"Hello": {"Hello"}, "HelloWorld": {"HelloWorld"}, "H*World": {"H*World"}}),
        (
            "PREFIXED",
            {
                "Hello": {"Hello", "HelloWorld"},
                "HelloWorld": {"HelloWorld"},
                "H*World": {"H*World"},
            },
        ),
        (
            "GLOB",
            {
                "Hello": {"Hello"},
                "HelloWorld": {"HelloWorld"},
                "H*World": {"HelloWorld", "HappyWorld", "H*World"},
            },
        ),
    ],
)
def test_only_a_glob_expands_wildcards_in_names(pattern_type, matched):
    names = ("Hello", "HelloWorld", "HappyWorld", "H*World")
    for pattern, reached in matched.items():
        authorizer = over_acls([acl(pattern, pattern_type=pattern_type)])
        assert {n for n in names if answer(authorizer, resource_name=n) == "ALLOWED"} == reached


@pytest.mark.parametrize(
    ("stored", "glob"),
    [
        (("SomeName", "LITERAL"), "SomeName"),
        (("SomeName", "PREFIXED"), "SomeName*"),
        (("*", "LITERAL"), ""),
    ],
)
def test_a_glob_can_replace_both_other_pattern_types(stored, glob):
    rewritten = over_acls([acl(glob, pattern_type="GLOB")])
    original = over_acls([acl(stored[0], pattern_type=stored[1])])
    for name in ("SomeName", "SomeName1", "Some", "*", "", "Other"):
        assert answer(rewritten, resource_name=name) == answer(original, resource_name=name)


@pytest.mark.parametrize(
    ("principal", "asked", "is_matched"),
    [
        ("User:svc-*", "User:svc-a", True),
        ("User:svc-?", "User:svc-ab", False),
        ("*:alice", "Group:alice", True),
        (":alice", "Group:alice", True),
        ("User:", "User:anybody", True),
        ("U*:a*", "User:alice", True),
        ("Group:*", "User:alice", False),
    ],
)
def test_principal_type_and_name_are_globs_each_on_its_own(principal, asked, is_matched):
    authorizer = over_acls([acl(principal=principal)])
    assert (answer(authorizer, asked) == "ALLOWED") is is_matched


@pytest.mark.parametrize(
    ("host", "is_matched"), [("10.0.*", True), ("10.0.0.?", True), ("", True), ("10.1.*", False)]
)
def test_hosts_are_globs(host, is_matched):
    authorizer = over_acls([acl(host=host)])
    assert (answer(authorizer) == "ALLOWED") is is_matched


def test_answers_by_resource_type_account_for_globs():
    globs = producer("??-accounts-*")
    for denied, found in (
        ("??-accounts-*", "DENIED"),
        ("*-accounts-*", "DENIED"),
        ("?*", "DENIED"),
        ("nl-accounts-*", "ALLOWED"),
        ("??-accounts-*topic", "ALLOWED"),
    ):
        deny = acl(denied, pattern_type="GLOB", principal=SERVICE, operation="WRITE",
                   permission_type="DENY")  # fmt: skip
        authorizer = over_acls([*globs, deny])
        assert authorizer.authorize_by_resource_type(context(SERVICE), "WRITE", "TOPIC") == found


def test_existing_acls_work_as_before():
    stored = [acl("orders"), acl("pay-", pattern_type="PREFIXED"), acl("*", operation="DESCRIBE")]
    authorizer = over_acls(stored)
    names = ("orders", "orders2", "pay-1", "pay")
    assert [answer(authorizer, resource_name=name) for name in names] == [
        "ALLOWED", "DENIED", "ALLOWED", "DENIED",
    ]  # fmt: skip
