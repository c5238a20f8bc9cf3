"""What was found about every name → the same, decided by the rule for the name that shows it.

Each answer about every name carries a name as its proof. Before one is shown, the rule decides it,
which shares no code with what found it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from aclkit.model.acl import Request
from aclkit.model.semantics import BrokerSettings
from aclkit.rules.decide.agreement import insist
from aclkit.rules.decide.index import AclIndex
from aclkit.rules.decide.rules import ALLOWED, Ruling
from aclkit.rules.names.compare import (
    GAINED,
    CellChange,
    Difference,
    SemanticsChange,
    compare,
    find_semantics_changes,
)
from aclkit.rules.names.question import Budget
from aclkit.rules.names.region import RegionChange, openings
from aclkit.rules.names.rows import Rules


@dataclass(frozen=True, slots=True)
class Decider:
    """One state, ready to decide single requests."""

    index: AclIndex
    settings: BrokerSettings

    @classmethod
    def of(cls, rules: Rules) -> Decider:
        """Index the ACLs of a state."""
        return cls(AclIndex.of(rules.acls, rules.semantics), rules.settings)

    def of_next(self, rules: Rules) -> Decider:
        """Index another state; what it shares with this one is indexed already."""
        if rules.semantics != self.index.semantics:
            return Decider.of(rules)
        then, now = self.index.by_id, {acl.acl_id: acl for acl in rules.acls}
        # Most are the very same objects, and told so more quickly than by their fields.
        gone = [n for n, acl in then.items() if now.get(n) is not acl and now.get(n) != acl]
        come = [acl for n, acl in now.items() if then.get(n) is not acl and then.get(n) != acl]
        return Decider(self.index.changed(add=come, remove=gone), rules.settings)

    def confirm(self, request: Request, *, is_allowed: bool) -> Ruling:
        """Return how the rule decides a request of which the decision was found already.

        Raises:
            DisagreementError: it decides otherwise.
        """
        return insist(self.index.decide(request, self.settings), request, is_allowed=is_allowed)

    def allows(self, request: Request) -> bool:
        """Whether the rule allows a request."""
        return self.index.decide(request, self.settings).decision == ALLOWED


class Counterexample(NamedTuple):
    """Requests that two states decide otherwise, with one of them decided.

    Attributes:
        opening: which they are.
        request: one of them, with a shortest name.
        before: how the first state decides it.
        after: how the second one does.
    """

    opening: RegionChange
    request: Request
    before: Ruling
    after: Ruling

    @property
    def kind(self) -> str:
        """Whether they are gained or lost."""
        return self.opening.kind


@dataclass(frozen=True)
class Comparison:
    """What differs between two states for every name, and the rule of each state.

    Attributes:
        difference: what differs.
        before: the first state.
        after: the second one.
        decider: that of the first state, where there is one already.
    """

    difference: Difference
    before: Rules
    after: Rules
    decider: Decider | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(
        cls, before: Rules, after: Rules, budget: Budget, decider: Decider | None = None
    ) -> Comparison:
        """Compare two states; the rule decides each name that shows a change.

        Args:
            before: the first state.
            after: the second one.
            budget: what may be spent.
            decider: that of the first state, where there is one already.

        Raises:
            DisagreementError: the rule sees no such change.
        """
        found = cls(compare(before, after, budget), before, after, decider)
        for change in found.difference.changes:
            found.rulings(change)
        return found

    @cached_property
    def deciders(self) -> tuple[Decider, Decider]:
        """Both states, ready to decide single requests."""
        then = self.decider or Decider.of(self.before)
        return then, then.of_next(self.after)

    def rereads(self, budget: Budget) -> list[SemanticsChange]:
        """List the effect of each ACL that is read differently; the rule decides each name.

        Raises:
            DisagreementError: the rule sees no such change.
        """
        if self.before.semantics == self.after.semantics:
            return []
        found = find_semantics_changes(self.difference, self.before, self.after, budget)
        decided = set(map(id, self.difference.changes))
        for change in (change for each in found for change in each.changes):
            if id(change) not in decided:
                self.rulings(change)
        return found

    def rulings(self, change: CellChange) -> tuple[Request, Ruling, Ruling]:
        """Return the request that shows a change, and how it is decided before and after."""
        request = change.cell.about(change.name)
        is_gained = change.kind == GAINED
        then, now = self.deciders
        return (
            request,
            then.confirm(request, is_allowed=not is_gained),
            now.confirm(request, is_allowed=is_gained),
        )

    def openings(self, kind: str, budget: Budget, most: int | None) -> list[RegionChange]:
        """Return what is gained, or lost, the most cells first.

        Args:
            kind: which of both.
            budget: what may be spent on telling which names these are; no part of the proof.
            most: for so many of them that is told, None for all.
        """
        changes = self.difference.of_kind(kind)
        wanted = len(changes) if most is None else most
        return openings(replace(self.difference, changes=changes), budget, wanted)

    def shown(self, opening: RegionChange) -> Counterexample:
        """Return what is gained or lost, with one request decided on both sides."""
        return Counterexample(opening, *self.rulings(opening.change))
