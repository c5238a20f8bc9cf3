"""Parts of an answer → HTML for a page; names in it are other people's and stay text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from markupsafe import Markup

from aclkit.answer.document import (
    STYLED,
    Command,
    Facts,
    Heading,
    Item,
    Items,
    Part,
    Row,
    Sentence,
    Table,
)
from aclkit.answer.text import shown_cell
from aclkit.model.visible import visible

MOST_ROWS: Final = 200
"""So many rows of a table or a list stand on a page; the rest is counted."""

Lead = Callable[[str, object], str | None]
"""The name of a column, and a cell → the address that it leads on to; None without one."""

_TONES: Final = {"good": "verdict calm", "bad": "verdict look", "note": "limit", "": ""}
_MARKS: Final = {"+": "comes", "-": "goes", "~": "other"}
_WORDS: Final = {"+": "gained", "-": "lost", "~": "changed"}
"""The meaning of a mark, for readers who cannot see its colour."""
_COLOURED: Final = frozenset(("ALLOWED", "DENIED", "DENY", "high", "medium", "low", "info"))
"""Words at the start of a cell of ``STYLED`` that a page has a colour for."""


def render_html(parts: Iterable[Part], lead: Lead | None = None, *, level: int = 2) -> Markup:
    """Return the parts as they stand in a page.

    Args:
        parts: the parts.
        lead: where names lead on to; without it they are text.
        level: of the headings.
    """
    leading = lead or (lambda _column, _cell: None)
    return Markup("\n").join(piece for part in parts for piece in _pieces(part, leading, level))


def _pieces(part: Part, lead: Lead, level: int) -> Iterator[Markup]:
    match part:
        case Heading(text, is_sub):
            yield Markup("<h{0}>{1}</h{0}>").format(level + is_sub, visible(text))
        case Sentence(text, tone):
            kind = Markup(' class="{}"').format(_TONES[tone]) if tone else ""
            yield Markup("<p{}>{}</p>").format(kind, visible(text))
        case Command(text):
            yield Markup(
                '<div class="command"><pre tabindex="0"><code>{}</code></pre>'
                '<button type="button" class="copy needs-script">Copy</button></div>'
            ).format(visible(text))
        case Facts(facts):
            pairs = (Markup("<dt>{}</dt><dd>{}</dd>").format(*map(visible, f)) for f in facts)
            yield Markup('<dl class="facts">{}</dl>').format(Markup("").join(pairs))
        case Items(items):
            yield from _list(items)
        case Table(columns, rows):
            yield from _table(columns, rows, lead)


def _list(items: Iterable[Item]) -> Iterator[Markup]:
    rest = iter(items)
    lines = list(map(_item, islice(rest, MOST_ROWS)))
    if lines:
        yield Markup('<ul class="changes">{}</ul>').format(Markup("").join(lines))
    yield from _more(rest)


def _item(item: Item) -> Markup:
    under = Markup("").join(
        Markup("<br><span class='quiet'>{}</span>").format(visible(text)) for text in item.under
    )
    if not item.mark:
        return Markup("<li>{}{}</li>").format(visible(item.text), under)
    return Markup(
        '<li class="{}"><span aria-hidden="true">{}</span>'
        '<span class="unseen">{}: </span> {}{}</li>'
    ).format(_MARKS[item.mark], item.mark, _WORDS[item.mark], visible(item.text), under)


def _table(columns: Sequence[str], rows: Iterable[Row], lead: Lead) -> Iterator[Markup]:
    rest = iter(rows)
    shown = [tuple(row) for row in islice(rest, MOST_ROWS)]
    lines = (
        Markup("").join(
            _cell(name, value, lead, is_head=place == 0)
            for place, (name, value) in enumerate(zip(columns, row, strict=True))
        )
        for row in shown
    )
    cells = zip(*shown, strict=True) if shown else [()] * len(columns)
    heads = Markup("").join(map(_head, columns, cells))
    yield Markup(
        '<div class="scroll" tabindex="0" role="region" aria-label="{0}">'
        '<table class="cards" data-name="{0}"><thead><tr>{1}</tr></thead>'
        "<tbody>{2}</tbody></table></div>"
    ).format(columns[0], heads, Markup("\n").join(map(Markup("<tr>{}</tr>").format, lines)))
    yield from _more(rest)


def _head(name: str, cells: Sequence[object]) -> Markup:
    """Return the head of a column; that of numbers stands on the right as they do."""
    is_number = bool(cells) and all(type(cell) is int for cell in cells)
    kind = Markup(' class="number"') if is_number else ""
    return Markup('<th scope="col"{}>{}</th>').format(kind, name)


def _cell(name: str, value: object, lead: Lead, *, is_head: bool) -> Markup:
    is_number = type(value) is int
    shown: str = f"{value:,}" if is_number else shown_cell(value)
    first, space, rest = shown.partition(" ")
    if name in STYLED and first in _COLOURED:
        shown = Markup('<span class="{0}">{0}</span>{1}{2}').format(first, space, rest)
    if address := lead(name, value):
        shown = Markup('<a href="{}">{}</a>').format(address, shown)
    kind = Markup(' class="number" data-value="{}"').format(value) if is_number else ""
    cell = _HEAD if is_head else _CELL
    return cell.format(kind, name, shown)


_HEAD: Final = Markup('<th scope="row"{} data-title="{}">{}</th>')
_CELL: Final = Markup('<td{} data-title="{}">{}</td>')


def _more(rest: Iterable[object]) -> Iterator[Markup]:
    if number := sum(1 for _ in rest):
        yield Markup("<p>… and {:,} more.</p>").format(number)
