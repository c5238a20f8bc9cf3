"""Two states bounded for every name, against the rule asked about every short name."""

from __future__ import annotations

import random

import pytest

from aclkit.model.semantics import BrokerSettings
from aclkit.questions.difference.answer import left_out_words
from aclkit.questions.difference.as_json import found_cells, outcome_of
from aclkit.questions.difference.change import Change
from aclkit.questions.difference.compared import Compared, prove
from aclkit.questions.difference.verdict import Demands, judge
from aclkit.questions.state import State
from aclkit.rules.decide.index import AclIndex
from aclkit.rules.names.change_lines import change_lines, line_words
from aclkit.rules.names.compare import GAINED, LOST
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import Rules
from aclkit.rules.names.words import unknown_sentences
from tests.rules.names.world import decisions, is_allowed, names_up_to, random_texts, rules

EVERYONE = BrokerSettings(allow_everyone=True)
SAME, NO_MORE, NO_LESS = (GAINED, LOST), (GAINED,), (LOST,)


def state(of: Rules) -> State:
    acls = {acl.acl_id: acl for acl in of.acls}
    return State(acls=acls, settings=of.settings, semantics=of.semantics)


def between(kinds, before: Rules, after: Rules, budget: Budget, limit: int | None) -> Compared:
    change = Change(before=state(before), after=state(after))
    found = prove(change, kinds, budget, limit)
    is_failed = judge(found, Demands(kinds=dict.fromkeys(kinds, "any"))).name == "fail"
    assert is_failed == (outcome_of(found) != "holds")
    return found


def hold(kinds, before: list[str], after: list[str], limit: int | None = 20, **settings):
    sides = (rules(each, **settings) for each in (before, after))
    return between(kinds, *sides, Budget(), limit)


def outcomes(before: Rules, after: Rules) -> dict[tuple[str, ...], str]:
    return {
        kinds: outcome_of(between(kinds, before, after, Budget(), 20))
        for kinds in (SAME, NO_MORE, NO_LESS)
    }


@pytest.mark.parametrize("seed", range(60))
def test_a_claim_holds_where_no_short_name_speaks_against_it(seed: int) -> None:
    chance = random.Random(seed)
    settings = EVERYONE if seed % 3 == 0 else BrokerSettings()
    texts = random_texts(chance, 1, 4)
    more = [*texts, *random_texts(chance, 1, 1)] if seed % 2 else random_texts(chance, 1, 4)
    before, after = (rules(each, settings=settings) for each in (texts, more))
    then, now = (dict(decisions(side, names_up_to(4))) for side in (before, after))
    gains, loses = (any(b[key] and not a[key] for key in a) for a, b in ((then, now), (now, then)))
    found = outcomes(before, after)
    # Four letters show a difference that there is, but for one of groups or of other operations.
    assert not gains or found[NO_MORE] == "fails"
    assert not loses or found[NO_LESS] == "fails"
    assert (found[SAME] == "holds") is (found[NO_MORE] == found[NO_LESS] == "holds")
    back = outcomes(after, before)
    assert (back[NO_MORE], back[NO_LESS]) == (found[NO_LESS], found[NO_MORE])


@pytest.mark.parametrize("seed", range(40))
def test_counterexamples_are_all_that_differs_and_the_rule_says_so(seed: int) -> None:
    chance = random.Random(1_000 + seed)
    before, after = (rules(random_texts(chance, 1, 4)) for _ in range(2))
    found = between(SAME, before, after, Budget(), None)
    sides = [(AclIndex.of(s.acls, s.semantics), s.settings) for s in (before, after)]
    for example in found.examples:
        asked = example.request
        words = asked.principal, asked.host, asked.operation, asked.resource_name
        may = [is_allowed(*side, *words, resource_type=asked.resource_type) for side in sides]
        assert may == [example.kind == LOST, example.kind == GAINED]
        assert [example.before.decision == "ALLOWED", example.after.decision == "ALLOWED"] == may
    assert all(cells == shown for _, cells, shown in found_cells(found))
    assert list(left_out_words(found)) == []


def test_cells_that_share_names_are_put_together():
    after = [f"ALLOW User:u{n} ALL PREFIXED team-" for n in range(30)]
    (example,) = hold(SAME, [], after).examples
    assert example.opening.cells == 30 * 8
    assert [line_words(line) for line in change_lines([example.opening])] == [
        "User:u0, User:u1, User:u10 and 27 more: every operation on topics that start with team- "
        "from any host"
    ]


def test_no_more_than_the_limit_is_shown_and_the_rest_is_counted():
    after = [f"ALLOW User:u{n} READ LITERAL t{n}" for n in range(9)]
    found = hold(NO_MORE, [], after, limit=3)
    assert len(found.examples) == 3
    assert list(left_out_words(found)) == ["… and 12 more gained: --all"]
    assert len(hold(NO_MORE, [], after, limit=None).examples) == 9


def test_what_another_claim_is_about_is_no_counterexample():
    found = hold(NO_MORE, ["ALLOW User:a READ LITERAL x"], ["ALLOW User:b READ LITERAL x"])
    assert {example.kind for example in found.examples} == {GAINED}
    assert len(found.comparison.difference.of_kind(LOST)) == 2


def test_what_the_budget_leaves_open_is_unknown_and_names_the_way_out():
    hard = ["ALLOW User:x READ GLOB *a????????"]
    before, after = rules(hard), rules([*hard, "ALLOW User:x READ GLOB *b*a????????"])
    found = between(SAME, before, after, Budget(per_question=150), 20)
    assert outcome_of(found) == "unknown"
    assert found.examples == ()
    assert list(unknown_sentences(found.against, found.budget)) == [
        "READ for User:x from any host on topics",
        "DESCRIBE for User:x from any host on topics",
        "patterns that make it hard: *b*a????????, *a????????",
        "to raise the search limit: --budget",
    ]
    total = between(SAME, before, after, Budget(total=150), 20)
    *_, last = unknown_sentences(total.against, total.budget)
    assert last == "to raise the search limit: --budget-total"


def test_a_violation_that_is_found_fails_whatever_else_is_unknown():
    hard = ["ALLOW User:x READ GLOB *a????????"]
    after = [*hard, "ALLOW User:x READ GLOB *b*a????????", "ALLOW User:y READ LITERAL q"]
    found = between(SAME, rules(hard), rules(after), Budget(per_question=150), 20)
    assert outcome_of(found) == "fails"
    less = between(NO_LESS, rules(hard), rules(after), Budget(per_question=150), 20)
    assert outcome_of(less) == "unknown"
