"""What came out of proofs → plain values for programs, names as they are. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from typing import Any, Final

from aclkit.questions.prove.claim import AGAINST, HOLDS, Claimed, Counterexample
from aclkit.questions.state import State
from aclkit.questions.state_words import about_sides
from aclkit.rules.decide.rules import Ruling
from aclkit.rules.names.classes import NameClass
from aclkit.rules.names.compare import UnknownCell
from aclkit.rules.names.words import names_words, pattern_text

COLUMNS: Final = (
    "change", "principal", "host", "operation", "resource_type", "resource_name", "names",
    "before", "after", "rule_before", "rule_after", "acl_before", "acl_after", "cells",
)  # fmt: skip
"""Of a counterexample; the request is one of its cells."""


def comparison_object(
    found: Claimed, sides: Sequence[State], notes: Sequence[str], limit: int | None
) -> dict[str, Any]:
    """Return the answer to a claim about two sides."""
    return {
        "claim": found.claim,
        "outcome": found.outcome,
        "proven": found.outcome == HOLDS,
        "verdict": found.difference.verdict,
        "found": {
            kind: {"cells": found.cells(kind), "shown": found.shown(kind)}
            for kind in AGAINST[found.claim]
        },
        "limit": limit,
        "counterexamples": [
            {**dict(zip(COLUMNS, row(example), strict=True)), "holds_for": _holds_for(example)}
            for example in found.counterexamples
        ],
        "unknown": [_unknown(cell) for cell in found.difference.unknown],
        "all_classes_found": found.difference.is_complete,
        **about_sides(found.cost, sides, notes),
    }


def row(example: Counterexample) -> tuple[object, ...]:
    """Return a counterexample in the order of ``COLUMNS``."""
    before, after = example.before, example.after
    return (
        example.kind,
        *astuple(example.request),
        names_words(example.opening),
        before.decision,
        after.decision,
        before.rule,
        after.rule,
        acl_text(before),
        acl_text(after),
        example.opening.cells,
    )


def acl_text(ruling: Ruling) -> str | None:
    """Return the ACL that decides, as kafka-acls prints it."""
    return None if ruling.acl is None else str(ruling.acl)


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
