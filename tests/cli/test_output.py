"""Rows as text: golden output of every format."""

from __future__ import annotations

import ast
import csv
import io
import json
import logging
import re
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from aclkit.answer.formats import FORMATS
from aclkit.cli.context import format_option
from aclkit.cli.main import _tell_progress
from aclkit.cli.output import tell_error, write_rows
from aclkit.errors import UsageError
from aclkit.model.visible import visible

COLUMNS = ("name", "number", "more")
ROWS = [
    ("plain", 1, None),
    ("", 2, ["a", "b"]),
    ('say "hi", you', None, {"k": 1}),
    ("-", 2.5, datetime.fromisoformat("2026-11-21T12:00:00")),
    ("\x1b[2J\nline\u202e", True, "é"),
]


def render(output_format, columns=COLUMNS, rows=ROWS):
    stream = io.StringIO(newline="")
    write_rows(columns, iter(rows), output_format, stream)
    return stream.getvalue()


def test_table_shows_nulls_and_hostile_texts_plainly():
    assert render("table") == (
        "name                        number  more\n"
        "plain                       1       -\n"
        '""                          2       ["a", "b"]\n'
        'say "hi", you               -       {"k": 1}\n'
        '"-"                         2.5     2026-11-21T12:00:00Z\n'
        "\\u{1b}[2J\\u{a}line\\u{202e}  true    é\n"
    )


def read_cell(shown):
    """Read a cell of a table back, which nothing but people do."""
    text = json.loads(shown) if shown.startswith('"') else shown
    return re.sub(r"\\u\{([0-9a-f]+)\}", lambda found: chr(int(found[1], 16)), text)


@given(st.text(st.sampled_from('a"\\u{}1b-\x1b\n \u202e')) | st.text())
def test_a_cell_is_one_line_and_no_two_texts_look_alike_in_it(text):
    shown = render("table", ("a",), [(text,)]).removeprefix("a\n").removesuffix("\n")
    assert shown.isprintable()
    assert read_cell(shown) == text


def test_one_long_name_widens_its_own_row_only():
    long = "x" * 32_767
    rows = [("short", 1), (long, 2), ("a name of some length", 3)]
    assert render("table", ("name", "number"), rows).splitlines() == [
        "name                   number",
        "short                       1",
        f"{long}       2",
        "a name of some length       3",
    ]


def test_names_with_wide_letters_align_in_80_columns():
    names = ("User:alice", "User:日本語", "User:e\u0301ric", "User:👩\u200d🚀")
    lines = render("table", ("principal", "operation"), [(name, "READ") for name in names])
    places = [
        wcswidth(line[: line.index(word)])
        for line, word in zip(
            lines.splitlines(), ("operation", "READ", "READ", "READ", "READ"), strict=True
        )
    ]
    assert set(places) == {max(map(wcswidth, map(visible, names))) + 2}
    assert max(map(wcswidth, lines.splitlines())) <= 80


def test_what_goes_to_stderr_is_told_and_so_cannot_act_on_a_terminal():
    for path in (Path(__file__).parents[2] / "aclkit" / "cli").glob("*.py"):
        if path.name != "output.py":
            text = ast.unparse(ast.parse(path.read_text(encoding="utf-8")))
            assert not re.search(r"click\.echo\(.*err=True", text), path.name


def test_an_error_is_one_line_or_its_further_lines_are_indented(capsys):
    tell_error(UsageError("bad \x1b[2J\u202e\nError: forged" + "x" * 3_000))
    first, second = capsys.readouterr().err.splitlines()
    assert first == "Error: bad \\u{1b}[2J\\u{202e}"
    assert second.startswith("  Error: forgedxxx")
    assert second.endswith("x … (3,023 characters)")


def test_progress_is_one_line_that_acts_on_nothing(capsys):
    _tell_progress()
    logging.getLogger("aclkit").warning("of %s", "a\nb\x9b")
    assert capsys.readouterr().err == "of a\\u{a}b\\u{9b}\n"


def test_csv_is_rfc_4180_with_null_and_empty_apart():
    assert render("csv") == (
        "name,number,more\r\n"
        "plain,1,\r\n"
        '"",2,"[""a"", ""b""]"\r\n'
        '"say ""hi"", you",,"{""k"": 1}"\r\n'
        "-,2.5,2026-11-21T12:00:00Z\r\n"
        '"\x1b[2J\nline\u202e",true,é\r\n'
    )


def test_csv_is_read_back_unchanged():
    names = [row[0] for row in csv.reader(io.StringIO(render("csv"), newline=""))]
    assert names[1:] == [row[0] for row in ROWS]


def test_json_is_a_list_of_objects():
    assert json.loads(render("json")) == [
        {"name": "plain", "number": 1, "more": None},
        {"name": "", "number": 2, "more": ["a", "b"]},
        {"name": 'say "hi", you', "number": None, "more": {"k": 1}},
        {"name": "-", "number": 2.5, "more": "2026-11-21T12:00:00Z"},
        {"name": "\x1b[2J\nline\u202e", "number": True, "more": "é"},
    ]
    assert render("json", ("a",), [(1,), (2,)]) == '[\n{"a": 1},\n{"a": 2}\n]\n'


def test_columns_of_one_name_stay_apart_in_json():
    columns, rows = ("a", "b", "a", "a_1", "a"), [(1, 2, 3, 4, 5)]
    (row,) = json.loads(render("json", columns, rows))
    assert row == {"a": 1, "b": 2, "a_2": 3, "a_1": 4, "a_3": 5}
    assert json.loads(render("jsonl", columns, rows)) == row


def test_jsonl_is_one_object_per_line():
    lines = render("jsonl").splitlines()
    assert [json.loads(line) for line in lines] == json.loads(render("json"))


def test_no_rows_is_still_well_formed():
    assert render("table", rows=[]) == "name  number  more\n"
    assert render("csv", rows=[]) == "name,number,more\r\n"
    assert render("json", rows=[]) == "[]\n"
    assert render("jsonl", rows=[]) == ""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))), "2026-01-01T00:00:00Z"),
        (datetime(2026, 1, 1, 0, 0, 0, 1000, tzinfo=UTC), "2026-01-01T00:00:00.001000Z"),
        (date(2026, 1, 1), "2026-01-01"),
        (Decimal("3"), 3),
        (Decimal("1.5"), 1.5),
        (float("nan"), "nan"),
        (b"\x00\xff", "00ff"),
        ((1, None), [1, None]),
        (timedelta(days=1), "1 day, 0:00:00"),
    ],
)
def test_values_have_one_form_in_json(value, expected):
    (row,) = json.loads(render("json", ("a",), [(value,)]))
    assert row == {"a": expected}


def test_closed_pipe_is_no_error():
    script = (
        "import sys; from aclkit.cli.output import write_rows; "
        "write_rows(['a'], ((i,) for i in range(200000)), 'csv', sys.stdout)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"a\r\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_format_option_knows_the_four_formats():
    @click.command()
    @format_option
    @click.pass_obj
    def command(context):
        click.echo(context.output_format)

    runner = CliRunner()
    assert runner.invoke(command, []).output == "table\n"
    for name in FORMATS:
        assert runner.invoke(command, ["--format", name]).output == f"{name}\n"
    assert runner.invoke(command, ["--format", "xml"]).exit_code == 2
