"""Patterns, principals and hosts: what matches what, by example and against a second opinion."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL
from aclkit.model.glob import glob_matches, is_universal
from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.rules.patterns.match import (
    host_can_match,
    host_matches,
    matches_every_name,
    names_exactly,
    pattern_matches,
    principal_matches,
)
from tests.pace import within_loops
from tests.strategies import BEYOND_BMP, names, patterns, semantics, texts


def table_matches(glob, name):
    """Fill the textbook table: row i says which starts of the name the glob's first i match."""
    row = [True] + [False] * len(name)
    for wanted in glob:
        below = [wanted == "*" and row[0]]
        for at, letter in enumerate(name):
            if wanted == "*":
                below.append(below[at] or row[at + 1])
            else:
                below.append(row[at] and wanted in ("?", letter))
        row = below
    return row[-1]


@given(texts, texts)
def test_a_glob_agrees_with_the_textbook_table(glob, name):
    assert glob_matches(glob, name) == table_matches(glob, name)


def test_every_short_glob_agrees_with_the_textbook_table_on_every_short_name():
    globs = ["".join(glob) for length in range(6) for glob in product("a*?", repeat=length)]
    shown = ["".join(name) for length in range(5) for name in product("ab", repeat=length)]
    for glob, name in product(globs, shown):
        assert glob_matches(glob, name) == table_matches(glob, name), (glob, name)


@pytest.mark.parametrize(
    ("glob", "name", "is_match"),
    [
        ("a*b", "ab", True),
        ("a**b", "axb", True),
        ("?*", "", False),
        ("a?c", "ac", False),
        ("?", BEYOND_BMP, True),
        ("??", BEYOND_BMP, False),
        ("a.c", "abc", False),
        ("[ab]", "a", False),
        ("a\\*", "a*", False),
        ("a\\*", "a\\bc", True),
        ("ABC", "abc", False),
        ("*a", "ab", False),
        ("*", "a.b/c-d", True),
        ("e\u0301", "\u00e9", False),
    ],
)
def test_star_is_any_run_and_question_mark_one_code_point_and_nothing_else_is_special(
    glob, name, is_match
):
    assert glob_matches(glob, name) is is_match


@pytest.mark.parametrize(
    "glob", ["*a" * 40 + "b", "*a?" * 40 + "b", "*" * 250 + "b", "a*" * 120 + "b"]
)
def test_a_hostile_glob_takes_no_longer_than_glob_times_name(glob):
    with within_loops(50):
        assert not glob_matches(glob, "a" * 250)


@given(patterns, names, semantics)
def test_what_matches_every_name_matches_this_one_the_known_defect_aside(pattern, name, read):
    is_defect = read.wildcard_defect and pattern == ("LITERAL", "*") and name.startswith("*")
    if matches_every_name(*pattern, read) and not is_defect:
        assert pattern_matches(*pattern, name, read)


def test_the_universal_globs_are_the_empty_one_and_runs_of_stars():
    assert [glob for glob in ("", "*", "**", "?*", "*?", "a*") if is_universal(glob)] == [
        "",
        "*",
        "**",
    ]


KIP_STORED = ("Hello", "HelloWorld", "H*World")


@pytest.mark.parametrize(
    ("pattern_type", "name", "expected"),
    [
        ("LITERAL", "Hello", (True, False, False)),
        ("LITERAL", "HelloWorld", (False, True, False)),
        ("LITERAL", "HappyWorld", (False, False, False)),
        ("PREFIXED", "Hello", (True, False, False)),
        ("PREFIXED", "HelloWorld", (True, True, False)),
        ("PREFIXED", "HappyWorld", (False, False, False)),
        ("GLOB", "Hello", (True, False, False)),
        ("GLOB", "HelloWorld", (False, True, True)),
        ("GLOB", "HappyWorld", (False, False, True)),
    ],
)
def test_the_pattern_tables_of_kip_1042(pattern_type, name, expected):
    matched = tuple(pattern_matches(pattern_type, text, name, KIP_1042) for text in KIP_STORED)
    assert matched == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (("LITERAL", "SomeName"), "SomeName"),
        (("PREFIXED", "SomeName"), "SomeName*"),
        (("LITERAL", "*"), ""),
    ],
)
@given(name=names)
def test_a_glob_can_take_the_place_of_the_other_types_as_kip_1042_rewrites_them(
    before, after, name
):
    for asked in (name, f"SomeName{name}", "SomeName"):
        if asked.endswith(ANY_OTHER) and asked != ANY_OTHER:
            continue
        assert pattern_matches(*before, asked, KIP_1042) == pattern_matches(
            "GLOB", after, asked, KIP_1042
        )


@pytest.mark.parametrize(
    ("pattern", "name", "is_match"),
    [
        (("LITERAL", "a*"), "a*", True),
        (("LITERAL", "a*"), "ab", False),
        (("LITERAL", "*"), "ab", True),
        (("LITERAL", "*"), "*g", True),
        (("LITERAL", "*"), "", True),
        (("PREFIXED", "*"), "*x", True),
        (("PREFIXED", "*"), "x", False),
        (("GLOB", "*"), "x", True),
        (("GLOB", ""), "x", True),
        (("GLOB", "ab"), "ab", True),
        (("UNKNOWN(9)", "a"), "ab", True),
        (("UNKNOWN(9)", "a"), "ba", False),
    ],
)
def test_each_sentence_on_patterns(pattern, name, is_match):
    assert pattern_matches(*pattern, name, KIP_1042) is is_match


def test_a_broker_of_today_takes_a_glob_for_a_prefix():
    assert not pattern_matches("GLOB", "a*", "ab", KAFKA)
    assert pattern_matches("GLOB", "a*", "a*b", KAFKA)


def test_the_wildcard_defect_spares_longer_names_that_begin_with_a_star():
    reached = [
        name for name in ("*g", "**", "*", "g", "") if pattern_matches("LITERAL", "*", name, KAFKA)
    ]
    assert reached == ["*", "g", ""]


def test_only_what_matches_every_name_reaches_any_other():
    every = [("LITERAL", "*"), ("PREFIXED", ""), ("GLOB", ""), ("GLOB", "**")]
    others = [("LITERAL", ANY_OTHER), ("PREFIXED", "<"), ("GLOB", "?*"), ("GLOB", "<*")]
    assert all(pattern_matches(*pattern, ANY_OTHER, KIP_1042) for pattern in every)
    assert not any(pattern_matches(*pattern, ANY_OTHER, KIP_1042) for pattern in others)
    assert not principal_matches(ANY_OTHER_PRINCIPAL, ANY_OTHER_PRINCIPAL, KIP_1042)
    assert not principal_matches(ANY_OTHER_PRINCIPAL, ANY_OTHER_PRINCIPAL, KAFKA)
    assert principal_matches("User:**", ANY_OTHER_PRINCIPAL, KIP_1042)
    assert not host_matches(ANY_OTHER, ANY_OTHER, KAFKA)
    assert host_matches("*", ANY_OTHER, KAFKA)


@pytest.mark.parametrize(
    ("acl_principal", "principal", "under_kip", "under_kafka"),
    [
        ("User:*", "Group:x", True, True),
        ("User:a", "User:a", True, True),
        ("User:a", "user:a", False, False),
        ("User:a*", "User:ab", True, False),
        ("User:a*", "User:a*", True, True),
        ("User:?", "User:ab", False, False),
        ("U*:a", "User:a", True, False),
        ("Us?r:", "User:anyone", True, False),
        (":a", "Group:a", True, False),
        (":a", ":a", True, True),
        ("Group:*", "Group:x", True, False),
        ("Group:*", "User:x", False, False),
        ("User*", "User:x", False, False),
        ("bob", "bob", False, False),
        ("*", "User:x", False, False),
    ],
)
def test_type_and_name_are_globs_each_on_its_own_or_plain_text(
    acl_principal, principal, under_kip, under_kafka
):
    assert principal_matches(acl_principal, principal, KIP_1042) is under_kip
    assert principal_matches(acl_principal, principal, KAFKA) is under_kafka


@given(texts, texts, semantics)
def test_a_principal_that_names_exactly_matches_itself_only(acl_name, name, read):
    acl_principal = f"User:{acl_name}"
    if names_exactly(acl_principal, read):
        assert principal_matches(acl_principal, f"User:{name}", read) == (acl_name == name)


@pytest.mark.parametrize(
    ("acl_host", "host", "under_kip", "under_kafka"),
    [
        ("*", "10.0.0.1", True, True),
        ("10.0.0.1", "10.0.0.1", True, True),
        ("10.0.0.*", "10.0.0.1", True, False),
        ("10.0.0.?", "10.0.0.12", False, False),
        ("", "10.0.0.1", True, False),
        ("**", "10.0.0.1", True, False),
        ("::1", "0:0:0:0:0:0:0:1", False, False),
        ("10.0.0.0/8", "10.0.0.1", False, False),
    ],
)
def test_a_host_is_a_glob_or_plain_text(acl_host, host, under_kip, under_kafka):
    assert host_matches(acl_host, host, KIP_1042) is under_kip
    assert host_matches(acl_host, host, KAFKA) is under_kafka


def test_a_host_that_java_would_not_write_can_never_match():
    never = [host for host in ("::1", "", "10.0.0.1", "h", "*") if not host_can_match(host, KAFKA)]
    assert never == ["::1", "", "h"]


def test_what_no_acl_names_within_a_range_is_any_other_host_where_ranges_do_not_decide():
    atom = "<any-other in 10.0.0.0/8>"
    for read in (KAFKA, KIP_1042):
        assert host_matches("*", atom, read)
        assert not any(host_matches(text, atom, read) for text in ("10.0.0.0/8", "*8>", atom))
    assert host_matches("**", atom, KIP_1042)
