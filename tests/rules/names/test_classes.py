"""ACL principals and hosts → classes: each set of them that matches a common name, once."""

from __future__ import annotations

import itertools
import random

import pytest

from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.rules.names.classes import classes_of_hosts, classes_of_principals
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import EVERYTHING, Symbols, of_host, of_principal
from aclkit.rules.patterns.match import principal_matches

TEXTS = ["User:*", "User:a*", "User:*b", "User:ab", "User:b", "*:a", "Group:?", "User:a?b", "U*:*"]


def test_without_globs_there_is_one_for_each_name_and_one_for_all_others() -> None:
    named = [tuple("User:a"), tuple("User:b"), EVERYTHING]
    found = classes_of_principals(named, Budget())
    assert [(each.name, len(each.patterns), each.is_single) for each in found.members] == [
        ("User:a", 2, True),
        ("User:b", 2, True),
        ("User:z", 1, False),
    ]


def test_a_class_that_is_alone_is_all_there_is() -> None:
    (host,) = classes_of_hosts([EVERYTHING], Budget()).members
    assert (host.name, host.is_all) == ("1.1.1.1", True)


def test_a_text_that_is_no_address_is_in_no_class() -> None:
    found = classes_of_hosts([tuple("localhost"), tuple("10.0.0.1")], Budget())
    assert [each.name for each in found.members] == ["1.1.1.1", "10.0.0.1"]


@pytest.mark.parametrize("seed", range(20))
def test_each_set_of_globs_that_some_principal_matches_is_a_class(seed: int) -> None:
    chance = random.Random(seed)
    semantics = KAFKA if seed % 4 == 0 else KIP_1042
    texts = chance.sample(TEXTS, 4)
    symbols: dict[Symbols, str] = {s: t for t in texts if (s := of_principal(t, semantics))}
    found = classes_of_principals(symbols, Budget())
    assert found.is_complete
    sets = [frozenset(symbols[each] for each in member.patterns) for member in found.members]
    assert len(set(sets)) == len(sets)
    names = ["".join(n) for size in range(4) for n in itertools.product("abz", repeat=size)]
    for kind, name in itertools.product(("User", "Group", "Ux", "z"), names):
        principal = f"{kind}:{name}"
        mine = {text for text in texts if principal_matches(text, principal, semantics)}
        assert frozenset(symbols.keys() and mine) in sets, principal
    for member, mine in zip(found.members, sets, strict=True):
        matching = {text for text in texts if principal_matches(text, member.name, semantics)}
        assert matching == mine


def test_where_the_budget_ends_classes_may_be_missing() -> None:
    globs = [of_host(f"*{a}*{b}*", KIP_1042) for a in "0123" for b in "4567"]
    assert not classes_of_hosts(globs, Budget(per_question=100)).is_complete
