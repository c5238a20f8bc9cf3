"""Assertions held against published decisions: the pure rule on every cell says the same."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL
from aclkit.model.resource import Resource
from aclkit.model.semantics import KAFKA, KIP_1042, OWN, REDPANDA, BrokerSettings
from aclkit.questions.assertions.check import check
from aclkit.questions.assertions.match import (
    means_host,
    means_principal,
    means_resource,
    operations_on,
)
from aclkit.questions.assertions.model import Assertion, Pattern, ResourcePattern, What, Who
from aclkit.questions.assertions.parse import parse_assertions
from aclkit.questions.read_state import Opened, read_state
from aclkit.rules.decide.rules import decide
from aclkit.rules.names.question import Budget
from tests import strategies as world
from tests.questions.query import small_warehouse as small
from tests.questions.query.in_memory import Life, open_memory
from tests.questions.query.small_warehouse import SUPER_USER, acl

RESOURCES = [Resource(*row) for row in small.RESOURCES]


def told(acls, assertions, broker=None, semantics=KIP_1042, attributes=None, budget=None):
    """Check assertions against the decisions on a small inventory."""
    broker = broker or BrokerSettings(super_users=frozenset({SUPER_USER}))
    tables = small.tables(acls, broker, semantics)
    for row in tables["principal"] + tables["resource"]:
        name = row.get("principal") or row["resource_name"]
        row["attributes"] = (attributes or {}).get(name, {})
    said = {
        "semantics": asdict(semantics), "super_users": sorted(broker.super_users),
        "allow_everyone": broker.allow_everyone,
    }  # fmt: skip
    read = ("principal", "host", "resource", "explain_pair", "explain_class_pair", "explain_ruling")
    connection, published = open_memory(
        [Life(a, added=0) for a in acls],
        head=10,
        settings=json.dumps(said),
        tables={name: tables[name] for name in read},
    )
    if isinstance(assertions, str):
        assertions = parse_assertions(assertions, "a.toml")
    with connection:
        state = read_state(Opened(connection, published, published.run))
    return check(state, assertions, budget or Budget())


def cells(acls, assertion, what, broker, semantics, attributes=None):
    """Decide every cell of the inventory that a duty is about; keep those that speak against it."""
    attributes = attributes or {}
    for request in small.requests():
        resource = Resource(request.resource_type, request.resource_name)
        named = attributes.get(request.principal, {})
        is_super = request.principal in broker.super_users
        if (
            means_principal(assertion.who, request.principal, is_super_user=is_super,
                            attributes=named)
            and means_resource(what, resource, attributes.get(request.resource_name, {}))
            and request.operation in operations_on(what, request.resource_type)
            and means_host(what, request.host)
            and not (assertion.inventory_only and (
                request.principal == ANY_OTHER_PRINCIPAL
                or request.resource_name == ANY_OTHER))
            and decide(acls, request, broker, semantics).decision == assertion.bad_decision
        ):  # fmt: skip
            yield request.principal, resource, request.operation


PRINCIPALS = st.sampled_from(
    [Pattern("LITERAL", "User:alice"), Pattern("GLOB", "User:*"), Pattern("GLOB", "User:?ob"),
     Pattern("PREFIXED", "User:a"), Pattern("LITERAL", SUPER_USER)]
)  # fmt: skip
NAMES = st.sampled_from(
    [ResourcePattern("TOPIC", Pattern("PREFIXED", "pay")),
     ResourcePattern("TOPIC", Pattern("GLOB", "*")),
     ResourcePattern("TOPIC", Pattern("GLOB", "*s")),
     ResourcePattern("GROUP", Pattern("GLOB", "*")),
     ResourcePattern("CLUSTER", Pattern("LITERAL", "kafka-cluster"))]
)  # fmt: skip
HOSTS = st.sampled_from(
    [Pattern("GLOB", "10.0.0.*"), Pattern("LITERAL", "10.0.1.1"), Pattern("GLOB", "*")]
)


def some(of):
    return st.lists(of, min_size=1, max_size=2).map(tuple)


WHOS = st.builds(
    Who, names=st.none() | some(PRINCIPALS), but=st.just(()) | some(PRINCIPALS),
    is_inverted=st.booleans(), super_users=st.booleans(),
)  # fmt: skip
WHATS = st.builds(
    What, operations=st.none() | st.just(frozenset({"READ", "CREATE"})),
    names=st.none() | some(NAMES),
    but=st.just(()) | some(NAMES), hosts=st.none() | some(HOSTS),
)  # fmt: skip
ACLS = st.lists(
    st.builds(
        lambda name, kind, who, host, operation, allow: acl(
            0, resource_name=name, pattern_type=kind, principal=who, host=host,
            operation=operation, permission_type=allow),
        st.sampled_from(["pay", "payments", "p*s", "*", "orders"]), world.pattern_types,
        st.sampled_from(["User:alice", "User:bob", "User:*", "User:?o*", "User:zed", "*:*"]),
        st.sampled_from(["*", "10.0.0.1", "10.0.0.*", "10.0.9.9"]), world.operations,
        st.sampled_from(["ALLOW", "ALLOW", "DENY"]),
    ),
    max_size=6,
).map(lambda drawn: [replace(a, acl_id=f"acl-{n}") for n, a in enumerate(drawn)])  # fmt: skip
KINDS = st.sampled_from(["never", "always", "only", "at_most", "separate"])
EVERY = {
    "acls": ACLS, "kind": KINDS, "who": WHOS, "duties": st.tuples(WHATS, WHATS),
    "limit": st.integers(0, 3), "everyone": st.booleans(), "semantics": world.semantics,
}  # fmt: skip


def made(kind, who, duties, limit, *, inventory_only):
    return Assertion(
        kind=kind, name="n", who=who, duties=duties if kind == "separate" else duties[:1],
        limit=limit, inventory_only=inventory_only,
    )  # fmt: skip


def broken(assertion, found):
    """Count violations of the inventory as the documentation says them."""
    if assertion.kind == "separate":
        one, other = ({principal for principal, *_ in duty} for duty in found)
        return len(one & other)
    if assertion.kind == "at_most":
        resources = {resource for _, resource, _ in found[0]}
        users = {r: {p for p, resource, _ in found[0] if resource == r} for r in resources}
        return sum(len(u) > assertion.limit or ANY_OTHER_PRINCIPAL in u for u in users.values())
    return len(found[0])


@settings(max_examples=60)
@given(**EVERY)
def test_violations_of_the_inventory_are_those_of_the_pure_rule_and_examples_as_they_say(
    acls, kind, who, duties, limit, everyone, semantics
):
    """Both hold for one warehouse, which is what takes time."""
    known = made(kind, who, duties, limit, inventory_only=True)
    assertion = made(kind, who, duties, limit, inventory_only=False)
    broker = BrokerSettings(super_users=frozenset({SUPER_USER}), allow_everyone=everyone)
    of_known, outcome = told(acls, [known, assertion], broker, semantics)
    found = [set(cells(acls, known, what, broker, semantics)) for what in known.duties]
    assert of_known.violations == broken(known, found)
    found = [set(cells(acls, assertion, what, broker, semantics)) for what in assertion.duties]
    assert outcome.violations >= broken(assertion, found)
    assert bool(outcome.examples) == (not outcome.has_passed)
    for request, shown, _ in outcome.examples:
        ruling = decide(acls, request, broker, semantics)
        assert (ruling.decision, ruling.rule) == (shown.decision, shown.rule)
        assert shown.decision == assertion.bad_decision
        is_super = request.principal in broker.super_users
        assert means_principal(who, request.principal, is_super_user=is_super)
        assert any(
            means_resource(what, request.resource) and means_host(what, request.host)
            and request.operation in operations_on(what, request.resource.resource_type)
            for what in assertion.duties
        )  # fmt: skip
    if kind == "separate":
        pairs = zip(outcome.examples[::2], outcome.examples[1::2], strict=True)
        assert all(one.request.principal == other.request.principal for one, other in pairs)


NEVER_WRITE = (
    '[[never]]\nname="n"\noperations=["WRITE"]\nresources=["topic:{}"]\nsuper_users=false\n'
)


def test_a_prefix_that_opens_names_to_come_breaks_never():
    opened = [acl(1, resource_name="secret.x", pattern_type="PREFIXED", operation="WRITE")]
    (outcome,) = told(opened, NEVER_WRITE.format("secret.*"))
    (example,) = outcome.examples
    assert example.request.resource.resource_name.startswith("secret.x")
    assert (example.in_inventory, example.ruling.acl_id) == (False, "acl-01")


def test_never_may_leave_the_names_to_come_out():
    opened = [acl(1, resource_name="secret.x", pattern_type="PREFIXED", operation="WRITE")]
    (outcome,) = told(opened, NEVER_WRITE.format("secret.*") + "inventory_only=true\n")
    assert outcome.has_passed


def test_a_principal_that_only_an_acl_names_breaks_only():
    acls = [acl(1, principal="User:ghost")]
    text = (
        '[[only]]\nname="n"\nprincipals=["User:alice"]\nresources=["topic:payments"]\n'
        "super_users=false\n"
    )
    (outcome,) = told(acls, text)
    assert [asked.principal for asked, ruling, _ in outcome.examples] == ["User:ghost"]


def test_a_principal_glob_of_an_acl_breaks_never_for_principals_to_come():
    acls = [acl(1, principal="User:*-etl")]
    text = '[[never]]\nname="n"\nprincipals=["User:svc-*"]\noperations=["READ"]'
    (outcome,) = told(acls, text)
    (example,) = outcome.examples
    assert example.request.principal.startswith("User:svc-")
    assert example.request.principal.endswith("-etl")


def test_a_glob_of_an_assertion_is_a_glob_where_acls_have_none():
    semantics = replace(KIP_1042, glob_patterns=False, identity_globs=False)
    acls = [acl(1, resource_name="pay.x", pattern_type="PREFIXED", operation="WRITE")]
    (outcome,) = told(acls, NEVER_WRITE.format("*.x-?*"), semantics=semantics)
    (example,) = outcome.examples
    assert example.request.resource.resource_name.startswith("pay.x")
    assert "*" not in example.request.resource.resource_name


def test_a_host_of_no_inventory_that_an_acl_opens_breaks_never():
    acls = [acl(1, host="10.0.9.9"), acl(2, host="10.0.8.*", operation="WRITE")]
    for operation, host in (("READ", "10.0.9.9"), ("WRITE", "10.0.8.1")):
        text = f'[[never]]\nname="n"\noperations="{operation}"\nhosts="10.0.*"\nsuper_users=false'
        (outcome,) = told(acls, text)
        assert [(e.request.host, e.in_inventory) for e in outcome.examples] == [(host, False)]


def test_any_number_of_principals_is_more_than_any_limit():
    text = '[[at_most]]\nname="n"\nlimit=1000\noperations="READ"\nresources="topic:payments"'
    assert told([acl(1)], text)[0].has_passed
    (outcome,) = told([acl(1, principal="User:*")], text)
    assert outcome.detail == "any number of principals, expected at most 1,000"


def test_at_most_counts_each_principal_once():
    text = (
        '[[at_most]]\nname="n"\nlimit={}\noperations=["READ", "DESCRIBE"]\n'
        'resources="topic:payments"\nsuper_users=false'
    )
    acls = [acl(1), acl(2, principal="User:bob"), acl(3, principal="User:bob", operation="ALL")]
    assert told(acls, text.format(2))[0].has_passed
    (outcome,) = told(acls, text.format(1))
    assert (outcome.violations, outcome.detail) == (1, "2 principals, expected at most 1")


def test_separate_shows_a_decision_for_each_of_the_two_duties():
    text = (
        '[[separate]]\nname="n"\nsuper_users=false\nduties=[{operations="WRITE", '
        'resources="topic:orders"}, {operations="READ", resources="topic:payments"}]'
    )
    acls = [acl(1), acl(2, resource_name="orders", operation="WRITE", principal="User:bob")]
    assert told(acls, text)[0].has_passed
    both = [*acls, acl(3, resource_name="orders", operation="WRITE")]
    (outcome,) = told(both, text)
    shown = [
        (asked.principal, asked.operation, ruling.acl_id) for asked, ruling, _ in outcome.examples
    ]
    assert shown == [
        ("User:alice", "WRITE", "acl-03"), ("User:alice", "READ", "acl-01"),
    ]  # fmt: skip


def test_attributes_of_principals_and_resources_choose_what_is_meant():
    text = (
        '[[only]]\nname="n"\nprincipal_attributes={team="pay*"}\noperations="READ"\n'
        'resource_attributes={class="secret"}\nsuper_users=false'
    )
    attributes = {"User:alice": {"team": "payments"}, "payments": {"class": "secret"}}
    acls = [acl(1), acl(2, resource_name="orders", principal="User:bob")]
    assert told(acls, text, attributes=attributes)[0].has_passed
    (outcome,) = told([*acls, acl(3, principal="User:bob")], text, attributes=attributes)
    assert [(asked.principal, ruling.acl_id) for asked, ruling, _ in outcome.examples] == [
        ("User:bob", "acl-03")
    ]


def test_a_super_user_breaks_never_unless_left_out():
    text = '[[never]]\nname="n"\noperations="ALTER"\nresources="cluster"\n'
    (outcome,) = told([], text)
    assert [(asked.principal, ruling.rule) for asked, ruling, _ in outcome.examples] == [
        (SUPER_USER, "SuperUser")
    ]
    assert told([], text + "super_users=false\n")[0].has_passed


def test_always_fails_where_one_host_is_denied():
    text = (
        '[[always]]\nname="n"\nprincipals="User:alice"\noperations="READ"\n'
        'resources="topic:payments"\n'
    )
    acls = [acl(1), acl(2, host="10.0.0.2", permission_type="DENY")]
    (outcome,) = told(acls, text)
    assert [
        (asked.host, ruling.decision, ruling.acl_id) for asked, ruling, _ in outcome.examples
    ] == [("10.0.0.2", "DENIED", "acl-02")]
    assert told(acls, text + 'hosts="10.0.0.1"\n')[0].has_passed


@pytest.mark.parametrize("named", ["User:nobody", "User:alice"])
def test_a_name_that_is_written_out_is_meant_in_the_inventory_or_not(named):
    text = (
        f'[[always]]\nname="n"\nprincipals="{named}"\noperations="READ"\nresources="topic:new.one"'
    )
    acls = [acl(1, resource_name="new.", pattern_type="PREFIXED")]
    assert told(acls, text)[0].has_passed == (named == "User:alice")


def test_what_was_looked_at_is_counted():
    text = (
        '[[always]]\nname="n"\nprincipals="User:alice"\noperations=["READ", "WRITE"]\n'
        'resources=["topic:payments", "group:g1"]'
    )
    assert told([acl(1)], text)[0].checked == 3
    (nothing,) = told([acl(1)], '[[always]]\nname="n"\nresources="topic:nowhere.*"')
    assert (nothing.checked, nothing.has_passed) == (0, True)


EVERY_PAY = NEVER_WRITE.format("pay*")


def test_the_inventory_is_counted_and_names_to_come_are_said_in_words():
    opened = [
        acl(1, resource_name="payments", operation="WRITE"),
        acl(2, resource_name="pay", pattern_type="PREFIXED", operation="WRITE", host="10.0.9.9"),
    ]
    (outcome,) = told(opened, EVERY_PAY)
    assert (outcome.state, outcome.violations, outcome.proof) == ("failed", 1, "fail")
    assert [(e.request.resource.resource_name, e.in_inventory) for e in outcome.examples] == [
        ("payments", True), ("pay", False),
    ]  # fmt: skip
    assert outcome.detail == "for all possible names"


def test_what_the_inventory_shows_is_not_shown_again_for_names_to_come():
    (outcome,) = told([acl(1, operation="WRITE")], EVERY_PAY)
    assert [e.in_inventory for e in outcome.examples] == [True]
    assert (outcome.detail, outcome.proof) == (None, "fail")


@pytest.mark.parametrize("host", ["", 'hosts="10.0.*"\n'])
def test_a_name_that_is_said_is_counted_and_not_shown_again(host):
    acls = [acl(1, principal="User:ghost", resource_name="new.one")]
    text = '[[never]]\nname="n"\nprincipals="User:ghost"\nresources="topic:new.one"\n'
    (outcome,) = told(acls, text + 'operations="READ"\n' + host)
    (example,) = outcome.examples
    assert (outcome.violations, outcome.proof, example.in_inventory) == (1, "fail", False)
    assert outcome.detail is None


def test_an_assertion_that_holds_is_proven_and_one_about_the_inventory_is_not():
    proven, of_inventory = told([], EVERY_PAY + EVERY_PAY.replace('"n"', '"m"') +
                                "inventory_only=true\n")  # fmt: skip
    assert (proven.state, proven.proof) == ("passed", "pass")
    assert (of_inventory.state, of_inventory.proof) == ("passed", None)


def test_three_globs_that_meet_in_one_name_to_come_are_too_many():
    acls = [
        acl(n, principal=f"User:p{n}", resource_name=f"*{part}1*", pattern_type="GLOB",
            operation="WRITE")
        for n, part in enumerate("xyz")
    ]  # fmt: skip
    text = '[[at_most]]\nname="n"\nlimit=2\noperations="WRITE"\nresources="topic:*"\n'
    (outcome,) = told(acls, text + "super_users=false\n")
    assert (outcome.state, outcome.violations) == ("failed", 0)
    (example,) = outcome.examples
    assert (example.request.resource.resource_name, example.in_inventory) == ("x1y1z1", False)
    assert outcome.detail == "for all possible names: 3 principals, expected at most 2"


def test_what_the_budget_leaves_open_has_not_passed():
    hard = [acl(1, resource_name="*a????????", pattern_type="GLOB", operation="WRITE"),
            acl(2, resource_name="*b*a????????", pattern_type="GLOB", operation="WRITE",
                permission_type="DENY")]  # fmt: skip
    text = NEVER_WRITE.format("*b*")
    (outcome,) = told(hard, text, budget=Budget(per_question=150))
    assert (outcome.state, outcome.proof, outcome.violations) == ("unknown", "unknown", 0)
    assert not outcome.has_passed
    assert outcome.detail == (
        "for all possible names: unknown: one question took 150 states; "
        "to raise the search limit: --budget"
    )


def test_attributes_of_the_inventory_choose_names_for_the_proof_too():
    text = (
        '[[only]]\nname="n"\nprincipal_attributes={team="pay"}\noperations="READ"\n'
        'resources="topic:secret.*"\nsuper_users=false'
    )
    mine = acl(1, resource_name="secret.", pattern_type="PREFIXED")
    attributes = {"User:alice": {"team": "pay"}}
    assert told([mine], text, attributes=attributes)[0].has_passed
    other = acl(2, resource_name="secret.b", pattern_type="PREFIXED", principal="User:bob")
    (outcome,) = told([mine, other], text, attributes=attributes)
    assert [asked.principal for asked, ruling, _ in outcome.examples] == ["User:bob"]


ABOUT_ALICE = """\
[[{kind}]]
name = "alice"
principals = ["User:alice"]
operations = ["READ"]
resources = ["topic:{topic}"]
"""


@pytest.mark.parametrize(
    ("kind", "topic", "authorizer", "state"),
    [
        ("never", "plans", REDPANDA, "unknown"),
        ("never", "plans", OWN, "passed"),
        ("never", "other", REDPANDA, "passed"),
        ("always", "open", REDPANDA, "passed"),
        ("always", "shut", REDPANDA, "unknown"),
        ("always", "shut", OWN, "passed"),
        ("always", "plans", REDPANDA, "failed"),
    ],
)
def test_a_policy_that_members_of_a_group_can_break_is_unknown(kind, topic, authorizer, state):
    acls = [
        acl(1, resource_name="plans", principal="Group:dev"),
        acl(2, resource_name="open", principal="User:*"),
        acl(3, resource_name="shut", principal="User:*"),
        acl(4, resource_name="shut", principal="Group:dev", permission_type="DENY"),
    ]
    text = ABOUT_ALICE.format(kind=kind, topic=topic)
    (found,) = told(acls, text, semantics=replace(KAFKA, authorizer=authorizer))
    assert found.state == state
    assert ("members" in str(found.detail)) == (state == "unknown")
