"""Rulings of sets: which ACL of a set decides for an operation from a host."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aclkit.model.acl import ANY_OTHER
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.pipeline.explain.pairing import pair_up
from aclkit.pipeline.explain.prepared import prepare
from aclkit.pipeline.explain.ranked_acls import TYPES
from aclkit.pipeline.explain.rulings import ANY_HOST, NO_ACL, Ruler
from tests.factories import acl
from tests.pipeline.explain.decided import acl_table, matched
from tests.pipeline.explain.frames import scope_of

HOSTS = ("10.0.0.1", "10.0.0.2", "9.9.9.9")
BOTH = pytest.mark.parametrize("semantics", [KIP_1042, KAFKA], ids=["kip-1042", "kafka"])


def ruler_of(acls, resources=("orders",), principals=("User:a",), semantics=KIP_1042):
    """What decides the sets of a small cluster, and the names in its rulings."""
    keys = [("TOPIC", name) if isinstance(name, str) else name for name in resources]
    asked = {"principals": principals, "hosts": HOSTS, "semantics": semantics}
    scope = scope_of(acls, resources=keys, **asked)
    prepared = prepare(scope, acl_table(acls))
    paired = pair_up(prepared, matched(scope, prepared))
    return prepared, paired, Ruler.of(prepared, paired.sets)


def ruled(acls, who="User:a", where="orders", **asked):
    """(host, operation) → decision and ACL, of one principal at one resource."""
    prepared, paired, ruler = ruler_of(acls, **asked)
    ((subject, resource, number),) = paired.pairs(1_000)
    names = [name for _, name in paired.resources.keys]
    ((of_pair),) = [
        n
        for s, r, n in zip(subject, resource, number, strict=True)
        if (prepared.principals[s], names[r]) == (who, where)
    ]
    return named(prepared, paired.sets, np.array([of_pair]), ruler)[0]


def named(prepared, sets, which, ruler):
    """Of each of some sets the rulings, by host and operation."""
    found = ruler.rule(which)
    rulings = [{} for _ in which]
    for at, host, operation, is_allowed, number in zip(
        found.set, found.host, found.operation, found.is_allowed, found.acl, strict=True
    ):
        name = ANY_OTHER if host == ANY_HOST else prepared.hosts[host]
        of_type = TYPES[sets.resource_type[which[at]]]
        key = name, OPERATIONS_OF_TYPE[of_type][operation]
        assert key not in rulings[at]
        by = None if number == NO_ACL else prepared.acl_ids[number].as_py()
        rulings[at][key] = ("ALLOWED" if is_allowed else "DENIED", by)
    return rulings


def at(host, rulings):
    """The rulings from a host that some ACL decides."""
    return {op: ruling for (h, op), ruling in rulings.items() if h == host and ruling[1]}


def test_every_operation_of_the_type_has_a_ruling_for_any_other_host():
    acls = [acl("g", resource_type="GROUP", operation="READ", acl_id="1")]
    found = ruled(acls, where="g", resources=(("GROUP", "g"),))
    assert found == {
        **{(ANY_OTHER, operation): ("DENIED", None) for operation in OPERATIONS_OF_TYPE["GROUP"]},
        (ANY_OTHER, "READ"): ("ALLOWED", "1"),
        (ANY_OTHER, "DESCRIBE"): ("ALLOWED", "1"),
    }


def test_a_host_has_rulings_for_the_operations_alone_that_an_acl_naming_it_answers():
    acls = [acl(host="10.0.0.1", operation="WRITE", acl_id="1"), acl(acl_id="2")]
    found = ruled(acls)
    assert {key: ruling for key, ruling in found.items() if key[0] != ANY_OTHER} == {
        ("10.0.0.1", "WRITE"): ("ALLOWED", "1"),
        ("10.0.0.1", "DESCRIBE"): ("ALLOWED", "1"),
    }
    assert at(ANY_OTHER, found) == {"READ": ("ALLOWED", "2"), "DESCRIBE": ("ALLOWED", "2")}


@BOTH
def test_a_deny_decides_before_every_allow_however_specific_these_are(semantics):
    acls = [
        acl("*", principal="User:*", permission_type="DENY", acl_id="deny"),
        acl(host="10.0.0.1", acl_id="allow"),
    ]
    found = ruled(acls, semantics=semantics)
    assert found["10.0.0.1", "READ"] == found[ANY_OTHER, "READ"] == ("DENIED", "deny")
    assert found["10.0.0.1", "DESCRIBE"] == ("ALLOWED", "allow")


def test_at_a_named_host_the_best_of_its_own_and_of_any_other_host_decides():
    acls = [
        acl(host="10.0.0.1", permission_type="DENY", acl_id="deny-host"),
        acl("ord", pattern_type="PREFIXED", host="10.0.0.2", acl_id="allow-wider"),
        acl(acl_id="allow"),
    ]
    found = ruled(acls)
    assert [found[host, "READ"] for host in (ANY_OTHER, "10.0.0.1", "10.0.0.2")] == [
        ("ALLOWED", "allow"),
        ("DENIED", "deny-host"),
        ("ALLOWED", "allow"),
    ]


@pytest.mark.parametrize(
    ("semantics", "any_other", "host"),
    [(KIP_1042, "literal", "literal-host"), (KAFKA, "prefix", "prefix")],
)
def test_of_several_allows_the_most_specific_decides_and_to_a_broker_the_last(
    semantics, any_other, host
):
    acls = [
        acl(acl_id="literal"),
        acl(host="10.0.0.1", acl_id="literal-host"),
        acl("ord", pattern_type="PREFIXED", acl_id="prefix"),
    ]
    found = ruled(acls, semantics=semantics)
    assert found[ANY_OTHER, "READ"] == ("ALLOWED", any_other)
    assert found["10.0.0.1", "READ"] == ("ALLOWED", host)


@BOTH
def test_of_several_denies_the_first_decides(semantics):
    acls = [
        acl(name, pattern_type=kind, permission_type="DENY", acl_id=name)
        for name, kind in (("*", "LITERAL"), ("ord", "PREFIXED"), ("orders", "LITERAL"))
    ]
    assert ruled(acls, semantics=semantics)[ANY_OTHER, "READ"] == ("DENIED", "orders")


def test_a_range_of_hosts_decides_at_each_host_within_it():
    acls = [acl(host="10.0.0.0/8", permission_type="DENY", acl_id="range"), acl(acl_id="all")]
    found = ruled(acls, semantics=replace(KIP_1042, cidr_hosts=True))
    assert {host: found[host, "READ"] for host, op in found if op == "READ"} == {
        ANY_OTHER: ("ALLOWED", "all"),
        "10.0.0.1": ("DENIED", "range"),
        "10.0.0.2": ("DENIED", "range"),
    }


def test_the_acls_of_the_class_decide_with_those_of_the_principal():
    acls = [
        acl(principal="User:*", operation="WRITE", acl_id="all"),
        acl(principal="User:*", host="10.0.0.1", permission_type="DENY", acl_id="deny"),
        acl(acl_id="own"),
    ]
    found = ruled(acls)
    assert at(ANY_OTHER, found) == {
        "READ": ("ALLOWED", "own"), "WRITE": ("ALLOWED", "all"), "DESCRIBE": ("ALLOWED", "own"),
    }  # fmt: skip
    assert at("10.0.0.1", found) == {"READ": ("DENIED", "deny")}


def test_a_set_of_a_class_alone_is_decided_too():
    acls = [acl(principal="User:*", acl_id="all")]
    prepared, paired, ruler = ruler_of(acls)
    (found,) = named(prepared, paired.sets, np.array([0]), ruler)
    assert at(ANY_OTHER, found) == {"READ": ("ALLOWED", "all"), "DESCRIBE": ("ALLOWED", "all")}


BELOW = [
    acl("*", acl_id="wildcard"),
    acl("*", permission_type="DENY", operation="WRITE", acl_id="wildcard-deny"),
    acl("#", acl_id="own"),
    acl("#", permission_type="DENY", operation="WRITE", acl_id="own-deny"),
]
ENDS_EVERY_SEARCH = acl("*", pattern_type="PREFIXED", principal="User:z", acl_id="end")
EMPTY = acl("", pattern_type="PREFIXED", acl_id="empty")


@pytest.mark.parametrize(
    ("acls", "allow"),
    [(BELOW, "own"), ([*BELOW, ENDS_EVERY_SEARCH], "wildcard"),
     ([*BELOW, ENDS_EVERY_SEARCH, EMPTY], "empty")],
    ids=["among-denies", "among-all", "an-empty-name-follows-the-wildcard"],
)  # fmt: skip
def test_below_the_wildcard_a_broker_meets_it_last_among_denies_or_all(acls, allow):
    found = ruled(acls, where="#", resources=("#",), semantics=KAFKA)
    assert found[ANY_OTHER, "READ"] == ("ALLOWED", allow)
    assert found[ANY_OTHER, "WRITE"] == ("DENIED", "own-deny")


def test_at_named_hosts_too_the_wildcard_is_met_last():
    acls = [replace(one, host="10.0.0.1") for one in (*BELOW, ENDS_EVERY_SEARCH)]
    found = ruled(acls, where="#", resources=("#",), semantics=KAFKA)
    assert found["10.0.0.1", "READ"] == ("ALLOWED", "wildcard")
    assert found["10.0.0.1", "WRITE"] == ("DENIED", "own-deny")


def test_a_wildcard_that_is_met_last_still_decides_where_nothing_else_does():
    found = ruled([acl("*", acl_id="wildcard")], where="!", resources=("!",), semantics=KAFKA)
    assert found[ANY_OTHER, "READ"] == ("ALLOWED", "wildcard")


def test_a_class_set_is_decided_anew_where_the_wildcard_is_met_otherwise():
    acls = [
        acl("*", principal="User:*", operation="WRITE", permission_type="DENY", acl_id="star"),
        acl("#", principal="User:*", operation="WRITE", permission_type="DENY", acl_id="other"),
        acl("#", operation="READ", acl_id="own"),
    ]
    found = ruled(acls, where="#", resources=("#",), semantics=KAFKA)
    assert found[ANY_OTHER, "WRITE"] == ("DENIED", "other")


MANY = [
    *[acl(name, acl_id=name) for name in ("a", "b", "c", "d")],
    acl("b", host="10.0.0.1", acl_id="host"),
    acl("c", principal="User:*", host="10.0.0.2", acl_id="class"),
]


@pytest.mark.parametrize("most", [1, 4, 100])
def test_sets_are_decided_the_same_in_any_parts_and_in_any_order(most):
    prepared, paired, ruler = ruler_of(MANY, resources=("a", "b", "c", "d"))
    every = np.arange(len(paired.sets))[::-1]
    parts = [*ruler.parts(every, most)]
    assert np.concatenate(parts).tolist() == every.tolist()
    assert (len(parts) == 1) == (most == 100)
    found = [r for part in parts for r in named(prepared, paired.sets, part, ruler)]
    assert found == named(prepared, paired.sets, every, ruler)
    assert len(found) == 5


def test_no_sets_have_no_parts_and_no_rulings():
    _, _, ruler = ruler_of(MANY, resources=())
    nothing = np.zeros(0, np.int64)
    assert [*ruler.parts(nothing, 10)] == []
    assert len(ruler.rule(nothing).set) == 0
