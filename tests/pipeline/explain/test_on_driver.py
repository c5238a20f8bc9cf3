"""A few resources decided on the driver: the answers of the plain rule, and Spark's ids."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from aclkit.model.acl import ANY_OTHER, Request
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings
from aclkit.pipeline.explain.near import patterns_near, resources_matched
from aclkit.pipeline.explain.on_driver import (
    Ruler,
    Subjects,
    content_id,
    group_acls,
    pair_on_driver,
)
from aclkit.pipeline.inventory.identity import classify, match_hosts
from aclkit.rules.decide.rules import decide
from aclkit.rules.patterns.match import names_exactly, pattern_matches, reaches
from tests.pipeline.explain.test_against_rules import ACL_PRINCIPALS, random_acls

PRINCIPALS = ("User:a", "User:ab", "User:c", "Group:a", "User:a*", ":a")
HOSTS = ("10.0.0.1", "10.0.0.2", "192.168.0.1")
NAMES = ("", "a", "ab", "b", "zz", ANY_OTHER)


def tables(acls, semantics):
    """Pair and rule the topics and groups of NAMES; return pairs and rulings as dictionaries."""
    classes = classify(PRINCIPALS, ACL_PRINCIPALS, semantics)
    resources = [(kind, name) for kind in ("TOPIC", "GROUP") for name in NAMES]
    near = {r: group_acls(a for a in acls if reaches(a, *r, semantics)) for r in resources}
    own = frozenset(p for p in PRINCIPALS if names_exactly(p, semantics))
    found = pair_on_driver(
        near,
        dict.fromkeys(resources),
        Subjects(own=own, class_of=classes.class_of, texts_of=classes.texts_of),
    )
    texts = {acl.host for acl in acls}
    named = {text: [] for text in texts}
    for text, host in match_hosts(texts, HOSTS, semantics):
        named[text] = None if host == ANY_OTHER or named[text] is None else [*named[text], host]
    ruler = Ruler(named, semantics)
    rulings = {
        ruleset_id: {(row.operation, row.host): row[2:] for row in ruler.rule(held)}
        for ruleset_id, held in found.rulesets.items()
    }
    return classes.class_of, found, rulings


@pytest.mark.parametrize("semantics", [KIP_1042, KAFKA], ids=["kip-1042", "kafka"])
@pytest.mark.parametrize("seed", range(8))
def test_the_rulings_of_a_few_pairs_are_those_of_the_plain_rule(seed, semantics):
    acls = [
        replace(acl, acl_id=f"{part}-{acl.acl_id}")
        for part in range(4)
        for acl in random_acls(f"{seed} {part}")
    ]
    class_of, found, rulings = tables(acls, semantics)
    looked_at = 0
    for (class_id, kind, name), shared in found.class_pairs.items():
        principals = [p for p in PRINCIPALS if class_of[p] == class_id]
        for principal, operation, host in product(principals, OPERATIONS_OF_TYPE[kind], HOSTS):
            ruleset = found.pairs.get((principal, kind, name), shared)
            right = decide(
                acls,
                Request(
                    principal=principal,
                    host=host,
                    operation=operation,
                    resource_type=kind,
                    resource_name=name,
                ),
                BrokerSettings(),
                semantics,
            )
            if ":" in ruleset:  # none:TYPE, other:TYPE
                assert right.acl is None
                continue
            told = rulings[ruleset].get((operation, host), rulings[ruleset][operation, ANY_OTHER])
            expected = (right.decision, right.rule, right.acl and right.acl.acl_id)
            assert told == expected, (principal, host, operation, kind, name)
            looked_at += 1
    assert looked_at > 10


def test_a_hash_of_ids_does_not_depend_on_their_order():
    assert content_id(["b", "a"]) == content_id(["a", "b"]) != content_id(["a"])


@pytest.mark.parametrize("semantics", [KIP_1042, KAFKA], ids=["kip-1042", "kafka"])
def test_no_pattern_that_matches_a_resource_is_left_out_of_those_near(semantics):
    patterns = [
        ("TOPIC", form, text)
        for form in ("LITERAL", "PREFIXED", "GLOB", "UNKNOWN(9)")
        for text in ("", "a", "ab", "b", "*", "?", "a*", "*b", "?b", "a?c*", "zz", "zzz")
    ]
    resources = [("TOPIC", name) for name in ("", "ab", "b", "*", "*x", "zz", ANY_OTHER)]
    near = set(patterns_near(patterns, resources, semantics))
    matching = {
        p for p in patterns for r in resources if pattern_matches(p[1], p[2], r[1], semantics)
    }
    assert matching <= near < set(patterns)


@pytest.mark.parametrize("form", ["LITERAL", "PREFIXED", "GLOB"])
def test_a_pattern_that_matches_the_empty_name_alone_is_near_it(form):
    """The name of a group may be empty, and an empty text is no "none was found"."""
    assert patterns_near([("GROUP", form, "")], [("GROUP", "")], KAFKA) == [("GROUP", form, "")]


@pytest.mark.parametrize("semantics", [KIP_1042, KAFKA], ids=["kip-1042", "kafka"])
def test_patterns_are_matched_with_a_few_resources_as_the_specification_says(semantics):
    patterns = [
        ("TOPIC", form, text)
        for form in ("LITERAL", "PREFIXED", "GLOB", "UNKNOWN(9)")
        for text in ("", "a", "ab", "b", "*", "?", "a*", "*b", "?b", "a?c*", "zz", "zzz")
    ]
    resources = [("TOPIC", name) for name in ("", "ab", "abc", "b", "*", "*x", "zz")]
    resources.append(("GROUP", "a"))
    expected = {
        (p, r)
        for p in patterns
        for r in resources
        if p[0] == r[0] and pattern_matches(p[1], p[2], r[1], semantics)
    }
    found = list(resources_matched(patterns, resources, semantics))
    assert (set(found), len(found)) == (expected, len(expected))
