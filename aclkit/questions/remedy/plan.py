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

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from aclkit.model.acl import Acl
from aclkit.model.acl_words import acl_words, quoted, type_words
from aclkit.model.broker_settings import ALLOW_EVERYONE
from aclkit.model.findings import fingerprint_of
from aclkit.model.groups import grouped
from aclkit.model.semantics import BrokerSettings
from aclkit.questions.remedy.proposal import Proposal
from aclkit.rules.names.compare import GAINED, LOST, CellChange, compare
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import Rules

Binding = tuple[str, ...]
Held = Mapping[Binding, str]
"""ACLs that stay, by their seven fields, each with a sentence that says why."""

Redundant = Callable[[Rules], Iterable[Proposal]]
"""A state → the ACLs that others make redundant in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step: its ACLs come and go together.

    Attributes:
        proposal: the advice that it follows.
        add: the ACLs that come, before the others go.
        remove: the ACLs that go.
        needs: ids of the earlier steps without which it would change more.
        also: other advice that the step follows.
    """

    proposal: Proposal
    add: tuple[Acl, ...]
    remove: tuple[Acl, ...]
    needs: tuple[str, ...] = ()
    also: tuple[Proposal, ...] = ()

    @property
    def step_id(self) -> str:
        """Its name in every run."""
        return self.proposal.step_id


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Advice that is not followed.

    Attributes:
        proposal: the advice.
        remove: the ACLs that stay.
        why: the reason, in sentences.
        is_unknown: the search limit ended the proof.
    """

    proposal: Proposal
    remove: tuple[Acl, ...]
    why: str
    is_unknown: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A change set.

    Attributes:
        start: the state before the first step.
        steps: in the order in which they are to be applied.
        left_out: the advice that is not followed.
    """

    start: Rules
    steps: tuple[Step, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def final(self) -> Rules:
        """The state after the last step."""
        return applied(self.start, self.steps)

    @property
    def named(self) -> Rules:
        """The state that findings ask for: all that they do not name is as before.

        No ACL without effect has gone yet.
        """
        return applied(self.start, (step for step in self.steps if step.proposal.revokes))

    def around(self, step_id: str) -> tuple[Rules, Rules]:
        """Return the states before and after a step.

        Raises:
            StopIteration: there is no such step.
        """
        at = next(n for n, step in enumerate(self.steps) if step.step_id == step_id)
        before = applied(self.start, self.steps[:at])
        return before, applied(before, self.steps[at : at + 1])


def dropped_with(first: Plan, then: Plan, kept: Iterable[Step]) -> list[LeftOut]:
    """Return which steps of a plan are not in another one, although these alone were left out.

    Args:
        first: all steps.
        then: made without some of them.
        kept: these.
    """
    there = {step.step_id for step in (*then.steps, *kept)}
    there |= {each.step_id for step in then.steps for each in step.also}
    reasons = {left.proposal.step_id: left for left in then.left_out}
    return [
        reasons.get(
            step.step_id, LeftOut(proposal=step.proposal, remove=step.remove, why=_NEEDS_ANOTHER)
        )
        for step in first.steps
        if step.step_id not in there
    ]


_NEEDS_ANOTHER: Final = "It needs a step that you left out."


def applied(rules: Rules, steps: Iterable[Step]) -> Rules:
    """Return the state that steps lead to."""
    now = {acl.binding: acl for acl in rules.acls}
    for step in steps:
        now |= {acl.binding: acl for acl in step.add}
        for acl in step.remove:
            now.pop(acl.binding, None)
    return replace(rules, acls=tuple(now.values()))


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
    rest: list[Proposal] = []
    for proposal in sorted(proposals, key=lambda each: each.order):
        rest += planner.revoke(proposal) if proposal.revokes else [proposal]
    allows, denies = _by_permission(rest)
    planner.drop(allows)
    more_allows, more_denies = _by_permission(redundant(planner.now))
    planner.drop([*more_allows, *denies, *more_denies])
    return planner.plan()


def _by_permission(proposals: Iterable[Proposal]) -> tuple[list[Proposal], list[Proposal]]:
    """Return what removes ALLOWs only, and what removes a DENY."""
    every = list(proposals)
    return (
        [each for each in every if all(acl.is_allow for acl in each.remove)],
        [each for each in every if not all(acl.is_allow for acl in each.remove)],
    )


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

    def revoke(self, proposal: Proposal) -> list[Proposal]:
        """Remove the ALLOWs of a proposal; return what is left of it: its DENYs.

        These may go only once nothing that they restrain is left.
        """
        allows = tuple(acl for acl in proposal.remove if acl.is_allow)
        denies = tuple(acl for acl in proposal.remove if not acl.is_allow)
        wanted = self._wanted(replace(proposal, remove=allows)) if allows else ()
        if wanted:
            self._replace(proposal, wanted)
        if not denies:
            return []
        step_id = fingerprint_of(proposal.kind, f"{proposal.subject} DENY")
        rest = replace(proposal, remove=denies, add=(), revokes=False)
        return [replace(rest, step_id=step_id) if allows else rest]

    def drop(self, proposals: Iterable[Proposal]) -> None:
        """Remove ACLs of which every request is decided as before without them."""
        for proposal in proposals:
            remove = self._wanted(proposal)
            step = Step(proposal=proposal, add=(), remove=remove)
            if remove and not self._refuse(step, self.now, applied(self.now, [step])):
                self._take(step)

    def _replace(self, proposal: Proposal, remove: tuple[Acl, ...]) -> None:
        """Add what is left of ALLOWs, and then remove these."""
        there = {acl.binding for acl in self.now.acls}
        add = tuple(acl for acl in proposal.add if acl.binding not in there)
        step = Step(proposal=proposal, add=add, remove=remove)
        wider = applied(self.now, [replace(step, remove=())])
        if add and self._refuse(step, self.now, wider):
            return
        if not self._refuse(step, wider, applied(self.now, [step]), (GAINED,)):
            self._take(step)

    def _wanted(self, proposal: Proposal) -> tuple[Acl, ...]:
        """Return the ACLs of a proposal that are still there and need not stay."""
        kept = tuple(acl for acl in proposal.remove if acl.binding in self.held)
        if kept:
            self._leave(proposal, kept, self.held[kept[0].binding])
            if proposal.add:
                return ()
        there = {acl.binding for acl in self.now.acls} & self.first
        left = tuple(
            acl for acl in proposal.remove if acl.binding in there and acl.binding not in self.held
        )
        for acl in proposal.remove if not left and not kept else ():
            if (step_id := self.gone.get(acl.binding)) is not None:
                self.also.setdefault(step_id, []).append(proposal)
                break
        return left

    def _take(self, step: Step) -> None:
        self.gone |= {acl.binding: step.step_id for acl in step.remove}
        self.steps.append(replace(step, needs=tuple(self._needed(step))))
        self.now = applied(self.now, [step])

    def _needed(self, step: Step) -> Iterator[str]:
        """Yield the earlier steps without which one would change more: it is tried."""
        types = {acl.resource_type for acl in step.remove}
        for other in self.steps if not step.proposal.revokes else ():
            touches = types & {acl.resource_type for acl in (*other.add, *other.remove)}
            is_deny = not all(acl.is_allow for acl in step.remove)
            if touches and (other.add or is_deny):
                undone = replace(other, add=other.remove, remove=other.add)
                before = applied(self.now, [undone])
                if not self._compare(before, applied(before, [step])).is_nothing:
                    yield other.step_id

    def _refuse(
        self, step: Step, before: Rules, after: Rules, kinds: Sequence[str] = (GAINED, LOST)
    ) -> bool:
        """Leave a step out that changes what it must not, or of which that is unknown."""
        effect = self._compare(before, after, kinds)
        if effect.change is not None:
            self._leave(
                step.proposal, step.remove, self._why(step, effect.change, if_open=effect.if_open)
            )
        elif not effect.is_known:
            self._leave(step.proposal, step.remove, _UNKNOWN, is_unknown=True)
        return not effect.is_nothing

    def _compare(
        self, before: Rules, after: Rules, kinds: Sequence[str] = (GAINED, LOST)
    ) -> _Effect:
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


SHORT: Final = 8
"""So many digits of a step's id are shown to people; they are unique in a plan."""

_UNKNOWN: Final = "The search limit was reached before its effect was known."
