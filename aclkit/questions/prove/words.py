"""The outcomes of proofs of policies → the sentences that state them. Pure."""

from __future__ import annotations

from aclkit.questions.prove.never import FAILS, HOLDS, UNKNOWN, Answer, Answers
from aclkit.questions.query.table_words import ruling_words
from aclkit.questions.sides import request_words
from aclkit.rules.names.words import hard_words


def answers_verdict(found: Answers) -> str:
    """Write how many assertions hold for every name."""
    words = {HOLDS: "proven for every name", FAILS: "failed", UNKNOWN: "unknown"}
    counts = (f"{found.count(outcome):,} {word}" for outcome, word in words.items())
    return f"{', '.join(counts)}."


def tell_answer(answer: Answer) -> list[tuple[str, str]]:
    """Write the examples of an assertion: each request, and how it is decided."""
    return [(request_words(asked), ruling_words(ruling)) for asked, ruling in answer.examples]


def answer_words(answer: Answer) -> str:
    """Write what the examples of an assertion do not show."""
    hard = hard_words(answer.hard) if answer.hard else None
    return "; ".join(part for part in (answer.detail, hard) if part)
