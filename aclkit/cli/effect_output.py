"""A preview → stdout, as table, JSON, JSON lines, CSV or Markdown; and its exit code."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any, Final

import click

from aclkit.audit.reports.preview_markdown import render_preview
from aclkit.cli.budget_options import budget_options
from aclkit.cli.context import Context, engine_option, formats
from aclkit.cli.options import gathered, option, together
from aclkit.cli.output import FORMATS, Members, tell
from aclkit.cli.table import Part, Table, Words
from aclkit.questions.preview.access_change import KINDS
from aclkit.questions.preview.effect import ChangedCell, Count
from aclkit.questions.preview.globs import first_glob_note
from aclkit.questions.preview.preview import Preview
from aclkit.questions.preview.preview import preview as preview_change
from aclkit.questions.preview.state import Asked, Change
from aclkit.questions.preview.words import (
    few_hosts,
    inventory_sentence,
    left_open,
    otherwise_sentence,
    settings_sentences,
    statements,
)
from aclkit.questions.query.other_reading import preset_of_other
from aclkit.questions.query.words import short_reason
from aclkit.rules.names.budget import Budget
from aclkit.rules.names.compare import GAINED, LOST
from aclkit.rules.names.openings import Opening
from aclkit.rules.names.reread import Reread
from aclkit.rules.names.words import names_words, party_words, pattern_text, reread_words

ANY: Final = "any"
COLUMNS: Final = ("change", *ChangedCell._fields)
_LINE_COLUMNS: Final = ("principal", "operations", "host", "resource", "before", "after")

MOST_LINES: Final = 40
_MOST_COUNTS: Final = 10
"""So many lines and counts a table shows; the other formats hold every cell."""

effect_format_option = formats(
    *FORMATS,
    "markdown",
    text="How it is printed: for people, unchanged for programs, or for a merge request.",
)


@dataclass(frozen=True, slots=True)
class Gate:
    """What makes a command end with exit code 1, and what may be spent on finding out."""

    fail_on: str | None
    budget: Budget


def gate_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Hand a command ``--fail-on`` and the budget of exact answers, as its ``gate``."""
    return together(
        option(
            "--fail-on",
            type=click.Choice([GAINED, LOST, ANY]),
            help="Exit code 1 where access is gained, lost, or either, of any name; or not known.",
        ),
        budget_options,
    )(gathered("gate", Gate, command))


effect_options: Callable[[Callable[..., Any]], Callable[..., Any]] = together(
    effect_format_option, gate_options, engine_option, click.pass_obj
)
"""What every command takes that prints an effect."""


def tell_first_glob(change: Change) -> None:
    """Warn where one of two states brings the first GLOB ACL: both are read alike."""
    sides = (("the first state", change.before), ("the second state", change.after))
    before, after = ((name, state.acls.values()) for name, state in sides)
    if note := first_glob_note(before, after, change.semantics):
        tell(note)


def print_effect(
    context: Context,
    change: Change,
    inventory: Asked,
    title: str,
    gate: Gate,
) -> None:
    """Preview a change and print it; end with exit code 1 where the gate asks for it.

    What is not known is a failure as well: a gate that guesses is none.
    """
    # Millions of tuples, none in a cycle: to look for cycles among them takes half of the time.
    gc.disable()
    try:
        preview = preview_change(change, inventory, gate.budget)
        context.write(
            COLUMNS,
            _rows(preview),
            (Words(": ".join(line)) for line in statements(preview)),
            json=lambda: _json(preview),
            markdown=lambda: [render_preview(preview, title)],
            table=lambda: _table(preview),
        )
    finally:
        gc.enable()
    kinds = (GAINED, LOST) if gate.fail_on == ANY else (gate.fail_on,) if gate.fail_on else ()
    if any(preview.has(kind) for kind in kinds) or (kinds and not preview.is_known):
        click.get_current_context().exit(1)


def _rows(preview: Preview) -> Iterator[tuple[str | None, ...]]:
    for kind in KINDS:
        yield from ((kind, *cell) for cell in preview.effect.cells(kind))


def _table(preview: Preview) -> Iterator[Part]:
    """Yield the statements, the counts, and the first lines of what differs."""
    effect = preview.effect
    yield Table(("what", "says"), list(statements(preview)))
    for name, counts in (("principal", effect.by_principal), ("resource", effect.by_resource)):
        if counts:
            yield from part_lines((name, *KINDS), counts, len(counts), _MOST_COUNTS)
    for kind in KINDS:
        if number := effect.count_lines(kind):
            yield from _changed(preview, kind, number)


def _changed(preview: Preview, kind: str, number: int) -> Iterator[Part]:
    """Yield the first lines of what became so, the operations of one together."""
    effect, rows, told = preview.effect, [], 0
    for alike, lines in groupby(effect.lines(kind), key=lambda line: line._replace(operation="")):
        operations = [line.operation for line in lines]
        told += len(operations)
        verdicts = (
            short_reason(
                verdict.decision,
                verdict.rule,
                None if verdict.acl_id is None else effect.acls[verdict.acl_id],
                alike.principal,
                alike.resource.resource_type,
            )
            for verdict in (alike.before, alike.after)
        )
        hosts = few_hosts(alike.hosts, preview.asked.hosts)
        rows.append((alike.principal, ", ".join(operations), hosts, str(alike.resource), *verdicts))
        if len(rows) == MOST_LINES:
            break
    yield f"\n{kind}:\n"
    yield Table(_LINE_COLUMNS, rows)
    if number > told:
        yield _more(number - told)


def part_lines(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    number: int,
    most: int = MOST_LINES,
) -> Iterator[Part]:
    """Yield the first of a number of rows below an empty line, and how many more there are."""
    yield "\n"
    yield Table(columns, list(islice(rows, most)))
    if number > most:
        yield _more(number - most)


def _more(number: int) -> str:
    return f"… and {number:,} more; --format csv prints every cell\n"


def _json(preview: Preview) -> Members:
    """Yield the members of one object; its lists are written as they are made."""
    example = preview.example
    yield "verdict", preview.verdict
    yield "example", example._asdict() if example else None
    for kind in KINDS:
        yield kind, (cell._asdict() for cell in preview.effect.cells(kind))
    yield "looked_at", inventory_sentence(preview)
    yield "proven_for_every_name", preview.proof
    yield "is_known", preview.is_known
    yield "other_reading", _otherwise(preview)
    yield "unknown", iter(left_open(preview))
    yield "notes", iter(settings_sentences(preview))
    yield "cost", {"questions": preview.budget.questions, "states": preview.budget.states}
    yield "to_come", (_to_come(preview, each) for each in preview.openings)
    yield "read_otherwise", (_reread(preview, each) for each in preview.rereads)
    for name, counts in (
        ("by_principal", preview.effect.by_principal),
        ("by_resource", preview.effect.by_resource),
    ):
        yield name, (_count(name, count) for count in counts)


def _otherwise(preview: Preview) -> dict[str, object] | None:
    other = preview.otherwise
    if other is None:
        return None
    return {
        "preset": preset_of_other(preview.change.semantics),
        "verdict": other.verdict,
        **{kind: other.effect.count(kind) for kind in KINDS},
        "words": otherwise_sentence(preview),
    }


def _to_come(preview: Preview, opening: Opening) -> dict[str, object]:
    return {
        "names": names_words(opening),
        "tried_with": opening.change.name,
        "is_overlap": any(region.but or region.within for region in opening.regions),
        **{kind: opening.cells if kind == opening.kind else 0 for kind in KINDS},
        "example": preview.cell_of(opening.change)._asdict(),
        "access": [
            {
                "principals": [each.name for each in party.principals],
                "hosts": [each.name for each in party.hosts],
                "operations": party.operations,
                "words": party_words(party, opening.resource_type),
            }
            for party in opening.parties
        ],
        "regions": [
            {
                "resource_type": opening.resource_type,
                "pattern": pattern_text(region.pattern),
                "within": [pattern_text(each) for each in region.within],
                "but_not": [pattern_text(each) for each in region.but],
                "shortest": region.shortest,
                "is_exact": region.is_exact,
            }
            for region in opening.regions
        ],
    }


def _reread(preview: Preview, reread: Reread) -> dict[str, object]:
    shortest = min(reread.changes, key=lambda change: len(change.name), default=None)
    return {
        "acl_id": reread.acl.acl_id,
        "acl": str(reread.acl),
        "becomes": reread.becomes,
        "words": reread_words(reread),
        **{kind: len(reread.of_kind(kind)) for kind in (GAINED, LOST)},
        "example": None if shortest is None else preview.cell_of(shortest)._asdict(),
        "is_known": reread.is_known,
    }


def _count(name: str, count: Count) -> dict[str, object]:
    return {name.removeprefix("by_"): count.name, **dict(zip(KINDS, count[1:], strict=True))}
