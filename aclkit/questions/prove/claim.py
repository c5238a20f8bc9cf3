"""Two states and a claim about them → whether it is proven, and what speaks against it. Pure.

Every name shown is decided by the rule on both sides before (``decide.confirm``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from aclkit.model.acl import Request
from aclkit.questions.state import State
from aclkit.rules.decide.confirm import Comparison
from aclkit.rules.decide.rules import Ruling
from aclkit.rules.names.compare import GAINED, LOST, Difference
from aclkit.rules.names.question import Budget
from aclkit.rules.names.region import RegionChange, openings
from aclkit.rules.names.rows import Rules

HOLDS: Final = "holds"
FAILS: Final = "fails"
UNKNOWN: Final = "unknown"

SAME: Final = "same"
NO_MORE: Final = "no-more"
NO_LESS: Final = "no-less"
AGAINST: Final[Mapping[str, tuple[str, ...]]] = {
    SAME: (GAINED, LOST),
    NO_MORE: (GAINED,),
    NO_LESS: (LOST,),
}
"""What speaks against each claim about A → B."""


class Counterexample(NamedTuple):
    """Requests that two sides decide otherwise, with one of them decided.

    Attributes:
        opening: which they are.
        request: one of them, with a shortest name.
        before: how A decides it.
        after: how B does.
    """

    opening: RegionChange
    request: Request
    before: Ruling
    after: Ruling

    @property
    def kind(self) -> str:
        """Whether they are gained or lost."""
        return self.opening.kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """What came out of a claim.

    Attributes:
        claim: one of ``AGAINST``.
        difference: of the two states, for every name.
        counterexamples: what speaks against the claim, as much as is shown of each kind.
        cost: what was spent on the proof.
    """

    claim: str
    difference: Difference
    counterexamples: tuple[Counterexample, ...]
    cost: Budget

    @property
    def outcome(self) -> str:
        """Whether the claim holds, fails, or is not known."""
        if any(self.difference.of_kind(kind) for kind in AGAINST[self.claim]):
            return FAILS
        return HOLDS if self.difference.is_known else UNKNOWN

    def cells(self, kind: str) -> int:
        """Count what is gained or lost, in cells."""
        return len(self.difference.of_kind(kind))

    def shown(self, kind: str) -> int:
        """Count the cells of the counterexamples of a kind."""
        return sum(each.opening.cells for each in self.counterexamples if each.kind == kind)


def hold_sides(claim: str, a: State, b: State, budget: Budget, limit: int | None) -> Claimed:
    """Check a claim about two sides, see ``hold_against``.

    A principal that a plan creates stands for any name: nothing may be gained where A allows the
    least and B the most, and nothing lost where it is the other way around.
    """
    if a.is_exact and b.is_exact:
        return hold_against(claim, a.rules, b.rules, budget, limit)
    if claim == NO_LESS:
        return hold_against(NO_LESS, a.most, b.least, budget, limit)
    more = hold_against(NO_MORE, a.least, b.most, budget, limit)
    if claim == NO_MORE or more.outcome != HOLDS:
        return replace(more, claim=claim)
    return replace(hold_against(NO_LESS, a.most, b.least, budget, limit), claim=claim)


def hold_against(
    claim: str, before: Rules, after: Rules, budget: Budget, limit: int | None
) -> Claimed:
    """Compare two states, and check a claim against the differences.

    Args:
        claim: one of ``AGAINST``.
        before: A.
        after: B.
        budget: the search limit of the proof; listing the differences may take the same again.
        limit: at most this many counterexamples of each kind, None for all.
    """
    compared = Comparison.of(before, after, budget)
    telling = replace(budget, questions=0, states=0)
    return Claimed(
        claim=claim,
        difference=compared.difference,
        counterexamples=tuple(
            found
            for kind in AGAINST[claim]
            for found in _counterexamples(compared, kind, telling, limit)
        ),
        cost=budget,
    )


def _counterexamples(
    compared: Comparison, kind: str, budget: Budget, limit: int | None
) -> Iterator[Counterexample]:
    """Yield those of one kind, the most cells first."""
    changes = compared.difference.of_kind(kind)
    most = len(changes) if limit is None else limit
    for opening in openings(replace(compared.difference, changes=changes), budget, most)[:most]:
        yield Counterexample(opening, *compared.rulings(opening.change))
