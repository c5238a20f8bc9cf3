"""A preview → stdout, as table, JSON, JSON lines, CSV or Markdown; and its exit code."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, Final, TypeVar

import click

from aclkit.audit.reports.preview_markdown import render_preview
from aclkit.cli.context import Context, formats
from aclkit.cli.options import option
from aclkit.cli.output import FORMATS, render_rows
from aclkit.model.visible import visible
from aclkit.questions.preview.access_change import GAINED, KINDS, LOST
from aclkit.questions.preview.effect import ChangedCell, Count
from aclkit.questions.preview.preview import Preview, ToCome
from aclkit.questions.preview.preview import preview as preview_change
from aclkit.questions.preview.state import Asked, Change
from aclkit.questions.preview.words import (
    example_sentence,
    line_rows,
    scope_sentences,
    to_come_sentences,
    verdict_sentence,
)

ANY: Final = "any"
COLUMNS: Final = ("change", *ChangedCell._fields)
_LINE_COLUMNS: Final = (
    "change", "principal", "host", "operation", "resource", "decided_before_by", "and_after_by",
)  # fmt: skip

MOST_LINES: Final = 40
_MOST_COUNTS: Final = 10
"""So many lines and counts a table shows; the other formats hold every cell."""

_Command = TypeVar("_Command", bound=Callable[..., Any])

effect_format_option = formats(
    *FORMATS,
    "markdown",
    text="How it is printed: for people, unchanged for programs, or for a merge request.",
)


def fail_on_option(command: _Command) -> _Command:
    """Give a command ``--fail-on``."""
    return option(
        "--fail-on",
        type=click.Choice([GAINED, LOST, ANY]),
        help="Exit code 1 where access is gained, lost, or either; of names to come too.",
    )(command)


def print_effect(
    context: Context, change: Change, inventory: Asked, title: str, fail_on: str | None
) -> None:
    """Preview a change and print it; end with exit code 1 where ``fail_on`` asks for it."""
    # Millions of tuples, none in a cycle: to look for cycles among them takes half of the time.
    gc.disable()
    try:
        preview = preview_change(change, inventory)
        context.write(
            COLUMNS,
            _rows(preview),
            (f"{visible(': '.join(line))}\n" for line in _statements(preview)),
            json=lambda: _json(preview),
            markdown=lambda: [render_preview(preview, title)],
            table=lambda: _table(preview),
        )
    finally:
        gc.enable()
    kinds = (GAINED, LOST) if fail_on == ANY else (fail_on,) if fail_on else ()
    if any(preview.has(kind) for kind in kinds):
        click.get_current_context().exit(1)


def _statements(preview: Preview) -> Iterator[tuple[str, str]]:
    """Yield what there is to say, each under a word."""
    yield "verdict", verdict_sentence(preview)
    yield from (
        ("looked at" if not n else "proven", s) for n, s in enumerate(scope_sentences(preview))
    )
    if example := example_sentence(preview):
        yield "example", example
    yield from (("to come", sentence) for sentence in to_come_sentences(preview))


def _rows(preview: Preview) -> Iterator[tuple[str | None, ...]]:
    for kind in KINDS:
        yield from ((kind, *cell) for cell in preview.effect.cells(kind))


def _table(preview: Preview) -> Iterator[str]:
    """Yield the statements, the counts, and the first lines of what differs."""
    effect = preview.effect
    yield from render_rows(("what", "says"), _statements(preview))
    for name, counts in (("principal", effect.by_principal), ("resource", effect.by_resource)):
        if counts:
            yield from part_lines((name, *KINDS), counts, len(counts), _MOST_COUNTS)
    for kind in KINDS:
        if number := effect.count_lines(kind):
            lines = ((kind, *row) for row in line_rows(preview, kind))
            yield from part_lines(_LINE_COLUMNS, lines, number)


def part_lines(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    number: int,
    most: int = MOST_LINES,
) -> Iterator[str]:
    """Yield the first of a number of rows below an empty line, and how many more there are."""
    yield "\n"
    yield from render_rows(columns, islice(rows, most))
    if number > most:
        yield f"… and {number - most:,} more; --format csv prints every cell\n"


def _json(preview: Preview) -> Iterator[str]:
    """Yield one object; its lists are written as they are made."""
    example = preview.example
    yield f'{{\n"verdict": {json.dumps(preview.verdict)},\n'
    yield f'"example": {_text(example._asdict() if example else None)}'
    for kind in KINDS:
        yield from json_list(kind, (cell._asdict() for cell in preview.effect.cells(kind)))
    yield f',\n"looked_at": {_text(next(scope_sentences(preview)))}'
    yield f',\n"proven_for_every_name": {_text(preview.proof)}'
    yield from json_list("to_come", map(_to_come, preview.to_come))
    for name, counts in (
        ("by_principal", preview.effect.by_principal),
        ("by_resource", preview.effect.by_resource),
    ):
        yield from json_list(name, (_count(name, count) for count in counts))
    yield "\n}\n"


def json_list(name: str, items: Iterable[object], *, is_first: bool = False) -> Iterator[str]:
    """Yield a member of an object that is a list, item by item."""
    yield f"{'' if is_first else ','}\n{json.dumps(name)}: ["
    before = "\n"
    for item in items:
        yield before + _text(item)
        before = ",\n"
    yield "]" if before == "\n" else "\n]"


def _to_come(coming: ToCome) -> dict[str, object]:
    counts = {kind: coming.effect.count(kind) for kind in KINDS}
    cells = chain.from_iterable(coming.effect.cells(kind) for kind in KINDS)
    return {
        "names": coming.witness.stands_for,
        "tried_with": coming.witness.name,
        "is_overlap": coming.witness.is_overlap,
        **counts,
        "example": next(cells)._asdict(),
    }


def _count(name: str, count: Count) -> dict[str, object]:
    return {name.removeprefix("by_"): count.name, **dict(zip(KINDS, count[1:], strict=True))}


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
