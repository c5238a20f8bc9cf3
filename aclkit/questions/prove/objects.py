"""What came out of proofs of policies → plain values for programs, names as they are. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

from aclkit.questions.prove.never import HOLDS, Answer, Answers
from aclkit.questions.prove.words import answer_words
from aclkit.questions.query.table_words import acl_text
from aclkit.questions.sides import settings_object, side_object
from aclkit.questions.state import State
from aclkit.rules.names.question import Budget
from aclkit.rules.names.words import pattern_text

ANSWER_COLUMNS: Final = (
    "verdict", "kind", "assertion", "principal", "host", "operation", "resource", "decision",
    "rule", "deciding_acl", "detail",
)  # fmt: skip


def answers_object(found: Answers, sides: Sequence[State], notes: Sequence[str]) -> dict[str, Any]:
    """Return the answers to a file of assertions."""
    return {
        "claim": "never",
        "outcome": found.outcome,
        "proven": found.outcome == HOLDS,
        "assertions": [_answer(answer) for answer in found.answers],
        **_common(found.cost, sides, notes),
    }


def answer_rows(answer: Answer) -> Iterator[tuple[object, ...]]:
    """Yield a row for each example of an assertion that fails, one without for every other."""
    head = (answer.outcome, answer.assertion.kind, answer.assertion.name)
    detail = answer_words(answer) or None
    for request, ruling in answer.examples:
        yield (
            *head, request.principal, request.host, request.operation, str(request.resource),
            ruling.decision, ruling.rule, acl_text(ruling), detail,
        )  # fmt: skip
    if not answer.examples:
        yield (*head, *[None] * (len(ANSWER_COLUMNS) - len(head) - 1), detail)


def _common(cost: Budget, sides: Sequence[State], notes: Sequence[str]) -> dict[str, Any]:
    named = list(zip("ab", sides, strict=False))
    return {
        "cost": {"questions": cost.questions, "states": cost.states},
        "settings": {name: settings_object(side) for name, side in named},
        **{name: side_object(side) for name, side in named},
        "notes": list(notes),
    }


def _answer(answer: Answer) -> dict[str, object]:
    return {
        "assertion": answer.assertion.name,
        "kind": answer.assertion.kind,
        "outcome": answer.outcome,
        "proven": answer.outcome == HOLDS,
        "examples": [
            {
                **asdict(request),
                "decision": ruling.decision,
                "rule": ruling.rule,
                "acl": acl_text(ruling),
            }
            for request, ruling in answer.examples
        ],
        "detail": answer.detail,
        "hard": [pattern_text(each) for each in answer.hard],
    }
