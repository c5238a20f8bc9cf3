"""Random clusters: the kernel, the oracle and the plain rule decide the same, in any slices."""

from __future__ import annotations

from collections import Counter

import pytest

from aclkit.model.acl import ANY_OTHER, Request
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import BrokerSettings
from aclkit.pipeline.explain import pairing
from aclkit.pipeline.explain.default_rulesets import default_rulings
from aclkit.pipeline.explain.scope import Scope
from aclkit.pipeline.inventory.entry import RESOURCES
from aclkit.pipeline.inventory.survey import Given, Texts, survey
from aclkit.rules.decide.broker_rescan import BrokerRescan
from aclkit.rules.decide.rules import decide
from tests.pipeline.explain import oracle
from tests.pipeline.explain.decided import by_kernel
from tests.pipeline.explain.test_against_rules import (
    ACL_HOSTS,
    CASES,
    GIVEN,
    RANGES,
    SUPER_USER,
    random_acls,
)

ABOVE_THE_WILDCARD = {
    **GIVEN,
    RESOURCES: [entry for entry in GIVEN[RESOURCES] if entry.name != "!"],
}
IN_ONE, IN_MANY = 1_000_000, 60
"""Entries of a slice: all resources in one, and a few in each."""


def cluster(case, seed):
    """The settings of a case, and random ACLs."""
    semantics, everyone = CASES[case]
    settings = BrokerSettings(super_users=frozenset({SUPER_USER}), allow_everyone=everyone)
    acls = random_acls(f"{case} {seed}", RANGES if semantics.cidr_hosts else ACL_HOSTS)
    return semantics, settings, acls


def scope_of(acls, semantics, settings, given):
    patterns = Counter(sorted(acl.pattern for acl in acls))
    texts = Texts(
        patterns=tuple(patterns),
        counts=tuple(patterns.values()),
        principals=tuple(sorted({acl.principal for acl in acls})),
        hosts=tuple(sorted({acl.host for acl in acls})),
    )
    return Scope(
        cluster_id="c",
        texts=texts,
        inventory=survey(texts, [], given, settings, semantics),
        semantics=semantics,
        super_users=settings.super_users,
    )


def wrong_cells(tables, scope, acls, settings):
    """Every cell that the tables answer otherwise than the plain rule, and how many cells."""
    rulings = [*tables["explain_ruling"]]
    rulings += [("c", *row) for row in default_rulings(allow_everyone=settings.allow_everyone)]
    pairs = {row[1:4]: row[4] for row in tables["explain_pair"]}
    class_pairs = {row[1:4]: row[4] for row in tables["explain_class_pair"]}
    ruled = {row[1:4]: row[4:] for row in rulings}
    assert (len(ruled), len(pairs)) == (len(rulings), len(tables["explain_pair"]))
    rescan, wrong, count = BrokerRescan.of(scope.texts.patterns), [], 0
    for entry in scope.inventory.resources:
        last = rescan.wildcard_is_last(*entry.key)
        near = [acl for acl in acls if acl.resource_type == entry.resource_type]
        for principal in scope.principal_names:
            shared = class_pairs[scope.classes.class_of[principal], *entry.key]
            ruleset = pairs.get((principal, *entry.key), shared)
            ruleset = "super" if principal in scope.super_users else ruleset
            for host in scope.host_names:
                for operation in OPERATIONS_OF_TYPE[entry.resource_type]:
                    asked = Request(
                        principal=principal, host=host, operation=operation,
                        resource_type=entry.resource_type, resource_name=entry.name,
                    )  # fmt: skip
                    right = decide(near, asked, settings, scope.semantics, wildcard_is_last=last)
                    other = ruled.get((ruleset, ANY_OTHER, operation))
                    found = ruled.get((ruleset, host, operation), other)
                    count += 1
                    if found != (right.decision, right.rule, right.acl_id):
                        wrong.append((asked, found, right))
    return wrong, count


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", range(2))
def test_every_cell_is_what_the_plain_rule_says(case, seed):
    semantics, settings, acls = cluster(case, seed)
    scope = scope_of(acls, semantics, settings, Given(entries=GIVEN, extend=True))
    wrong, count = wrong_cells(by_kernel(scope, acls), scope, acls, settings)
    assert wrong == []
    assert count > 10_000


@pytest.mark.parametrize("most", [IN_ONE, IN_MANY])
@pytest.mark.parametrize("few", [1, 8])
@pytest.mark.parametrize("case", CASES)
def test_the_tables_are_those_of_the_oracle_whatever_the_slices_and_kinds(
    monkeypatch, case, few, most
):
    monkeypatch.setattr(pairing, "_FEW_SUBJECTS", few)
    for seed in range(10):
        semantics, settings, acls = cluster(case, seed)
        given = Given(entries=ABOVE_THE_WILDCARD)
        scope = scope_of(acls, semantics, settings, given)
        expected = oracle.decide_all(scope, acls, allow_everyone=settings.allow_everyone)
        defaults = {row[1] for row in expected["ruleset"] if not row[3]}
        for table, rows in by_kernel(scope, acls, most).items():
            held = [row for row in expected[table] if row[1] not in defaults]
            assert Counter(rows) == Counter(held), (table, seed)


@pytest.mark.parametrize("few", [1, 8])
def test_names_below_the_wildcard_are_decided_the_same_in_any_slices(monkeypatch, few):
    monkeypatch.setattr(pairing, "_FEW_SUBJECTS", few)
    for seed in range(5):
        semantics, settings, acls = cluster("kafka", seed)
        scope = scope_of(acls, semantics, settings, Given(entries=GIVEN, extend=True))
        assert scope.may_meet_wildcard_last
        at_once, in_slices = (by_kernel(scope, acls, most) for most in (IN_ONE, IN_MANY))
        for table, rows in at_once.items():
            assert Counter(rows) == Counter(in_slices[table]), (table, seed)
