"""Two patterns overlap when one name matches both, and the overlap lies within both."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from aclkit.model.glob import glob_matches
from aclkit.questions.preview.overlap import fill, may_overlap, overlap
from aclkit.rules.patterns.contain import glob_symbols

GLOBS = st.text("ab*?", min_size=1, max_size=5)
NAMES = ["".join(letters) for size in range(9) for letters in product("ab", repeat=size)]


@settings(max_examples=200)
@given(GLOBS, GLOBS)
def test_globs_overlap_when_some_name_matches_both(left, right):
    shared = overlap(glob_symbols(left), glob_symbols(right))
    both = any(glob_matches(left, name) and glob_matches(right, name) for name in NAMES)
    assert (shared is not None) == both


@given(GLOBS, GLOBS, st.text("abz", max_size=3), st.sampled_from("abz"))
def test_whatever_fills_an_overlap_matches_both_globs(left, right, run, one):
    shared = overlap(glob_symbols(left), glob_symbols(right))
    if shared is not None:
        name = fill(shared, run=run, one=one)
        assert glob_matches(left, name)
        assert glob_matches(right, name)


def test_a_run_of_stars_is_one_star():
    assert glob_symbols("***") == glob_symbols("*") == glob_symbols("")
    assert overlap(glob_symbols("*" * 10_000 + "a"), glob_symbols("b" + "*" * 10_000)) is not None


@given(GLOBS, GLOBS)
def test_no_overlap_is_missed_by_the_quick_look(left, right):
    symbols = glob_symbols(left), glob_symbols(right)
    assert may_overlap(*symbols) or overlap(*symbols) is None


def test_long_globs_of_many_stars_are_laid_over_each_other_at_once():
    left, right = glob_symbols("*a" * 100), glob_symbols("*b*a" * 60)
    shared = overlap(left, right)
    assert shared is not None
    assert glob_matches("*a" * 100, fill(shared, run="", one="b"))
