"""The index: whatever the specification says, and no hostile glob slows it down."""

from __future__ import annotations

import pickle
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from aclkit.model.acl import ANY_OTHER
from aclkit.model.semantics import KIP_1042
from aclkit.rules.patterns.match import pattern_matches
from aclkit.rules.patterns.trie import PatternIndex, PatternTrie
from tests.pace import within_loops
from tests.strategies import ALPHABET, PATTERN_TYPES, SEMANTICS, names, patterns, semantics


def specified(numbered, name, read):
    return [at for at, kind, text in numbered if pattern_matches(kind, text, name, read)]


@given(st.lists(patterns, max_size=60), st.lists(names, max_size=20), semantics)
def test_the_index_says_what_the_specification_says(patterns, names, read):
    numbered = [(at, *pattern) for at, pattern in enumerate(patterns)]
    trie = PatternTrie.build(numbered, read)
    for name in names:
        assert trie.matches(name) == specified(numbered, name, read)


def test_an_index_of_hostile_patterns_is_made_and_asked_within_bounds():
    """A name as long as Kafka can store, in globs that differ in their last letters only."""
    long = 32_767
    hostile = [(at, "GLOB", "*" + "a?" * (100 * at) + "*b?*") for at in range(1, 160, 3)]
    hostile += [(1_000 + at, "PREFIXED", "a" * at) for at in range(1, long, 7)]
    with within_loops(250):
        trie = PatternTrie.build(hostile, KIP_1042)
        assert len(trie.matches("a" * long)) == len(range(1, long, 7))
        assert trie.matches("aab" + "c" * (long - 3)) == [1_001]


def test_the_index_says_so_for_thousands_of_patterns_and_names_under_every_setting():
    """Long enough for every gram length, many enough for the filter to stand in front."""
    random = Random(1042)

    def word(size):
        return "".join(random.choices(ALPHABET, k=random.randint(0, size)))

    numbered = [(at, random.choice(PATTERN_TYPES), word(12)) for at in range(1500)]
    asked = [word(16).replace("*", "a") for _ in range(60)] + [word(5) for _ in range(60)]
    for read in SEMANTICS:
        trie = PatternTrie.build(numbered, read)
        for name in [*asked, "", "*", "**", ANY_OTHER]:
            assert trie.matches(name) == specified(numbered, name, read)


def test_patterns_that_say_the_same_are_all_found():
    texts = ["a*", "a**", "a*", "a***"]
    trie = PatternTrie.build([(at, "GLOB", text) for at, text in enumerate(texts)], KIP_1042)
    assert trie.matches("ab") == [0, 1, 2, 3]


def test_each_resource_type_has_its_own_patterns():
    index = PatternIndex.build([(0, "TOPIC", "LITERAL", "*"), (1, "GROUP", "GLOB", "")], KIP_1042)
    assert [index.matches(kind, "x") for kind in ("TOPIC", "GROUP", "USER")] == [[0], [1], []]


def test_a_deep_index_survives_pickling():
    rows = [(at, "TOPIC", "PREFIXED", "a" * at) for at in range(2000)]
    index = pickle.loads(pickle.dumps(PatternIndex.build(rows, KIP_1042)))
    assert index.matches("TOPIC", "a" * 1999) == [*range(2000)]


def test_hostile_globs_by_the_thousand_stay_fast():
    random = Random(7)
    star = ["*" + "*".join(random.choices("ab", k=random.randint(2, 40))) for _ in range(2000)]
    mixed = ["".join(random.choices("ab*?", k=random.randint(2, 40))) for _ in range(2000)]
    hostile = [*star, *mixed, "*a*a*a*b", "*a" * 60 + "b"]
    trie = PatternTrie.build([(at, "GLOB", text) for at, text in enumerate(hostile)], KIP_1042)
    with within_loops(250):
        for name in ("a" * 250, "ab" * 125, "a" * 249 + "b"):
            trie.matches(name)
