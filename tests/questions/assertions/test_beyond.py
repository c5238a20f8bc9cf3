"""Names of no inventory that an assertion means: what a name to come could break is found."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aclkit.model.acl import Request
from aclkit.model.resource import Resource
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings
from aclkit.questions.assertions.match import means_host, means_principal, means_resource
from aclkit.questions.assertions.model import Assertion, Pattern, ResourcePattern, What, Who
from aclkit.rules.decide.rules import decide
from tests.questions.assertions.test_check import told
from tests.questions.query.small_warehouse import SUPER_USER, acl

READ = '\noperations="READ"\nsuper_users=false\n'


def never(**keys):
    return '[[never]]\nname="n"' + READ + "".join(f'{key}="{keys[key]}"\n' for key in keys)


def only(**keys):
    return never(**keys).replace("never", "only")


def shown(acls, text, **more):
    (outcome,) = told(acls, text, **more)
    return outcome.examples


def test_a_resource_to_come_is_one_that_no_exception_leaves_out():
    opened = [acl(1, resource_name="secret.", pattern_type="PREFIXED")]
    (example,) = shown(opened, never(resources="topic:secret.*", except_resources="topic:*.any*"))
    assert example.resource.resource_name.startswith("secret.")


def test_the_empty_rest_of_a_prefix_is_a_name_to_come_too():
    opened = [acl(1, resource_name="secret", pattern_type="PREFIXED")]
    (example,) = shown(opened, never(resources="topic:secret*", except_resources="topic:secret?*"))
    assert example.resource.resource_name == "secret"


def test_a_principal_to_come_is_one_that_only_does_not_name():
    opened = [acl(1, principal="User:*-etl")]
    (example,) = shown(opened, only(principals="User:a*"))
    assert example.principal.endswith("-etl")
    assert not example.principal.startswith("User:a")


@pytest.mark.parametrize("left_out", ["User:eve", "User:e*"])
def test_who_is_taken_from_those_that_only_names_is_forbidden(left_out):
    opened = [acl(1, principal="User:*")]
    (example,) = shown(opened, only(principals="User:*", except_principals=left_out))
    assert example.principal.startswith("User:e")


@pytest.mark.parametrize("text", [only(principals="User:*"), never(except_principals="User:*")])
def test_principals_of_other_types_are_meant(text):
    (example,) = shown([acl(1, principal="User:*")], text)
    assert not example.principal.startswith("User:")


@pytest.mark.parametrize(
    ("host", "asked"),
    [("10.*", "*.7.1"), ("8193:d*", "*:7"), ("8193:d*", "8193:*"), ("2?.*", "*")],
)
def test_a_host_that_a_pattern_shares_with_that_of_an_acl_breaks_never(host, asked):
    (example,) = shown([acl(1, host=host)], never(hosts=asked))
    assert not example.in_inventory


def test_a_name_that_another_assertion_says_is_not_meant_by_one_about_the_inventory():
    everybody = '[[always]]\nname="all"\noperations="READ"\nresources="topic:payments"\n'
    acls = [acl(1, principal="User:*")]
    assert told(acls, everybody)[0].has_passed
    nobody = acl(2, principal="User:ghost", permission_type="DENY")
    alone, beside = (
        told([*acls, nobody], text)[0]
        for text in (everybody, everybody + never(principals="User:ghost"))
    )
    assert alone.has_passed
    assert beside == alone


def test_what_no_host_is_asked_about_was_not_looked_at():
    text = '[[always]]\nname="n"\nprincipals="User:alice"\noperations="READ"\nhosts="10.9.*"\n'
    assert told([acl(1)], text)[0].checked == 0


PATTERNS = st.sampled_from(["GLOB", "GLOB", "PREFIXED", "LITERAL"]).flatmap(
    lambda kind: st.builds(
        Pattern,
        st.just(kind),
        st.text("paz*?" if kind == "GLOB" else "paz", min_size=1, max_size=3),
    )
)
TOPICS = PATTERNS.map(lambda pattern: ResourcePattern("TOPIC", pattern))
PRINCIPALS = st.just(Pattern("GLOB", "*")) | st.builds(
    lambda kind, pattern: Pattern(pattern.pattern_type, f"{kind}:{pattern.text}"),
    st.sampled_from(["User", "Group"]),
    PATTERNS,
)
HOSTS = st.sampled_from(
    [Pattern("GLOB", "10.0.*"), Pattern("GLOB", "*.1"), Pattern("LITERAL", "9.9.9.9"),
     Pattern("GLOB", "*:1"), Pattern("PREFIXED", "10.")]
)  # fmt: skip


def up_to_two(of):
    return st.lists(of, min_size=1, max_size=2).map(tuple)


WHOS = st.builds(
    Who, names=up_to_two(PRINCIPALS), but=st.just(()) | up_to_two(PRINCIPALS),
    is_inverted=st.booleans(), super_users=st.booleans(),
)  # fmt: skip
WHATS = st.builds(
    What, operations=st.just(frozenset({"READ"})), names=st.none() | up_to_two(TOPICS),
    but=st.just(()) | up_to_two(TOPICS), hosts=st.none() | up_to_two(HOSTS),
)  # fmt: skip
ACLS = st.lists(
    st.builds(
        lambda pattern, who, host, allow: acl(
            1, resource_name=pattern.text, pattern_type=pattern.pattern_type, principal=who,
            host=host, permission_type=allow),
        PATTERNS, st.sampled_from(["User:*", "User:a*", "User:?z", "Group:*", "*:a", "User:zz"]),
        st.sampled_from(["*", "10.0.0.*", "10.0.9.9", "10.*.1", "*:1"]),
        st.sampled_from(["ALLOW", "DENY"]),
    ),
    max_size=1,
)  # fmt: skip
ASKED = [
    (f"{kind}:{''.join(name)}", host, "".join(topic))
    for topic in (t for size in (1, 2, 3, 4) for t in product("paz", repeat=size))
    for kind in ("User", "Group")
    for name in (n for size in (1, 2) for n in product("az", repeat=size))
    for host in ("10.0.0.1", "10.0.9.9", "9.9.9.9", "10.9.9.1", "0:0:0:0:0:0:0:1")
]


def breaks(assertion, acls, broker, semantics):
    """Look for a request of a small universe that speaks against an assertion."""
    (what,) = assertion.duties
    for principal, host, name in ASKED:
        is_super = principal in broker.super_users
        request = Request(
            principal=principal, host=host, operation="READ", resource_type="TOPIC",
            resource_name=name,
        )  # fmt: skip
        if (
            means_principal(assertion.who, principal, is_super_user=is_super)
            and means_host(what, host)
            and means_resource(what, Resource("TOPIC", name))
            and decide(acls, request, broker, semantics).decision == assertion.bad_decision
        ):
            return request
    return None


@settings(max_examples=40)
@given(
    acls=ACLS, kind=st.sampled_from(["never", "always"]), who=WHOS, what=WHATS,
    everyone=st.booleans(), semantics=st.sampled_from([KIP_1042, KAFKA]),
)  # fmt: skip
def test_what_any_name_breaks_is_found_where_no_three_patterns_meet(
    acls, kind, who, what, everyone, semantics
):
    assertion = Assertion(kind=kind, name="n", who=who, duties=(what,))
    broker = BrokerSettings(super_users=frozenset({SUPER_USER}), allow_everyone=everyone)
    (outcome,) = told(acls, [assertion], broker, semantics)
    if outcome.has_passed:
        assert breaks(assertion, acls, broker, semantics) is None
