"""A preview, and what a team allows → the verdict on a change, with every reason. Pure.

*deny*: a policy, the reference, a watch or ``--fail-on`` is broken, or something is unknown.
*review*: access changes otherwise, at the end or for a time. *pass*: no access changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from aclkit.answer.masked import Hidden
from aclkit.kafka.desired.plan_effect import PlanEffect
from aclkit.model.phrases import few, number_of
from aclkit.questions.assertions.model import Assertion, Outcome
from aclkit.questions.gate.passing import Passing, passing_of
from aclkit.questions.gate.watch import touched
from aclkit.questions.preview.desired import Applied, Bounds
from aclkit.questions.preview.preview import Preview, preview
from aclkit.questions.preview.state import Asked, Change
from aclkit.questions.prove.claim import FAILS, HOLDS, Claimed
from aclkit.rules.names.change_lines import change_lines, line_words
from aclkit.rules.names.compare import GAINED, LOST
from aclkit.rules.names.question import Budget
from aclkit.rules.names.region import RegionChange

Name = Literal["deny", "review", "pass"]
DENY: Final = "deny"
REVIEW: Final = "review"
GO: Final = "pass"

GAP: Final = "gap"
ANY: Final = "any"
FAIL_ON: Final = (GAINED, LOST, GAP, ANY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A change that is planned.

    Attributes:
        preview: what changes at the end, in the worst case.
        others: what changes at the other ends that an undefined order can have.
        moment: what is otherwise for a time only; None where nothing is applied step by step.
        bounds: of the other ends, and of the states on the way.
        effects: of plans, what they do to each ACL.
        hidden: sensitive values, which people must not see.
        fresh: principals that a plan creates: their names are not known yet.
    """

    preview: Preview
    others: Sequence[Preview] = ()
    moment: Passing | None = None
    bounds: Sequence[Bounds] = ()
    effects: Sequence[PlanEffect] = ()
    hidden: Sequence[Hidden] = ()
    fresh: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, change: Change, inventory: Asked, applied: Applied | None, budget: Budget
    ) -> Planned:
        """Preview a change, and what is otherwise while it is applied.

        Args:
            change: the state before, and the one at the end.
            inventory: the known names.
            applied: how files lead there, if they do.
            budget: the search limit.
        """
        moment, others = None, list[Preview]()
        if applied is not None and applied.moments is not None:
            moment = passing_of(change, applied.moments, budget)
        if applied is not None and applied.ends is not None:
            ends = applied.ends.most, applied.ends.least
            others = [preview(replace(change, after=end), inventory, budget) for end in ends]
        return cls(
            preview=preview(change, inventory, budget),
            others=others,
            moment=moment,
            bounds=[*filter(None, (applied.ends, applied.moments))] if applied is not None else (),
            effects=applied.effects if applied is not None else (),
            hidden=applied.hidden if applied is not None else (),
            fresh=applied.fresh if applied is not None else frozenset(),
        )

    @property
    def has_gap(self) -> bool:
        """Whether an ACL, or access, is off for a time."""
        is_passing = self.moment is not None and bool(self.moment.openings)
        return is_passing or any(each.effect == GAP for each in self.effects)

    def has(self, kind: str) -> bool:
        """Whether anything is gained or lost at some end."""
        return any(each.has(kind) for each in (self.preview, *self.others))

    @property
    def is_known(self) -> bool:
        """Whether everything is known about it."""
        moment = self.moment
        ends = all(each.is_known for each in (self.preview, *self.others))
        return ends and (moment is None or moment.is_known)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a team allows, and what came out.

    Attributes:
        fail_on: one of ``FAIL_ON``, or None.
        outcomes: of the team's policies on the state at the end.
        passing: policies that hold at the end, and not on the way or in another order.
        reference: whether the state at the end has no access beyond the reference.
        beyond: there is access beyond it on the way or in another order, or that is not known.
        watches: what is watched.
    """

    fail_on: str | None = None
    outcomes: Sequence[Outcome] = ()
    passing: Sequence[Outcome] = ()
    reference: Claimed | None = None
    beyond: bool = False
    watches: Sequence[Assertion] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a change may go ahead, and why.

    Attributes:
        name: deny, review or pass.
        reasons: sentences, the first one decides.
    """

    name: Name
    reasons: Sequence[str] = field(default_factory=tuple)

    def said(self, clean: Callable[[str], str]) -> Verdict:
        """Return the verdict with other words for its reasons."""
        return Verdict(self.name, [*map(clean, self.reasons)])

    @property
    def sentence(self) -> str:
        """The verdict and its first reason."""
        return f"Verdict: {self.name}. {self.reasons[0]}"


def judge(planned: Planned, limits: Limits, budget: Budget) -> Verdict:
    """Return the verdict on a change."""
    broken = [*_broken(planned, limits, budget)]
    if broken:
        return Verdict(DENY, broken)
    preview = planned.preview
    if preview.has(GAINED) or preview.has(LOST):
        return Verdict(REVIEW, ["Access changes."])
    if planned.has(GAINED) or planned.has(LOST):
        return Verdict(REVIEW, ["Access may change: the order of the plan is undefined."])
    if planned.has_gap:
        return Verdict(REVIEW, ["An ACL is off for a time while the plan is applied."])
    return Verdict(GO, ["No access changes."])


def _broken(planned: Planned, limits: Limits, budget: Budget) -> Iterator[str]:
    """Yield what is broken or unknown, the most important first."""
    for outcome in limits.outcomes:
        if not outcome.has_passed:
            how = "is broken" if outcome.state == "failed" else "is unknown: search limit reached"
            yield f"The policy {outcome.assertion.name!r} {how}."
        elif _may_break(outcome.assertion, planned, budget):
            yield (
                f"The policy {outcome.assertion.name!r} is unknown: a principal that the plan "
                "creates may break it."
            )
    for outcome in limits.passing:
        yield f"The policy {outcome.assertion.name!r} may be broken for a time or in another order."
    if limits.beyond:
        yield "There may be access beyond the reference for a time or in another order."
    if limits.reference is not None and limits.reference.outcome != HOLDS:
        is_broken = limits.reference.outcome == FAILS
        yield (
            "There is access beyond the reference."
            if is_broken
            else "Whether there is access beyond the reference is unknown: search limit reached."
        )
    for watch in limits.watches:
        yield from _watched(watch, planned, budget)
    yield from _failing(planned, limits.fail_on)
    if not planned.is_known:
        yield "More access may change: the search limit was reached."


def _may_break(policy: Assertion, planned: Planned, budget: Budget) -> bool:
    """Whether a policy about some names holds only as long as no fresh principal has one of them.

    Policies about all others but some apply to a fresh principal as they are: it is none of these.
    """
    who = policy.who
    is_of_names = who.names is not None and not (who.is_inverted or who.attributes)
    if policy.kind != "never" or not is_of_names or policy.inventory_only:
        return False
    return any(
        opening.kind == GAINED and _has_fresh(opening, planned.fresh)
        for opening in touched(policy, planned.preview, budget, planned.fresh)
    )


def _has_fresh(opening: RegionChange, fresh: frozenset[str]) -> bool:
    return any(each.name in fresh for party in opening.parties for each in party.principals)


def _watched(watch: Assertion, planned: Planned, budget: Budget) -> Iterator[str]:
    for each, when in (
        (planned.preview, ""),
        *((other, " in another order") for other in planned.others),
        (planned.moment, " for a time"),
    ):
        found = touched(watch, each, budget, planned.fresh) if each is not None else []
        if found:
            yield f"Watched access changes{when} ({watch.name!r}): {_words(found)}."
            return


def _failing(planned: Planned, fail_on: str | None) -> Iterator[str]:
    kinds = (GAINED, LOST, GAP) if fail_on == ANY else (fail_on,)
    if GAINED in kinds and planned.has(GAINED):
        yield f"Access is gained (--fail-on {fail_on})."
    if LOST in kinds and planned.has(LOST):
        yield f"Access is lost (--fail-on {fail_on})."
    if GAP in kinds and planned.has_gap:
        gaps = sum(each.effect == GAP for each in planned.effects)
        what = number_of(gaps, "ACL") if gaps else "Access"
        verb = "is" if gaps <= 1 else "are"
        yield f"{what} {verb} off for a time (--fail-on {fail_on})."


def _words(openings: Sequence[RegionChange]) -> str:
    return few([line_words(line) for line in change_lines(openings)], 2)
