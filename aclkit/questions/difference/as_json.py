"""What differs, and the verdict → the members of an object of JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple
from typing import Final

from aclkit.answer.document import Members
from aclkit.kafka.desired.plan_effect import PlanEffect
from aclkit.model.acl import BINDING
from aclkit.questions.assertions.model import Outcome
from aclkit.questions.difference.access_change import KINDS
from aclkit.questions.difference.compared import Compared
from aclkit.questions.difference.effect import Count
from aclkit.questions.difference.verdict import Verdict
from aclkit.questions.difference.words import (
    inventory_sentence,
    left_open,
    otherwise_sentence,
    settings_sentences,
)
from aclkit.questions.query.other_reading import preset_of_other
from aclkit.questions.query.table_words import acl_text
from aclkit.questions.state_words import about_sides
from aclkit.rules.decide.confirm import Counterexample
from aclkit.rules.names.change_lines import change_lines, line_words
from aclkit.rules.names.classes import NameClass
from aclkit.rules.names.compare import GAINED, LOST, SemanticsChange, UnknownCell
from aclkit.rules.names.region import RegionChange
from aclkit.rules.names.words import names_words, party_words, pattern_text, semantics_change_words


def effect_members(preview: Compared) -> Members:
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
    yield "by_cause", _by_cause(preview)
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


def _otherwise(preview: Compared) -> dict[str, object] | None:
    other = preview.otherwise
    if other is None:
        return None
    return {
        "preset": preset_of_other(preview.change.before.semantics),
        "verdict": other.verdict,
        **{kind: other.effect.count(kind) for kind in KINDS},
        "words": otherwise_sentence(preview),
    }


def _by_cause(preview: Compared) -> dict[str, object] | None:
    if preview.parts is None:
        return None
    return {
        cause: {
            "verdict": part.verdict,
            **{kind: part.effect.count(kind) for kind in KINDS},
            "words": [{"kind": line.kind, "words": line_words(line)} for line in part.told],
        }
        for cause, part in zip(("reading", "acls"), preview.parts, strict=True)
    }


def _to_come(preview: Compared, opening: RegionChange) -> dict[str, object]:
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


def _reread(preview: Compared, reread: SemanticsChange) -> dict[str, object]:
    shortest = min(reread.changes, key=lambda change: len(change.name), default=None)
    return {
        "acl_id": reread.acl.acl_id,
        "acl": str(reread.acl),
        "becomes": reread.becomes,
        "words": semantics_change_words(reread),
        **{kind: len(reread.of_kind(kind)) for kind in (GAINED, LOST)},
        "example": None if shortest is None else preview.cell_of(shortest)._asdict(),
        "is_known": reread.is_known,
    }


def _count(name: str, count: Count) -> dict[str, object]:
    return {name.removeprefix("by_"): count.name, **dict(zip(KINDS, count[1:], strict=True))}


def verdict_object(verdict: Verdict) -> dict[str, object]:
    """Return the verdict with all reasons."""
    return {
        "verdict": verdict.name,
        "reasons": list(verdict.reasons),
        "effect": list(verdict.effect),
    }


def gate_members(
    compared: Compared,
    outcomes: Sequence[Outcome],
    notes: Sequence[str],
    brought: Sequence[str],
    ended: Sequence[str],
) -> Members:
    """Yield what files change, also perhaps and for a time, then the effect.

    Args:
        compared: the difference.
        outcomes: of policies at the end.
        notes: what a reader must know of the files.
        brought: findings that the change brings.
        ended: findings that it ends.
    """
    applied = compared.applied
    yield "plan_effects", [_plan_effect(each) for each in applied.effects]
    for name, passing in (("for_a_time", compared.moment), ("perhaps", compared.others)):
        lines = change_lines(passing.openings if passing else ())
        yield name, [{"kind": line.kind, "words": line_words(line)} for line in lines]
    yield "depends_on", [each.words for each in applied.depends]
    yield "policies", [{"name": e.assertion.name, "outcome": e.state} for e in outcomes]
    yield "file_notes", list(notes)
    yield "findings", {"brought": list(brought), "ended": list(ended)}
    yield from effect_members(compared)


def _plan_effect(each: PlanEffect) -> dict[str, object]:
    fields = dict(zip(BINDING, each.acl.binding, strict=True))
    return {"effect": each.effect, **fields, "by": each.by, "advice": each.advice or None}


EXAMPLE_COLUMNS: Final = (
    "change", "principal", "host", "operation", "resource_type", "resource_name", "names",
    "before", "after", "rule_before", "rule_after", "acl_before", "acl_after", "cells",
)  # fmt: skip
"""Of a counterexample; the request is one of its cells."""

_CLAIMS: Final = {(GAINED, LOST): "same", (GAINED,): "no-more", (LOST,): "no-less"}


def claim_of(compared: Compared) -> str:
    """Return what is claimed where nothing of what is bounded may happen."""
    return _CLAIMS.get(tuple(compared.bounds), "same")


def outcome_of(compared: Compared) -> str:
    """Return whether that holds for every name, fails, or is unknown."""
    bounds = compared.bounds or dict.fromkeys((GAINED, LOST), compared.comparison)
    if any(each.difference.of_kind(kind) or compared.may(kind) for kind, each in bounds.items()):
        return "fails"
    is_known = compared.against.is_known and compared.is_all_known and compared.is_settled
    return "holds" if is_known else "unknown"


def sides_members(compared: Compared, notes: Sequence[str], limit: int | None) -> Members:
    """Yield what is proven of two sides, with examples, and how each is read."""
    outcome, against = outcome_of(compared), compared.against
    yield "claim", claim_of(compared)
    yield "outcome", outcome
    yield "proven", outcome == "holds"
    yield "verdict", against.verdict
    yield (
        "found",
        {kind: {"cells": cells, "shown": shown} for kind, cells, shown in found_cells(compared)},
    )
    yield "limit", limit
    yield (
        "counterexamples",
        [
            {
                **dict(zip(EXAMPLE_COLUMNS, example_row(each), strict=True)),
                "holds_for": _holds_for(each),
            }
            for each in compared.examples
        ],
    )
    yield "unknown", [_unknown(cell) for cell in against.unknown]
    yield "all_classes_found", against.is_complete
    yield from about_sides(compared.budget, compared.sides, notes).items()


def found_cells(compared: Compared) -> Iterator[tuple[str, int, int]]:
    """Yield of each kind that is bounded how many cells there are, and how many are shown."""
    for kind, each in compared.bounds.items():
        shown = sum(e.opening.cells for e in compared.examples if e.kind == kind)
        yield kind, len(each.difference.of_kind(kind)), shown


def example_row(example: Counterexample) -> tuple[object, ...]:
    """Return a counterexample in the order of ``EXAMPLE_COLUMNS``."""
    before, after = example.before, example.after
    return (
        example.kind,
        *astuple(example.request),
        names_words(example.opening),
        *(before.decision, after.decision, before.rule, after.rule),
        *(acl_text(before), acl_text(after)),
        example.opening.cells,
    )


def _holds_for(example: Counterexample) -> list[dict[str, object]]:
    return [
        {
            "principals": [_class(each) for each in party.principals],
            "hosts": [_class(each) for each in party.hosts],
            "operations": list(party.operations),
        }
        for party in example.opening.parties
    ]


def _unknown(unknown: UnknownCell) -> dict[str, object]:
    cell = unknown.cell
    return {
        "resource_type": cell.resource_type,
        "principal": _class(cell.principal),
        "host": _class(cell.host),
        "operation": cell.operation,
        "hard": [pattern_text(each) for each in unknown.patterns],
    }


def _class(members: NameClass) -> dict[str, object]:
    """Return a class: it is that name, or all names that these patterns match and no others."""
    return {
        "name": members.name,
        "is_one": members.is_single,
        "matched_by": sorted(map(pattern_text, members.patterns)),
    }
