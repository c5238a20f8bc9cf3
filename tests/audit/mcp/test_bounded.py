"""What an assistant is sent of an answer: bounded, visible, and what is left out is counted."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from aclkit.audit.mcp import reply
from aclkit.audit.mcp.reply import LONGEST_STRING, MOST_LINES, QUOTE, Cutter, quoted_text
from aclkit.model.visible import exact, is_visible, visible

values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=20,
)


def back(value):
    """Return a value whose texts were made visible."""
    if isinstance(value, dict):
        return {exact(name): back(item) for name, item in value.items()}
    if isinstance(value, list):
        return list(map(back, value))
    return exact(value) if isinstance(value, str) else value


@given(st.dictionaries(st.text(max_size=3), values))
def test_what_is_within_the_limits_stays_whole(value):
    cutter = Cutter(limit=100)
    assert back(cutter.members(value.items())) == value
    assert cutter.cut == {}


@given(values, st.integers(1, 3))
def test_no_list_is_longer_than_the_limit_and_each_letter_is_visible(value, limit):
    found = Cutter(limit).value(value, "answer")

    def check(item):
        if isinstance(item, list):
            assert len(item) <= limit
        for each in (
            item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
        ):
            check(each)
        assert not isinstance(item, str) or all(map(is_visible, item))

    check(found)


def test_lists_that_are_cut_are_counted_where_they_stand():
    cutter = Cutter(limit=2)
    found = cutter.members({"a": iter(range(5)), "b": [{"c": [1, 2, 3]}], "d": [1]}.items())
    assert found == {"a": [0, 1], "b": [{"c": [1, 2]}], "d": [1]}
    assert cutter.cut == {"a": 5, "b[].c": 3}


def test_long_texts_and_many_letters_end_too():
    cutter = Cutter(limit=1_000)
    found = cutter.rows(["x" * (LONGEST_STRING + 1)] * 100, "rows")
    assert len(json.dumps(found)) < reply.MOST_LETTERS + 2 * LONGEST_STRING
    assert cutter.cut["rows"] == 100
    assert cutter.cut["rows[]"] == LONGEST_STRING + 1


@given(st.lists(st.text(), max_size=5))
def test_no_line_of_a_quotation_is_without_its_mark(names):
    text = quoted_text(map(visible, names))
    assert all(line.startswith(QUOTE.rstrip()) for line in text.split("\n") if names)


def test_a_long_quotation_ends_with_a_line_of_ours():
    *shown, last = quoted_text(map(str, range(MOST_LINES + 1))).split("\n")
    assert len(shown) == MOST_LINES
    assert last == f"(Only the first {MOST_LINES} lines are shown.)"
