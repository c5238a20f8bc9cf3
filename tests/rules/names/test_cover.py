"""Coverage of patterns is exact: what is not covered has a short name that shows it."""

from __future__ import annotations

import random
from itertools import product

import pytest

from aclkit.model.semantics import KAFKA, KIP_1042, Semantics
from aclkit.rules.names.cover import LEFT, covers, find_witness_outside
from aclkit.rules.names.domain import domain_of
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import Symbols, of_pattern
from aclkit.rules.patterns.match import pattern_matches

NAMES = ["".join(name) for size in range(5) for name in product("ab*?z", repeat=size)]
SHAPES = [
    (kind, "".join(text))
    for kind in ("LITERAL", "PREFIXED", "GLOB")
    for size in range(3)
    for text in product("a*?", repeat=size)
]
Shape = tuple[str, str]


def rows(shapes: list[Shape], read: Semantics) -> list[Symbols]:
    return [each for shape in shapes for each in of_pattern("GROUP", *shape, read)]


@pytest.mark.parametrize("read", [KIP_1042, KAFKA], ids=["kip-1042", "kafka"])
def test_every_pair_of_short_patterns_is_decided_exactly(read: Semantics) -> None:
    domain, budget = domain_of("GROUP"), Budget()
    reached = {each: {n for n in NAMES if pattern_matches(*each, n, read)} for each in SHAPES}
    for wide, narrow in product(SHAPES, SHAPES):
        found = covers(rows([wide], read), rows([narrow], read), domain, budget)
        assert found == (reached[narrow] <= reached[wide]), (wide, narrow)


@pytest.mark.parametrize("read", [KIP_1042, KAFKA], ids=["kip-1042", "kafka"])
def test_what_several_leave_of_what_two_share_is_found_with_a_shortest_name(
    read: Semantics,
) -> None:
    chance, domain = random.Random(3), domain_of("GROUP")
    for _ in range(150):
        one, other, *wide = (chance.choice(SHAPES) for _ in range(5))
        within = [rows([one], read), rows([other], read)]
        left = [
            name
            for name in NAMES
            if pattern_matches(*one, name, read)
            and pattern_matches(*other, name, read)
            and not any(pattern_matches(*each, name, read) for each in wide)
        ]
        found = find_witness_outside(within, rows(wide, read), domain, Budget())
        assert [len(name) for name in found.names.values()] == [len(name) for name in left[:1]]
        assert found.names.get(LEFT) is None or found.is_complete


@pytest.mark.parametrize(
    ("wide", "narrow", "is_covered"),
    [
        (("PREFIXED", "a"), ("LITERAL", "ab"), True),
        (("GLOB", "a*"), ("PREFIXED", "a"), True),
        (("GLOB", "?*"), ("PREFIXED", ""), True),
        (("GLOB", "?"), ("GLOB", "b"), True),
        (("LITERAL", "a"), ("PREFIXED", "a"), False),
        (("UNKNOWN(9)", "a"), ("LITERAL", "ab"), True),
    ],
)
def test_ordinary_coverage_of_topics_is_found(wide: Shape, narrow: Shape, is_covered: bool) -> None:
    of = [list(of_pattern("TOPIC", *shape, KIP_1042)) for shape in (wide, narrow)]
    assert covers(*of, domain_of("TOPIC"), Budget()) is is_covered
