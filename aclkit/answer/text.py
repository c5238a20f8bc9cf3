"""Parts of an answer → the lines of a terminal, a pipe or a file, for people.

What could act on a terminal is made visible, what could be mistaken stands in quotes. Sentences and
cells break at blanks only: no name is ever broken. A table that is too wide leaves out its spare
columns; then the first cell of each row gets a line of its own; then each row becomes a block.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, zip_longest
from typing import Final

from aclkit.answer.document import (
    STYLED,
    Command,
    Facts,
    Heading,
    Item,
    Items,
    Part,
    Sentence,
    Table,
)
from aclkit.answer.rows import plain_text
from aclkit.model.values import dataclass
from aclkit.model.visible import visible

NULL: Final = "-"
"""A null in a table; the text ``-`` is shown quoted."""

MOST_LINES: Final = 39
"""So many lines of an answer stand on a terminal before the rest of its rows is counted, in the
next line."""

_GAP: Final = 2
_LEAST_SHOWN: Final = 8
"""So many rows of a table are shown, however many lines stand above it."""

_WIDEST: Final = 120
"""Without a screen no column is padded to more: rows do not pay for one long name among them."""

_NARROWEST: Final = 8
_SAMPLE: Final = 32
_MOST_OF_A_CELL: Final = 12
_INDENT: Final = "  "


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How an answer is laid out.

    Attributes:
        width: columns of the screen; None for a file or a pipe, where each row is one line.
        has_colour: decisions and severities may be coloured.
        is_wide: each table in its wide form, and each row one line.
        limit: so many lines before the rest of the rows is counted; None for all.
    """

    width: int | None = None
    has_colour: bool = False
    is_wide: bool = False
    limit: int | None = None


def lay_out(parts: Iterable[Part], layout: Layout) -> Iterator[str]:
    """Yield the lines of an answer, with a blank line between blocks."""
    if layout.is_wide:
        layout = replace(layout, width=None)
    number, before = 0, None
    for part in parts:
        if before is not None and _is_apart(before, part):
            number += 1
            yield "\n"
        before = part
        most = None if layout.limit is None else max(layout.limit - number, _LEAST_SHOWN)
        for line in _lines_of(part, layout, most):
            number += 1
            yield line


def _is_apart(before: Part, part: Part) -> bool:
    """Whether a blank line stands between two parts: not below a heading, nor in a paragraph."""
    if isinstance(before, Heading) or (isinstance(before, Table) and not before.has_head):
        return False
    return isinstance(part, (Heading, *_BLOCKS)) or isinstance(before, _BLOCKS)


_BLOCKS: Final = (Table, Items, Facts)


def _lines_of(part: Part, layout: Layout, most: int | None) -> Iterator[str]:
    match part:
        case Sentence(text):
            yield from _paragraph(text, layout.width)
        case Heading(text):
            style = _BOLD if layout.has_colour else ""
            yield from (_styled(line, style) for line in _paragraph(text, layout.width))
        case Command(text):
            yield f"  {visible(text)}\n"
        case Facts(facts):
            yield from _fact_lines(facts, layout.width)
        case Items(items):
            yield from _limited((_item_lines(item, layout) for item in items), most)
        case Table(has_head=False) if not layout.is_wide:
            width = None if layout.width is None else layout.width - len(_INDENT)
            lines = _table_lines(part, replace(layout, width=width), most)
            yield from (f"{_INDENT}{line}" for line in lines)
        case Table():
            yield from _table_lines(part, layout, most)


def _limited(
    rows: Iterable[Iterable[str]], most: int | None, others: Iterable[object] = ()
) -> Iterator[str]:
    """Yield the lines of rows, and how many more rows there are than the screen has room for.

    Others are rows that are only counted: no line of them is laid out.
    """
    number, rest = 0, iter(rows)
    for row in rest:
        lines = list(row)
        if most is not None and number and number + len(lines) > most:
            more = 1 + sum(1 for _ in chain(rest, others))
            yield f"… and {more:,} more: --no-limit\n"
            return
        number += len(lines)
        yield from lines


def _paragraph(text: str, width: int | None, lead: str = "", indent: str = "") -> Iterator[str]:
    """Yield a lead and then a text, wrapped at spaces; later lines begin with the indent."""
    room = None if width is None else max(width - text_width(indent or lead), 1)
    for line in broken(visible(text), room):
        yield f"{lead}{line}\n"
        lead = indent


def _item_lines(item: Item, layout: Layout) -> Iterator[str]:
    lead = f"{item.mark} " if item.mark else ""
    style = _MARKS.get(item.mark, "") if layout.has_colour else ""
    indent = " " * len(lead)
    lines = _paragraph(item.text, layout.width, lead, indent or _INDENT)
    yield from (_styled(line, style) for line in lines)
    for text in item.under:
        yield from _paragraph(text, layout.width, f"{indent}  ", f"{indent}    ")


def _fact_lines(facts: Sequence[tuple[str, str]], width: int | None) -> Iterator[str]:
    lead = max((text_width(label) for label, _ in facts), default=0) + _GAP
    for label, text in facts:
        yield from _paragraph(text, width, label.ljust(lead), " " * lead)


def _table_lines(table: Table, layout: Layout, most: int | None) -> Iterator[str]:
    if layout.is_wide:
        table = table.wide or table
    others = iter(table.rows)
    # A row takes a line at least: what comes after so many is counted, however many there are.
    values = [tuple(row) for row in islice(others, None if most is None else most + 1)]
    columns = list(table.columns)
    spare = list(table.spare)
    while True:
        shown = _Shown.of(columns, [_chosen(row, table.columns, columns) for row in values])
        widths = shown.widths(layout.width)
        if not spare or (widths is not None and shown.fits(widths)):
            break
        columns.remove(spare.pop(0))
    if widths is not None:
        rows = shown.lines(widths, layout)
    elif (under := shown.widths(layout.width, under_the_first=True)) is not None:
        rows = shown.lines_under(under, layout)
    else:
        if not values:
            yield from _paragraph(" ".join(shown.cells[0]), layout.width)
        yield from _limited(shown.blocks(layout), most, others)
        return
    head = list(next(rows))
    if table.has_head or layout.is_wide:
        yield from head
    yield from _limited(rows, None if most is None else max(most - len(head), 1), others)


def _chosen(row: tuple[object, ...], names: Sequence[str], chosen: Sequence[str]) -> list[object]:
    return [value for name, value in zip(names, row, strict=True) if name in chosen]


@dataclass(frozen=True, slots=True)
class _Shown:
    """A table's cells as texts, and which columns stand on the right."""

    columns: Sequence[str]
    cells: list[list[str]]
    is_number: Sequence[bool]

    @classmethod
    def of(cls, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> _Shown:
        """Make texts of values; the names of the columns are the first row."""
        cells = [[shown_cell(value) for value in row] for row in rows]
        by_column = zip(*rows, strict=True) if rows else ([] for _ in columns)
        is_number = [_are_numbers(column) for column in by_column]
        return cls(columns, [[shown_cell(name) for name in columns], *cells], is_number)

    def widths(self, width: int | None, *, under_the_first: bool = False) -> list[int] | None:
        """Return widths that fit a screen and break no word; None where there are none.

        Args:
            width: columns of the screen; None for no limit.
            under_the_first: the first cell of each row has its own line, the others are indented.
        """
        cells = self.cells
        if width is None:
            return list(map(_unlimited, zip(*cells, strict=True)))
        if under_the_first:
            cells = [row[1:] for row in cells]
            width -= len(_INDENT)
            if not cells[0] or max(text_width(row[0]) for row in self.cells) > width:
                return None
        return _fitted(cells, width)

    def fits(self, widths: Sequence[int]) -> bool:
        """Whether each row is one line of these widths."""
        return all(
            text_width(cell) <= width
            for row in self.cells
            for cell, width in zip(row, widths, strict=True)
        )

    def lines(self, widths: Sequence[int], layout: Layout) -> Iterator[Iterator[str]]:
        """Yield the lines of each row, those of the names first."""
        for number, row in enumerate(self.cells):
            yield self._row_lines(row, widths, layout, is_head=number == 0)

    def lines_under(self, widths: Sequence[int], layout: Layout) -> Iterator[Iterator[str]]:
        """Yield the lines of each row: its first cell, and the others below it."""
        others = _Shown(self.columns[1:], [row[1:] for row in self.cells], self.is_number[1:])
        before = None
        for number, (row, lines) in enumerate(
            zip(self.cells, others.lines(widths, layout), strict=True)
        ):
            style = self._style(0, row[0], is_head=number == 0) if layout.has_colour else ""
            first = [] if row[0] == before else [_styled(f"{row[0]}\n", style)]
            yield chain(first, (f"{_INDENT}{line}" for line in lines))
            before = row[0] if number else None

    def blocks(self, layout: Layout) -> Iterator[Iterator[str]]:
        """Yield each row as a block: a line or more for each cell, after its name."""
        for number, row in enumerate(self.cells[1:]):
            yield self._block(row, layout, is_first=number == 0)

    def _block(self, row: Sequence[str], layout: Layout, *, is_first: bool) -> Iterator[str]:
        names = self.cells[0]
        lead = max(map(text_width, names)) + _GAP
        room = max((layout.width or 0) - lead, _NARROWEST)
        if not is_first:
            yield "\n"
        for place, (name, cell) in enumerate(zip(names, row, strict=True)):
            style = self._style(place, cell, is_head=False) if layout.has_colour else ""
            for line, piece in enumerate(_cell_lines(cell, room)):
                head = name if line == 0 else ""
                padding = " " * (lead - text_width(head))
                yield f"{head}{padding}{_styled(piece, style)}\n"

    def _row_lines(
        self, row: Sequence[str], widths: Sequence[int], layout: Layout, *, is_head: bool
    ) -> Iterator[str]:
        limits = [None] * len(widths) if layout.width is None else widths
        lines_of = _head_lines if is_head else _cell_lines
        pieces = [lines_of(cell, limit) for cell, limit in zip(row, limits, strict=True)]
        styles = [
            self._style(place, cell, is_head=is_head) if layout.has_colour else ""
            for place, cell in enumerate(row)
        ]
        for cells in zip_longest(*pieces, fillvalue=""):
            yield self._line(cells, widths, styles)

    def _line(self, cells: Sequence[str], widths: Sequence[int], styles: Sequence[str]) -> str:
        """Return one line of a row; colour goes around the letters and not around the blanks."""
        last = max((place for place, cell in enumerate(cells) if cell), default=0)
        line = ""
        for place, cell in enumerate(cells[: last + 1]):
            blanks = " " * max(widths[place] - text_width(cell), 0)
            before, after = (blanks, "") if self.is_number[place] else ("", blanks)
            gap = " " * _GAP if place < last else ""
            line += before + _styled(cell, styles[place]) + (after + gap if gap else "")
        return f"{line}\n"

    def _style(self, place: int, cell: str, *, is_head: bool) -> str:
        """Return what begins the colour of a cell."""
        if is_head:
            return _BOLD
        return _STYLES.get(cell.partition(" ")[0], "") if self.columns[place] in STYLED else ""


def _are_numbers(values: Iterable[object]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(type(value) is int for value in known)


def _unlimited(column: Sequence[str]) -> int:
    return max((wide for cell in column if (wide := text_width(cell)) <= _WIDEST), default=0)


def _fitted(cells: Sequence[Sequence[str]], width: int) -> list[int] | None:
    """Return widths that fit a screen; None where a word would have to break."""
    by_column = list(zip(*cells, strict=True))
    room = width - _GAP * (len(by_column) - 1)
    natural = [max(map(text_width, column)) for column in by_column]
    least = [max(map(_longest_word, (_parted(head), *cells))) for head, *cells in by_column]
    if sum(least) > room:
        return None
    natural = [max(word, min(wide, room)) for word, wide in zip(least, natural, strict=True)]
    return _narrowed(natural, least, room, cells[:: 1 + len(cells) // _SAMPLE])


def _narrowed(
    widths: list[int], least: Sequence[int], room: int, rows: Sequence[Sequence[str]]
) -> list[int]:
    """Make columns narrower until they fit, each time the one that costs the fewest lines."""
    sizes = [[text_width(cell) for cell in row] for row in rows]
    while (excess := sum(widths) - room) > 0:
        now = _lines_taken(sizes, widths)
        tried = []
        for place, (wide, word) in enumerate(zip(widths, least, strict=True)):
            less = min(wide - word, excess)
            while less > 0:
                narrower = [*widths[:place], wide - less, *widths[place + 1 :]]
                cost = (_lines_taken(sizes, narrower) - now) / less
                tried.append((cost, -less, place, narrower))
                less //= 2
        *_, widths = min(tried)
    return widths


def _lines_taken(sizes: Iterable[Sequence[int]], widths: Sequence[int]) -> int:
    """Return about how many lines rows take."""
    return sum(
        max(-(-size // max(width, 1)) for size, width in zip(row, widths, strict=True))
        for row in sizes
    )


def _longest_word(cell: str) -> int:
    return max(map(text_width, cell.split(" ")))


def broken(text: str, width: int | None) -> list[str]:
    """Break a text into lines of a width, at blanks; a longer word has a line of its own.

    >>> broken("ALLOW READ on topic payments.v1.events", 14)
    ['ALLOW READ on', 'topic', 'payments.v1.events']
    """
    if width is None or text_width(text) <= width:
        return [text]
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if text_width(longer) > width and line.strip():
            lines.append(line)
            longer = word
        line = longer
    return [*lines, line]


def _parted(name: str) -> str:
    """Return the name of a column with blanks where it can break: after an underscore."""
    return name.replace("_", "_ ")


def _head_lines(name: str, width: int | None) -> list[str]:
    """Break the name of a column."""
    if width is None or text_width(name) <= width:
        return [name]
    return [line.replace("_ ", "_") for line in broken(_parted(name), width)]


def _cell_lines(cell: str, width: int | None) -> list[str]:
    """Break a cell; one that would fill the screen ends with its length."""
    lines = broken(cell if width is None else cell[: width * _MOST_OF_A_CELL], width)
    if width is None or (len(lines) <= _MOST_OF_A_CELL and len(cell) <= width * _MOST_OF_A_CELL):
        return lines
    ends = (f"… ({len(cell):,} letters)", f"… {len(cell):,}", "…")
    end = next((end for end in ends if len(end) <= width), ends[-1])
    return [*lines[: _MOST_OF_A_CELL - 1], end]


def text_width(cell: str) -> int:
    """Return how many columns of a terminal a cell takes: a Chinese letter takes two."""
    if cell.isascii():
        return len(cell)
    # Imported here: its tables take time to load, and ASCII texts do not need them.
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


def _styled(text: str, style: str) -> str:
    """Put a style around a text, its end of line outside."""
    if not style or not text.strip():
        return text
    bare = text.removesuffix("\n")
    return f"{style}{bare}{_RESET}{text[len(bare) :]}"


_RESET: Final = "\x1b[0m"
_BOLD: Final = "\x1b[1m"
_RED: Final = "\x1b[31m"
_YELLOW: Final = "\x1b[33m"
_CYAN: Final = "\x1b[36m"
_STYLES: Final = {
    "ALLOWED": "\x1b[32m",
    "DENIED": _RED,
    "DENY": _RED,
    "high": _BOLD + _RED,
    "medium": _YELLOW,
    "low": _CYAN,
    "info": "\x1b[2m",
    "gained": _YELLOW,
    "lost": _CYAN,
}
_MARKS: Final = {"+": _YELLOW, "-": _CYAN}
