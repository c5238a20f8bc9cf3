"""The least classes of principals and hosts: asked about every short name, they are the least."""

from __future__ import annotations

import random
from itertools import product

import pytest

from aclkit.model.semantics import KIP_1042
from aclkit.rules.names.classes import minimal_hosts, minimal_principals
from aclkit.rules.names.domain import PRINCIPALS
from aclkit.rules.names.question import Budget, Question
from aclkit.rules.names.rows import Symbols, of_host, of_principal

SHORT = [f"{kind}:{name}" for kind in ("User", "U") for size in range(4)
         for name in map("".join, product("abz", repeat=size))]  # fmt: skip
TEXTS = ["User:*", "User:a", "User:b", "User:?", "User:??*", "User:a*", "User:*b", "*:a", "U:*",
         "User:?*", "*:*b", "User:a?", "User:?b"]  # fmt: skip


def symbols(text: str) -> Symbols:
    found = of_principal(text, KIP_1042)
    assert found is not None
    return found


def matching(texts: list[Symbols], name: str) -> frozenset[Symbols]:
    flags = Question([[each] for each in texts], PRINCIPALS).flags_of(name)
    return frozenset(each for at, each in enumerate(texts) if flags >> at & 1)


@pytest.mark.parametrize("seed", range(60))
def test_the_least_classes_within_a_text_are_those_that_no_other_is_within(seed: int) -> None:
    chance = random.Random(seed)
    texts = [symbols(text) for text in chance.sample(TEXTS, chance.randint(2, 7))]
    narrow = chance.sample(texts, chance.choice((1, 1, 2)))
    found = minimal_principals(texts, Budget()).within(*narrow)
    assert found.is_complete
    sets = {matching(texts, name) for name in SHORT}
    within = {each for each in sets if each.issuperset(narrow)}
    # A class that no short name is of can be within, but then it holds a least one's texts.
    least = {each for each in within if not any(other < each for other in within)}
    told = {each.patterns for each in found.members}
    assert all(matching(texts, each.name) == each.patterns for each in found.members)
    assert not any(one < other for one in told for other in told)
    assert all(any(one <= each for one in told) for each in least)
    assert bool(told) >= bool(least)


def test_super_users_stand_for_nobody_but_where_a_text_names_them() -> None:
    texts = [symbols("User:?"), symbols("User:a")]
    least = minimal_principals(texts, Budget(), without=["User:z", "User:a"])
    (found,) = least.within(texts[0]).members
    assert found.name not in ("User:z", "User:a")
    (found,) = least.within(texts[1]).members
    assert found.name == "User:a"


def test_hosts_named_one_by_one_leave_no_other_class_of_a_glob() -> None:
    texts = [of_host(f"10.0.0.{n}", KIP_1042) for n in range(10)]
    glob = of_host("10.0.0.?", KIP_1042)
    found = minimal_hosts([*texts, glob], Budget()).within(glob)
    assert [each.name for each in found.members] == [f"10.0.0.{n}" for n in range(10)]
    (found_one,) = minimal_hosts([*texts[1:], glob], Budget()).within(glob).members
    assert found_one.patterns == {glob}


def test_texts_meet_exactly_where_a_name_is_shared() -> None:
    texts = [symbols(text) for text in TEXTS]
    least = minimal_principals(texts, Budget())
    for text in texts:
        shared = {other for other in texts for n in SHORT if {text, other} <= matching(texts, n)}
        assert set(least.meeting(text)) == shared


def test_a_budget_that_ends_says_that_classes_may_miss() -> None:
    texts = [symbols(f"User:*{letter}*") for letter in "abc"]
    found = minimal_principals([*texts, symbols("User:??*")], Budget(per_question=3))
    assert not found.within(texts[0]).is_complete
