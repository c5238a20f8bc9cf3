"""A change set as values: the advice that it follows or not, its steps, and states between. Pure.

Every source of advice makes proposals: findings, tidy, and what a log of requests shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from aclkit.model.acl import Acl
from aclkit.model.findings import SEVERITIES
from aclkit.questions.usage.whole_log import Missing
from aclkit.rules.names.rows import Rules

TIDY: Final = "tidy"
NARROW: Final = "narrow"
"""Kinds of advice that are no findings: what others make redundant, and what was not used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """ACLs that shall go, and those that shall come in their place.

    Attributes:
        step_id: hexadecimal; the same advice has it in every run.
        kind: the kind of the finding, or another source of advice.
        severity: one of ``SEVERITIES``.
        subject: what it is about.
        reason: why, in one or two sentences.
        remove: the ACLs that shall go.
        add: ALLOWs that shall come before these go: what the advice leaves of them.
        revokes: the access that only the ACLs to remove give is meant to go. Otherwise no decision
            may change.
        by: the ACLs that decide in place of those to remove, where they are known.
        hides: it is no loss to anybody if the advice cannot be followed, and it is not mentioned.
    """

    step_id: str
    kind: str
    severity: str
    subject: str
    reason: str
    remove: tuple[Acl, ...]
    add: tuple[Acl, ...] = ()
    revokes: bool = False
    by: tuple[Acl, ...] = ()
    hides: bool = False

    @property
    def order(self) -> tuple[object, ...]:
        """Sort findings first, of them what only removes, then the worst, then kind and subject.

        What only removes an ACL goes before what replaces it: its finding names more.
        """
        return (
            self.kind == NARROW,
            bool(self.add),
            SEVERITIES.index(self.severity),
            self.kind,
            self.subject,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ForPerson:
    """A finding that no change of ACLs ends, or of which a person must choose one.

    Attributes:
        step_id: the fingerprint of the finding.
        kind: of the finding.
        severity: one of ``SEVERITIES``.
        subject: what it is about.
        message: the finding in words.
        why: what a person must know or decide.
        acls: the ACLs that cause it.
        holds: no other advice may remove them until it is decided.
        used_by: who used what of them, and when last.
        add_first: ACLs that these need before the others go.
        missing: what is missing before it is known whether they are used.
    """

    step_id: str
    kind: str
    severity: str
    subject: str
    message: str
    why: str
    acls: tuple[Acl, ...] = ()
    holds: bool = False
    used_by: tuple[str, ...] = ()
    add_first: tuple[Acl, ...] = ()
    missing: tuple[Missing, ...] = ()


Advice = Proposal | ForPerson


Binding = tuple[str, ...]
Held = Mapping[Binding, str]
"""ACLs that stay, by their seven fields, each with a sentence that says why."""

SHORT: Final = 8
"""So many digits of a step's id are shown to people; in nearly every plan they are unique."""


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
