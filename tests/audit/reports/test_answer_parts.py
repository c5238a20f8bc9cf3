"""Parts of an answer in a page: colours, and names that lead on."""

from __future__ import annotations

from aclkit.answer.document import Command, Item, Items, Sentence, Table
from aclkit.answer.html import render_html
from tests.audit.reports.made import HOSTILE, IMAGE


def test_a_decision_is_coloured_and_a_name_that_looks_like_one_is_not():
    page = render_html([Table(("principal", "decision"), [("DENIED", "DENIED for all")])])
    assert ">DENIED</th>" in page
    assert '<span class="DENIED">DENIED</span> for all</td>' in page


def test_a_cell_leads_where_its_column_does():
    table = Table(("principal", "offset", "because"), [("User:a", 597, "x")])
    page = render_html(
        [table], lambda column, cell: f"/{column}" if cell in ("User:a", 597) else None
    )
    assert '<a href="/principal">User:a</a>' in page
    assert '<a href="/offset">597</a>' in page
    assert page.count("<a ") == 2


def test_hostile_names_stay_text_in_every_part():
    parts = [
        Sentence(HOSTILE), Items([Item(HOSTILE, "+", [HOSTILE])]), Command(HOSTILE),
        Table(("principal", "decision"), [(HOSTILE, f"DENIED {HOSTILE}")]),
    ]  # fmt: skip
    page = render_html(parts, lambda *_: f"/{IMAGE}")
    assert IMAGE not in page
    assert "<script>" not in page
    assert "\u202e" not in page
