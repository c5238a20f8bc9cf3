"""YAML is read strictly, and every scalar is the text that somebody wrote."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.errors import UsageError
from aclkit.runtime.yaml_notation import parse_yaml


@pytest.mark.parametrize("text", ["yes", "on", "no", "017", "1e3", "0x1F", "2026-11-26", "1:30"])
def test_a_plain_scalar_stays_the_text_that_was_written(text):
    assert parse_yaml(f"a: {text}\nb: [{text}]", "f") == [{"a": text, "b": [text]}]


@pytest.mark.parametrize("text", ["", "~", "null"])
def test_nothing_is_none_unless_it_is_quoted(text):
    assert parse_yaml(f"a: {text}\nb: '{text}'\nc: !!str {text}", "f") == [
        {"a": None, "b": text, "c": text}
    ]


def test_merged_keys_give_way_to_own_ones_and_to_those_merged_before():
    text = "x: &x {A: 1, B: 1}\ny: &y {B: 2, C: 2}\nz: {<<: [*x, *y], C: 3}\nq: {'<<': t}"
    assert parse_yaml(text, "f")[0]["z"] == {"A": "1", "B": "1", "C": "3"}
    assert parse_yaml(text, "f")[0]["q"] == {"<<": "t"}


def test_documents_do_not_share_anchors():
    with pytest.raises(UsageError, match=r"f:4: The alias \*a has no anchor before it"):
        parse_yaml("a: &a 1\nb: *a\n---\nc: *a", "f")


BOMB = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: 1\nb: 2\na: 3", "f:3: The key 'a' occurs twice in one mapping, on lines 1 and 3"),
        ("a: {b: 1, 'b': 2}", "The key 'b' occurs twice"),
        (BOMB, "f:5: Aliases stand for more than 100,000 values"),
        ("&a [*a]", "f:1: The alias *a has no anchor before it"),
        ("- " * 140 + "x", "Nested too deeply"),
        ("[" * 100_000, "Nested too deeply"),
        ("a: !!python/object/apply:os.system [x]", "The tag"),
        ("a: !!binary aGk=", "The tag"),
        ("a: !reset x", "The tag '!reset' is not read here"),
        ("[a]: b", "A key is a mapping or a list. Write a text"),
        ("a: [1", "Not valid YAML: did not find expected"),
        ("a: 1\n\tb: 2", "f:2: Not valid YAML"),
        ("a: \0", "f:1: This line has the control character U+0000"),
        ("a: !!int 5", "f:1: A tag is not read here. Remove it"),
        ("a:\n  *: 1", 'f:2: A key * has no quotes. Write "*":'),
        ("<<: 5", "<< merges a mapping"),
    ],
)
def test_what_is_not_read_strictly_is_refused_with_its_line(text, why):
    with pytest.raises(UsageError) as refused:
        parse_yaml(text, "f")
    assert why in str(refused.value)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text):
    with suppress(UsageError):
        parse_yaml(text, "f")
