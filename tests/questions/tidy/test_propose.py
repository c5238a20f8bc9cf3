"""Proposals: equal on the inventory, and what else they open is all that they do."""

from __future__ import annotations

import random

import pytest

from aclkit.model.semantics import BrokerSettings
from aclkit.questions.tidy import propose as module
from aclkit.questions.tidy.propose import (
    LEAST,
    MOST_NAMES,
    MOST_OF_A_CELL,
    Proposal,
    candidates,
    propose,
)
from aclkit.rules.names.compare import GAINED, LOST
from aclkit.rules.names.domain import TOPICS
from aclkit.rules.names.question import Budget, Question
from aclkit.rules.names.region import Region, RegionChange
from aclkit.rules.names.rows import Rules
from aclkit.rules.patterns.match import GLOB, PREFIXED
from tests.rules.names.world import NO_SETTINGS, decisions, names_up_to, random_texts, rules

LOGS = [f"ALLOW User:x READ LITERAL pay.{land}.log" for land in ("de", "fr", "us")]
NAMES = ["pay.de.log", "pay.fr.log", "pay.us.log", "orders"]


def proposed(
    texts: list[str],
    names: list[str],
    pattern_type: str = GLOB,
    settings: BrokerSettings = NO_SETTINGS,
) -> dict[str, Proposal]:
    state = rules(texts, settings=settings)
    found = propose(state, {"TOPIC": names}, pattern_type, Budget())
    assert (found.more, found.left) == (0, 0)
    return {each.acl.resource_name: each for each in found.found}


def test_a_glob_takes_the_place_of_three_allows_and_says_what_else_it_opens() -> None:
    (found,) = proposed(LOGS, NAMES).items()
    name, proposal = found
    assert name == "pay.*.log"
    assert [acl.resource_name for acl in proposal.replaces] == NAMES[:3]
    (opened,) = proposal.opens
    (region,), (party,) = opened.regions, opened.parties
    assert (opened.kind, party.operations) == (GAINED, ("READ", "DESCRIBE"))
    assert region.pattern == (*"pay.", "any run", *".log")
    assert region.but == tuple(tuple(each) for each in NAMES[:3])
    assert [principal.name for principal in party.principals] == ["User:x"]


def test_a_prefix_does_where_prefixes_are_asked_for() -> None:
    assert list(proposed(LOGS, NAMES, PREFIXED)) == ["pay."]


def test_nothing_is_proposed_that_opens_a_name_of_the_inventory() -> None:
    assert proposed(LOGS, [*NAMES, "pay.secret.log"]) == {}
    denied = [*LOGS, "DENY User:* ALL PREFIXED pay.s"]
    assert list(proposed(denied, [*NAMES, "pay.secret.log"])) == ["pay.*.log"]


def test_two_are_not_enough() -> None:
    assert LEAST == 3
    assert proposed(LOGS[:2], NAMES) == {}


def test_what_decides_alike_for_every_name_opens_nothing_else() -> None:
    whole = ["LITERAL a", "GLOB a?", "GLOB a??*"]
    texts = [f"ALLOW User:x READ {pattern}" for pattern in whole]
    (found,) = proposed(texts, [], PREFIXED).values()
    assert found.acl.resource_name == "a"
    assert found.opens == ()
    assert found.is_known


def test_what_is_needless_as_it_is_needs_no_proposal() -> None:
    assert proposed([*LOGS, "ALLOW User:* READ PREFIXED pay."], NAMES) == {}


def test_names_that_lose_the_default_are_told_too() -> None:
    (found,) = proposed(LOGS, NAMES[:3], settings=BrokerSettings(allow_everyone=True)).values()
    assert {opened.kind for opened in found.opens} == {LOST}
    assert found.opens[0].regions[0].pattern == (*"pay.", "any run", *".log")


def test_beyond_the_budget_it_is_not_said_what_opens() -> None:
    hard = ["ALLOW User:x READ GLOB *a????????", "ALLOW User:x READ GLOB *b????????a*"]
    state = rules([*(f"ALLOW User:x READ LITERAL {n}" for n in ("ab", "abb", "aab")), *hard])
    small, large = (propose(state, {}, PREFIXED, Budget(per_question=n)) for n in (60, 50_000))
    assert [each.is_known for each in small.found] == [False]
    assert [each.is_known for each in large.found] == [True]


def test_work_is_bounded_and_what_is_left_out_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [f"a.{n}.{n % 7}.b" for n in range(1_000)]
    assert len(candidates(many, GLOB)) <= MOST_OF_A_CELL <= MOST_NAMES
    monkeypatch.setattr(module, "MOST_CANDIDATES", 0)
    assert propose(rules(LOGS), {"TOPIC": NAMES}, GLOB, Budget()).left == 1
    monkeypatch.undo()
    monkeypatch.setattr(module, "MOST_PROPOSALS", 0)
    assert propose(rules(LOGS), {"TOPIC": NAMES}, GLOB, Budget()).more == 1


@pytest.mark.parametrize("seed", range(120))
def test_what_opens_is_what_the_rule_says(seed: int) -> None:
    chance = random.Random(seed)
    texts = random_texts(chance, 2, 4)
    who = chance.choice(["User:x", "User:*", "User:svc-*"])
    texts += [f"ALLOW {who} READ LITERAL {name}" for name in chance.sample(names_up_to(3, "ab"), 6)]
    settings = BrokerSettings(allow_everyone=seed % 4 == 0)
    state = rules(texts, settings=settings)
    inventory = chance.sample(names_up_to(3, "ab"), 3)
    found = propose(state, {"TOPIC": inventory}, PREFIXED if seed % 2 else GLOB, Budget())
    before = dict(decisions(state, names_up_to(4, "ab")))
    for proposal in found.found:
        gone = {acl.binding for acl in proposal.replaces}
        assert len(gone) >= LEAST
        kept = [acl for acl in state.acls if acl.binding not in gone]
        after = Rules(acls=[*kept, proposal.acl], settings=settings, semantics=state.semantics)
        _check(before, dict(decisions(after, names_up_to(4, "ab"))), proposal, set(inventory))


def test_enough_random_proposals_are_looked_at() -> None:
    """The test above proves nothing where nothing is proposed."""
    count = 0
    for seed in range(40):
        chance = random.Random(seed)
        texts = [f"ALLOW User:x READ LITERAL {n}" for n in chance.sample(names_up_to(3, "ab"), 6)]
        count += len(proposed(texts, chance.sample(names_up_to(3, "ab"), 2)))
    assert count > 20


def _check(
    before: dict[tuple[str, str, str, str], bool],
    after: dict[tuple[str, str, str, str], bool],
    proposal: Proposal,
    inventory: set[str],
) -> None:
    """Compare what a proposal says to change with what changes, request by request."""
    changed = {key: after[key] for key in before if before[key] != after[key]}
    assert inventory.isdisjoint(name for *_, name in changed)
    for (principal, host, operation, name), is_gained in changed.items():
        kind = GAINED if is_gained else LOST
        regions = [
            region
            for opened in proposal.opens
            if opened.kind == kind and operation in _operations(opened)
            for region in opened.regions
        ]
        assert any(_holds(region, name) for region in regions), (principal, host, operation, name)
    for opened, region in ((each, region) for each in proposal.opens for region in each.regions):
        if region.is_exact:
            names = {name for *_, name in before if _holds(region, name)}
            said = {
                (operation, name)
                for (_, _, operation, name), is_gained in changed.items()
                if (GAINED if is_gained else LOST) == opened.kind
            }
            shown = [op for op in _operations(opened) if op in ("READ", "DESCRIBE")]
            assert {(op, name) for op in shown for name in names} <= said


def _operations(opened: RegionChange) -> set[str]:
    return {operation for party in opened.parties for operation in party.operations}


def _holds(region: Region, name: str) -> bool:
    groups = [[region.pattern], region.within, region.but]
    flags = Question(groups, TOPICS).flags_of(name)
    return bool(flags & 1) and (not region.within or bool(flags & 2)) and not flags & 4
