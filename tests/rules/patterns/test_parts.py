"""Ranges of names: a pattern goes to every range with a name that it matches."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.model.acl import ANY_OTHER
from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.rules.patterns.match import pattern_matches
from aclkit.rules.patterns.parts import NameRange, Ranges

LETTERS = st.text("ab*?<", max_size=4)
NAMES = st.lists(LETTERS | st.just(ANY_OTHER), min_size=1, max_size=12)


@given(NAMES, st.sampled_from(["LITERAL", "PREFIXED", "GLOB"]), LETTERS, st.integers(1, 4))
@pytest.mark.parametrize("semantics", [KIP_1042, KAFKA], ids=["kip-1042", "kafka"])
def test_no_range_misses_a_pattern_that_matches_one_of_its_names(
    semantics, names, kind, text, size
):
    rows = [(n // size, "TOPIC", name) for n, name in enumerate(sorted(names))]
    found = list(Ranges.of(rows).parts_of("TOPIC", kind, text, semantics))
    matched = {part for part, _, name in rows if pattern_matches(kind, text, name, semantics)}
    assert matched <= set(found)
    assert len(set(found)) == len(found)


RANGES = Ranges(
    {"TOPIC": [NameRange(0, "TOPIC", "a", "pay-a"), NameRange(1, "TOPIC", "pay-c", "z")]}
)


@pytest.mark.parametrize(
    ("kind", "text", "parts"),
    [
        ("LITERAL", "pay-b", []),
        ("LITERAL", "pay-c", [1]),
        ("LITERAL", "*", [0, 1]),
        ("PREFIXED", "pay-", [0, 1]),
        ("PREFIXED", "pay-a", [0]),
        ("PREFIXED", "zz", []),
        ("GLOB", "q?*", [1]),
        ("GLOB", "*q", [0, 1]),
    ],
)
def test_a_pattern_goes_where_names_lie_that_begin_as_it_says(kind, text, parts):
    assert list(RANGES.parts_of("TOPIC", kind, text, KIP_1042)) == parts


def test_a_pattern_of_a_type_without_names_goes_nowhere():
    assert list(RANGES.parts_of("GROUP", "LITERAL", "*", KIP_1042)) == []
