"""Random clusters: the kernel, the oracle and the plain rule decide the same, in any slices."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

from aclkit.model.acl import Request
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import BrokerSettings
from aclkit.model.symbol import RESOURCES
from aclkit.pipeline.explain import pairing
from aclkit.pipeline.inventory.survey import Given
from aclkit.rules.decide.order import BrokerRescan
from aclkit.rules.decide.rules import decide
from tests.pipeline.explain import oracle
from tests.pipeline.explain.decided import by_kernel
from tests.pipeline.explain.systems import Answers, scope_of
from tests.pipeline.explain.test_against_rules import (
    ACL_HOSTS,
    CASES,
    GIVEN,
    RANGES,
    SUPER_USERS,
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
    settings = BrokerSettings(super_users=SUPER_USERS, allow_everyone=everyone)
    acls = random_acls(f"{case} {seed}", RANGES if semantics.cidr_hosts else ACL_HOSTS)
    return semantics, settings, acls


def wrong_cells(answers, acls, settings):
    """Every cell that is answered otherwise than by the plain rule, and how many cells."""
    scope = answers.scope
    rescan, wrong, count = BrokerRescan.of(scope.texts.patterns), [], 0
    for entry in scope.inventory.resources:
        last = rescan.wildcard_is_last(*entry.key)
        near = [acl for acl in acls if acl.resource_type == entry.resource_type]
        operations = OPERATIONS_OF_TYPE[entry.resource_type]
        for cell in product(scope.principal_names, scope.host_names, operations):
            principal, host, operation = cell
            asked = Request(
                principal=principal, host=host, operation=operation,
                resource_type=entry.resource_type, resource_name=entry.name,
            )  # fmt: skip
            right = decide(near, asked, settings, scope.semantics, wildcard_is_last=last)
            found = answers.of_request(asked)
            count += 1
            if found != (right.decision, right.rule, right.acl_id):
                wrong.append((asked, found, right))
    return wrong, count


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", range(2))
def test_every_cell_is_what_the_plain_rule_says(case, seed):
    semantics, settings, acls = cluster(case, seed)
    scope = scope_of(acls, Given(entries=GIVEN, extend=True), settings, semantics)
    everyone = settings.allow_everyone
    answers = Answers.of(by_kernel(scope, acls), scope, allow_everyone=everyone)
    wrong, count = wrong_cells(answers, acls, settings)
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
        scope = scope_of(acls, Given(entries=ABOVE_THE_WILDCARD), settings, semantics)
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
        scope = scope_of(acls, Given(entries=GIVEN, extend=True), settings, semantics)
        assert scope.may_meet_wildcard_last
        at_once, in_slices = (by_kernel(scope, acls, most) for most in (IN_ONE, IN_MANY))
        for table, rows in at_once.items():
            assert Counter(rows) == Counter(in_slices[table]), (table, seed)
