"""What differs, and what a team demands → the verdict, with every reason, and exit codes. Pure.

*fail*: a demand is broken (a policy, the reference, sensitive access, ``--fail-on``), or something
is unknown. *needs approval*: access changes otherwise, at some end or for a time. *pass*: no access
changes.

A *gap* is access that is otherwise for a time only: off, while it is there before and afterwards,
or open, while it is allowed neither before nor afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from aclkit.model.phrases import few
from aclkit.questions.assertions.model import FAILED, Assertion, Outcome
from aclkit.questions.difference.compared import Compared
from aclkit.questions.difference.headline import effect_sentences
from aclkit.questions.difference.passing import Passing
from aclkit.questions.difference.watch import touched
from aclkit.questions.difference.words import PLANNED, Tense
from aclkit.rules.names.change_lines import change_lines, line_words
from aclkit.rules.names.compare import GAINED, LOST, Difference
from aclkit.rules.names.region import RegionChange

Name = Literal["pass", "needs approval", "fail"]
PASSES: Final = "pass"
NEEDS_APPROVAL: Final = "needs approval"
FAIL: Final = "fail"

OLD_NAMES: Final[Mapping[Name, str]] = {PASSES: "pass", NEEDS_APPROVAL: "review", FAIL: "deny"}
"""What programs of before 0.4 read for each."""

GAP: Final = "gap"
ANY: Final = "any"
FAIL_ON: Final = (GAINED, LOST, GAP, ANY)

Form = Literal["shown", "gate", "strict"]
"""How a command was asked: to show what differs; to fail where a demand is broken; and also where
somebody must approve."""


def exit_code(verdict: Verdict, form: Form) -> int:
    """Return the exit code of every command that compares two states."""
    failing = {"shown": (), "gate": (FAIL,), "strict": (FAIL, NEEDS_APPROVAL)}
    return int(verdict.name in failing[form])


def kinds_of(fail_on: str | None, any_of: Sequence[str] = FAIL_ON[:-1]) -> dict[str, str]:
    """Return which kinds fail under a value of ``--fail-on``, each with that value.

    Args:
        fail_on: one of ``FAIL_ON``, or None.
        any_of: what *any* means: with gaps, or without.
    """
    if fail_on is None:
        return {}
    return dict.fromkeys(any_of if fail_on == ANY else (fail_on,), fail_on)


@dataclass(frozen=True, slots=True, kw_only=True)
class Demands:
    """What a team demands of a difference, and what came out of it.

    Attributes:
        kinds: which of gained, lost and gap fail, and by which ``--fail-on``.
        outcomes: of the team's policies on the state at the end.
        passing: policies that hold at the end, and not on the way or in another order.
        reference: what the state at the end has beyond the reference.
        beyond: there is access beyond it on the way or in another order, or that is not known.
        watches: which access is sensitive.
    """

    kinds: Mapping[str, str] = field(default_factory=dict)
    outcomes: Sequence[Outcome] = ()
    passing: Sequence[Outcome] = ()
    reference: Difference | None = None
    beyond: bool = False
    watches: Sequence[Assertion] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be done about a difference, and why.

    Attributes:
        name: pass, needs approval or fail.
        reasons: sentences, the first one decides.
        effect: who loses how much, then who gains; each a sentence.
    """

    name: Name
    reasons: Sequence[str]
    effect: Sequence[str] = ()

    def said(self, clean: Callable[[str], str]) -> Verdict:
        """Return the verdict with other words for its sentences."""
        return Verdict(self.name, [*map(clean, self.reasons)], [*map(clean, self.effect)])

    @property
    def sentence(self) -> str:
        """The verdict, its first reason and the effect."""
        return " ".join((f"Verdict: {self.name}.", *self.reasons[:1], *self.effect))


def judge(compared: Compared, demands: Demands | None = None, tense: Tense = PLANNED) -> Verdict:
    """Return the verdict on what differs between two states.

    Args:
        compared: the difference. Its search limit is that of the demands too.
        demands: what a team demands; None is nothing.
        tense: how the change is spoken of.
    """
    return verdict_of(compared, demands or Demands(), tense, [*effect_sentences(compared, tense)])


def verdict_of(
    compared: Compared, demands: Demands, tense: Tense, effect: Sequence[str]
) -> Verdict:
    """Return the verdict with a given effect, see ``judge``."""
    if broken := [*_broken(compared, demands, tense)]:
        return Verdict(FAIL, broken, effect)
    if compared.has(GAINED) or compared.has(LOST):
        return Verdict(NEEDS_APPROVAL, [*filter(None, [tense.changes])], effect)
    is_other = compared.others is not None and bool(compared.others.openings)
    if is_other or compared.may(GAINED) or compared.may(LOST):
        return Verdict(NEEDS_APPROVAL, ["Access may change."], effect)
    if compared.moment is not None and compared.moment.openings:
        return Verdict(NEEDS_APPROVAL, ["Access changes for a time while it is applied."], effect)
    if unread := [each.words for each in compared.applied.depends if each.is_unread]:
        return Verdict(NEEDS_APPROVAL, [f"Access may change. It depends on {few(unread)}."])
    assumed = ", under the settings that are assumed" if _assumes(compared) else ""
    proven = f" Proven for every name{assumed}." if compared.is_proven else ""
    return Verdict(PASSES, [f"{tense.nothing}.{proven}"] if tense.nothing else [], effect)


def _assumes(compared: Compared) -> bool:
    return any(side.settings.unknown for side in compared.sides)


def _broken(compared: Compared, demands: Demands, tense: Tense) -> Iterator[str]:
    """Yield what is broken or unknown, the most important first."""
    for outcome in demands.outcomes:
        if not outcome.has_passed:
            how = "is broken" if outcome.verdict == FAILED else "is unknown: search limit reached"
            yield f"The policy {outcome.assertion.name!r} {how}."
        elif _may_break(outcome.assertion, compared):
            yield (
                f"The policy {outcome.assertion.name!r} is unknown: a principal that the plan "
                "creates may break it."
            )
    for outcome in demands.passing:
        yield f"The policy {outcome.assertion.name!r} may be broken for a time or in another order."
    if demands.beyond:
        yield "There may be access beyond the reference for a time or in another order."
    if demands.reference is not None and demands.reference.of_kind(GAINED):
        yield "There is access beyond the reference."
    elif demands.reference is not None and not demands.reference.is_known:
        yield "Whether there is access beyond the reference is unknown: search limit reached."
    for watch in demands.watches:
        yield from _watched(watch, compared)
    yield from _failing(compared, demands.kinds, tense)
    yield from _unknown(compared, tense)


def _unknown(compared: Compared, tense: Tense) -> Iterator[str]:
    if not compared.is_all_known:
        yield f"{tense.more}: {compared.why_unknown}."
    depends = compared.applied.depends
    if unknown := [each.words for each in depends if each.acls is None and not each.is_unread]:
        yield f"{tense.more}. It depends on {few(unknown)}."


def _may_break(policy: Assertion, compared: Compared) -> bool:
    """Whether a policy about some names holds only as long as no fresh principal has one of them.

    Policies about all others but some apply to a fresh principal as they are: it is none of these.
    """
    who = policy.who
    is_of_names = who.names is not None and not (who.is_inverted or who.attributes)
    if policy.kind != "never" or not is_of_names or policy.inventory_only:
        return False
    return any(
        opening.kind == GAINED and _has_fresh(opening, compared.change.after.fresh)
        for opening in _touched(policy, compared, compared)
    )


def _has_fresh(opening: RegionChange, fresh: frozenset[str]) -> bool:
    return any(each.name in fresh for party in opening.parties for each in party.principals)


def _watched(watch: Assertion, compared: Compared) -> Iterator[str]:
    for each, when in (
        (compared, ""),
        (compared.others, " perhaps"),
        (compared.moment, " for a time"),
    ):
        if each is not None and (found := _touched(watch, each, compared)):
            yield f"Watched access changes{when} ({watch.name!r}): {_words(found)}."
            return


def _touched(watch: Assertion, each: Compared | Passing, compared: Compared) -> list[RegionChange]:
    return touched(watch, each, compared.budget, compared.change.after.fresh)


def _failing(compared: Compared, kinds: Mapping[str, str], tense: Tense) -> Iterator[str]:
    for kind in (LOST, GAINED):
        if kind in kinds and compared.may(kind):
            how = f"{tense.verb} {kind}" if compared.has(kind) else f"may be {kind}"
            yield f"Access {how} (--fail-on {kinds[kind]})."
    if GAP in kinds and compared.moment is not None:
        for kind, how in ((LOST, "off"), (GAINED, "open")):
            if compared.moment.has(kind):
                yield f"Access is {how} for a time (--fail-on {kinds[GAP]})."


def _words(openings: Sequence[RegionChange]) -> str:
    return few([line_words(line) for line in change_lines(openings)], 2)
