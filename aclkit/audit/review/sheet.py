"""A review ↔ a CSV that owners fill in with a spreadsheet: decision and reason of each item. Pure.

No cell that is written is taken for a formula. A row is read by its item and digest; whatever else
was changed in it does not count.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from aclkit.audit.reports.as_spreadsheet import neutral, spreadsheet_cell
from aclkit.audit.review.answers import note_words
from aclkit.audit.review.choosing import contradiction, sound_text
from aclkit.audit.review.decisions import CHOICES, Decision, Wanted
from aclkit.audit.review.document import Review
from aclkit.audit.review.items import Item
from aclkit.errors import UsageError
from aclkit.model.phrases import listed
from aclkit.pipeline.inventory.sheet import separator_of

COLUMNS: Final = (
    "item", "owner", "principal", "access", "because", "known_names", "usage", "until", "purpose",
    "class", "note", "decision", "reason", "review", "digest",
)  # fmt: skip
NEEDED: Final = ("item", "decision", "reason", "digest")
DIGEST_LENGTH: Final = 16


def write_sheet(
    review: Review, decisions: Mapping[str, Decision], items: Iterable[Item]
) -> Iterator[str]:
    """Yield a line per item; every cell is quoted."""
    yield _line(COLUMNS)
    for item in items:
        about, made = review.about[item.item_id], decisions.get(item.item_id)
        yield _line((
            item.item_id, about.owner, item.principal, item.access_words,
            "; ".join(item.because_words), str(about.today), about.usage, about.until,
            about.purpose, about.account, note_words(about),
            *((made.decision, made.reason) if made else ("", "")),
            review.name, review.digest[:DIGEST_LENGTH],
        ))  # fmt: skip


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
    wanted: dict[str, tuple[int, Wanted]] = {}
    broken: list[str] = []
    undecided = 0
    name = sound_text(by, "a name")
    for row in _rows(text, source):
        if not row.cells["decision"].strip():
            undecided += 1
            continue
        try:
            found = _wanted(row, review, name)
            if (before := wanted.get(found.item)) and before[1] != found:
                raise UsageError(f"item {found.item} is decided otherwise in line {before[0]}")
            made = in_force.get(found.item)
            if made is not None and made.decision != found.decision and not replaces:
                raise UsageError(contradiction([made]))
            if made is None or (made.decision, made.reason) != (found.decision, found.reason):
                wanted.setdefault(found.item, (row.line, found))
        except UsageError as error:
            broken.append(f"{source}, line {row.line}: {error}")
    return Filled(tuple(each for _, each in wanted.values()), tuple(broken), undecided)


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
    if missing:
        raise UsageError(
            f"{source}, line 1: expected the columns {listed(NEEDED)} once each, as aclkit review "
            f"export writes them. Missing or repeated: {listed(missing)}."
        )
    return names


def _wanted(row: _Row, review: Review, by: str) -> Wanted:
    cells = {name: value.strip() for name, value in row.cells.items()}
    item, digest = _plain(cells["item"]), _plain(cells["digest"])
    if digest != review.digest[:DIGEST_LENGTH]:
        raise UsageError(
            f"the digest {digest!r} is not that of the review {review.name}: the row is of another "
            "review, or was changed"
        )
    if item not in review.by_id:
        raise UsageError(f"the review {review.name} has no item {item!r}")
    decision = cells["decision"].lower()
    if decision not in CHOICES:
        raise UsageError(
            f"unknown decision {cells['decision']!r}. Expected {listed(CHOICES, 'or')}"
        )
    return Wanted(item, decision, sound_text(_plain(cells["reason"]), "a reason"), by)


def _plain(text: str) -> str:
    """Take away the apostrophe that keeps a spreadsheet from running a cell."""
    return text[1:] if text.startswith("'") and neutral(text[1:]) == text else text
