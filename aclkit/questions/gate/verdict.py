"""A preview, and what a team allows → the verdict on a change, with every reason. Pure.

*deny*: a policy, the reference, a watch or ``--fail-on`` is broken, or something is unknown.
*review*: access changes otherwise, at some end or for a time. *pass*: no access changes.

A *gap* is access that is otherwise for a time only: off, while it is there before and afterwards,
or open, while it is allowed neither before nor afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from aclkit.answer.masked import Hidden
from aclkit.kafka.desired.plan_effect import PlanEffect
from aclkit.model.phrases import few
from aclkit.questions.assertions.model import FAILED, Assertion, Outcome
from aclkit.questions.gate.effect import effect_sentences
from aclkit.questions.gate.passing import Passing, passing_of
from aclkit.questions.gate.watch import touched
from aclkit.questions.preview.change import Change
from aclkit.questions.preview.preview import Preview, preview
from aclkit.questions.prove.claim import FAILS, HOLDS, Claimed
from aclkit.questions.state import Applied, Bounds, Depends, Inventory
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
        others: what changes at other ends, where the end depends on something.
        moment: what is otherwise for a time only; None where nothing is applied step by step.
        depends: on what it depends which ACLs exist at the end.
        bounds: of the other ends, and of the states on the way.
        effects: of plans, what they do to each ACL.
        hidden: sensitive values, which people must not see.
        fresh: principals that a plan creates: their names are not known yet.
    """

    preview: Preview
    others: Passing | None = None
    moment: Passing | None = None
    depends: Sequence[Depends] = ()
    bounds: Sequence[Bounds] = ()
    effects: Sequence[PlanEffect] = ()
    hidden: Sequence[Hidden] = ()
    fresh: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, change: Change, inventory: Inventory, applied: Applied | None, budget: Budget
    ) -> Planned:
        """Preview a change, and what is otherwise while it is applied.

        Args:
            change: the state before, and the one at the end.
            inventory: the known names.
            applied: how files lead there, if they do.
            budget: the search limit.
        """
        shown = preview(change, inventory, budget)
        if applied is None:
            return cls(preview=shown)
        moment, others = passing_of(change, applied, budget) if applied.doings else (None, None)
        return cls(
            preview=replace(shown, is_settled=not applied.depends),
            others=others,
            moment=moment,
            depends=applied.depends,
            bounds=[*filter(None, (applied.ends, applied.moments))],
            effects=applied.effects,
            hidden=change.after.hidden,
            fresh=change.after.fresh,
        )

    def has(self, kind: str) -> bool:
        """Whether anything is gained or lost at some end."""
        return self.preview.has(kind) or (self.others is not None and self.others.has(kind))

    @property
    def is_known(self) -> bool:
        """Whether no search limit left anything open about it."""
        asked = (self.preview, self.others, self.moment)
        return all(each is None or each.is_known for each in asked)

    @property
    def unknown(self) -> list[str]:
        """What it depends on and cannot be judged, in words."""
        return [each.words for each in self.depends if each.acls is None and not each.is_unread]

    @property
    def unread(self) -> list[str]:
        """What it depends on and aclkit does not read, in words."""
        return [each.words for each in self.depends if each.is_unread]


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
        effect: who loses how much, then who gains; each a sentence.
    """

    name: Name
    reasons: Sequence[str] = field(default_factory=tuple)
    effect: Sequence[str] = ()

    def said(self, clean: Callable[[str], str]) -> Verdict:
        """Return the verdict with other words for its sentences."""
        return Verdict(self.name, [*map(clean, self.reasons)], [*map(clean, self.effect)])

    @property
    def sentence(self) -> str:
        """The verdict, its first reason and the effect."""
        return " ".join((f"Verdict: {self.name}.", self.reasons[0], *self.effect))


def judge(planned: Planned, limits: Limits, budget: Budget) -> Verdict:
    """Return the verdict on a change."""
    found = planned.preview, planned.others, planned.moment, planned.depends
    effect = [*effect_sentences(*found)]
    broken = [*_broken(planned, limits, budget)]
    if broken:
        return Verdict(DENY, broken, effect)
    shown = planned.preview
    if shown.has(GAINED) or shown.has(LOST):
        return Verdict(REVIEW, ["Access changes."], effect)
    if planned.others is not None and planned.others.openings:
        return Verdict(REVIEW, ["Access may change."], effect)
    if planned.moment is not None and planned.moment.openings:
        return Verdict(REVIEW, ["Access changes for a time while it is applied."], effect)
    if planned.unread:
        return Verdict(REVIEW, [f"Access may change. It depends on {few(planned.unread)}."])
    return Verdict(GO, ["No access changes."])


def _broken(planned: Planned, limits: Limits, budget: Budget) -> Iterator[str]:
    """Yield what is broken or unknown, the most important first."""
    for outcome in limits.outcomes:
        if not outcome.has_passed:
            how = "is broken" if outcome.verdict == FAILED else "is unknown: search limit reached"
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
    if planned.unknown:
        yield f"More access may change. It depends on {few(planned.unknown)}."


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
        (planned.others, " perhaps"),
        (planned.moment, " for a time"),
    ):
        found = touched(watch, each, budget, planned.fresh) if each is not None else []
        if found:
            yield f"Watched access changes{when} ({watch.name!r}): {_words(found)}."
            return


def _failing(planned: Planned, fail_on: str | None) -> Iterator[str]:
    kinds = (GAINED, LOST, GAP) if fail_on == ANY else (fail_on,)
    for kind in (LOST, GAINED):
        if kind in kinds and planned.has(kind):
            yield f"Access {_how_sure(planned, kind)} (--fail-on {fail_on})."
    if GAP in kinds and planned.moment is not None:
        for kind, how in ((LOST, "off"), (GAINED, "open")):
            if planned.moment.has(kind):
                yield f"Access is {how} for a time (--fail-on {fail_on})."


def _how_sure(planned: Planned, kind: str) -> str:
    return f"is {kind}" if planned.preview.has(kind) else f"may be {kind}"


def _words(openings: Sequence[RegionChange]) -> str:
    return few([line_words(line) for line in change_lines(openings)], 2)
