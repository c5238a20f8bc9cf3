"""Groups of patterns → the shortest name of each class: against all short names, and automata.

The automata are a library's: one for each pattern, their product, and whether it is empty.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from functools import reduce

import pytest
from interegular import parse_pattern
from interegular.fsm import FSM

from aclkit.model.semantics import KAFKA, KIP_1042, Semantics
from aclkit.rules.names.domain import ANYTHING, HOSTS, PRINCIPALS, TOPICS, Domain
from aclkit.rules.names.question import STATES_OF_A_QUESTION, Found, Question
from aclkit.rules.names.rows import (
    EVERYTHING,
    ONE,
    ONE_BUT_COLON,
    ONE_BUT_STAR,
    RUN,
    RUN_BUT_COLON,
    Symbols,
    of_host,
    of_pattern,
    of_principal,
)
from aclkit.rules.names.target import Classifier, Minterms, MoreThan
from aclkit.rules.patterns.match import host_matches, pattern_matches, principal_matches
from tests.rules.names.world import names_up_to

TOPIC_NAMES = [name for name in names_up_to(5, "ab.z") if name not in (".", "..")]
ANY_NAMES = names_up_to(5, "ab.*z", least=0)
KINDS = ["LITERAL", "PREFIXED", "GLOB", "GLOB", "GLOB"]

Pattern = tuple[str, str]


def draw_pattern(chance: random.Random, letters: str = "ab.") -> Pattern:
    """Draw a pattern of a few letters."""
    kind = chance.choice(KINDS)
    if kind == "GLOB":
        return kind, "".join(chance.choice("ab**?") for _ in range(chance.randint(0, 4)))
    if kind == "LITERAL" and chance.random() < 0.1:
        return kind, "*"
    return kind, "".join(chance.choice(letters) for _ in range(chance.randint(0, 3)))


def draw_groups(chance: random.Random, size: int) -> list[list[Pattern]]:
    """Draw groups of patterns."""
    return [[draw_pattern(chance) for _ in range(chance.randint(0, 3))] for _ in range(size)]


def symbols_of(
    groups: Iterable[Iterable[Pattern]], resource_type: str, semantics: Semantics
) -> list[list[Symbols]]:
    """Write groups of patterns as symbols."""
    return [
        [row for pattern in group for row in of_pattern(resource_type, *pattern, semantics)]
        for group in groups
    ]


def flags_by_rule(groups: Sequence[Sequence[Pattern]], name: str, semantics: Semantics) -> int:
    """Ask the specification which groups match a name."""
    return sum(
        1 << at
        for at, group in enumerate(groups)
        if any(pattern_matches(*pattern, name, semantics) for pattern in group)
    )


@pytest.mark.parametrize("semantics", [KIP_1042, KAFKA], ids=["kip-1042", "kafka"])
@pytest.mark.parametrize(
    ("resource_type", "domain", "names"),
    [("TOPIC", TOPICS, TOPIC_NAMES), ("GROUP", ANYTHING, ANY_NAMES)],
    ids=["topics", "groups"],
)
def test_every_class_is_found_with_its_shortest_name(
    resource_type: str, domain: Domain, names: list[str], semantics: Semantics
) -> None:
    chance = random.Random(3)
    for _ in range(12):
        groups = draw_groups(chance, 4)
        question = Question(symbols_of(groups, resource_type, semantics), domain)
        found = question.find(Minterms())
        assert found.is_complete
        shortest: dict[int, int] = {}
        for name in names:
            flags = flags_by_rule(groups, name, semantics)
            assert question.flags_of(name) == flags
            shortest.setdefault(flags, len(name))
        for flags, length in shortest.items():
            assert len(found.names[flags]) == length, (groups, flags)
        for flags, name in found.names.items():
            assert domain.holds(name)
            assert flags_by_rule(groups, name, semantics) == flags


def test_what_is_dropped_on_the_way_changes_no_answer() -> None:
    chance = random.Random(4)
    for _ in range(150):
        question = Question(symbols_of(draw_groups(chance, 4), "GROUP", KIP_1042), ANYTHING)
        classes = [chance.choice([None, None, "one", "two"]) for _ in range(16)]
        few, every = question.find(Classifier(4, classes.__getitem__)), question.find(Minterms())
        lengths: dict[str, int] = {}
        for flags, name in every.names.items():
            kind = classes[int(str(flags))]
            if kind is not None:
                lengths[kind] = min(lengths.get(kind, len(name)), len(name))
        assert {kind: len(name) for kind, name in few.names.items()} == lengths
        assert few.states <= every.states


def test_principals_and_hosts_are_matched_as_the_rule_does() -> None:
    texts = ["User:*", "User:a*", "Us*:b", "*:?b", "User:ab", "*r:*:c", "?:x", "User:", ":b", "a"]
    hosts = ["*", "10.*", "*.9", "10.0.?.1", "10.0.0.1", "*:1", "fe80:*", "1?.*", "???.*", "*%e*"]
    kinds = [
        (texts, of_principal, principal_matches, PRINCIPALS),
        (hosts, of_host, host_matches, HOSTS),
    ]
    chance = random.Random(5)
    for rows, symbols, matches, domain in kinds:
        for _ in range(30):
            groups = [chance.sample(rows, 2) for _ in range(3)]
            written = [[s for t in group if (s := symbols(t, KIP_1042))] for group in groups]
            found = Question(written, domain).find(Minterms())
            assert found.is_complete
            for flags, name in found.names.items():
                assert domain.holds(name)
                for at, group in enumerate(groups):
                    is_matched = any(matches(text, name, KIP_1042) for text in group)
                    assert is_matched == bool(int(str(flags)) >> at & 1)


def test_a_name_that_more_parties_may_use_than_allowed_is_found() -> None:
    def glob(text: str) -> list[Symbols]:
        return list(of_pattern("TOPIC", "GLOB", text, KIP_1042))

    groups = [group for text in ("*x1*", "*y1*", "*z1*") for group in (glob(text), [])]
    parties = [(1 << at, 2 << at) for at in (0, 2, 4)]
    question = Question(groups, TOPICS)
    assert sorted(question.find(MoreThan(2, parties)).names[True]) == sorted("x1y1z1")
    assert not question.find(MoreThan(3, parties)).names


def test_the_longest_legal_name_ends_the_walk() -> None:
    prefix = [("a" * 249, RUN)]
    longer = [("a" * 250, RUN)]
    question = Question([[(*"a" * 249, RUN)], [(*"a" * 250, RUN)]], TOPICS)
    assert prefix != longer
    assert set(question.find(Minterms()).names) == {0, 1}


def test_all_legal_letters_may_be_asked_for() -> None:
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
    starts = [(letter, RUN) for letter in letters]
    left = Classifier(1, lambda flags: None if flags else "left")
    assert not Question([starts], TOPICS).find(left).names
    assert Question([starts[1:]], TOPICS).find(left).names == {"left": "a"}


@pytest.mark.parametrize(
    "patterns",
    [
        [(RUN, "a", *[ONE] * 12)],
        [tuple("a" * 2_000 + "b"), (*[ONE] * 20_000, RUN)],
        [(RUN, *[s for letter in "abcdefgh" for s in (letter, RUN)])] * 3,
        [tuple(s for n in range(2_000) for s in (chr(0x4E00 + n), RUN))],
    ],
    ids=["a row of any-ones", "long", "many runs", "many letters"],
)
def test_hostile_patterns_end_within_the_budget(patterns: list[Symbols]) -> None:
    found = Question([patterns, [EVERYTHING]], ANYTHING).find(Minterms())
    assert found.states <= STATES_OF_A_QUESTION
    assert found.is_complete or found.states == STATES_OF_A_QUESTION


def test_beyond_the_budget_it_says_that_it_is_not_complete() -> None:
    question = Question([[(RUN, "a", *[ONE] * 9)]], ANYTHING)
    assert question.find(Classifier(1, lambda flags: None), 0) == Found(
        {}, is_complete=True, states=0
    )
    small = question.find(Classifier(1, lambda flags: flags or None), 8)
    assert not small.is_complete
    assert not small.names


REGEX = {
    RUN: ".*", ONE: ".", RUN_BUT_COLON: "[^:\n]*", ONE_BUT_COLON: "[^:\n]", ONE_BUT_STAR: "[^*\n]",
}  # fmt: skip


def automaton(patterns: Iterable[Symbols]) -> FSM:
    """Return a library's automaton of what some patterns match."""
    ways = ["".join(REGEX.get(s, f"\\x{ord(s[0]):02x}") for s in p) for p in patterns]
    nothing = parse_pattern("a").to_fsm() & parse_pattern("b").to_fsm()
    return reduce(FSM.__or__, [parse_pattern(way).to_fsm() for way in ways], nothing)


LEGAL = {"TOPIC": "[ab.z]{1,9}", "GROUP": "[ab.*?:z]{0,9}", "USER": "[ab.*?z]*:[ab.*?:z]*"}


def check_against_automata(seed: int) -> None:
    """Compare one question about what a group leaves of another, names up to nine letters."""
    chance = random.Random(seed)
    domain, resource_type = [(TOPICS, "TOPIC"), (ANYTHING, "GROUP"), (PRINCIPALS, "USER")][seed % 3]
    semantics = KAFKA if seed % 5 == 0 else KIP_1042
    narrow, wide = symbols_of(draw_groups(chance, 2), resource_type, semantics)
    legal = parse_pattern(LEGAL[resource_type]).to_fsm()
    left = reduce(FSM.__and__, [legal, automaton(narrow), automaton(wide).everythingbut()])
    found = Question([narrow, wide], domain).find(
        Classifier(2, lambda f: "left" if f == 1 else None)
    )
    assert found.is_complete
    strings = ("".join(map(str, letters)) for letters in left.strings())
    shortest = next((name for name in strings if name not in (".", "..") or domain != TOPICS), None)
    if shortest is None:
        assert len(found.names.get("left", "longer than nine")) > 9
    else:
        assert len(found.names["left"]) == len(shortest), (narrow, wide, shortest, found)


@pytest.mark.parametrize("part", range(4))
def test_automata_of_a_library_say_the_same(part: int) -> None:
    for seed in range(part * 25, part * 25 + 25):
        check_against_automata(seed)


@pytest.mark.slow
def test_automata_of_a_library_say_the_same_of_two_thousand_questions() -> None:
    for seed in range(1_000, 3_000):
        check_against_automata(seed)
