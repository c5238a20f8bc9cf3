"""Two states → what differs for every name: against the rule, asked about every short name."""

from __future__ import annotations

import random

import pytest

from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings
from aclkit.rules.decide.index import AclIndex
from aclkit.rules.names.cells import CellsOfType
from aclkit.rules.names.compare import (
    AT_LEAST_MORE,
    EQUIVALENT,
    GAINED,
    LESS,
    LOST,
    MORE,
    UNKNOWN,
    compare,
)
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import ONE, RUN, Rules
from tests.rules.names.world import (
    decisions,
    is_allowed,
    is_in,
    names_up_to,
    random_texts,
    rules,
    told_apart,
)

EVERYONE = BrokerSettings(allow_everyone=True)
NAMES = names_up_to(6)


def gains(before: list[str], after: list[str]) -> dict[str, str]:
    """Return who gains what name first."""
    found = compare(rules(before), rules(after), Budget())
    assert found.is_known
    return {change.cell.principal.name: change.name for change in found.of_kind(GAINED)}


def test_a_deny_that_two_globs_make_needed_is_missed_where_it_goes() -> None:
    both = ["ALLOW User:bob READ GLOB *pii*", "DENY User:bob READ GLOB *pii*eu*"]
    assert gains([*both, "DENY User:bob READ GLOB *eu*"], both) == {"User:bob": "eupii"}


def test_short_names_that_a_glob_does_not_reach_are_gained() -> None:
    deny = "DENY User:dan ALL GLOB team-??*"
    assert gains([deny], [deny, "ALLOW User:dan READ PREFIXED team-"]) == {"User:dan": "team-"}


def test_a_principal_that_two_globs_share_is_gained() -> None:
    allow = "ALLOW User:svc-* READ LITERAL logs"
    lifted = gains([allow, "DENY User:*-test READ LITERAL logs"], [allow])
    assert lifted == {"User:svc-test": "logs"}


def test_an_allow_with_its_own_deny_changes_nothing() -> None:
    base = ["ALLOW User:x READ PREFIXED a"]
    pair = ["ALLOW User:x ALL GLOB *b*", "DENY User:x ALL GLOB *b*"]
    denied_before = [*base, pair[1]]
    assert compare(rules(denied_before), rules([*base, *pair]), Budget()).verdict == EQUIVALENT


def test_the_first_acl_of_a_name_takes_it_from_everybody_else_where_the_default_allows() -> None:
    before = rules([], settings=EVERYONE)
    found = compare(before, rules(["ALLOW User:x READ PREFIXED a"], settings=EVERYONE), Budget())
    assert found.verdict == LESS
    assert ("User:z", "READ", "a") in {
        (change.cell.principal.name, change.cell.operation, change.name)
        for change in found.of_kind(LOST)
    }


def test_where_others_reach_the_same_names_a_default_comes_to_decide_nothing() -> None:
    both = ["ALLOW User:q READ GLOB ?", "ALLOW User:q READ GLOB ??*", "DENY User:y READ LITERAL b"]
    before = rules([*both, "ALLOW User:x READ PREFIXED a"], settings=EVERYONE)
    for stays, asked in ((both, ["User:x"]), (both[1:], ["User:q", "User:x", "User:y", "User:z"])):
        after = rules(stays, settings=EVERYONE)
        cells = CellsOfType("TOPIC", before, after, Budget())
        assert [each.name for each in cells.principals] == asked
        check_against_the_rule(before, after)


def test_a_default_that_is_switched_on_opens_what_nothing_reaches() -> None:
    acls = ["ALLOW User:x READ GLOB ?*"]
    on = rules(acls, settings=EVERYONE)
    assert compare(rules(acls), on, Budget()).verdict == MORE  # a group may have no name
    of_topics = [c for c in compare(rules(acls), on, Budget()).changes if c.cell[0] == "TOPIC"]
    assert of_topics == []


def test_a_super_user_gains_what_is_denied_to_him() -> None:
    acls = ["DENY User:x READ PREFIXED a"]
    found = compare(
        rules(acls),
        rules(acls, settings=BrokerSettings(super_users=frozenset({"User:x"}))),
        Budget(),
    )
    assert found.verdict == MORE
    assert {change.cell.principal.name for change in found.changes} == {"User:x"}


def test_the_same_acls_read_in_another_way_are_another_state() -> None:
    acls = ["ALLOW User:x READ GLOB a*b"]
    found = compare(rules(acls), rules(acls, semantics=KAFKA), Budget())
    assert found.verdict == LESS


def test_what_is_beyond_the_budget_is_unknown_and_never_a_guess() -> None:
    hard = ["ALLOW User:x READ GLOB *a????????"]
    added = "ALLOW User:x READ GLOB *b*a????????"
    before, after = rules(hard), rules([*hard, added])
    small = compare(before, after, Budget(per_question=150))
    assert small.verdict == UNKNOWN
    assert {of for cell in small.unknown for of in cell.patterns} >= {(RUN, *"a", *[ONE] * 8)}
    assert compare(before, after, Budget()).verdict == EQUIVALENT
    more = rules([*hard, added, "ALLOW User:y READ LITERAL q"])
    assert compare(before, more, Budget(per_question=150)).verdict == AT_LEAST_MORE


def test_the_same_question_costs_the_same_states() -> None:
    chance = random.Random(5)
    before, after = random_texts(chance, 4, 6), random_texts(chance, 4, 6)
    spent = []
    for _ in range(2):
        budget = Budget()
        compare(rules(before), rules(after), budget)
        spent.append((budget.questions, budget.states))
    assert spent[0] == spent[1]


@pytest.mark.parametrize("seed", range(120))
def test_nothing_is_missed_and_nothing_invented(seed: int) -> None:
    check_against_the_rule(*draw_states(seed))


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_nothing_is_missed_in_two_thousand_changes() -> None:
    for seed in range(1_000, 3_000):
        check_against_the_rule(*draw_states(seed))


def draw_states(seed: int) -> tuple[Rules, Rules]:
    """Draw a change of ACLs, now and then of settings, and of how ACLs are read."""
    chance = random.Random(seed)
    texts = random_texts(chance, 2, 6)
    changed = [*texts, *random_texts(chance, 1, 2)]
    allow_everyone, semantics = seed % 3 == 0, KIP_1042 if seed % 5 else KAFKA
    before: list[Rules] = []
    after: list[Rules] = []
    for side, acls in ((before, texts), (after, changed if seed % 11 else texts)):
        if seed % 7 == 0:
            allow_everyone = chance.random() < 0.5
        supers = chance.sample(["User:x", "User:zz", "User:new"], seed % 4 // 2)
        settings = BrokerSettings(super_users=frozenset(supers), allow_everyone=allow_everyone)
        if seed % 13 == 0:
            semantics = chance.choice([KIP_1042, KAFKA])
        side.append(rules(acls, settings=settings, semantics=semantics))
    states = before[0], after[0]
    return states if chance.random() < 0.5 else states[::-1]


def check_against_the_rule(before: Rules, after: Rules) -> None:
    """Compare with the rule, on every name up to six letters and each witness."""
    found = compare(before, after, Budget())
    assert found.is_known
    reverse = compare(after, before, Budget())
    swapped = {(c.cell, LOST if c.kind == GAINED else GAINED) for c in reverse.changes}
    assert {(c.cell, c.kind) for c in found.changes} == swapped
    names = told_apart(NAMES, before, after)
    now = dict(decisions(after, names))
    shortest: dict[tuple[str, str, str, str], int] = {}
    for (who, host, operation, name), may in decisions(before, names):
        if may != now[who, host, operation, name]:
            key = who, host, operation, LOST if may else GAINED
            shortest[key] = min(shortest.get(key, len(name)), len(name))
    for (who, host, operation, kind), length in shortest.items():
        alike = [
            change
            for change in found.of_kind(kind)
            if change.cell.operation == operation
            and change.cell.resource_type == "TOPIC"
            and is_in(change.cell.principal, who)
            and is_in(change.cell.host, host)
        ]
        # The class of a name is the one of those that match it that most patterns match.
        its_own = max(
            alike, key=lambda c: len(c.cell.principal.patterns) + len(c.cell.host.patterns)
        )
        assert len(its_own.name) == length
    sides = [(AclIndex.of(s.acls, s.semantics), s.settings) for s in (before, after)]
    for c in found.changes:
        request = c.cell.principal.name, c.cell.host.name, c.cell.operation, c.name
        may = [is_allowed(*side, *request, resource_type=c.cell.resource_type) for side in sides]
        assert may == ([False, True] if c.kind == GAINED else [True, False])
