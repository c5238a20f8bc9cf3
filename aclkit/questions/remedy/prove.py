"""Advice and a state → its change set, proven as a whole: what is gained and lost. Pure.

The whole is compared apart from the steps: with the start, and with the state that the findings
name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from aclkit.model.acl import Acl, Request
from aclkit.model.findings import fingerprint_of
from aclkit.questions.remedy.change_set import TIDY, Held, Plan, Proposal
from aclkit.questions.remedy.plan import make_plan, possible_settings
from aclkit.questions.tidy.answer import reason_words
from aclkit.rules.decide.agreement import DisagreementError
from aclkit.rules.decide.confirm import Decider
from aclkit.rules.names.compare import GAINED, CellChange, Difference, compare
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import Rules
from aclkit.rules.names.tidy import Reasons, tidy

ReasonsOf = Callable[[Collection[Acl]], Reasons]
"""ACLs → why each of them should go itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """A change set and its proof.

    Attributes:
        plan: the change set.
        change: what differs between its first and its last state: nothing is gained.
        is_known: the proof is complete. The last state decides as the one that findings name.
        searching: what was spent on making it.
        proving: what was spent on the proof.
    """

    plan: Plan
    change: Difference
    is_known: bool
    searching: Budget
    proving: Budget


def make_remedy(
    start: Rules,
    proposals: Iterable[Proposal],
    budget: Budget,
    *,
    held: Held | None = None,
    reasons_of: ReasonsOf | None = None,
    used: Iterable[Request] = (),
) -> Remedy:
    """Put advice into one change set, and prove it.

    Args:
        start: what decides today.
        proposals: the advice of findings and others.
        budget: the search limit; half of it is for making the change set.
        held: ACLs that stay.
        reasons_of: also remove what tidy finds redundant; tells it which ACLs should go themselves.
        used: requests of the log that were allowed: those that are today must be at the end.

    Raises:
        DisagreementError: the whole does more than its steps, which is a defect of aclkit.
    """
    searching = replace(budget, total=budget.total // 2)

    def redundant(rules: Rules) -> Iterator[Proposal]:
        if reasons_of is not None:
            yield from redundant_in(rules, reasons_of(rules.acls), searching)

    plan = make_plan(start, proposals, redundant, held or {}, searching)
    proving = replace(budget, total=budget.total - searching.states)
    final = plan.final
    changes, beyond = [], []
    for settings in possible_settings(start):
        first, named, last = (
            replace(each, settings=settings) for each in (start, plan.named, final)
        )
        changes.append(compare(first, last, proving))
        beyond.append(compare(named, last, proving))
        for wrong in (*changes[-1].of_kind(GAINED), *beyond[-1].changes):
            raise DisagreementError(_disagreement(wrong))
    _check_used(start, final, used)
    return Remedy(
        plan=plan,
        change=changes[0],
        is_known=all(each.is_known for each in (*changes, *beyond)),
        searching=searching,
        proving=proving,
    )


def _check_used(start: Rules, final: Rules, used: Iterable[Request]) -> None:
    then = Decider.of(start)
    now = then.of_next(final)
    for request in used:
        if then.allows(request) and not now.allows(request):
            raise DisagreementError(
                "The steps should lose only what no client used, but they lose the used "
                f"{request}. Nothing is printed. Please report this."
            )


def redundant_in(rules: Rules, reasons: Reasons, budget: Budget) -> Iterator[Proposal]:
    """Yield what tidy removes from a state. No ALL is added: it grants operations to come."""
    for step in tidy(rules, budget, reasons=reasons, keep_operations=True).steps:
        subject = str(step.acl)
        words = reason_words(step)
        yield Proposal(
            step_id=fingerprint_of(TIDY, subject),
            kind=TIDY,
            severity="info",
            subject=subject,
            reason=f"{words[:1].upper()}{words[1:]}.",
            remove=(step.acl,),
            by=step.by,
            hides=True,
        )


def _disagreement(change: CellChange) -> str:
    cell = change.cell
    return (
        "The steps should lose only what findings name, but in the proof of the whole "
        f"{cell.principal.name} {change.kind} {cell.operation} on {cell.resource_type} "
        f"{change.name!r} from {cell.host.name}. Nothing is printed. Please report this."
    )
