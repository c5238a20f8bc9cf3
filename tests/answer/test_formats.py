"""One answer in every format: a program reads its values, a person its parts, and no name acts."""

from __future__ import annotations

import csv
import io
import json
from urllib.parse import quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.answer.document import (
    Answer,
    Command,
    Facts,
    Heading,
    Item,
    Items,
    Sentence,
    Table,
)
from aclkit.answer.formats import CSV, FORMATS, JSON, JSONL, TABLE
from aclkit.answer.html import render_html
from aclkit.answer.markdown import document, render_markdown
from aclkit.answer.render import Form, is_rows, render
from aclkit.errors import UsageError

EVIL = "<script>alert(1)</script>`]|\x1b[2J\n# x"
ANSWER = Answer(
    title="Who can READ topic:x",
    columns=("principal", "number"),
    rows=[("User:a", 1), ("User:b", 2)],
    parts=lambda: [
        Sentence("2 principals can READ topic:x.", "good"),
        Table(("principal", "number"), [("User:a", 1), ("User:b", 2)]),
    ],
    notes=["Super users are unknown."],
    more={"unknown_settings": ["super.users"]},
)


def written(answer, output_format, **form):
    return "".join(render(answer, output_format, Form(**form)))


def test_people_read_the_parts_and_the_notes_last():
    assert written(ANSWER, TABLE) == (
        "2 principals can READ topic:x.\n\nprincipal  number\nUser:a          1\n"
        "User:b          2\n\nSuper users are unknown.\n"
    )


def test_an_answer_without_parts_is_a_table_of_its_rows():
    assert written(Answer(columns=("a",), rows=[(1,)]), TABLE) == "a\n1\n"


def test_json_says_in_each_row_what_holds_for_all_and_the_run():
    rows = json.loads(written(ANSWER, JSON, stamp=("2026", 7)))
    assert rows[0] == {
        "principal": "User:a", "number": 1, "unknown_settings": ["super.users"],
        "as_of": "2026", "as_of_offset": 7,
    }  # fmt: skip


def test_a_whole_object_is_written_as_it_is_made():
    answer = Answer(columns=(), rows=(), json=lambda: iter([("a", 1), ("b", iter([1, 2]))]))
    assert json.loads(written(answer, JSON)) == {"a": 1, "b": [1, 2]}


def test_rows_alone_have_no_place_for_notes():
    whole = Answer(columns=(), rows=(), json=dict)
    assert [is_rows(ANSWER, each) for each in (TABLE, JSON, JSONL, CSV)] == [
        False,
        True,
        True,
        True,
    ]
    assert not is_rows(whole, JSON)


def test_chosen_columns_are_in_every_format_of_rows():
    for output_format in (TABLE, JSON, JSONL, CSV):
        text = written(ANSWER, output_format, columns=("number",))
        assert "User:a" not in text
        assert "1" in text


@pytest.mark.parametrize("output_format", ["markdown", "sarif"])
def test_columns_of_what_has_no_rows_are_refused(output_format):
    with pytest.raises(UsageError, match="--columns needs rows"):
        written(ANSWER, output_format, columns=("number",))


def test_an_answer_without_sarif_says_so():
    with pytest.raises(UsageError, match="no SARIF"):
        written(ANSWER, "sarif")


def test_markdown_has_the_title_the_verdict_in_bold_and_tables():
    assert render_markdown(ANSWER) == (
        "## Who can READ topic:x\n\n**2 principals can READ topic:x.**\n\n"
        "| principal | number |\n|---|---:|\n| User:a | 1 |\n| User:b | 2 |\n\n"
        "Super users are unknown.\n"
    )


def test_markdown_shows_what_comes_and_goes_as_a_difference():
    items = Items([Item("a", "+", ["why"]), Item("b", "-"), Item("c", "~")])
    assert document([items]) == "```diff\n+ a\n      why\n- b\n! c\n```\n"


def test_a_fence_is_longer_than_any_in_it():
    assert document([Command("a ``` b")]) == "````sh\na ``` b\n````\n"


def test_more_than_fifty_rows_of_a_comment_are_counted():
    text = document([Table(("a",), [(str(n),) for n in range(60)])])
    assert text.endswith("… and 10 more; `--format json` prints all\n")


@given(st.text() | st.just(EVIL))
def test_no_name_acts_in_html(name):
    parts = [
        Sentence(name), Heading(name), Facts([(name, name)]), Command(name),
        Items([Item(name, "+", [name])]), Table(("principal",), [(name,)]),
    ]  # fmt: skip
    text = str(render_html(parts, lambda _, cell: f"/what-can?principal={quote_plus(cell)}"))
    assert "<script" not in text
    assert "\x1b" not in text


def test_names_lead_on_in_html_and_numbers_sort_by_their_value():
    parts = [Table(("principal", "topics"), [("User:a", 1_200)])]
    leads = {"principal": "/principal/User:a"}
    text = str(render_html(parts, lambda column, _: leads.get(column)))
    assert '<a href="/principal/User:a">User:a</a>' in text
    assert '<td class="number" data-value="1200" data-title="topics">1,200</td>' in text


@pytest.mark.parametrize("output_format", FORMATS)
def test_every_format_writes_every_part(output_format):
    parts = [
        Sentence("s"), Heading("h", is_sub=True), Facts([("f", "g")]), Command("c"),
        Items([Item("i")]), Table(("t",), []),
    ]  # fmt: skip
    assert written(Answer(columns=("a",), rows=[("1",)], parts=lambda: parts), output_format)


def test_csv_is_read_back_as_it_was():
    text = written(ANSWER, CSV)
    assert [*csv.reader(io.StringIO(text, newline=""))][1] == ["User:a", "1"]
