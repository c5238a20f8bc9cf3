"""Answers for people: they fit their screen, break no name, and act on no terminal."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from aclkit.answer.document import Command, Facts, Heading, Item, Items, Sentence, Table
from aclkit.answer.text import Layout, lay_out

COLUMNS = ("principal", "operations", "because")
ROWS = [
    ("User:alice", "READ, DESCRIBE", "ALLOW READ on payments.* (prefix) from any host"),
    ("User:日本語の名前", "WRITE", "DENY WRITE on all topics from 10.0.0.1"),
    ("User:CN=app1,OU=Payments,O=Acme,C=US", "READ", None),
]


def lines(rows=ROWS, columns=COLUMNS, spare=(), **layout):
    return shown([Table(columns, rows, spare=spare)], **layout)


def shown(parts, **layout):
    return "".join(lay_out(parts, Layout(**layout))).splitlines()


def letters(found):
    return re.sub(r"\s", "", "".join(found))


def test_without_a_screen_each_row_is_one_line():
    assert lines()[1] == (
        "User:alice                            READ, DESCRIBE  "
        "ALLOW READ on payments.* (prefix) from any host"
    )
    assert len(lines()) == 4


def test_cells_break_at_blanks_and_names_never():
    assert lines(width=66) == [
        "principal                             operations  because",
        "User:alice                            READ,       ALLOW READ on",
        "                                      DESCRIBE    payments.*",
        "                                                  (prefix) from",
        "                                                  any host",
        "User:日本語の名前                     WRITE       DENY WRITE on",
        "                                                  all topics from",
        "                                                  10.0.0.1",
        "User:CN=app1,OU=Payments,O=Acme,C=US  READ        -",
    ]


def test_a_spare_column_leaves_before_a_name_breaks():
    columns, rows = (
        ("principal", "because", "since"),
        [("User:" + "a" * 20, "super user", "2026-11")],
    )
    assert lines(rows, columns, spare=("since",), width=40) == [
        "principal                  because",
        "User:aaaaaaaaaaaaaaaaaaaa  super user",
    ]


def test_a_long_first_cell_has_a_line_of_its_own_and_is_said_once():
    rows = [("User:" + "a" * 25, "READ", "super user"), ("User:" + "a" * 25, "WRITE", "super user")]
    assert lines(rows, width=40) == [
        "principal",
        "  operations  because",
        "User:aaaaaaaaaaaaaaaaaaaaaaaaa",
        "  READ        super user",
        "  WRITE       super user",
    ]


@given(
    rows=st.lists(st.tuples(*[st.text(max_size=60)] * 3), max_size=6),
    width=st.integers(20, 120),
)
def test_no_line_is_wider_than_the_screen_but_for_one_word_and_no_letter_is_lost(rows, width):
    narrow, wide = lines(rows, width=width), lines(rows)
    for line in narrow:
        assert wcswidth(line) <= width or " " not in line.strip() or "  " in line
    if narrow[0].split() == list(COLUMNS):
        assert max(map(wcswidth, narrow)) <= width
        assert sorted(letters(narrow)) == sorted(letters(wide))


def test_more_columns_than_a_screen_has_room_for_become_blocks():
    columns = tuple(f"column_{number}" for number in range(12))
    rows = [tuple("letters and more letters" for _ in columns)] * 2
    found = lines(rows, columns, width=40)
    assert found[:2] == [
        "column_0   letters and more letters",
        "column_1   letters and more letters",
    ]
    assert found[12] == ""
    assert len(found) == 25


def test_a_cell_that_would_fill_the_screen_ends_with_its_length():
    found = lines([("x " * 16_000 + "x", "READ", "ALLOW")], width=80)
    assert len(found) < 16
    assert "… (32,001 letters)" in "".join(found)


def test_whole_numbers_stand_on_the_right():
    assert lines([("a", 5), ("b", 1_000)], ("name", "number")) == [
        "name  number",
        "a          5",
        "b       1000",
    ]


def test_colour_is_for_decisions_and_severities_and_for_no_name():
    rows = [("high", "DENIED", "DENY"), ("\x1b[31m", "ALLOWED", "User:x")]
    found = lines(rows, ("severity", "decision", "principal"), width=80, has_colour=True)
    assert found == [
        "\x1b[1mseverity\x1b[0m    \x1b[1mdecision\x1b[0m  \x1b[1mprincipal\x1b[0m",
        "\x1b[1m\x1b[31mhigh\x1b[0m        \x1b[31mDENIED\x1b[0m    DENY",
        "\\u{1b}[31m  \x1b[32mALLOWED\x1b[0m   User:x",
    ]
    assert "\x1b" not in "".join(lines(rows, ("severity", "decision", "principal"), width=80))


def test_wide_tables_have_all_columns_and_one_line_a_row():
    table = Table(("a",), [("1",)], Table(("a", "b"), [("1", "x " * 60)]))
    parts = [Sentence("a sentence of some length"), table, Command("stays as it is")]
    assert shown(parts, width=20, is_wide=True) == [
        "a sentence of some length", "", "a  b", f'1  "{"x " * 60}"', "", "  stays as it is",
    ]  # fmt: skip


def test_sentences_break_at_blanks_and_what_is_to_be_copied_does_not():
    parts = [Sentence("one two three four five six"), Command("kafka-acls --add --topic payments")]
    assert shown(parts, width=20) == [
        "one two three four", "five six", "  kafka-acls --add --topic payments",
    ]  # fmt: skip


def test_a_blank_line_stands_around_blocks_and_none_below_a_heading():
    parts = [Sentence("a"), Sentence("b"), Heading("H"), Items([Item("i")]), Facts([("x", "y")])]
    assert shown(parts) == ["a", "b", "", "H", "i", "", "x  y"]


def test_lines_of_a_list_keep_their_mark_and_their_indent():
    items = [Item("one two three four", "+", ["because of five six"]), Item("x", "~")]
    assert shown([Items(items)], width=14) == [
        "+ one two", "  three four", "    because", "      of five", "      six", "~ x",
    ]  # fmt: skip


def test_a_terminal_shows_forty_lines_and_counts_the_rest_and_a_pipe_shows_all():
    rows = [(f"User:{number}",) for number in range(100)]
    parts = [Sentence("100 principals."), Table(("principal",), rows), Sentence("The end.")]
    found = shown(parts, width=80, limit=40)
    assert found[-3:] == ["… and 63 more: --no-limit", "", "The end."]
    assert len(found) == 43
    assert len(shown(parts)) == 105


def test_a_block_far_below_still_shows_its_first_rows():
    parts = [Items([Item(str(n)) for n in range(50)]), Items([Item("a"), Item("b")])]
    assert shown(parts, limit=40)[-2:] == ["a", "b"]
