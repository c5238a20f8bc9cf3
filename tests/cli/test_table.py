"""Tables for people: they fit their screen, hide nothing, and no name acts on a terminal."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from aclkit.cli.table import Layout, Table, Words, lay_out

COLUMNS = ("principal", "operations", "because")
ROWS = [
    ("User:alice", "READ, DESCRIBE", "ALLOW READ on PREFIXED payments. from any host"),
    ("User:日本語の名前", "WRITE", "DENY WRITE on LITERAL * from 10.0.0.1"),
    ("User:CN=app1,OU=Payments,O=Acme,C=US", "READ", None),
]


def lines(rows=ROWS, columns=COLUMNS, **layout):
    return "".join(lay_out([Table(columns, rows)], Layout(**layout))).splitlines()


def letters(shown):
    return re.sub(r"\s", "", "".join(shown))


def test_without_a_screen_each_row_is_one_line():
    assert lines()[1] == (
        "User:alice                            READ, DESCRIBE  "
        "ALLOW READ on PREFIXED payments. from any host"
    )
    assert len(lines()) == 4


def test_cells_break_at_blanks_and_names_behind_punctuation():
    assert lines(width=60) == [
        "principal                operations  because",
        "User:alice               READ,       ALLOW READ on PREFIXED",
        "                           DESCRIBE    payments. from any",
        "                                       host",
        "User:日本語の名前        WRITE       DENY WRITE on LITERAL *",
        "                                       from 10.0.0.1",
        "User:CN=app1,OU=         READ        -",
        "  Payments,O=Acme,C=US",
    ]


@given(
    rows=st.lists(st.tuples(*[st.text(max_size=60)] * 3), max_size=6),
    width=st.integers(20, 120),
)
def test_no_line_is_wider_than_the_screen_and_no_letter_is_lost(rows, width):
    narrow, wide = lines(rows, width=width), lines(rows)
    assert max(map(wcswidth, narrow)) <= width
    if narrow[0].split() == list(COLUMNS):
        assert sorted(letters(narrow)) == sorted(letters(wide))


def test_more_columns_than_a_screen_has_room_for_become_blocks():
    columns = tuple(f"column_{number}" for number in range(12))
    rows = [tuple("letters and more letters" for _ in columns)] * 2
    shown = lines(rows, columns, width=40)
    assert shown[:2] == [
        "column_0   letters and more letters",
        "column_1   letters and more letters",
    ]
    assert shown[12] == ""
    assert len(shown) == 25


def test_a_cell_that_would_fill_the_screen_ends_with_its_length():
    shown = lines([("x" * 32_767, "READ", "ALLOW")], width=80)
    assert len(shown) == 13
    assert shown[-1].startswith("… (32,767 letters)")


def test_the_longest_name_of_wide_letters_is_laid_out_at_once():
    shown = lines([("東" * 10_000, "é" * 10_000, " " * 10_000)], width=80)
    assert max(map(wcswidth, shown)) <= 80


def test_colour_is_for_decisions_and_severities_and_for_no_name():
    rows = [("high", "DENIED", "DENY"), ("\x1b[31m", "ALLOWED", "User:x")]
    shown = lines(rows, ("severity", "decision", "principal"), width=80, has_colour=True)
    assert shown == [
        "\x1b[1mseverity\x1b[0m    \x1b[1mdecision\x1b[0m  \x1b[1mprincipal\x1b[0m",
        "\x1b[1m\x1b[31mhigh\x1b[0m        \x1b[31mDENIED\x1b[0m    DENY",
        "\\u{1b}[31m  \x1b[32mALLOWED\x1b[0m   User:x",
    ]
    assert "\x1b" not in "".join(lines(rows, ("severity", "decision", "principal"), width=80))


def test_wide_tables_have_all_columns_and_one_line_a_row():
    table = Table(("a",), [("1",)], Table(("a", "b"), [("1", "x " * 60)]))
    parts = [Words("a sentence of some length"), table, "stays as it is\n"]
    assert list(lay_out(parts, Layout(width=20, is_wide=True))) == [
        "a sentence of some length\n", "a  b\n", f'1  "{"x " * 60}"\n', "stays as it is\n",
    ]  # fmt: skip


def test_sentences_break_at_blanks_and_what_is_to_be_copied_does_not():
    parts = [Words("one two three four five six"), "kafka-acls --add --topic payments\n"]
    assert list(lay_out(parts, Layout(width=20))) == [
        "one two three four\n", "five six\n", "kafka-acls --add --topic payments\n",
    ]  # fmt: skip
