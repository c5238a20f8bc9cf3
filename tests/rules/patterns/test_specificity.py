"""Which of two patterns is the more specific: KIP-1042's example, and narrower before wider."""

from __future__ import annotations

from itertools import product

import pytest

from aclkit.model.semantics import KIP_1042
from aclkit.rules.patterns.match import (
    host_specificity,
    pattern_matches,
    pattern_specificity,
    principal_specificity,
)

EXAMPLE = (("PREFIXED", "Hello"), ("GLOB", "HelloWo*d*"), ("GLOB", "HelloW*"), ("GLOB", "He*m*m*"))


@pytest.mark.parametrize(
    ("name", "winner"),
    [
        ("HelloX", "Hello"),
        ("HelloWorld", "HelloWo*d*"),
        ("HelloWonderful", "HelloWo*d*"),
        ("HelloWorldWide", "HelloWo*d*"),
        ("HelloDollyX", "Hello"),
        ("Hermesmoon", "He*m*m*"),
        ("Helmsman", "He*m*m*"),
        ("HelloWiked", "HelloW*"),
        ("Helpme", None),
    ],
)
def test_the_worked_example_of_kip_1042_holds_with_its_two_lost_stars(name, winner):
    matching = [pattern for pattern in EXAMPLE if pattern_matches(*pattern, name, KIP_1042)]
    first = min(matching, key=lambda pattern: pattern_specificity(*pattern, KIP_1042), default=None)
    assert (first and first[1]) == winner


@pytest.mark.parametrize(
    ("glob", "name"), [("He*m*m", "Hermesmoon"), ("HelloWo*d", "HelloWonderful")]
)
def test_the_example_as_printed_would_not_match(glob, name):
    assert not pattern_matches("GLOB", glob, name, KIP_1042)


def words(alphabet, longest):
    return ["".join(w) for size in range(longest + 1) for w in product(alphabet, repeat=size)]


def test_a_strictly_narrower_pattern_never_ranks_behind_a_wider_one():
    """Narrower by brute force; ``c`` is in no pattern and stands for all other letters."""
    names = words("ab*?c", 4)
    patterns = [
        (pattern_type, text)
        for pattern_type in ("LITERAL", "PREFIXED", "GLOB")
        for text in words("ab*?", 3)
        if len(text) < 3 or pattern_type == "GLOB"
    ]
    ranked = sorted(patterns, key=lambda pattern: pattern_specificity(*pattern, KIP_1042))
    reach = [
        sum(1 << at for at, name in enumerate(names) if pattern_matches(*pattern, name, KIP_1042))
        for pattern in ranked
    ]
    for later, narrow in enumerate(reach):
        for earlier in range(later):
            wide = reach[earlier]
            if narrow != wide and narrow & wide == narrow:
                key = pattern_specificity(*ranked[later], KIP_1042)
                assert key == pattern_specificity(*ranked[earlier], KIP_1042), (
                    f"{ranked[later]} is narrower than {ranked[earlier]}"
                )


@pytest.mark.parametrize(
    "ranking",
    [
        [("LITERAL", "abcd"), ("PREFIXED", "abcd")],
        [("PREFIXED", "ab"), ("GLOB", "ab*")],
        [("GLOB", "?bcd"), ("GLOB", "ab*")],
        [("GLOB", "ab*"), ("GLOB", "a*b*")],
        [("GLOB", "a?b"), ("GLOB", "a*b")],
        [("GLOB", "a?*b"), ("GLOB", "a*b")],
        [("GLOB", "ab*"), ("GLOB", "*ab")],
        [("GLOB", "a*"), ("LITERAL", "*")],
        [("LITERAL", "*"), ("PREFIXED", ""), ("GLOB", "")],
        [("PREFIXED", "*"), ("LITERAL", "*")],
    ],
)
def test_letters_then_stars_then_questions_then_literal_start_then_type(ranking):
    keys = [pattern_specificity(*pattern, KIP_1042) for pattern in ranking]
    assert keys == sorted(set(keys))


def test_a_run_of_wildcards_counts_as_its_question_marks_and_one_star():
    runs = {pattern_specificity("GLOB", glob, KIP_1042) for glob in ("a*?*b", "a?*b", "a*?b")}
    assert len(runs) == 1


def test_the_universal_patterns_count_no_letter():
    keys = {pattern_specificity("GLOB", glob, KIP_1042)[0] for glob in ("", "*", "**")}
    assert keys == {pattern_specificity("LITERAL", "*", KIP_1042)[0]}


def test_principals_rank_exact_then_globs_then_the_wildcard():
    ranking = ["User:alice", "User:al*", "User:a*", "Us*:a*", "User:*"]
    keys = [principal_specificity(principal, KIP_1042) for principal in ranking]
    assert keys == sorted(set(keys))


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        ("*:ab", "*:ab*"),  # fewer stars, of both parts
        ("?:ab?", "?:ab"),  # more question marks, of both parts
        ("U*:abcde", "User:a*"),  # more letters, of both parts
        ("User:a*", "User:*a"),  # the longer literal start, which goes on into the name
        ("User:*a", "Use*:ra"),
    ],
)
def test_globs_of_principals_rank_by_type_and_name_together(narrow, wide):
    keys = [principal_specificity(principal, KIP_1042) for principal in (narrow, wide)]
    assert keys[0] < keys[1]


def test_hosts_rank_exact_then_globs_then_the_wildcard():
    ranking = ["10.0.0.1", "10.0.0.?", "10.0.0.*", "10.*", "*"]
    keys = [host_specificity(host, KIP_1042) for host in ranking]
    assert keys == sorted(set(keys))
