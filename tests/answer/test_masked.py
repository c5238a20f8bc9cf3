"""Values that people must not see, in every part of an answer."""

from __future__ import annotations

import json

import pytest

from aclkit.answer.document import Answer, Facts, Heading, Item, Items, Sentence, Table
from aclkit.answer.masked import Hidden, masked, masker

CLEAN = masker([Hidden("s3cret", "(hidden)"), Hidden("start-", "(start)", is_start=True)])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("for s3cret, s3cret.", "for (hidden), (hidden)."),
        ("s3crets and my-s3cret", "s3crets and my-s3cret"),
        ("topic s3cret.in", "topic (hidden).in"),
        ("topic start-all", "topic (start)all"),
        ("re-start-all", "re-start-all"),
        ("", ""),
    ],
)
def test_a_value_is_replaced_as_a_word_and_a_start_of_names_everywhere(text, wanted):
    assert CLEAN(text) == wanted


def test_a_short_start_is_replaced_as_a_word_only():
    assert masker([Hidden("pa", "X", is_start=True)])("pa pass") == "X pass"


def test_a_longer_value_goes_first():
    clean = masker([Hidden("ann", "(name)"), Hidden("User:ann", "(principal)")])
    assert clean("User:ann, ann") == "(principal), (name)"


def test_parts_notes_title_and_sarif_are_masked_and_rows_stay():
    parts = [
        Sentence("s3cret"), Heading("s3cret"), Items([Item("s3cret", "+", ["s3cret"])]),
        Facts([("label", "s3cret")]), Table(["principal"], [["s3cret", 1, None]]),
    ]  # fmt: skip
    answer = Answer(
        title="s3cret", columns=["principal"], rows=[["s3cret"]], parts=lambda: parts,
        notes=["s3cret"], besides=lambda: ["s3cret"],
        sarif=lambda: json.dumps({"a": ["s3cret"], "n": 1}),
    )  # fmt: skip
    found = masked(answer, CLEAN)
    assert found.parts is not None
    assert found.besides is not None
    assert found.sarif is not None
    told = [found.title, *found.notes, *found.besides(), found.sarif(), str([*found.parts()])]
    assert "s3cret" not in " ".join(told)
    assert [*found.rows] == [["s3cret"]]
