"""The outcomes of proofs → the sentences that state them, the same in every format. Pure."""

from __future__ import annotations

from typing import Final

from aclkit.model.acl import Request
from aclkit.questions.prove.claim import (
    FAILS,
    HOLDS,
    NO_LESS,
    NO_MORE,
    SAME,
    UNKNOWN,
    Claimed,
    Counterexample,
)
from aclkit.questions.query.table_words import short_reason
from aclkit.rules.decide.rules import ALLOWED, Ruling

CLAIMS: Final = {
    SAME: "A and B allow the same",
    NO_MORE: "B allows nothing that A denies",
    NO_LESS: "B allows all that A allows",
}
_FAILED: Final = {
    SAME: "A and B do not allow the same",
    NO_MORE: "B allows what A denies",
    NO_LESS: "B denies what A allows",
}


def verdict_sentence(found: Claimed) -> str:
    """Write whether a claim holds."""
    return {
        HOLDS: f"Holds, proven for every name: {CLAIMS[found.claim]}.",
        FAILS: f"Fails: {_FAILED[found.claim]}.",
        UNKNOWN: f"Unknown, which counts as failed: {CLAIMS[found.claim]}.",
    }[found.outcome]


def example_words(example: Counterexample) -> str:
    """Write one request of a counterexample, and how both sides decide it."""
    asked = request_words(example.request)
    return f"{asked}: A {decision_words(example.before)}; B {decision_words(example.after)}"


def decision_words(ruling: Ruling) -> str:
    """Write a decision with the ACL or the rule that makes it."""
    verb = "allows it" if ruling.decision == ALLOWED else "denies it"
    return f"{verb} ({short_reason(ruling.decision, ruling.rule, ruling.acl, None, None)})"


def request_words(asked: Request) -> str:
    """Write a request."""
    return f"{asked.operation} on {asked.resource} by {asked.principal} from {asked.host}"
