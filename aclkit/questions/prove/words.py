"""What came out of proofs → the sentences that say it, the same in every format. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from aclkit.model.acl import Request
from aclkit.model.semantics import PRESETS
from aclkit.questions.prove.claim import (
    AGAINST,
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
from aclkit.questions.prove.reading import LISTING, RECORDS, Reading, ReadSide, Side
from aclkit.rules.decide.rules import Ruling
from aclkit.rules.names.compare import GAINED, LOST
from aclkit.rules.names.words import (
    cost_words,
    hard_words,
    names_words,
    number_of,
    party_words,
    unknown_sentences,
    way_out,
)

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


def comparison_sentences(found: Claimed, sides: Sequence[ReadSide]) -> Iterator[tuple[str, str]]:
    """Yield what came out of a claim and for what, each under a word."""
    yield "verdict", verdict_sentence(found)
    yield "differs", difference_sentence(found)
    yield from side_sentences(sides)
    yield from (("unknown", text) for text in unknown_sentences(found.difference, found.cost))


def verdict_sentence(found: Claimed) -> str:
    """Write whether a claim holds."""
    claim = CLAIMS[found.claim]
    return {
        HOLDS: f"holds, proven for every name: {claim}",
        FAILS: f"fails: {_FAILED[found.claim]}",
        UNKNOWN: f"unknown, which counts as failed: whether {claim} is beyond the budget",
    }[found.outcome]


def difference_sentence(found: Claimed) -> str:
    """Write how B compares with A, and what it took to find out."""
    counts = ", ".join(f"{found.cells(kind):,} {kind}" for kind in (GAINED, LOST))
    return (
        f"{found.difference.verdict}; cells of principals, hosts and operations: {counts} "
        f"({cost_words(found.cost)})"
    )


def answers_sentences(found: Answers, sides: Sequence[ReadSide]) -> Iterator[tuple[str, str]]:
    """Yield what came out of assertions and for what, each under a word."""
    yield "verdict", answers_verdict(found)
    yield "cost", cost_words(found.cost)
    if found.is_open_end:
        yield "unknown", way_out(found.cost)
    yield from side_sentences(sides)


def answers_verdict(found: Answers) -> str:
    """Write how many assertions hold for every name."""
    head = {
        HOLDS: "holds, proven for every name",
        FAILS: "fails",
        UNKNOWN: "unknown, which counts as failed",
    }[found.outcome]
    words = {HOLDS: "hold", FAILS: "fail", UNKNOWN: "unknown"}
    counts = ", ".join(f"{found.count(outcome):,} {word}" for outcome, word in words.items())
    return f"{head}: of {number_of(len(found.answers), 'assertion')} {counts}"


def side_sentences(sides: Sequence[ReadSide]) -> Iterator[tuple[str, str]]:
    """Yield what the sides are, and how they are read."""
    for name, read in zip("ab", sides, strict=False):
        yield name, side_words(read.side)
    same = len({tuple(read.reading.shown()) for read in sides}) == 1
    for name, read in zip("ab", sides[:1] if same else sides, strict=False):
        yield "settings" if same else f"settings {name}", settings_words(read.reading)


def side_words(side: Side) -> str:
    """Write what a side is."""
    acls = number_of(len(side.acls), "ACL")
    if side.form == LISTING:
        return f"{side.path}: a listing of {acls}"
    if side.form == RECORDS:
        return f"{side.path}: records, replayed from an empty cluster: {acls}"
    offset = "" if side.offset is None else f", as of offset {side.offset}"
    return f"{side.path}: warehouse, cluster {side.cluster_id}{offset}: {acls}"


def settings_words(reading: Reading) -> str:
    """Write under which settings a side is read."""
    users, everyone, *said = reading.shown()
    plain = replace(reading.semantics, cidr_hosts=False)
    preset = next((name for name, known in PRESETS.items() if known == plain), None)
    ranges = [each for each in said if each[0] == "cidr_hosts"]
    shown = [users, everyone, *([("semantics", preset), *ranges] if preset else said)]
    return f"{'; '.join(map(' '.join, shown))} (from {reading.source})"


class Told(NamedTuple):
    """A counterexample in words: who gains or loses what, on which names, and one request."""

    who: tuple[str, ...]
    on: str
    example: str
    before: str
    after: str


def tell(example: Counterexample) -> Told:
    """Write a counterexample."""
    return Told(
        tuple(who_words(example)),
        names_words(example.opening),
        request_words(example.request),
        decision_words(example.before),
        decision_words(example.after),
    )


def tell_answer(answer: Answer) -> list[tuple[str, str]]:
    """Write the examples of an assertion: each request, and how it is decided."""
    return [(request_words(asked), decision_words(ruling)) for asked, ruling in answer.examples]


def who_words(example: Counterexample) -> Iterator[str]:
    """Yield who gains or loses what, a text for each set of operations."""
    for party in example.opening.parties:
        yield party_words(party, example.opening.resource_type)


def decision_words(ruling: Ruling) -> str:
    """Write a decision with the ACL that makes it, as kafka-acls prints it, or the rule."""
    return f"{ruling.decision} by {ruling.acl or f'rule {ruling.rule}'}"


def request_words(asked: Request) -> str:
    """Write a request."""
    return f"{asked.operation} on {asked.resource} by {asked.principal} from {asked.host}"


def answer_words(answer: Answer) -> str:
    """Write what the examples of an assertion do not say."""
    hard = hard_words(answer.hard) if answer.hard else None
    return "; ".join(part for part in (answer.detail, hard) if part)


def left_out_words(found: Claimed) -> Iterator[str]:
    """Yield how much of what speaks against a claim is not shown."""
    for kind in AGAINST[found.claim]:
        left = found.cells(kind) - found.shown(kind)
        if left:
            yield f"… and {number_of(left, 'cell')} more {kind}; --all shows them"
