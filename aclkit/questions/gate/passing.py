"""What is allowed or denied for a time only, while a change is applied. Pure.

An access counts that is denied before and at the end, and allowed at some moment; and one that is
allowed before and at the end, and denied at some moment. The moments are bounds of all orders.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from aclkit.questions.preview.desired import Bounds
from aclkit.questions.preview.preview import MOST_REGIONS
from aclkit.questions.preview.state import Change, State
from aclkit.rules.decide.confirm import Comparison, Decider
from aclkit.rules.names.compare import GAINED, LOST
from aclkit.rules.names.question import Budget
from aclkit.rules.names.region import RegionChange, openings


@dataclass(frozen=True, slots=True, kw_only=True)
class Passing:
    """What is otherwise for a time.

    Attributes:
        change: the state before, and the one at the end.
        openings: what is gained or lost for a time, with its names.
        is_known: nothing was left open.
    """

    change: Change
    openings: Sequence[RegionChange]
    is_known: bool


def passing_of(change: Change, moments: Bounds, budget: Budget) -> Passing:
    """Return what is otherwise while a change is applied than before it and at its end."""
    found: list[RegionChange] = []
    is_known = True
    for kind, moment in _asked(change, moments):
        cells, known = _cells(change, moment, kind, budget)
        is_known = is_known and known
        found += cells
    return Passing(change=change, openings=found, is_known=is_known)


def _asked(change: Change, moments: Bounds) -> Sequence[tuple[str, State]]:
    """Return which bound is asked for what."""
    asked = [(GAINED, moments.most), (LOST, moments.least)]
    if change.before.settings.allow_everyone:
        # A resource without ACLs is open: the fewest ACLs can allow more than the most.
        asked += [(GAINED, moments.bare), (LOST, moments.most)]
    return asked


def _cells(
    change: Change, moment: State, kind: str, budget: Budget
) -> tuple[list[RegionChange], bool]:
    """Return the differences of a moment from both ends.

    Its names are compared with one end; the shortest name of each difference is decided at the
    other one. Where one comparison shows nothing, the other one may.
    """
    semantics = change.readings[1]
    before, after = change.before.rules(semantics), change.after.rules(semantics)
    rules = moment.rules(semantics)
    is_known = True
    for one, other in ((after, before), (before, after)):
        compared = Comparison.of(one, rules, budget)
        is_known = is_known and compared.difference.is_known
        decider, is_lost = Decider.of(other), kind == LOST
        cells = tuple(
            each
            for each in compared.difference.of_kind(kind)
            if decider.allows(compared.rulings(each)[0]) is is_lost
        )
        if cells:
            telling = Budget(per_question=budget.per_question, total=budget.total)
            kept = replace(compared.difference, changes=cells)
            return openings(kept, telling, MOST_REGIONS), is_known
    return [], is_known
