"""What the slices of a decision share: whom each group is about, and where the wildcard is last."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aclkit.model.acl import ANY_OTHER_PRINCIPAL
from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.pipeline.explain.prepared import (
    AMONG_ALL,
    AMONG_DENIES,
    NEVER,
    Matched,
    Resources,
    prepare,
)
from tests.factories import acl
from tests.pipeline.explain.decided import acl_table
from tests.pipeline.explain.frames import scope_of

PRINCIPALS = ("User:a", "User:ab", "User:root")
ACLS = [
    acl("pay", principal="User:a"),
    acl("pay", principal="User:*"),
    acl("pay", principal="User:a*"),
    acl("x", principal="User:root"),
    acl("x", principal="User:ab"),
    acl("x", principal="User:unknown"),
]


def prepared_of(acls=ACLS, **asked):
    scope = scope_of(acls, **{"principals": PRINCIPALS, **asked})
    return scope, prepare(scope, acl_table(acls))


def granted(grants, patterns, names, p):
    """pattern → who a group of it is about, and the principal of its ACLs."""
    return {
        p.patterns[n][2]: [
            (names[grants.subject[at]], p.acl_principals[p.groups.principal[grants.group[at]]])
            for at in grants.of_pattern.elements(np.array([n]))[1]
        ]
        for n in range(patterns)
    }


def test_a_pattern_grants_to_the_principals_that_a_text_names_exactly():
    _, p = prepared_of()
    assert granted(p.own, 2, p.principals, p) == {
        "pay": [("User:a", "User:a")],
        "x": [("User:root", "User:root"), ("User:ab", "User:ab")],
    }


def test_super_users_are_granted_nothing_by_name():
    _, p = prepared_of(super_users=frozenset({"User:root"}))
    assert granted(p.own, 2, p.principals, p) == {
        "pay": [("User:a", "User:a")],
        "x": [("User:ab", "User:ab")],
    }


def test_any_other_principal_is_granted_nothing_by_name():
    acls = [acl("pay", principal=ANY_OTHER_PRINCIPAL)]
    scope = scope_of(acls, principals=(ANY_OTHER_PRINCIPAL,), semantics=KAFKA)
    (entry,) = scope.inventory.principals
    others = replace(scope.inventory, principals=(replace(entry, witness="User:z"),))
    p = prepare(replace(scope, inventory=others), acl_table(acls))
    assert granted(p.own, 1, p.principals, p) == {"pay": []}


@pytest.mark.parametrize("semantics", [KIP_1042, KAFKA], ids=["kip-1042", "kafka"])
def test_a_pattern_grants_to_each_class_that_a_text_stands_for(semantics):
    scope, p = prepared_of(semantics=semantics)
    classes = scope.classes
    assert p.classes == list(classes.texts_of)
    assert [p.classes[n] for n in p.class_of] == [classes.class_of[who] for who in PRINCIPALS]
    texts = {class_id: [*of_class] for class_id, of_class in classes.texts_of.items()}
    expected = sorted((class_id, text) for class_id, found in texts.items() for text in found)
    found = granted(p.shared, 2, p.classes, p)
    assert (sorted(found["pay"]), found["x"]) == (expected, [])
    # Without globs User:a* names the principal of that name exactly.
    assert sorted(texts.values()) == (
        [["User:*"], ["User:*", "User:a*"]] if semantics is KIP_1042 else [["User:*"]]
    )


def test_the_patterns_that_match_a_name_are_found_by_their_numbers():
    acls = [
        acl("pay", pattern_type="PREFIXED"),
        acl("*"),
        acl("pay-in"),
        acl("p?y-*", pattern_type="GLOB"),
    ]
    _, p = prepared_of(acls)
    assert sorted(p.index.matches("TOPIC", "pay-in")) == [0, 1, 2, 3]
    assert sorted(p.index.matches("TOPIC", "x")) == [1]
    assert p.index.matches("GROUP", "pay-in") == []


def test_groups_of_the_wildcard_are_met_last_and_among_allows_those_of_empty_names_too():
    acls = [
        acl("*"),
        acl("", pattern_type="PREFIXED"),
        acl("*", pattern_type="PREFIXED"),
        acl("*", resource_type="GROUP"),
        acl("x"),
    ]
    _, p = prepared_of(acls, semantics=KAFKA)
    denies, allows = p.met_last
    assert denies.tolist() == [True, False, False, True, False]
    assert allows.tolist() == [True, True, False, True, False]


def test_where_the_wildcard_is_never_last_adds_nothing_to_a_fingerprint():
    _, p = prepared_of()
    bits = [
        (int(h), int(low)) for h, low in zip(p.of_met_last.high, p.of_met_last.low, strict=True)
    ]
    assert bits[NEVER] == (0, 0)
    assert len({*bits}) == 3


def test_fingerprints_are_drawn_for_every_group_and_every_pattern():
    _, p = prepared_of()
    assert (len(p.of_groups), len(p.of_patterns)) == (6, 2)
    assert len({*p.of_groups.high.tolist(), *p.of_patterns.high.tolist()}) == 8


@pytest.mark.parametrize(("semantics", "sign"), [(KIP_1042, 1), (KAFKA, -1)])
def test_the_last_allow_of_a_broker_is_the_least_of_negative_numbers(semantics, sign):
    assert prepared_of(semantics=semantics)[1].sign == sign


def test_nothing_asked_about_and_no_acls_are_prepared_too():
    _, p = prepared_of([], principals=())
    assert (len(p.principals), len(p.classes), len(p.patterns), len(p.groups.ids)) == (0, 0, 0, 0)


def resources_of(acls, *names, semantics=KAFKA):
    return Resources.of(
        scope_of(acls, resources=[("TOPIC", name) for name in names], semantics=semantics)
    )


def test_resources_are_sorted_by_type_and_name():
    asked = (("TOPIC", "b"), ("GROUP", "z"), ("TOPIC", "a"))
    found = Resources.of(scope_of(ACLS, resources=asked))
    assert found.keys == [("GROUP", "z"), ("TOPIC", "a"), ("TOPIC", "b")]
    assert (found.met_last.tolist(), len(found)) == ([NEVER] * 3, 3)


def test_a_broker_meets_the_wildcard_last_for_names_below_it_among_denies_or_all():
    acls = [acl("*"), acl("#")]
    found = resources_of(acls, "!", "#", "a")
    assert found.met_last.tolist() == [AMONG_ALL, AMONG_DENIES, NEVER]


def test_where_the_most_specific_acl_decides_the_wildcard_is_nowhere_last():
    found = resources_of([acl("*"), acl("#")], "!", "#", "a", semantics=KIP_1042)
    assert found.met_last.tolist() == [NEVER] * 3


MATCHED = Matched.of(
    Resources([("TOPIC", name) for name in "abcd"], np.array([0, 2, 0, 1])),
    [[3, 1], [], [2], [1, 2]],
)


def test_a_matched_resource_has_the_patterns_that_were_found_for_it():
    assert MATCHED.pattern.tolist() == [3, 1, 2, 1, 2]
    assert MATCHED.resource.tolist() == [0, 0, 2, 3, 3]
    assert len(MATCHED) == 4


@pytest.mark.parametrize(
    ("start", "end", "found"),
    [(0, 4, [[3, 1], [], [2], [1, 2]]), (1, 3, [[], [2]]), (3, 4, [[1, 2]]), (2, 2, [])],
)
def test_a_part_has_the_resources_of_a_range_alone(start, end, found):
    part = MATCHED.part(start, end)
    assert part.keys == MATCHED.keys[start:end]
    assert part.met_last.tolist() == MATCHED.met_last[start:end].tolist()
    lists = [part.pattern[part.lists.elements(np.array([n]))[1]].tolist() for n in range(len(part))]
    assert lists == found


def test_no_resources_have_a_part_without_any():
    none = Matched.of(Resources([], np.zeros(0, np.int64)), [])
    part = none.part(0, 0)
    assert (len(part), part.pattern.tolist()) == (0, [])
