"""Assertions and a state → which are proven for every name, and what speaks against the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from aclkit.model.acl import Request
from aclkit.questions.assertions.model import Assertion
from aclkit.questions.assertions.proof import prove
from aclkit.rules.decide.confirm import Decider
from aclkit.rules.decide.rules import ALLOWED, Ruling
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import Rules, Symbols

HOLDS: Final = "holds"
FAILS: Final = "fails"
UNKNOWN: Final = "unknown"


class Example(NamedTuple):
    """A request that speaks against an assertion, and how it is decided."""

    request: Request
    ruling: Ruling


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The outcome of one assertion.

    Attributes:
        assertion: the policy.
        outcome: it holds, fails, or is not known.
        examples: what violates it.
        detail: what the examples do not show, in words.
        hard: the patterns that made it unknown.
    """

    assertion: Assertion
    outcome: str
    examples: tuple[Example, ...]
    detail: str | None
    hard: tuple[Symbols, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What came out of all of them.

    Attributes:
        answers: to each, in the order of the file.
        cost: of all proofs.
    """

    answers: tuple[Answer, ...]
    cost: Budget

    @property
    def outcome(self) -> str:
        """Whether all of them hold, one fails, or it is not known."""
        outcomes = {answer.outcome for answer in self.answers}
        return next((bad for bad in (FAILS, UNKNOWN) if bad in outcomes), HOLDS)

    @property
    def is_open_end(self) -> bool:
        """Whether the budget left one unknown: what is about an inventory is none of its fault."""
        return any(
            answer.outcome == UNKNOWN and not answer.assertion.inventory_only
            for answer in self.answers
        )

    @property
    def worst_first(self) -> list[Answer]:
        """Those that fail, those that are not known, those that hold."""
        order = (FAILS, UNKNOWN, HOLDS)
        return sorted(self.answers, key=lambda answer: order.index(answer.outcome))

    def count(self, outcome: str) -> int:
        """Count what came out so."""
        return sum(answer.outcome == outcome for answer in self.answers)


def hold_assertions(
    assertions: Sequence[Assertion], rules: Rules, budget: Budget, bounds: Sequence[Rules] = ()
) -> Answers:
    """Prove each assertion, or find what speaks against it; all share the budget.

    Args:
        assertions: the policies.
        rules: the state.
        budget: the search limit.
        bounds: of the states that it may be instead: an assertion that fails there is unknown.
    """
    deciders = [(each, Decider.of(each)) for each in (rules, *bounds)]
    answers = tuple(_hold_in_all(each, deciders, budget) for each in assertions)
    return Answers(answers=answers, cost=budget)


def _hold_in_all(
    assertion: Assertion, deciders: Sequence[tuple[Rules, Decider]], budget: Budget
) -> Answer:
    first, *others = deciders
    found = _hold(assertion, *first, budget)
    for other in others:
        if found.outcome != HOLDS:
            return found
        found = _hold(assertion, *other, budget)
        if found.outcome == FAILS:
            return replace(found, outcome=UNKNOWN, detail=_OPEN)
    return found


_OPEN: Final = "it may fail: the order of the plan or the name of a principal is open"


def _hold(assertion: Assertion, rules: Rules, decider: Decider, budget: Budget) -> Answer:
    proof = prove(assertion, rules, budget)
    shown = proof.members or (() if proof.request is None else (proof.request,))
    is_allowed = assertion.bad_decision == ALLOWED
    return Answer(
        assertion=assertion,
        outcome=proof.verdict,
        examples=tuple(
            Example(request, decider.confirm(request, is_allowed=is_allowed)) for request in shown
        ),
        detail=proof.detail,
        hard=proof.hard,
    )
