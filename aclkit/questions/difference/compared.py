"""Two states and known names → what differs, for every name, and which names these are. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL
from aclkit.model.cidr import is_any_other
from aclkit.model.resource import Resource
from aclkit.model.semantics import Semantics, other_reading
from aclkit.questions.difference.access_change import KINDS, ResourceChanges
from aclkit.questions.difference.change import Change, with_named
from aclkit.questions.difference.compare import compare
from aclkit.questions.difference.effect import ChangedCell, ChangedLine, Effect, sorted_parts
from aclkit.questions.difference.globs import holds_globs
from aclkit.questions.difference.passing import Passing, passing_of
from aclkit.questions.query.decide_unlisted import Verdict
from aclkit.questions.state import Applied, Inventory, State
from aclkit.rules.decide.confirm import Comparison, Counterexample
from aclkit.rules.names.change_lines import ChangeLine, change_lines
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
    Difference,
    SemanticsChange,
)
from aclkit.rules.names.question import Budget
from aclkit.rules.names.region import RegionChange, openings
from aclkit.rules.names.rows import reads_alike
from aclkit.rules.names.words import opening_words


@dataclass(frozen=True, kw_only=True)
class Compared:
    """What differs between two states, whoever compares them.

    Attributes:
        change: both states.
        asked: the known names, and the names that only the change's ACLs have.
        named: how many principals, hosts and resources only the change's ACLs have.
        effect: the differences for ``asked``, including decisions by another ACL.
        comparison: which decisions differ for any possible name.
        openings: the same, folded, each with the names that it is about.
        rereads: the effect of each ACL that is read differently after the change.
        budget: how much of the search limit the comparison took.
        others: what changes at other ends, where the end depends on something.
        moment: what is otherwise for a time only; None where nothing is applied step by step.
        bounds: of what may be gained, and lost, the comparison of the two states between which
            the most of it is: where an end is open it is not that of the end that is shown.
        examples: of what ``bounds`` are about, with what decides on both sides.
        otherwise: the effect under the other reading of ACLs, where it differs.
        parts: where ACLs change and are read otherwise too: what the reading alone does to the
            ACLs before, and what the change of ACLs does in the second reading.
    """

    change: Change
    asked: Inventory = field(default_factory=Inventory)
    named: int = 0
    effect: Effect
    comparison: Comparison
    openings: tuple[RegionChange, ...]
    rereads: tuple[SemanticsChange, ...] = ()
    budget: Budget
    others: Passing | None = None
    moment: Passing | None = None
    bounds: Mapping[str, Comparison] = field(default_factory=dict)
    examples: tuple[Counterexample, ...] = ()
    otherwise: Compared | None = None
    parts: tuple[Compared, Compared] | None = None

    @property
    def applied(self) -> Applied:
        """How files lead to the second state; of no effect where none do."""
        return self.change.after.applied or Applied(after=self.change.after)

    @property
    def sides(self) -> tuple[State, State]:
        """Both states."""
        return self.change.before, self.change.after

    @property
    def is_settled(self) -> bool:
        """Whether it is known which ACLs the change leads to; otherwise nothing is proven."""
        return not self.applied.depends

    @property
    def is_proven(self) -> bool:
        """Whether what is said of every name holds for each name that a plan may create too."""
        return self.is_settled and not any(side.fresh for side in self.sides)

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
    def is_all_known(self) -> bool:
        """Whether nothing was left open at any end, on the way, or at the bounds."""
        passing = [each.is_known for each in (self.others, self.moment) if each is not None]
        bounds = [each.difference.is_known for each in self.bounds.values()]
        return self.is_known and all((*passing, *bounds))

    @property
    def why_unknown(self) -> str:
        """Why not all is known, in words."""
        return "the search limit was reached"

    @property
    def proof(self) -> str | None:
        """What is proven for every name, in the words of a program's reader; None if nothing."""
        is_known = self.is_proven and self.comparison.difference.is_known
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

    @property
    def shown(self) -> tuple[Counterexample, ...]:
        """What differs with what decides it on both sides: the examples, or all that is told."""
        return self.examples if self.bounds else tuple(map(self.comparison.shown, self.openings))

    @property
    def against(self) -> Difference:
        """Return, of the bounds, the first that shows something, is unknown, or is the last."""
        bounds = [(kind, each.difference) for kind, each in self.bounds.items()]
        told = (each for kind, each in bounds if each.of_kind(kind) or not each.is_known)
        return next(told, bounds[-1][1] if bounds else self.comparison.difference)

    def may(self, kind: str) -> bool:
        """Whether anything becomes so at some end."""
        is_bound = kind in self.bounds and bool(self.bounds[kind].difference.of_kind(kind))
        return is_bound or self.has(kind) or (self.others is not None and self.others.has(kind))

    @cached_property
    def told(self) -> list[ChangeLine]:
        """What is gained, then what is lost, as lines for people."""
        return change_lines(self.openings)

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


def preview(change: Change, inventory: Inventory, budget: Budget | None = None) -> Compared:
    """Compare two states on an inventory, and for every possible name.

    For known names, both the decisions and the deciding ACLs are compared. Names that the affected
    ACLs spell out are included. For all other names only the decisions are compared. Where files
    lead to the second state step by step, what is otherwise on the way is compared too.

    Where an ACL holds a glob, all this is also done in the other reading of ACLs.
    """
    budget = budget or Budget()
    found = _in_both_readings(_preview(change, inventory, budget), inventory)
    moment, others = _on_the_way(change, budget)
    return replace(found, moment=moment, others=others)


def _on_the_way(change: Change, budget: Budget) -> tuple[Passing | None, Passing | None]:
    """Return what is otherwise for a time, and at other ends; None where no step leads there."""
    applied = change.after.applied
    return passing_of(change, applied, budget) if applied and applied.doings else (None, None)


def _in_both_readings(found: Compared, inventory: Inventory) -> Compared:
    change, budget = found.change, found.budget
    if len(set(change.readings)) > 1:
        return replace(found, parts=_parts(found, inventory)) if change.affected else found
    if not holds_globs(change):
        return found
    ours, _ = change.readings
    # Names that begin with a star are left out: LITERAL * would make a difference in each preview.
    theirs = replace(other_reading(ours), wildcard_defect=ours.wildcard_defect)
    other = _preview(_read_as(change, theirs), inventory, budget)
    return found if _is_alike(found, other) else replace(found, otherwise=other)


def prove(
    change: Change,
    kinds: Collection[str],
    budget: Budget,
    limit: int | None,
    inventory: Inventory | None = None,
) -> Compared:
    """Compare two states for every possible name, and bound what may be gained or lost.

    A principal that a plan creates stands for any name: nothing may be gained where the first
    state allows the least and the second the most, and nothing lost where it is the other way
    around. So it is where an order is open, unless each of the other ends is known.

    Args:
        change: both states.
        kinds: of gained and lost what is bounded.
        budget: the search limit; telling which names differ may take the same again.
        limit: at most so many examples of each kind, None for all.
        inventory: known names to compare besides, see ``preview``; None compares none.
    """
    one, other, telling = change.before, change.after, _telling(budget)
    if inventory is None:
        moment, others = _on_the_way(change, _telling(budget))
    else:
        found = preview(change, inventory, budget)
        moment, others = found.moment, found.others
    if others is not None and others.is_known:
        other = replace(other, applied=None)
    is_exact = one.is_exact and other.is_exact
    if inventory is None:
        found = _of_every_name(change, budget if is_exact else _telling(budget))
        found = replace(found, moment=moment, others=others)
    sides = {GAINED: (one.least, other.most), LOST: (one.most, other.least)}
    bounds = {
        kind: found.comparison if is_exact else Comparison.of(*sides[kind], budget)
        for kind in (GAINED, LOST)
        if kind in kinds
    }
    told = {kind: each.openings(kind, telling, limit) for kind, each in bounds.items()}
    examples = (each.shown(one) for kind, each in bounds.items() for one in told[kind][:limit])
    if inventory is None:
        shown = [
            told[kind]
            if is_exact and kind in told
            else found.comparison.openings(kind, telling, limit)
            for kind in (GAINED, LOST)
        ]
        found = replace(found, openings=tuple(chain.from_iterable(shown)), budget=budget)
    return replace(found, bounds=bounds, examples=tuple(examples))


def _of_every_name(change: Change, budget: Budget) -> Compared:
    return Compared(
        change=change,
        effect=Effect(parts=(), acls={**change.before.acls, **change.after.acls}),
        comparison=Comparison.of(change.before.rules, change.after.rules, budget),
        openings=(),
        budget=budget,
    )


def _parts(found: Compared, inventory: Inventory) -> tuple[Compared, Compared]:
    """Preview the second reading of the ACLs before, and then the change of ACLs alone."""
    change, budget = found.change, found.budget
    apart = (
        replace(change, after=change.before.read_as(change.after.semantics)),
        _read_as(change, change.after.semantics),
    )
    reading, acls = (_preview(each, inventory, _telling(budget)) for each in apart)
    return reading, acls


def _read_as(change: Change, semantics: Semantics) -> Change:
    return Change(before=change.before.read_as(semantics), after=change.after.read_as(semantics))


def _is_alike(found: Compared, other: Compared) -> bool:
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


def _preview(change: Change, inventory: Inventory, budget: Budget) -> Compared:
    asked = with_named(inventory, change)
    comparison = Comparison.of(change.before.rules, change.after.rules, budget)
    telling = _telling(budget)
    return Compared(
        change=change,
        asked=asked,
        named=_size(asked) - _size(inventory),
        effect=Effect(
            parts=sorted_parts(compare(change, asked)),
            acls={**change.before.acls, **change.after.acls},
        ),
        comparison=comparison,
        openings=tuple(openings(comparison.difference, telling)),
        rereads=tuple(comparison.rereads(telling)),
        budget=budget,
    )


def _telling(budget: Budget) -> Budget:
    """Return as much again, for what tells which names differ: it is no part of the proof."""
    return Budget(per_question=budget.per_question, total=budget.total)


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
