"""The CSV of a review: safe in a spreadsheet, and read back row by row."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aclkit.audit.review.attributes import attributes_of
from aclkit.audit.review.decisions import KEEP, REMOVE, in_force
from aclkit.audit.review.sheet import COLUMNS, read_sheet, write_sheet
from aclkit.errors import UsageError
from aclkit.model.semantics import BrokerSettings
from aclkit.model.visible import visible
from tests.audit.review.reviews import decided, items_of, review_of
from tests.factories import acl
from tests.fuzz.mutants import rounds
from tests.strategies import acl_sets

REVIEW = review_of()
FIRST, SECOND, *_ = REVIEW.items
FORMULA = '=HYPERLINK("http://evil")'


def sheet(review=REVIEW, decisions=None, **filled):
    """Export a review, and fill in what is given: item → (decision, reason)."""
    text = "".join(write_sheet(review, decisions or {}, review.items))
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    for row in rows:
        if row["item"] in filled:
            row["decision"], row["reason"] = filled[row["item"]]
    return rows


def text_of(rows, separator=",", columns=COLUMNS):
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, columns, delimiter=separator)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def read(rows, made=(), *, replaces=False, separator=","):
    text = rows if isinstance(rows, str) else text_of(rows, separator)
    return read_sheet(text, "f.csv", REVIEW, in_force(made), "bob", replaces=replaces)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_filled_in_sheet_decides_and_empty_rows_do_not(separator):
    rows = sheet(**{FIRST.item_id: ("Keep", "daily report"), SECOND.item_id: ("remove", "left")})
    found = read(rows, separator=separator)
    assert [(w.item, w.decision, w.reason, w.by) for w in found.wanted] == [
        (FIRST.item_id, KEEP, "daily report", "bob"),
        (SECOND.item_id, REMOVE, "left", "bob"),
    ]
    assert (found.broken, found.undecided) == ((), len(REVIEW.items) - 2)


def test_what_was_decided_already_is_exported_and_not_decided_again():
    made = decided(REVIEW)
    assert read(sheet(decisions=in_force(made)), made).wanted == ()


def test_no_cell_is_a_formula_and_a_reason_comes_back_as_it_was():
    items = items_of([acl("t", principal="=cmd|'/c calc'!A1:x")], BrokerSettings())
    review = review_of([acl("t", principal="=cmd|'/c calc'!A1:x")], settings=BrokerSettings(),
                       about=attributes_of(items, ()))  # fmt: skip
    made = in_force(decided(review, reason=FORMULA))
    (row,) = sheet(review, made)
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in row.values())
    text = text_of([row])
    found = read_sheet(text, "f.csv", review, {}, "bob", replaces=False)
    assert found.wanted[0].reason == FORMULA


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"decision": "yes", "reason": "x"}, "unknown decision 'yes'. Expected keep or remove"),
        ({"decision": "keep", "reason": " "}, "Every decision needs a reason"),
        ({"decision": "keep", "reason": "x", "item": "f" * 16}, "has no item"),
        ({"decision": "keep", "reason": "x", "digest": "0" * 16}, "is not that of the review q1"),
        ({"decision": "keep", "reason": "x", "principal": "User:hr"}, "has the principal"),
        ({"decision": "keep", "reason": "x", "principal": ""}, "has the principal"),
        ({"decision": "keep", "reason": "x", "access": "READ on topic x"}, "has the access"),
        ({"decision": "keep", "reason": "x", "resource": "topic:x"}, "has the resource"),
    ],
)
def test_a_broken_row_is_told_with_its_line_and_the_others_are_read(change, says):
    rows = sheet(**{FIRST.item_id: ("keep", "two\nlines")})
    rows[1].update(change)
    found = read(rows)
    assert [w.item for w in found.wanted] == [FIRST.item_id]
    (broken,) = found.broken
    assert broken.startswith("f.csv, line 4: ")
    assert says in broken


@pytest.mark.parametrize("replaces", [True, False])
@pytest.mark.parametrize("made", [(), decided(REVIEW, reason="x")], ids=["open", "kept before"])
@pytest.mark.parametrize("change", [{"decision": "remove"}, {"reason": "y"}])
def test_an_item_that_a_file_decides_twice_is_broken_and_neither_counts(change, made, replaces):
    rows = sheet(**{FIRST.item_id: ("keep", "x")})
    found = read([rows[0], {**rows[0], **change}, rows[0]], made, replaces=replaces)
    assert "is decided otherwise in line 2" in found.broken[0]
    assert found.wanted == ()


def test_a_row_that_is_there_twice_decides_once():
    rows = sheet(**{FIRST.item_id: ("keep", "x")})
    found = read([rows[0], rows[0]])
    assert (len(found.wanted), found.broken) == (1, ())


@pytest.mark.parametrize("replaces", [True, False])
def test_another_reason_replaces_no_signature_of_someone_else(replaces):
    rows, made = sheet(**{FIRST.item_id: ("keep", "mine")}), decided(REVIEW, by="ana")
    found = read(rows, made, replaces=replaces)
    assert found.wanted == ()
    assert "A reason of bob does not replace it" in found.broken[0]
    assert read(sheet(**{FIRST.item_id: ("keep", "needed")}), made).broken == ()
    (own,) = read(rows, decided(REVIEW)).wanted
    assert (own.by, own.reason) == ("bob", "mine")


def test_columns_that_are_sorted_without_the_others_are_refused():
    rows = sheet()
    cells = ("owner", "principal", "resource", "access", "because")
    for row, other in zip(rows, [dict(row) for row in reversed(rows)], strict=True):
        row |= {name: other[name] for name in cells} | {"decision": "keep", "reason": "x"}
    found = read(rows)
    middle = len(rows) % 2
    assert (len(found.broken), len(found.wanted)) == (len(rows) - middle, middle)


def test_names_that_differ_in_a_blank_are_not_taken_for_each_other():
    acls = [acl("t", principal=name, acl_id=name) for name in ("User:a", "User:a ", "User: a")]
    review = review_of(acls, settings=BrokerSettings())
    rows = [{**row, "decision": "keep", "reason": "x"} for row in sheet(review)]
    sound = read_sheet(text_of(rows), "f.csv", review, {}, "bob", replaces=False)
    assert (len(sound.wanted), sound.broken) == (3, ())
    ids = [row["item"] for row in rows]
    mixed = [{**row, "item": other} for row, other in zip(rows, [*ids[1:], ids[0]], strict=True)]
    found = read_sheet(text_of(mixed), "f.csv", review, {}, "bob", replaces=False)
    assert (found.wanted, len(found.broken)) == ((), 3)


def test_ids_and_digests_are_no_numbers_or_days_and_those_of_older_sheets_are_known():
    rows = sheet(**{FIRST.item_id: ("keep", "x")})
    assert all(row[name].startswith("i") for row in rows for name in ("item", "digest"))
    older = [{**row, "item": row["item"][1:], "digest": row["digest"][1:]} for row in rows]
    columns = [name for name in COLUMNS if name != "resource"]
    text = text_of([{name: row[name] for name in columns} for row in older], columns=columns)
    assert [w.item for w in read(text).wanted] == [FIRST.item_id]


def test_a_row_contradicts_a_decision_only_if_that_is_asked_for():
    rows, made = sheet(**{FIRST.item_id: ("remove", "x")}), decided(REVIEW)
    assert "has the decision keep by bob" in read(rows, made).broken[0]
    assert read(rows, made, replaces=True).wanted[0].decision == REMOVE


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the file is empty"),
        ("item,decision,reason\n", "line 1: expected the columns .* repeated: digest"),
        ("item,item,decision,reason,digest\n", "repeated: item"),
        (f"{','.join(COLUMNS)},resource\n", "repeated: resource"),
        ('item,decision,reason,digest,principal,access\n"a', "not valid CSV"),
    ],
)
def test_what_is_no_sheet_is_refused(text, says):
    with pytest.raises(UsageError, match=says):
        read(text)


CELLS = ("owner", "principal", "resource", "access", "because", "known_names")


@settings(max_examples=rounds(40))
@given(acl_sets(5), st.permutations(range(8)), st.sets(st.sampled_from(CELLS)), st.booleans())
def test_a_decision_is_imported_only_for_the_item_that_its_row_shows(acls, order, moved, replaces):
    review = review_of(acls)
    made = in_force(decided(review, KEEP, review.items[:2], by="ana"))
    rows = sheet(review)
    places = [place for place in order if place < len(rows)] + list(range(8, len(rows)))
    shown = [dict(rows[place]) for place in places]
    for row, other in zip(rows, shown, strict=True):
        row |= {name: other[name] for name in moved}
        row |= {"decision": REMOVE if "b" in row["principal"] else KEEP, "reason": "checked"}
    found = read_sheet(text_of(rows), "f.csv", review, made, "bob", replaces=replaces)
    by_item = {row["item"]: row for row in rows}
    for wanted in found.wanted:
        item = review.by_id[wanted.item]
        assert by_item[wanted.item]["principal"] == visible(item.principal)
        assert (wanted.decision == REMOVE) is ("b" in visible(item.principal))
        signed = made.get(wanted.item)
        assert signed is None or (replaces and signed.decision != wanted.decision)
