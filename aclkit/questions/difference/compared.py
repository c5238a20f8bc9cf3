"""A change and an inventory → verdict for every name, what differs, and which names. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL
from aclkit.model.cidr import is_any_other
from aclkit.model.resource import Resource
from aclkit.model.semantics import Semantics, other_reading
from aclkit.questions.difference.access_change import KINDS, ResourceChanges
from aclkit.questions.difference.change import Change, with_named
from aclkit.questions.difference.compare import compare
from aclkit.questions.difference.effect import ChangedCell, ChangedLine, Effect, sorted_parts
from aclkit.questions.difference.globs import holds_globs
from aclkit.questions.query.decide_unlisted import Verdict
from aclkit.questions.state import Inventory
from aclkit.rules.decide.confirm import Comparison
from aclkit.rules.names.compare import (
    AT_LEAST_LESS,
    AT_LEAST_MORE,
    EQUIVALENT,
    GAINED,
    INCOMPARABLE,
    LESS,
    LOST,
    MORE,
    CellChange,
    SemanticsChange,
)
from aclkit.rules.names.question import Budget
from aclkit.rules.names.region import RegionChange, openings
from aclkit.rules.names.rows import reads_alike
from aclkit.rules.names.words import opening_words

MOST_REGIONS: Final = 200
"""For this many questions the gained and lost names are listed; the others are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The effect of a change.

    Attributes:
        change: what was compared.
        asked: the inventory, and the names that only the change's ACLs have.
        named: how many principals, hosts and resources only the change's ACLs have.
        effect: the differences for ``asked``, including decisions by another ACL.
        comparison: which decisions differ for any possible name.
        openings: the same, folded, each with the names that it is about.
        rereads: the effect of each ACL that is read differently after the change.
        budget: how much of the search limit the comparison took.
        otherwise: the effect under the other reading of ACLs, where it differs.
        parts: where ACLs change and are read otherwise too: what the reading alone does to the
            ACLs before, and what the change of ACLs does in the second reading.
        is_settled: it is known which ACLs the change leads to; otherwise nothing is proven.
    """

    change: Change
    asked: Inventory
    named: int
    effect: Effect
    comparison: Comparison
    openings: tuple[RegionChange, ...]
    rereads: tuple[SemanticsChange, ...]
    budget: Budget
    otherwise: Preview | None = None
    is_settled: bool = True
    parts: tuple[Preview, Preview] | None = None

    @property
    def verdict(self) -> str:
        """Compare what is allowed after with what was allowed before, for every name."""
        gained, lost = self.has(GAINED), self.has(LOST)
        if gained and lost:
            return INCOMPARABLE
        if gained or lost:
            known, at_least = (MORE, AT_LEAST_MORE) if gained else (LESS, AT_LEAST_LESS)
            return known if self.comparison.difference.is_known else at_least
        return self.comparison.difference.verdict

    @property
    def is_known(self) -> bool:
        """Whether nothing was left open; to be incomparable it takes no more than is known."""
        return self.comparison.difference.is_known or self.verdict == INCOMPARABLE

    @property
    def proof(self) -> str | None:
        """What is proven for every name, in the words of a program's reader; None if nothing."""
        is_known = self.is_settled and self.comparison.difference.is_known
        if not is_known or self.verdict == INCOMPARABLE:
            return None
        if self.verdict == MORE:
            return "nothing is lost"
        return "nothing is gained" if self.verdict == LESS else "nothing is gained or lost"

    def has(self, kind: str) -> bool:
        """Whether anything became so, of any name."""
        return bool(self.comparison.difference.of_kind(kind)) or any(
            _has(part, kind) for part in self.effect.parts
        )

    def regions(self, kind: str) -> list[RegionChange]:
        """Return what is gained, or what is lost."""
        return [opening for opening in self.openings if opening.kind == kind]

    @property
    def example(self) -> ChangedCell | None:
        """A decision that shows the verdict; of an incomparable change one that is lost."""
        cells = map(self.cell_of, self.comparison.difference.of_kind(self._shown))
        return next(chain(self.effect.cells(self._shown), cells), None)

    @property
    def example_line(self) -> ChangedLine | None:
        """The same decision, as the line that it stands in."""
        lines = map(self._line_of, self.comparison.difference.of_kind(self._shown))
        return next(chain(self.effect.lines(self._shown), lines), None)

    def cell_of(self, change: CellChange) -> ChangedCell:
        """Return the decision that shows a change, before and after."""
        return next(self.effect.cells_of(self._line_of(change)))

    def _line_of(self, change: CellChange) -> ChangedLine:
        request, before, after = self.comparison.rulings(change)
        return ChangedLine(
            request.principal,
            (request.host,),
            request.operation,
            Resource(*request.resource),
            Verdict.of(before),
            Verdict.of(after),
        )

    @property
    def _shown(self) -> str:
        return LOST if self.has(LOST) else GAINED


def preview(change: Change, inventory: Inventory, budget: Budget | None = None) -> Preview:
    """Compare two states on an inventory, and for every possible name.

    For known names, both the decisions and the deciding ACLs are compared. Names that the affected
    ACLs spell out are included. For all other names only the decisions are compared.

    Where an ACL holds a glob, all this is also done in the other reading of ACLs.
    """
    found = _preview(change, inventory, budget)
    if len(set(change.readings)) > 1:
        return replace(found, parts=_parts(found, inventory)) if change.affected else found
    if not holds_globs(change):
        return found
    ours, _ = change.readings
    # Names that begin with a star are left out: LITERAL * would make a difference in each preview.
    theirs = replace(other_reading(ours), wildcard_defect=ours.wildcard_defect)
    other = _preview(_read_as(change, theirs), inventory, budget)
    return found if _is_alike(found, other) else replace(found, otherwise=other)


def _parts(found: Preview, inventory: Inventory) -> tuple[Preview, Preview]:
    """Preview the second reading of the ACLs before, and then the change of ACLs alone."""
    change, budget = found.change, found.budget
    apart = (
        replace(change, after=change.before.read_as(change.after.semantics)),
        _read_as(change, change.after.semantics),
    )
    reading, acls = (
        _preview(each, inventory, Budget(per_question=budget.per_question, total=budget.total))
        for each in apart
    )
    return reading, acls


def _read_as(change: Change, semantics: Semantics) -> Change:
    return Change(before=change.before.read_as(semantics), after=change.after.read_as(semantics))


def _is_alike(found: Preview, other: Preview) -> bool:
    """Whether a change does the same in both readings, as far as the answers tell."""
    then, now = (
        (
            each.verdict,
            [each.effect.count(kind) for kind in (GAINED, LOST)],
            {(opening.kind, opening_words(opening)) for opening in each.openings},
        )
        for each in (found, other)
    )
    readings = found.change.before.semantics, other.change.before.semantics
    is_reread = any(not reads_alike(acl, *readings) for acl in found.change.affected)
    return then == now and (not is_reread or found.verdict == EQUIVALENT)


def _preview(change: Change, inventory: Inventory, budget: Budget | None) -> Preview:
    asked, budget = with_named(inventory, change), budget or Budget()
    comparison = Comparison.of(change.before.rules, change.after.rules, budget)
    # What tells which names these are may take as much again; it is no part of the proof.
    telling = Budget(per_question=budget.per_question, total=budget.total)
    return Preview(
        change=change,
        asked=asked,
        named=_size(asked) - _size(inventory),
        effect=Effect(
            parts=sorted_parts(compare(change, asked)),
            acls={**change.before.acls, **change.after.acls},
        ),
        comparison=comparison,
        openings=tuple(openings(comparison.difference, telling, MOST_REGIONS)),
        rereads=tuple(comparison.rereads(telling)),
        budget=budget,
    )


def _has(part: ResourceChanges, kind: str) -> bool:
    """Whether anything became so for names; what stands for others is in the comparison."""
    at = KINDS.index(kind)
    if part.resource.resource_name == ANY_OTHER:
        return False
    return any(
        change.kind == kind and not all(map(is_any_other, change.hosts))
        for principals, outcome in part.outcomes
        if outcome.weights[at] and any(name != ANY_OTHER_PRINCIPAL for name in principals)
        for change in outcome.changes
    )


def _size(asked: Inventory) -> int:
    return len(asked.principals) + len(asked.hosts) + len(asked.resources)
