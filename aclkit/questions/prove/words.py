"""The outcomes of proofs → the sentences that state them, the same in every format. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from aclkit.model.acl import Request
from aclkit.model.phrases import number_of
from aclkit.model.semantics import PRESETS
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
from aclkit.questions.prove.never import Answer, Answers
from aclkit.questions.query.table_words import ruling_words, short_reason
from aclkit.questions.sides import settings_shown
from aclkit.questions.state import FILES, LISTING, RECORDS, State
from aclkit.rules.decide.rules import ALLOWED, Ruling
from aclkit.rules.names.words import hard_words

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


def answers_verdict(found: Answers) -> str:
    """Write how many assertions hold for every name."""
    words = {HOLDS: "proven for every name", FAILS: "failed", UNKNOWN: "unknown"}
    counts = (f"{found.count(outcome):,} {word}" for outcome, word in words.items())
    return f"{', '.join(counts)}."


def side_facts(sides: Sequence[State]) -> Iterator[tuple[str, str]]:
    """Yield what the sides are, and how they are read."""
    for name, side in zip("AB", sides, strict=False):
        yield name, side_words(side)
    same = len({tuple(settings_shown(side)) for side in sides}) == 1
    for name, side in zip("AB", sides[:1] if same else sides, strict=False):
        yield "settings" if same else f"settings of {name}", settings_words(side)


def side_words(side: State) -> str:
    """Write what a side is."""
    acls = number_of(len(side.acls), "ACL")
    if side.form == LISTING:
        return f"{side.place} (listing, {acls})"
    if side.form == RECORDS:
        return f"{side.place} (records, replayed from an empty cluster, {acls})"
    if side.form == FILES:
        return f"{side.place} (files, {acls})"
    offset = "" if side.offset is None else f" at offset {side.offset}"
    return f"{side.place} (warehouse, cluster {side.cluster_id}{offset}, {acls})"


def settings_words(side: State) -> str:
    """Write under which settings a side is read."""
    users, everyone, *said = settings_shown(side)
    plain = replace(side.semantics, cidr_hosts=False)
    preset = next((name for name, known in PRESETS.items() if known == plain), None)
    ranges = [each for each in said if each[0] == "cidr_hosts"]
    shown = [users, everyone, *([("semantics", preset), *ranges] if preset else said)]
    return f"{'; '.join(map(' '.join, shown))} (from {side.read_by})"


def example_words(example: Counterexample) -> str:
    """Write one request of a counterexample, and how both sides decide it."""
    asked = request_words(example.request)
    return f"{asked}: A {decision_words(example.before)}; B {decision_words(example.after)}"


def tell_answer(answer: Answer) -> list[tuple[str, str]]:
    """Write the examples of an assertion: each request, and how it is decided."""
    return [(request_words(asked), ruling_words(ruling)) for asked, ruling in answer.examples]


def decision_words(ruling: Ruling) -> str:
    """Write a decision with the ACL or the rule that makes it."""
    verb = "allows it" if ruling.decision == ALLOWED else "denies it"
    return f"{verb} ({short_reason(ruling.decision, ruling.rule, ruling.acl, None, None)})"


def request_words(asked: Request) -> str:
    """Write a request."""
    return f"{asked.operation} on {asked.resource} by {asked.principal} from {asked.host}"


def answer_words(answer: Answer) -> str:
    """Write what the examples of an assertion do not show."""
    hard = hard_words(answer.hard) if answer.hard else None
    return "; ".join(part for part in (answer.detail, hard) if part)
