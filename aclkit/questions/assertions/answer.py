"""Policies and whether they hold → the answer: the verdict, and an example of what fails. Pure.

``prove never`` has rows and an object of its own: their keys and values are older.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final

from aclkit.answer.document import Answer, Facts, Item, Items, Part, Row, Sentence
from aclkit.model.phrases import number_of
from aclkit.questions.assertions.model import (
    EVERY_NAME,
    FAILED,
    PASSED,
    UNKNOWN,
    WORST_FIRST,
    Example,
    Outcome,
    Verdict,
    verdict_of,
)
from aclkit.questions.query.table_words import short_reason
from aclkit.questions.state import State
from aclkit.questions.state_words import about_sides, settings_words, side_words
from aclkit.rules.decide.rules import ALLOWED
from aclkit.rules.names.question import Budget
from aclkit.rules.names.words import hard_words, pattern_text

COLUMNS: Final = (
    "state", "kind", "assertion", "checked", "violations", "principal", "host", "operation",
    "resource", "decision", "rule", "deciding_acl", "acl_id", "in_inventory", "detail", "proof",
)  # fmt: skip
NEVER_COLUMNS: Final = (
    "verdict", "kind", "assertion", "principal", "host", "operation", "resource", "decision",
    "rule", "deciding_acl", "detail",
)  # fmt: skip
_SENTENCES: Final[Mapping[Verdict, str]] = {
    PASSED: "Verdict: pass",
    FAILED: "Verdict: fail",
    UNKNOWN: "Verdict: unknown, which counts as failed",
}
_PROOFS: Final[Mapping[Verdict | None, str]] = {PASSED: "holds", FAILED: "fails", UNKNOWN: UNKNOWN}
"""Verdict → what rows and objects call the outcome of a proof."""


def policies_answer(outcomes: Sequence[Outcome], state: State, notes: Sequence[str]) -> Answer:
    """Return which policies hold.

    Args:
        outcomes: of the policies, in the order of the file.
        state: what they were checked on.
        notes: what a reader must know about it.
    """
    facts = [("ACLs", side_words(state)), ("settings", settings_words(state))]
    return Answer(
        title="Policies",
        columns=COLUMNS,
        rows=[row for each in outcomes for row in _rows(each)],
        parts=lambda: _parts(outcomes, facts),
        besides=lambda: [verdict_sentence(outcomes), *map(": ".join, facts)],
        notes=(*_notes(outcomes, state), *notes),
        more={"unknown_settings": sorted(state.settings.unknown)},
    )


def as_prove_never(
    answer: Answer,
    outcomes: Sequence[Outcome],
    state: State,
    notes: Sequence[str],
    cost: Budget,
) -> Answer:
    """Return an answer with the rows and the object of ``prove never``; ``cost``: of all proofs."""
    return replace(
        answer,
        title="prove never",
        columns=NEVER_COLUMNS,
        rows=[row for each in outcomes for row in _never_rows(each)],
        json=lambda: _never_object(outcomes, state, notes, cost),
    )


def verdict_sentence(outcomes: Sequence[Outcome]) -> str:
    """Write the verdict on all policies, and how many have which."""
    counts = Counter(outcome.verdict for outcome in outcomes)
    said = ", ".join(f"{counts[each]:,} {each}" for each in WORST_FIRST if counts[each])
    return f"{_SENTENCES[verdict_of(outcomes)]} ({said})."


def outcome_item(outcome: Outcome) -> Item:
    """Write whether a policy holds, and what violates it."""
    number = f" ({number_of(outcome.violations, 'violation')})" if outcome.violations else ""
    besides = outcome_words(outcome)
    return Item(
        f"{outcome.verdict:<9}{outcome.assertion.name}{number}",
        under=[*map(example_words, outcome.examples), *([besides] if besides else [])],
    )


def example_words(example: Example) -> str:
    """Write a decision that violates a policy."""
    asked, decided = example.request, example.ruling
    verb = "can" if decided.decision == ALLOWED else "cannot"
    to_come = " (a name to come)" if example.in_inventory is False else ""
    reason = short_reason(decided.decision, decided.rule, decided.acl, None, None)
    what = f"{asked.operation} {asked.resource}{to_come} from {asked.host}"
    return f"{asked.principal} {verb} {what}: {reason}"


def outcome_words(outcome: Outcome) -> str:
    """Write what the examples of an outcome do not show."""
    detail = None if outcome.detail == EVERY_NAME else outcome.detail
    hard = hard_words(outcome.hard) if outcome.hard else None
    return "; ".join(part for part in (detail, hard) if part)


def _parts(outcomes: Sequence[Outcome], facts: Sequence[tuple[str, str]]) -> Iterator[Part]:
    has_passed = verdict_of(outcomes) == PASSED
    yield Sentence(verdict_sentence(outcomes), "good" if has_passed else "bad")
    worst_first = sorted(outcomes, key=lambda outcome: WORST_FIRST.index(outcome.verdict))
    yield Items(map(outcome_item, worst_first))
    yield Facts(facts)


def _notes(outcomes: Sequence[Outcome], state: State) -> Iterator[str]:
    if state.inventory.has_names:
        for outcome in outcomes:
            if not outcome.checked:
                yield f"The policy {outcome.assertion.name!r} matches nothing that exists."


def _rows(outcome: Outcome) -> Iterator[Row]:
    assertion = outcome.assertion
    head = (outcome.state, assertion.kind, assertion.name, outcome.checked, outcome.violations)
    proof = _PROOFS.get(outcome.proof)
    for each in outcome.examples:
        cells = *_cells(each), each.ruling.acl_id, each.in_inventory
        yield (*head, *cells, outcome.detail, proof)
    if not outcome.examples:
        none = [None] * (len(COLUMNS) - len(head) - 2)
        yield (*head, *none, outcome.detail, proof)


def _never_rows(outcome: Outcome) -> Iterator[Row]:
    head = (_PROOFS[outcome.verdict], outcome.assertion.kind, outcome.assertion.name)
    detail = outcome_words(outcome) or None
    for example in outcome.examples:
        yield (*head, *_cells(example), detail)
    if not outcome.examples:
        yield (*head, *[None] * (len(NEVER_COLUMNS) - len(head) - 1), detail)


def _cells(example: Example) -> Row:
    asked, decided = example.request, example.ruling
    return (
        asked.principal, asked.host, asked.operation, str(asked.resource), decided.decision,
        decided.rule, decided.acl and str(decided.acl),
    )  # fmt: skip


def _never_object(
    outcomes: Sequence[Outcome], state: State, notes: Sequence[str], cost: Budget
) -> dict[str, Any]:
    verdict = verdict_of(outcomes)
    return {
        "claim": "never",
        "outcome": _PROOFS[verdict],
        "proven": verdict == PASSED,
        "assertions": [_outcome_object(each) for each in outcomes],
        **about_sides(cost, [state], notes),
    }


def _outcome_object(outcome: Outcome) -> dict[str, Any]:
    return {
        "assertion": outcome.assertion.name,
        "kind": outcome.assertion.kind,
        "outcome": _PROOFS[outcome.verdict],
        "proven": outcome.has_passed,
        "examples": [
            {
                **asdict(request),
                "decision": ruling.decision,
                "rule": ruling.rule,
                "acl": ruling.acl and str(ruling.acl),
            }
            for request, ruling, _ in outcome.examples
        ],
        "detail": outcome.detail,
        "hard": [pattern_text(each) for each in outcome.hard],
    }
