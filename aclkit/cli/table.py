"""Columns and rows → the lines of a table that fits a screen, for people.

What could act on a terminal is made visible, what could be mistaken stands in quotes. Where a
table is too wide its cells break, at blanks first; where it has too many columns for that, each
row becomes a block of lines. Nothing is left out but the rest of a cell that fills the screen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Final

from aclkit.cli.values import plain_text
from aclkit.model.visible import visible

NULL: Final = "-"
"""A null in a table; the text ``-`` is shown quoted."""

_GAP: Final = 2
_WIDEST: Final = 120
"""Without a screen no column is padded to more: rows do not pay for one long name among them."""

_NARROWEST: Final = 8
_BROKEN_WORD: Final = 2
"""So many lines are as hard to read as a word that is broken once."""

_SAMPLE: Final = 32
_MOST_LINES: Final = 12
_INDENT: Final = "  "
_BREAKS: Final = re.compile(r".*[,;:/=._\-]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How a table is laid out.

    Attributes:
        width: columns of the screen; None for a file or a pipe, where each row is one line.
        has_colour: decisions and severities may be coloured.
        is_wide: each table in its wide form, and each row one line.
    """

    width: int | None = None
    has_colour: bool = False
    is_wide: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows among the lines of an answer; ``wide`` has every column, where these are a choice."""

    columns: Sequence[str]
    rows: Iterable[Sequence[object]]
    wide: Table | None = None


@dataclass(frozen=True, slots=True)
class Words:
    """A sentence among the lines of an answer: it is made visible, and may break at blanks."""

    text: str


Part = str | Table | Words
"""A line with its end stays as it is."""


def lay_out(parts: Iterable[Part], layout: Layout) -> Iterator[str]:
    """Yield the lines of an answer."""
    for part in parts:
        if isinstance(part, str):
            yield part
        elif isinstance(part, Words):
            width = None if layout.is_wide else layout.width
            yield from (f"{line}\n" for line in _broken(visible(part.text), width, ""))
        else:
            yield from _table_lines(part, layout)


def _table_lines(table: Table, layout: Layout) -> Iterator[str]:
    if layout.is_wide:
        table, layout = table.wide or table, Layout(has_colour=layout.has_colour)
    cells = [[shown_cell(value) for value in row] for row in chain([table.columns], table.rows)]
    if layout.width is None:
        widths: list[int] | None = _unlimited(cells)
    else:
        widths = _fitted(cells, layout.width)
    if widths is None:
        yield from _blocks(cells, layout)
        return
    for number, row in enumerate(cells):
        limits = [None] * len(widths) if layout.width is None else widths
        broken = [_broken(cell, limit) for cell, limit in zip(row, limits, strict=True)]
        styles = [_style(*named, is_head=number == 0) for named in zip(cells[0], row, strict=True)]
        for pieces in zip_longest(*broken, fillvalue=""):
            yield _line(pieces, widths, styles if layout.has_colour else None)


def _line(pieces: Sequence[str], widths: Sequence[int], styles: Sequence[str] | None) -> str:
    """Return one line of a row; colour goes around the letters and not around the blanks."""
    last = max((place for place, piece in enumerate(pieces) if piece), default=0)
    line = ""
    for place, piece in enumerate(pieces[: last + 1]):
        blanks = max(widths[place] - text_width(piece), 0) + _GAP
        padding = " " * blanks if place < last else ""
        style = styles[place] if styles else ""
        line += (f"{style}{piece}{_RESET}" if style and piece else piece) + padding
    return f"{line}\n"


def _blocks(cells: Sequence[Sequence[str]], layout: Layout) -> Iterator[str]:
    """Yield each row as a block: a line or more for each cell, behind its name."""
    names = cells[0]
    if len(cells) == 1:
        yield from (f"{line}\n" for line in _broken(" ".join(names), layout.width))
    lead = max(map(text_width, names)) + _GAP
    room = max((layout.width or 0) - lead, _NARROWEST)
    for number, row in enumerate(cells[1:]):
        if number:
            yield "\n"
        for name, cell in zip(names, row, strict=True):
            style = _style(name, cell) if layout.has_colour else ""
            for place, piece in enumerate(_broken(cell, room, "")):
                head = name if place == 0 else ""
                padding = " " * (lead - text_width(head))
                yield f"{head}{padding}{style}{piece}{_RESET if style else ''}\n"


def _unlimited(cells: Sequence[Sequence[str]]) -> list[int]:
    return [
        max((wide for cell in column if (wide := text_width(cell)) <= _WIDEST), default=0)
        for column in zip(*cells, strict=True)
    ]


def _fitted(cells: Sequence[Sequence[str]], width: int) -> list[int] | None:
    """Return widths that fit a screen; None where too many columns share it."""
    by_column = list(zip(*cells, strict=True))
    room = width - _GAP * (len(by_column) - 1)
    natural = [min(max(map(text_width, column)), max(room, 0)) for column in by_column]
    fair = max(room // len(by_column), _NARROWEST)
    words = [
        max(map(_longest_word, (head.replace("_", " "), *column))) for head, *column in by_column
    ]
    least = [min(word, fair) for word in words]
    if sum(least) > room:
        return None
    return _narrowed(natural, least, room, cells[:: 1 + len(cells) // _SAMPLE])


def _narrowed(
    widths: list[int], least: Sequence[int], room: int, rows: Sequence[Sequence[str]]
) -> list[int]:
    """Make columns narrower until they fit, each time where a column less harms the least."""
    sizes = [[(text_width(cell), _longest_word(cell)) for cell in row] for row in rows]
    while (excess := sum(widths) - room) > 0:
        now = _harm(sizes, widths)
        tried = []
        for place, (wide, word) in enumerate(zip(widths, least, strict=True)):
            less = min(wide - word, excess)
            while less > 0:
                narrower = [*widths[:place], wide - less, *widths[place + 1 :]]
                tried.append(((_harm(sizes, narrower) - now) / less, -less, place, narrower))
                less //= 2
        *_, widths = min(tried)
    return widths


def _harm(sizes: Iterable[Sequence[tuple[int, int]]], widths: Sequence[int]) -> int:
    """Return about how many lines rows take, and how many words break; both are hard to read."""
    harm = 0
    for row in sizes:
        lines = 1
        for (size, word), width in zip(row, widths, strict=True):
            wide = max(width, 1)
            if size > wide:
                lines = max(lines, -(-size // wide))
                harm += _BROKEN_WORD * ((word + len(_INDENT) - 1) // wide)
        harm += lines
    return harm


def _longest_word(cell: str) -> int:
    return max(map(text_width, cell.split(" ")))


def _broken(text: str, width: int | None, indent: str = _INDENT) -> list[str]:
    """Break a text into lines of a width, at blanks where it can, behind punctuation elsewhere.

    >>> _broken("ALLOW READ on PREFIXED payments.v1.events", 18)
    ['ALLOW READ on', '  PREFIXED', '  payments.v1.', '  events']
    """
    if width is None or text_width(text) <= width:
        return [text]
    lines: list[str] = []
    left = text[: width * _MOST_LINES]
    line = ""
    for word in left.split(" "):
        longer = f"{line} {word}" if line else word
        if text_width(longer) > width:
            if line.strip():
                lines.append(line)
            longer = _lead(lines, indent, width) + word
            while text_width(longer) > width:
                head = _head(longer, width)
                lines.append(head)
                longer = _lead(lines, indent, width) + longer[len(head) :]
        line = longer
    lines.append(line)
    if len(lines) > _MOST_LINES or len(left) < len(text):
        ends = (f"… ({len(text):,} letters)", f"… {len(text):,}", "…")
        return [*lines[: _MOST_LINES - 1], next(end for end in ends if len(end) <= width)]
    return lines


def _lead(lines: Sequence[str], indent: str, width: int) -> str:
    return indent if lines and width > 2 * len(indent) + 1 else ""


def _head(text: str, width: int) -> str:
    """Return how much of a word a line takes: one letter at least, up to punctuation if it can."""
    size, used = 0, 0
    for letter in text:
        used += text_width(letter)
        if used > width and size:
            break
        size += 1
    whole = text[:size]
    found = _BREAKS.match(whole)
    return found[0] if found and len(found[0]) > size // 2 else whole


def text_width(cell: str) -> int:
    """Return how many columns of a terminal a cell takes: a Chinese letter takes two."""
    if cell.isascii():
        return len(cell)
    # Here, so that nobody waits for its tables who needs none.
    from wcwidth import wcswidth

    return max(wcswidth(cell), 0)


def shown_cell(value: object) -> str:
    """Return a value as a person reads it: null is ``-``, what could mislead stands in quotes."""
    text = plain_text(value)
    if text is None:
        return NULL
    shown = visible(text)
    is_misleading = text in ("", NULL) or text != text.strip() or text.startswith('"')
    if isinstance(value, str) and is_misleading:
        return json.dumps(shown, ensure_ascii=False)
    return shown


_RESET: Final = "\x1b[0m"
_BOLD: Final = "\x1b[1m"
_RED: Final = "\x1b[31m"
_STYLES: Final = {
    "ALLOWED": "\x1b[32m",
    "DENIED": _RED,
    "DENY": _RED,
    "high": _BOLD + _RED,
    "medium": "\x1b[33m",
    "low": "\x1b[36m",
    "info": "\x1b[2m",
    "gained": "\x1b[33m",
    "lost": "\x1b[36m",
}
_STYLED: Final = frozenset(
    ("decision", "severity", "change", "permission_type", "because", "acl", "before", "after")
)
"""Columns whose first word is aclkit's or Kafka's own: no name of a stranger is coloured so."""


def _style(column: str, cell: str, *, is_head: bool = False) -> str:
    """Return what begins the colour of a cell."""
    if is_head:
        return _BOLD
    return _STYLES.get(cell.partition(" ")[0], "") if column in _STYLED else ""
