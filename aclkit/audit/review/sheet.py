"""A review ↔ a CSV that owners fill in with a spreadsheet: decision and reason of each item. Pure.

No cell that is written is taken for a formula, and neither id nor digest for a number or a day. A
row is read by its item and digest, and counts only if its principal, resource and access are those
of this item: a spreadsheet can sort some columns without the others.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from aclkit.audit.reports.as_spreadsheet import neutral, spreadsheet_cell
from aclkit.audit.review.answers import note_words
from aclkit.audit.review.choosing import contradiction, other_signature, sound_text
from aclkit.audit.review.decisions import CHOICES, Decision, Wanted
from aclkit.audit.review.document import Review
from aclkit.audit.review.items import ID_MARK, Item
from aclkit.errors import UsageError
from aclkit.model.phrases import listed
from aclkit.model.visible import visible
from aclkit.pipeline.inventory.sheet import separator_of

COLUMNS: Final = (
    "item", "owner", "principal", "resource", "access", "because", "known_names", "usage", "until",
    "purpose", "class", "note", "decision", "reason", "review", "digest",
)  # fmt: skip
NEEDED: Final = ("item", "decision", "reason", "digest", "principal", "access")
DIGEST_LENGTH: Final = 16
_MOST_SHOWN: Final = 200
"""Letters of a cell in a message."""


def write_sheet(
    review: Review, decisions: Mapping[str, Decision], items: Iterable[Item]
) -> Iterator[str]:
    """Yield a line per item; every cell is quoted."""
    yield _line(COLUMNS)
    for item in items:
        about, made = review.about[item.item_id], decisions.get(item.item_id)
        yield _line((
            item.item_id, about.owner, *_cells_of(item).values(),
            "; ".join(item.because_words), str(about.today), about.usage, about.until,
            about.purpose, about.account, note_words(about),
            *((made.decision, made.reason) if made else ("", "")),
            review.name, f"{ID_MARK}{review.digest[:DIGEST_LENGTH]}",
        ))  # fmt: skip


def _cells_of(item: Item) -> dict[str, str]:
    """Return the cells that say what an item is, by column and in their order."""
    return {"principal": item.principal, "resource": item.resource, "access": item.access_words}


def _line(cells: Iterable[str]) -> str:
    return f"{','.join(map(spreadsheet_cell, cells))}\r\n"


@dataclass(frozen=True, slots=True)
class Filled:
    """What a sheet decides.

    Attributes:
        wanted: the decisions of sound rows that are not in force yet.
        broken: what is wrong, each with its line.
        undecided: rows without a decision.
    """

    wanted: tuple[Wanted, ...]
    broken: tuple[str, ...]
    undecided: int


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    cells: Mapping[str, str]


def read_sheet(
    text: str,
    source: str,
    review: Review,
    in_force: Mapping[str, Decision],
    by: str,
    *,
    replaces: bool,
) -> Filled:
    """Read a sheet that was filled in.

    Args:
        text: the CSV; commas, semicolons or tabs separate its cells.
        source: what it is called in messages.
        review: the review.
        in_force: the decisions that it has.
        by: who decides.
        replaces: a row may contradict a decision in force.

    Raises:
        UsageError: it is no such CSV.
    """
    decided: dict[str, tuple[int, Wanted]] = {}
    wanted: dict[str, Wanted] = {}
    unclear: set[str] = set()
    broken: list[str] = []
    undecided = 0
    name = sound_text(by, "a name")
    for row in _rows(text, source):
        if not row.cells["decision"].strip():
            undecided += 1
            continue
        try:
            found = _wanted(row, review, name)
            line, first = decided.setdefault(found.item, (row.line, found))
            if first != found:
                unclear.add(found.item)
                raise UsageError(f"item {found.item} is decided otherwise in line {line}")
            if _is_new(found, in_force.get(found.item), replaces=replaces):
                wanted[found.item] = found
        except UsageError as error:
            broken.append(f"{source}, line {row.line}: {error}")
    sound = tuple(each for item, each in wanted.items() if item not in unclear)
    return Filled(sound, tuple(broken), undecided)


def _is_new(found: Wanted, made: Decision | None, *, replaces: bool) -> bool:
    """Whether a decision is to be added to the one in force.

    Raises:
        UsageError: it contradicts that one, or has another person's reason for the same.
    """
    if made is None:
        return True
    if made.decision != found.decision:
        if not replaces:
            raise UsageError(contradiction([made]))
        return True
    if made.reason == found.reason:
        return False
    if made.by != found.by:
        raise UsageError(other_signature(made, found))
    return True


def _rows(text: str, source: str) -> Iterator[_Row]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator_of(text), strict=True)
    names: list[str] | None = None
    begin = 1
    try:
        for cells in reader:
            if names is None:
                names = _header(cells, source)
            elif any(cell.strip() for cell in cells):
                filled = [*cells, *[""] * (len(names) - len(cells))]
                yield _Row(begin, dict(zip(names, filled, strict=False)))
            begin = reader.line_num + 1
    except csv.Error as error:
        raise UsageError(f"{source}, line {begin}: not valid CSV: {error}") from None
    if names is None:
        raise UsageError(f"{source}: the file is empty. Next: aclkit review export")


def _header(cells: Iterable[str], source: str) -> list[str]:
    names = [cell.strip().lower() for cell in cells]
    missing = [name for name in NEEDED if names.count(name) != 1]
    missing += [name for name in COLUMNS if names.count(name) > 1 and name not in NEEDED]
    if missing:
        raise UsageError(
            f"{source}, line 1: expected the columns {listed(NEEDED)} once each, as aclkit review "
            f"export writes them. Missing or repeated: {listed(missing)}."
        )
    return names


def _wanted(row: _Row, review: Review, by: str) -> Wanted:
    cells = {name: value.strip() for name, value in row.cells.items()}
    item, digest = _plain(cells["item"]), _plain(cells["digest"])
    if digest.removeprefix(ID_MARK) != review.digest[:DIGEST_LENGTH]:
        raise UsageError(
            f"the digest {_shown(digest)} is not that of the review {review.name}: the row is of "
            "another review, or was changed"
        )
    found = review.find(item)
    if found is None:
        raise UsageError(f"the review {review.name} has no item {_shown(item)}")
    for name, text in _cells_of(found).items():
        if name in cells and row.cells[name] not in _as_written(text):
            raise UsageError(_mixed_up(found, name, row.cells[name], text))
    decision = cells["decision"].lower()
    if decision not in CHOICES:
        raise UsageError(
            f"unknown decision {_shown(cells['decision'])}. Expected {listed(CHOICES, 'or')}"
        )
    return Wanted(found.item_id, decision, sound_text(_plain(cells["reason"]), "a reason"), by)


def _plain(text: str) -> str:
    """Take away the apostrophe that keeps a spreadsheet from running a cell."""
    return text[1:] if text.startswith("'") and neutral(text[1:]) == text else text


def _as_written(text: str) -> tuple[str, str]:
    """Return what a cell may hold: as it is exported, or without the apostrophe in front.

    Blanks count: names can differ in nothing else.
    """
    return visible(neutral(text)), visible(text)


def _mixed_up(item: Item, column: str, found: str, expected: str) -> str:
    return (
        f"item {item.item_id} has the {column} {_shown(expected)}, but this row has "
        f"{_shown(found)}. Cells were changed, or columns sorted without the column item. Export "
        "the sheet again."
    )


def _shown(cell: str) -> str:
    """Quote a cell in a message, the beginning of a long one."""
    return repr(cell if len(cell) <= _MOST_SHOWN else f"{cell[:_MOST_SHOWN]}…")
