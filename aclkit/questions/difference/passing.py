"""What is allowed or denied on the way only, or at another end than the one that is shown. Pure.

``rules.names.moments`` judges; here the rule confirms each name that it found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aclkit.model.acl import Request
from aclkit.questions.difference.change import Change
from aclkit.questions.state import Applied
from aclkit.rules.decide.confirm import Decider
from aclkit.rules.names.compare import LOST, Difference
from aclkit.rules.names.moments import find_moments
from aclkit.rules.names.question import Budget
from aclkit.rules.names.region import RegionChange, openings


@dataclass(frozen=True, slots=True, kw_only=True)
class Passing:
    """What is decided otherwise than before, at other moments than the end that is shown.

    Attributes:
        change: the state before, and the end that is shown.
        openings: what is gained or lost, with its names.
        is_known: nothing was left open.
    """

    change: Change
    openings: Sequence[RegionChange]
    is_known: bool

    def has(self, kind: str) -> bool:
        """Whether anything is gained, or lost."""
        return any(each.kind == kind for each in self.openings)

    def of_kind(self, kind: str) -> list[RegionChange]:
        """Return what is gained, or what is lost."""
        return [each for each in self.openings if each.kind == kind]


def passing_of(change: Change, applied: Applied, budget: Budget) -> tuple[Passing, Passing]:
    """Return what is otherwise for a time, and what is otherwise at another end.

    Raises:
        DisagreementError: the rule decides a name otherwise.
    """
    before = change.before.read_as(change.after.semantics).rules
    found = find_moments(before, change.after.rules, applied.doings, budget)
    decider = Decider.of(before) if found.passing.changes or found.ends.changes else None
    return _told(change, found.passing, decider, budget), _told(change, found.ends, decider, budget)


def request_of(opening: RegionChange) -> Request:
    """Return a request that shows a change."""
    return opening.change.cell.about(opening.change.name)


def _told(
    change: Change, difference: Difference, decider: Decider | None, budget: Budget
) -> Passing:
    if decider is not None:
        for each in difference.changes:
            decider.confirm(each.cell.about(each.name), is_allowed=each.kind == LOST)
    # What tells which names these are may take as much again; it is no part of the proof.
    telling = Budget(per_question=budget.per_question, total=budget.total)
    return Passing(
        change=change,
        openings=openings(difference, telling),
        is_known=difference.is_known,
    )
