"""Pairs of a slice: which set of groups applies to whom at which resource."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.pipeline.explain import pairing
from aclkit.pipeline.explain.pairing import (
    NO_SET,
    TYPES,
    common_patterns,
    kinds_of,
    pair_up,
)
from aclkit.pipeline.explain.prepared import AMONG_ALL, AMONG_DENIES, NEVER, prepare
from tests.factories import acl
from tests.pipeline.explain.decided import acl_table, matched
from tests.pipeline.explain.frames import scope_of

USERS = tuple(f"User:u{number}" for number in range(9))


def prepared_of(acls, resources, principals=("User:a", "User:b", "User:c"), **asked):
    topics = [("TOPIC", name) if isinstance(name, str) else name for name in resources]
    scope = scope_of(acls, principals=principals, resources=topics, **asked)
    prepared = prepare(scope, acl_table(acls))
    return scope, prepared, matched(scope, prepared)


def paired_of(acls, resources, **asked):
    scope, prepared, resources = prepared_of(acls, resources, **asked)
    return scope, prepared, pair_up(prepared, resources)


def acls_of_sets(prepared, sets):
    """The ids of the ACLs of each set, sorted."""
    found = [[] for _ in range(len(sets))]
    row, group = sets.groups(np.arange(len(sets)))
    ids = prepared.groups.acl_ids.to_pylist()
    for at, number in zip(row.tolist(), group.tolist(), strict=True):
        found[at] += ids[number]
    return [sorted(ids) for ids in found]


def pairs_of(prepared, paired, most=1_000):
    """(principal, resource) → the ACLs of its set."""
    held = acls_of_sets(prepared, paired.sets)
    names = [name for _, name in paired.resources.keys]
    rows = [
        (prepared.principals[s], names[r], held[n])
        for found in paired.pairs(most)
        for s, r, n in zip(*(column.tolist() for column in found), strict=True)
    ]
    assert len({row[:2] for row in rows}) == len(rows)
    return {row[:2]: row[2] for row in rows}


def class_pairs_of(prepared, paired):
    """(the principals of a class, resource) → the ACLs of its set, or None."""
    held = acls_of_sets(prepared, paired.sets)
    members = [
        " ".join(w for w, of in zip(prepared.principals, prepared.class_of, strict=True) if of == n)
        for n in range(len(prepared.classes))
    ]
    return {
        (members[of_class], name): None if number == NO_SET else held[number]
        for (_, name), row in zip(paired.resources.keys, paired.class_set.tolist(), strict=True)
        for of_class, number in enumerate(row)
    }


ACLS = [
    acl("pay", pattern_type="PREFIXED", principal="User:a", acl_id="prefix-a"),
    acl("pay-in", principal="User:a", acl_id="literal-a"),
    acl("pay-in", principal="User:*", acl_id="literal-all"),
    acl("*", principal="User:b", acl_id="all-b"),
    acl("pay-in", resource_type="GROUP", principal="User:a", acl_id="group-a"),
]
RESOURCES = ("pay-in", "pay-out", "x", ("GROUP", "y"))


@pytest.mark.parametrize("few", [1, 8], ids=["as-kinds", "as-additions"])
def test_a_pair_has_the_acls_that_reach_the_resource_for_the_principal_and_its_class(
    monkeypatch, few
):
    monkeypatch.setattr(pairing, "_FEW_SUBJECTS", few)
    _, prepared, paired = paired_of(ACLS, RESOURCES)
    assert pairs_of(prepared, paired) == {
        ("User:a", "pay-in"): ["literal-a", "literal-all", "prefix-a"],
        ("User:a", "pay-out"): ["prefix-a"],
        ("User:b", "pay-in"): ["all-b", "literal-all"],
        ("User:b", "pay-out"): ["all-b"],
        ("User:b", "x"): ["all-b"],
    }


def test_every_class_and_resource_has_the_set_of_the_groups_that_stand_for_the_class():
    acls = [*ACLS, acl("x", principal="User:b*", acl_id="glob")]
    _, prepared, paired = paired_of(acls, RESOURCES, principals=("User:a", "User:bc"))
    assert class_pairs_of(prepared, paired) == {
        ("User:a", "pay-in"): ["literal-all"],
        ("User:bc", "pay-in"): ["literal-all"],
        ("User:a", "pay-out"): None,
        ("User:bc", "pay-out"): None,
        ("User:a", "x"): None,
        ("User:bc", "x"): ["glob"],
        ("User:a", "y"): None,
        ("User:bc", "y"): None,
    }


def test_super_users_have_no_pairs():
    asked = {"principals": ("User:a", "User:b"), "super_users": frozenset({"User:b"})}
    _, prepared, paired = paired_of(ACLS, ("pay-in",), **asked)
    assert {who for who, _ in pairs_of(prepared, paired)} == {"User:a"}


HEAVY = [acl("pay-", pattern_type="PREFIXED", principal=who, acl_id=who) for who in USERS]
TOPICS = ("pay-1", "pay-2", "pay-3")


def test_a_pattern_of_eight_principals_that_matches_several_resources_makes_a_kind():
    acls = [*HEAVY, acl("pay-1", acl_id="own"), *[acl("x", principal=who) for who in USERS]]
    _, prepared, resources = prepared_of(acls, (*TOPICS, "x"), principals=("User:a", *USERS))
    is_common = common_patterns(prepared, resources.pattern)
    assert {prepared.patterns[n][2]: bool(is_one) for n, is_one in enumerate(is_common)} == {
        "pay-": True,
        "pay-1": False,
        "x": False,
    }
    kind, example = kinds_of(prepared, resources, is_common[resources.pattern])
    assert [n == kind[0] for n in kind] == [True, True, True, False]
    assert [*kind[example]] == [0, 1]


def test_a_pattern_that_stands_for_a_class_makes_a_kind_even_at_one_resource():
    acls = [acl("x", principal="User:*", acl_id="all"), acl("y", acl_id="own")]
    _, prepared, resources = prepared_of(acls, ("x", "y", "z"))
    is_common = common_patterns(prepared, resources.pattern)
    assert is_common.tolist() == [True, False]
    kind, _ = kinds_of(prepared, resources, is_common[resources.pattern])
    assert (kind[0] != kind[1], kind[1] == kind[2]) == (True, True)


def test_what_a_kind_grants_is_found_once_for_all_its_resources():
    _, prepared, paired = paired_of(HEAVY, TOPICS, principals=USERS)
    assert (len(paired.subject), len(paired.added_subject)) == (9, 0)
    assert (len(paired.sets), len(pairs_of(prepared, paired))) == (9, 27)


def test_a_pattern_of_few_principals_adds_to_what_the_kind_has_or_stands_alone():
    acls = [
        *HEAVY,
        acl("pay-1", principal="User:u0", acl_id="more"),
        acl("pay-1", principal="User:a", acl_id="alone"),
    ]
    _, prepared, paired = paired_of(acls, TOPICS, principals=("User:a", *USERS))
    assert pairs_of(prepared, paired) == {
        **{(who, topic): [who] for who in USERS for topic in TOPICS},
        ("User:u0", "pay-1"): ["User:u0", "more"],
        ("User:a", "pay-1"): ["alone"],
    }
    assert len(paired.sets) == 9 + 2


def test_a_set_of_a_kind_that_is_added_to_at_every_resource_is_no_set():
    acls = [*HEAVY, *[acl(topic, principal="User:u0", acl_id=topic) for topic in TOPICS]]
    _, prepared, paired = paired_of(acls, TOPICS, principals=USERS)
    assert ["User:u0"] not in acls_of_sets(prepared, paired.sets)
    assert (paired.set == NO_SET).tolist() == [True, *[False] * 8]
    assert pairs_of(prepared, paired) == {
        **{(who, topic): [who] for who in USERS[1:] for topic in TOPICS},
        **{("User:u0", topic): ["User:u0", topic] for topic in TOPICS},
    }


def test_the_groups_of_a_class_are_part_of_every_set_of_its_principals():
    acls = [*HEAVY, acl("pay-2", principal="User:*", acl_id="all"), acl("pay-2", acl_id="own")]
    _, prepared, paired = paired_of(acls, TOPICS, principals=("User:a", *USERS))
    found = pairs_of(prepared, paired)
    assert found["User:a", "pay-2"] == ["all", "own"]
    assert [found["User:u3", topic] for topic in TOPICS] == [
        ["User:u3"], ["User:u3", "all"], ["User:u3"],
    ]  # fmt: skip


@pytest.mark.parametrize("few", [1, 8], ids=["as-kinds", "as-additions"])
def test_equal_groups_are_one_set_wherever_they_meet(monkeypatch, few):
    monkeypatch.setattr(pairing, "_FEW_SUBJECTS", few)
    acls = [
        acl("pay", pattern_type="PREFIXED", principal="User:a", acl_id="1"),
        acl("pay", pattern_type="PREFIXED", principal="User:*", acl_id="2"),
        acl("*", principal="User:a", acl_id="3"),
    ]
    _, prepared, paired = paired_of(acls, ("pay-1", "pay-2", "x", "y"), principals=("User:a",))
    assert sorted(acls_of_sets(prepared, paired.sets)) == [["1", "2", "3"], ["2"], ["3"]]


def test_a_set_has_the_type_of_its_resources():
    acls = [acl("x", resource_type=kind, acl_id=kind) for kind in ("GROUP", "TOPIC")]
    _, prepared, paired = paired_of(acls, (("GROUP", "x"), ("TOPIC", "x")))
    held = acls_of_sets(prepared, paired.sets)
    assert {ids[0]: TYPES[paired.sets.resource_type[n]] for n, ids in enumerate(held)} == {
        "GROUP": "GROUP",
        "TOPIC": "TOPIC",
    }


@pytest.mark.parametrize("few", [1, 8], ids=["as-kinds", "as-additions"])
def test_the_same_groups_are_another_set_where_the_broker_meets_the_wildcard_last(monkeypatch, few):
    monkeypatch.setattr(pairing, "_FEW_SUBJECTS", few)
    acls = [
        acl("*", acl_id="own"),
        acl("*", principal="User:*", acl_id="all"),
        acl("#", principal="User:b", acl_id="b"),
    ]
    _, prepared, paired = paired_of(acls, ("!", "#", "a"), semantics=KAFKA)
    held = acls_of_sets(prepared, paired.sets)
    found = Counter(
        (*ids, last) for ids, last in zip(held, paired.sets.met_last.tolist(), strict=True)
    )
    lasts = (NEVER, AMONG_DENIES, AMONG_ALL)
    assert found == Counter(
        [*(("all", "own", n) for n in lasts), *(("all", n) for n in lasts),
         ("all", "b", AMONG_DENIES)]
    )  # fmt: skip


def test_a_set_that_a_class_is_part_of_names_its_set_where_the_wildcard_is_met_the_same():
    acls = [acl("*", acl_id="own"), acl("*", principal="User:*", acl_id="all")]
    _, _, paired = paired_of(acls, ("!", "a"), semantics=KAFKA)
    sets = paired.sets
    assert sets.of_class.min() > NO_SET
    assert sets.class_met_last[sets.of_class].tolist() == sets.met_last.tolist()


@pytest.mark.parametrize("most", [1, 4, 1_000])
def test_pairs_come_in_ranges_of_resources_each_sorted_by_principal_and_resource(most):
    acls = [*HEAVY, acl("pay-2", acl_id="own")]
    _, prepared, paired = paired_of(acls, TOPICS, principals=("User:a", *USERS))
    ranges = [found[:2] for found in paired.pairs(most)]
    for subject, resource in ranges:
        assert [*zip(subject, resource, strict=True)] == sorted(zip(subject, resource, strict=True))
    assert all(max(one) < min(other) for (_, one), (_, other) in pairwise(ranges))
    assert len(ranges) == (1 if most == 1_000 else 3)
    assert pairs_of(prepared, paired, most) == pairs_of(prepared, paired)


def test_a_range_ends_before_it_has_more_pairs_than_asked_for():
    _, _, paired = paired_of(HEAVY, TOPICS, principals=USERS)
    assert [len(subject) for subject, *_ in paired.pairs(18)] == [18, 9]
    assert [len(subject) for subject, *_ in paired.pairs(17)] == [9, 9, 9]


@pytest.mark.parametrize(
    ("acls", "resources", "principals"),
    [
        ([], ("x",), ("User:a",)),
        (ACLS, (), ("User:a",)),
        (ACLS, ("x",), ()),
        ([acl("x", principal="User:nobody")], ("x",), ("User:a",)),
    ],
    ids=["acls", "resources", "principals", "acl-of-any-of-these"],
)
def test_without_acls_resources_or_principals_there_are_no_pairs_and_no_sets(
    acls, resources, principals
):
    scope, prepared, paired = paired_of(acls, resources, principals=principals)
    assert (pairs_of(prepared, paired), len(paired.sets)) == ({}, 0)
    classes = len({*scope.classes.class_of.values()})
    assert paired.class_set.tolist() == [[NO_SET] * classes for _ in resources]


def test_a_slice_has_the_pairs_that_all_resources_together_have_there():
    acls = [*HEAVY, *ACLS, acl("pay-2", principal="User:*", acl_id="all-2")]
    asked = {"principals": ("User:a", "User:b", *USERS), "semantics": KIP_1042}
    _, prepared, resources = prepared_of(acls, (*TOPICS, *RESOURCES), **asked)
    whole = pairs_of(prepared, pair_up(prepared, resources))
    of_slices = [
        pairs_of(prepared, pair_up(prepared, resources.part(start, start + 2)))
        for start in range(0, len(resources), 2)
    ]
    assert {key: ids for found in of_slices for key, ids in found.items()} == whole
