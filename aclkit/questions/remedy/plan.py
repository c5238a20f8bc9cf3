"""A state and advice → steps in an order in which nothing opens and nothing else is lost. Pure.

Steps come in three parts. Each transition is compared for every name with the state before it.

1. What findings ask to revoke: ALLOWs go, after those that are left of them have come. A step may
   grant nothing.
2. ALLOWs without effect go: no decision may change. What is redundant is looked for in the state
   that the first part leads to, so no ACL goes because of one that goes itself.
3. DENYs without effect go: those that nothing restrains any more, after the ALLOWs are gone.

So each state allows no more than the one before it. Whatever is allowed at the end was allowed at
any time between, so there is no gap on the way. Kafka applies one ACL after another; the states
within a step lie between its two ends, because ALLOWs come, ALLOWs go and DENYs go in separate
transitions, each of which only adds or only removes access.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final, NamedTuple

from aclkit.model.acl import Acl, acl_words, quoted, type_words
from aclkit.model.broker_settings import ALLOW_EVERYONE
from aclkit.model.findings import fingerprint_of
from aclkit.model.groups import grouped
from aclkit.model.semantics import BrokerSettings
from aclkit.questions.remedy.change_set import (
    SHORT,
    Binding,
    Held,
    LeftOut,
    Plan,
    Proposal,
    Step,
    applied,
)
from aclkit.rules.names.compare import GAINED, LOST, CellChange, compare
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import Rules, Symbols, may_share, rows_of

Redundant = Callable[[Rules], Iterable[Proposal]]
"""A state → the ACLs that others make redundant in it."""


def possible_settings(rules: Rules) -> tuple[BrokerSettings, ...]:
    """Return the settings that may hold: two where it is unknown what no ACL applies to."""
    known = rules.settings
    if known.allow_everyone or ALLOW_EVERYONE not in known.unknown:
        return (known,)
    return known, replace(known, allow_everyone=True)


def make_plan(
    start: Rules, proposals: Iterable[Proposal], redundant: Redundant, held: Held, budget: Budget
) -> Plan:
    """Put advice into one change set.

    Args:
        start: what decides today.
        proposals: the advice, without what is redundant.
        redundant: finds what is redundant in a state.
        held: ACLs that stay whatever is advised.
        budget: the search limit of all comparisons; what is not known is left out.
    """
    planner = _Planner(start, {**_copies(start.acls), **held}, budget)
    ordered = sorted(proposals, key=lambda each: each.order)
    if planner.is_open:
        ordered = [one for each in ordered for one in _acl_by_acl(each)]
    allows, denies = _by_permission(each for each in ordered if each.revokes)
    for has_add, some in groupby(allows, key=lambda each: bool(each.add)):
        if has_add:
            planner.replace_each(some)
        else:
            planner.remove(some, (GAINED,))
    allows, more = _by_permission(each for each in ordered if not each.revokes)
    planner.remove(allows, _ANY)
    allows, most = _by_permission(redundant(planner.now))
    planner.remove(allows, _ANY)
    planner.remove([*denies, *more, *most], _ANY)
    return planner.plan()


_ANY: Final = (GAINED, LOST)


def _by_permission(proposals: Iterable[Proposal]) -> tuple[list[Proposal], list[Proposal]]:
    """Return what removes ALLOWs, and what removes DENYs; a proposal with both becomes two.

    DENYs may go only once nothing that they restrain is left.
    """
    allows, denies = list[Proposal](), list[Proposal]()
    for each in proposals:
        mine = tuple(acl for acl in each.remove if acl.is_allow)
        others = tuple(acl for acl in each.remove if not acl.is_allow)
        if mine:
            allows.append(replace(each, remove=mine))
        if others:
            step_id = fingerprint_of(each.kind, f"{each.subject} DENY") if mine else each.step_id
            denies.append(replace(each, step_id=step_id, remove=others, add=(), revokes=False))
    return allows, denies


def _acl_by_acl(proposal: Proposal) -> Iterator[Proposal]:
    """Yield a proposal for each ACL to remove; one that adds ACLs too stays whole.

    Where a resource without ACLs is open, the states within a step may allow less, or more, than
    both its ends.
    """
    if proposal.add or len(proposal.remove) < 2:
        yield proposal
        return
    for acl in proposal.remove:
        step_id = fingerprint_of(proposal.kind, f"{proposal.subject} {acl}")
        yield replace(proposal, step_id=step_id, remove=(acl,))


_SEVERAL: Final = "The log holds it several times, and kafka-acls cannot remove only one copy."


def _copies(acls: Iterable[Acl]) -> dict[Binding, str]:
    by_binding = grouped((acl.binding, acl) for acl in acls)
    return {binding: _SEVERAL for binding, same in by_binding.items() if len(same) > 1}


class _Effect(NamedTuple):
    """What a transition changes of what it must not change.

    Attributes:
        change: the first that was found; None where there is none.
        if_open: it happens only if all is allowed that no ACL applies to, which is unknown.
        is_known: the search limit did not end the comparison.
    """

    change: CellChange | None
    if_open: bool
    is_known: bool

    @property
    def is_nothing(self) -> bool:
        """Whether nothing changes, for sure."""
        return self.change is None and self.is_known


@dataclass(slots=True)
class _Planner:
    """Follows one proposal after another.

    Attributes:
        now: the state that the steps so far lead to.
        held: the ACLs that stay.
        budget: what may be spent.
        start: the state that all begins with.
        first: its ACLs.
        steps: so far.
        left_out: so far.
        gone: the ACLs that went, each with the id of its step.
        also: id of a step → other advice that it follows.
    """

    now: Rules
    held: Held
    budget: Budget
    start: Rules = field(init=False)
    first: frozenset[Binding] = field(init=False)
    steps: list[Step] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    gone: dict[Binding, str] = field(default_factory=dict)
    also: dict[str, list[Proposal]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Keep the state that all begins with; each ACL is in it once."""
        self.start = self.now = applied(self.now, ())
        self.first = frozenset(acl.binding for acl in self.start.acls)

    @property
    def is_open(self) -> bool:
        """Whether all is allowed, or may be, that no ACL applies to."""
        return any(each.allow_everyone for each in possible_settings(self.start))

    def plan(self) -> Plan:
        """Return what was made of all advice."""
        steps = tuple(
            replace(step, add=self._needed_of(at), also=tuple(self.also.get(step.step_id, ())))
            for at, step in enumerate(self.steps)
        )
        return Plan(start=self.start, steps=steps, left_out=tuple(self.left_out))

    def _needed_of(self, at: int) -> tuple[Acl, ...]:
        """Return the ACLs of a step's that must come.

        One need not if it changes nothing next to the ACLs that stay from that step to the end:
        these are in force at any later time, so it changes nothing then either.
        """
        step = self.steps[at]
        if not step.add:
            return ()
        last = {acl.binding for acl in self.now.acls} - {acl.binding for acl in step.add}
        then = applied(self.start, self.steps[: at + 1]).acls
        kept = [acl for acl in then if acl.binding in last]
        needed: list[Acl] = []
        for acl in step.add:
            less, more = (replace(self.now, acls=(*kept, *some)) for some in ((), (acl,)))
            if not self._compare(less, more).is_nothing:
                kept.append(acl)
                needed.append(acl)
        return tuple(needed)

    def replace_each(self, proposals: Iterable[Proposal]) -> None:
        """Add what is left of ALLOWs, and then remove these, proposal by proposal."""
        for proposal in proposals:
            if wanted := self._wanted(proposal):
                self._replace(proposal, wanted)

    def remove(self, proposals: Iterable[Proposal], kinds: Sequence[str]) -> None:
        """Remove ACLs of one permission where that changes nothing of some kinds."""
        later: list[Proposal] = []
        steps: list[Step] = []
        claimed: set[Binding] = set()
        for proposal in proposals:
            bindings = {acl.binding for acl in proposal.remove}
            if bindings & claimed:
                later.append(proposal)
            elif wanted := self._wanted(proposal):
                claimed |= bindings
                steps.append(Step(proposal=proposal, add=(), remove=wanted))
        self._remove(steps, kinds)
        if later:
            self.remove(later, kinds)

    def _remove(self, steps: Sequence[Step], kinds: Sequence[str]) -> None:
        """Take the steps that change nothing: all at once, or else each half.

        ALLOWs that go take access, DENYs that go give some. So the states between lie between both
        ends, and if these decide alike, so do they. Where a resource without ACLs is open, ACLs
        that go can do both, and steps are looked at one by one.
        """
        if self.is_open and len(steps) > 1:
            for step in steps:
                self._remove([step], kinds)
            return
        if len(steps) == 1:
            (step,) = steps
            if not self._refuse(step, self.now, applied(self.now, steps), kinds):
                self._take(steps)
        elif steps and self._compare(self.now, applied(self.now, steps), kinds).is_nothing:
            self._take(steps)
        elif steps:
            half = len(steps) // 2
            self._remove(steps[:half], kinds)
            self._remove(steps[half:], kinds)

    def _replace(self, proposal: Proposal, remove: tuple[Acl, ...]) -> None:
        """Add what is left of ALLOWs, and then remove these."""
        there = {acl.binding for acl in self.now.acls}
        add = tuple(acl for acl in proposal.add if acl.binding not in there)
        step = Step(proposal=proposal, add=add, remove=remove)
        wider = applied(self.now, [replace(step, remove=())])
        if add and self._refuse(step, self.now, wider):
            return
        if not self._refuse(step, wider, applied(self.now, [step]), (GAINED,)):
            self._take([step])

    def _wanted(self, proposal: Proposal) -> tuple[Acl, ...]:
        """Return the ACLs of a proposal that are still there and need not stay."""
        kept = tuple(acl for acl in proposal.remove if acl.binding in self.held)
        if kept:
            self._leave(proposal, kept, self.held[kept[0].binding])
            if proposal.add:
                return ()
        left = tuple(acl for acl in proposal.remove if self._is_left(acl.binding))
        for acl in proposal.remove if not left and not kept else ():
            if (step_id := self.gone.get(acl.binding)) is not None:
                self.also.setdefault(step_id, []).append(proposal)
                break
        return left

    def _is_left(self, binding: Binding) -> bool:
        """Whether an ACL was there at first, has not gone, and need not stay."""
        return binding in self.first and binding not in self.gone and binding not in self.held

    def _take(self, steps: Sequence[Step]) -> None:
        for at, step in enumerate(steps):
            needs = tuple(self._needed(step, steps[:at]))
            self.gone |= {acl.binding: step.step_id for acl in step.remove}
            self.steps.append(replace(step, needs=needs))
        self.now = applied(self.now, steps)

    def _needed(self, step: Step, taken: Sequence[Step]) -> Iterator[str]:
        """Yield the earlier steps without which one would change more: it is tried.

        Args:
            step: the step.
            taken: the steps before it that ``now`` has not yet.
        """
        if step.proposal.revokes:
            return
        is_deny = not all(acl.is_allow for acl in step.remove)
        for other in self.steps:
            if (other.add or is_deny) and self._may_meet(step, other):
                undone = replace(other, add=other.remove, remove=other.add)
                before = applied(self.now, [*taken, undone])
                if not self._compare(before, applied(before, [step])).is_nothing:
                    yield other.step_id

    def _may_meet(self, step: Step, other: Step) -> bool:
        """Whether a request may match ACLs of both steps, as far as their first letters tell."""
        theirs = list(rows_of((*other.add, *other.remove), self.start.semantics))
        return any(
            mine.acl.resource_type == its.acl.resource_type
            and _may_share(mine.principal, its.principal)
            and any(may_share(one, two) for one in mine.patterns for two in its.patterns)
            for mine in rows_of(step.remove, self.start.semantics)
            for its in theirs
        )

    def _refuse(self, step: Step, before: Rules, after: Rules, kinds: Sequence[str] = _ANY) -> bool:
        """Leave a step out that changes what it must not, or of which that is unknown."""
        effect = self._compare(before, after, kinds)
        if effect.change is not None:
            self._leave(
                step.proposal, step.remove, self._why(step, effect.change, if_open=effect.if_open)
            )
        elif not effect.is_known:
            self._leave(step.proposal, step.remove, _UNKNOWN, is_unknown=True)
        return not effect.is_nothing

    def _compare(self, before: Rules, after: Rules, kinds: Sequence[str] = _ANY) -> _Effect:
        """Return the first difference of some kinds between two states, if there is one."""
        is_known = True
        for settings in possible_settings(self.start):
            then, now = (replace(each, settings=settings) for each in (before, after))
            found = compare(then, now, self.budget)
            is_known &= found.is_known
            for change in found.changes:
                if change.kind in kinds:
                    return _Effect(change, settings != self.start.settings, is_known)
        return _Effect(None, if_open=False, is_known=is_known)

    def _why(self, step: Step, change: CellChange, *, if_open: bool) -> str:
        """Write what would change, and which step has removed what covers the ACL."""
        request = change.cell.about(change.name)
        verb, to = ("grant", "to") if change.kind == GAINED else ("revoke", "from")
        covers = (acl for acl in step.proposal.by if acl.binding in self.gone)
        cover = next(covers, None)
        lead = "" if cover is None else (
            f"Step {self.gone[cover.binding][:SHORT]} removes what covers it: {acl_words(cover)}. "
        )  # fmt: skip
        where = f"{type_words(request.resource_type)} {quoted(request.resource_name)}"
        only = f" if {ALLOW_EVERYONE} is true" if if_open else ""
        return (
            f"{lead}It would {verb} {request.operation} on {where} {to} {request.principal}, "
            f"from {request.host}{only}."
        )

    def _leave(
        self, proposal: Proposal, remove: tuple[Acl, ...], why: str, *, is_unknown: bool = False
    ) -> None:
        if not proposal.hides:
            self.left_out.append(
                LeftOut(proposal=proposal, remove=remove, why=why, is_unknown=is_unknown)
            )


def _may_share(one: Symbols | None, other: Symbols | None) -> bool:
    return one is not None and other is not None and may_share(one, other)


_UNKNOWN: Final = "The search limit was reached before its effect was known."
