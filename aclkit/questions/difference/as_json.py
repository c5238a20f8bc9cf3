"""A preview → the members of its object of JSON. Pure."""

from __future__ import annotations

from aclkit.answer.document import Members
from aclkit.questions.difference.access_change import KINDS
from aclkit.questions.difference.compared import Preview
from aclkit.questions.difference.effect import Count
from aclkit.questions.difference.words import (
    inventory_sentence,
    left_open,
    otherwise_sentence,
    settings_sentences,
)
from aclkit.questions.query.other_reading import preset_of_other
from aclkit.rules.names.change_lines import change_lines, line_words
from aclkit.rules.names.compare import GAINED, LOST, SemanticsChange
from aclkit.rules.names.region import RegionChange
from aclkit.rules.names.words import names_words, party_words, pattern_text, semantics_change_words


def preview_members(preview: Preview) -> Members:
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


def _otherwise(preview: Preview) -> dict[str, object] | None:
    other = preview.otherwise
    if other is None:
        return None
    return {
        "preset": preset_of_other(preview.change.before.semantics),
        "verdict": other.verdict,
        **{kind: other.effect.count(kind) for kind in KINDS},
        "words": otherwise_sentence(preview),
    }


def _by_cause(preview: Preview) -> dict[str, object] | None:
    if preview.parts is None:
        return None
    return {
        cause: {
            "verdict": part.verdict,
            **{kind: part.effect.count(kind) for kind in KINDS},
            "words": [
                {"kind": line.kind, "words": line_words(line)}
                for line in change_lines(part.openings)
            ],
        }
        for cause, part in zip(("reading", "acls"), preview.parts, strict=True)
    }


def _to_come(preview: Preview, opening: RegionChange) -> dict[str, object]:
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


def _reread(preview: Preview, reread: SemanticsChange) -> dict[str, object]:
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
