"""Shares become levels and percents, and topics groups: the same in Python as in SQL."""

from __future__ import annotations

from dataclasses import replace

import duckdb
import pytest

from aclkit.audit.reports.reach import PREFIX, heat_tables, prefix_of
from tests.audit.reports.made import HEAT, HOSTILE

NAMES = (
    "", "a", "a.b", "a-b", "__a__b", "...", "-._x", "ä.ö", "a\nb.c", "\n.x", "\u2028_", "😀-x",
    HOSTILE, "' OR 1=1 --", "a" * 5_000 + ".b", "." * 5_000,
)  # fmt: skip


def test_python_and_duckdb_group_topics_alike():
    text = "SELECT regexp_extract(unnest(CAST(? AS VARCHAR[])), ?)"
    found = duckdb.execute(text, [list(NAMES), PREFIX]).fetchall()
    assert [name for (name,) in found] == [prefix_of(name) for name in NAMES]


@pytest.mark.parametrize(
    ("name", "prefix"),
    [("pay.eu.v1", "pay."), ("pay_eu", "pay_"), ("pay", "pay"), ("__pay-x", "__pay-"), ("-.", "")],
)
def test_a_prefix_ends_with_the_first_separator_behind_a_letter(name, prefix):
    assert prefix_of(name) == prefix


def test_every_use_has_every_principal_and_a_cell_for_every_prefix():
    assert heat_tables(HEAT) == [
        ("administer", [("User:0000", [(5, "8 of 8", "100"), (0, "0 of 4", "·")]),
                        (f"User:{HOSTILE}", [(0, "0 of 8", "·"), (5, "4 of 4", "100")])]),
        ("write", [("User:0000", [(5, "2 of 2", "100"), (0, "0 of 1", "·")]),
                   (f"User:{HOSTILE}", [(0, "0 of 2", "·"), (5, "1 of 1", "100")])]),
        ("read", [("User:0000", [(5, "6 of 6", "100"), (0, "0 of 3", "·")]),
                  (f"User:{HOSTILE}", [(2, "1 of 6", "16"), (5, "3 of 3", "100")])]),
    ]  # fmt: skip


@pytest.mark.parametrize("lost", ["prefixes", "principals"])
def test_without_rows_or_columns_there_is_no_map(lost):
    assert heat_tables(replace(HEAT, **{lost: ()})) == []
    assert heat_tables(None) == []
