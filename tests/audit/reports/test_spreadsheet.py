"""The spreadsheet: cells that would be formulas are text."""

from __future__ import annotations

import csv
import io

import pytest

from aclkit.audit.reports.as_spreadsheet import COLUMNS, neutral, render_spreadsheet
from tests.audit.reports.made import finding, report


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        " =1",
        "\u00a0@x",
        "\uff1d1",
        "\uff0b1",
        "\uff0d1",
        "\uff20x",
    ],
)
def test_what_a_spreadsheet_would_run_gets_an_apostrophe(text):
    assert neutral(text) == f"'{text}"


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("a;=1+1", "a;'=1+1"),
        ('a";@x', "a\";'@x"),
        ("a; -1;+2", "a;' -1;'+2"),
        ("a;\t=1", "a;'\t=1"),
        ('a;"=1;', "a;'\"=1;"),
    ],
)
def test_where_semicolons_part_the_cells_no_part_is_a_formula_either(text, safe):
    """As they do where a comma stands before the decimals: what follows one begins a cell."""
    assert neutral(text) == safe


@pytest.mark.parametrize("text", ["", "User:a", "a=1", "'=1", "1-2", "a; b", "a,=1"])
def test_other_text_is_left_as_it_is(text):
    assert neutral(text) == text


def test_a_hostile_subject_stays_one_cell_that_is_no_formula():
    evil = '=HYPERLINK("http://h.example","x"),\r\n"'
    text = render_spreadsheet(report(finding(subject=evil)))
    header, row = csv.reader(io.StringIO(text, newline=""))
    assert tuple(header) == COLUMNS
    assert row[2] == "'" + evil.replace("\r\n", "\\u{d}\\u{a}")
    assert text.count("\r\n") == 2
