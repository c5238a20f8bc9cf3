"""Containment of globs is exact: what is not contained has a name that shows it."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from aclkit.model.glob import glob_matches
from aclkit.model.semantics import KIP_1042
from aclkit.rules.patterns.contain import pattern_contains
from tests.pace import within_loops

FRESH = "z"
NAMES = ["".join(name) for length in range(8) for name in product(f"ab{FRESH}", repeat=length)]
globs = st.text("ab*?", max_size=5)


def contains(wide, narrow):
    return pattern_contains("GLOB", wide, "GLOB", narrow, KIP_1042)


def matches(glob, name):
    return not glob or glob_matches(glob, name)


def counterexamples(wide, narrow):
    return [name for name in NAMES if matches(narrow, name) and not matches(wide, name)]


@settings(max_examples=200)
@given(globs, globs)
@example("*a?b*", "a*b*")
@example("*a?*b*", "*a*b*")
@example("?*?a*", "*aa")
def test_a_glob_contains_another_exactly_if_no_name_shows_otherwise(wide, narrow):
    assert contains(wide, narrow) == (not counterexamples(wide, narrow))


def test_every_pair_of_short_globs_is_decided_exactly():
    short = ["".join(text) for length in range(4) for text in product("a*?", repeat=length)]
    names = [name for name in NAMES if "b" not in name]
    reached = {glob: {name for name in names if matches(glob, name)} for glob in short}
    for wide, narrow in product(short, short):
        assert contains(wide, narrow) == (reached[narrow] <= reached[wide]), (wide, narrow)


@pytest.mark.parametrize(
    ("wide", "narrow", "is_contained"),
    [
        ("?*", "*a", True),
        ("*?", "?*", True),
        ("?*", "*", False),
        ("*a*", "*a?*", True),
        ("*a?*b*", "*a*b*", False),
        ("*a?*b*", "*a*c*b*", True),
        ("*ab*", "*a*b*", False),
        ("a*?*b", "a?*b", True),
        ("a*a", "a", False),
        ("??*", "a*b", True),
        ("???*", "a*b", False),
        ("*a?", "*ab", True),
        ("*a?", "*a*", False),
        ("pay*", "pay-*-in?", True),
    ],
)
def test_containments_that_only_several_symbols_together_show_are_found(wide, narrow, is_contained):
    assert contains(wide, narrow) is is_contained


def test_hostile_globs_are_decided_within_the_product_of_their_lengths():
    with within_loops(50):
        assert not contains("*a" * 120 + "b", "*" + "a*" * 119)
        assert not contains("*" + "a?" * 120 + "b*", "*a" * 240 + "*")
        assert contains("?" * 120 + "*", "*a" * 120)


LONG = 32_767


@pytest.mark.parametrize(
    ("wide", "narrow", "is_contained"),
    [
        ("*a" * 16_000 + "*", "a*" * 16_300, True),
        ("*a" * (LONG // 2 - 1) + "b", "*" + "a*" * (LONG // 2), False),
        ("*" + "a?" * (LONG // 2 - 2) + "b*", "*a" * (LONG // 2), False),
        ("*" + "a?" * (LONG // 4) + "b*", "a" * LONG, False),
        ("*" + "a?*" * 10_000 + "c*", "aa*" * 10_000, False),
        ("*" + "ab" * 8_000 + "*", "*ab" * 10_000, False),
        ("?*" * (LONG // 2), "*a" * (LONG // 2), True),
        ("*" * 10_000 + "a", "*" * 10_000, False),
    ],
)
def test_globs_as_long_as_kafka_can_store_them_are_decided_in_no_time(wide, narrow, is_contained):
    with within_loops(50):
        assert contains(wide, narrow) is is_contained
