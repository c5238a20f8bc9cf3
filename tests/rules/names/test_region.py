"""What is gained or lost → regions: exactly the names that the rule decides otherwise."""

from __future__ import annotations

import random

import pytest

from aclkit.model.semantics import KIP_1042, BrokerSettings
from aclkit.rules.decide.index import AclIndex
from aclkit.rules.names.compare import GAINED, compare
from aclkit.rules.names.domain import ANYTHING
from aclkit.rules.names.question import Budget, Question
from aclkit.rules.names.region import Region, openings, regions_of
from aclkit.rules.names.rows import EVERYTHING
from aclkit.rules.names.words import names_words, opening_words, region_words
from tests.rules.names.world import is_allowed, names_up_to, random_texts, rules

NAMES = names_up_to(4)


def told(before: list[str], after: list[str], *, allow_everyone: bool = False) -> list[str]:
    """Tell what differs."""
    settings = BrokerSettings(allow_everyone=allow_everyone)
    budget = Budget()
    states = (rules(texts, settings=settings) for texts in (before, after))
    found = compare(*states, budget)
    return [f"{each.kind}: {opening_words(each)}" for each in openings(found, budget, 100)]


def test_any_is_said_only_where_nothing_is_left_out() -> None:
    allow, deny = "ALLOW User:x READ LITERAL *", "DENY User:x ALL LITERAL t"
    assert told([], [allow]) == ["gained: READ, DESCRIBE for User:x from any host, on any topic"]
    assert told([deny], [deny, allow]) == [
        "gained: READ, DESCRIBE for User:x from any host, on all topics, but not t"
    ]


def test_what_two_patterns_share_is_told_by_both() -> None:
    allow, deny = "ALLOW User:x READ GLOB *pii*", "DENY User:x READ GLOB *eu*"
    assert told([allow, deny], [allow]) == [
        "gained: READ for User:x from any host, on topics like *eu*, which *pii* matches too"
    ]


def test_people_and_hosts_are_told_by_what_matches_them() -> None:
    assert told([], ["ALLOW User:svc-* READ LITERAL t 10.*"]) == [
        "gained: READ, DESCRIBE for principals that User:svc-* matches (such as User:svc-) from "
        "hosts that 10.* matches (such as 10.1.1.1), on topic t"
    ]
    assert told([], ["ALLOW User:* ALL LITERAL t"]) == [
        "gained: every operation for any principal from any host, on topic t"
    ]


def test_the_default_that_a_new_acl_takes_away_is_told() -> None:
    assert told([], ["ALLOW User:x ALL PREFIXED a"], allow_everyone=True) == [
        "lost: every operation for any other principal (such as User:z) from any host, on topics "
        "that start with a"
    ]


def test_a_region_that_is_not_proven_says_some() -> None:
    region = Region(("a", "any run"), (), (), "ab", is_exact=False)
    assert region_words(region, "GROUP") == ("some of the groups that start with a, for example ab")
    assert region_words(region, "CLUSTER") == "the cluster"


def test_beyond_a_number_of_questions_only_the_shortest_name_is_told() -> None:
    budget = Budget()
    two = rules(["ALLOW User:x READ PREFIXED a", "ALLOW User:y READ LITERAL b"])
    first, *others = openings(compare(rules([]), two, budget), budget, 1)
    assert first.regions
    assert [names_words(each) for each in others] == ["names of which the shortest is b"]


def test_what_the_budget_of_telling_leaves_open_is_told_by_its_own_shortest_name_alone() -> None:
    two = rules(["ALLOW User:x READ PREFIXED abc", "ALLOW User:y READ PREFIXED bcd"])
    found = openings(compare(rules([]), two, Budget()), Budget(per_question=1), 100)
    assert [names_words(each) for each in found] == [
        "names of which the shortest is abc",
        "names of which the shortest is bcd",
    ]


@pytest.mark.parametrize("seed", range(60))
def test_regions_are_all_the_names_that_are_decided_otherwise_and_no_other(seed: int) -> None:
    chance = random.Random(seed)
    settings = BrokerSettings(allow_everyone=seed % 3 == 0)
    texts = random_texts(chance, 1, 4)
    states = [
        rules(each, settings=settings) for each in (texts, [*texts, *random_texts(chance, 1, 2)])
    ]
    before, after = states if seed % 2 else states[::-1]
    budget = Budget()
    sides = [(AclIndex.of(s.acls, KIP_1042), settings) for s in (before, after)]
    for change in compare(before, after, budget).changes:
        if change.cell.resource_type != "TOPIC":
            continue
        of = change.cell.principal.name, change.cell.host.name, change.cell.operation
        found = regions_of(change, budget)
        assert found
        for name in NAMES:
            then, now = (is_allowed(*side, *of, name) for side in sides)
            is_changed = (then, now) == ((False, True) if change.kind == GAINED else (True, False))
            is_told = any(_holds(region, name) for region in found if region.is_exact)
            assert is_told == is_changed or not all(region.is_exact for region in found)
        assert min(len(region.shortest) for region in found) == len(change.name)


def _holds(region: Region, name: str) -> bool:
    within = region.within or (EVERYTHING,)
    question = Question([[region.pattern], within, region.but], ANYTHING)
    return question.flags_of(name) == 0b011
