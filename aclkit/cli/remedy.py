"""The command remedy: the remedies of all findings as one change set, in a safe order."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Final

import click

from aclkit.answer.formats import FORMATS
from aclkit.answer.masked import masked, masker
from aclkit.audit.findings.audit_input import AuditInput
from aclkit.audit.findings.audit_tables import audit_published, read_findings
from aclkit.audit.findings.baseline import classify
from aclkit.audit.findings.redundant import reasons_to_go
from aclkit.audit.findings.registry import check_kinds, find_all
from aclkit.audit.findings.remedies import advice_of
from aclkit.cli.acls import KAFKA_ACLS, end_with_comments
from aclkit.cli.baseline_options import baseline_options, read_baseline, read_mutes
from aclkit.cli.budget_options import budget_options, end_unproven
from aclkit.cli.completion import complete_finding
from aclkit.cli.context import Context, Opened, formats
from aclkit.cli.effect import Gate, write_effect
from aclkit.cli.help import question
from aclkit.cli.options import gathered, option, together
from aclkit.cli.output import tell, tell_all
from aclkit.cli.use_options import keep_option, log_options
from aclkit.errors import UsageError
from aclkit.kafka.acls.script import Stage, render_stages
from aclkit.kafka.desired.read import Asked as AskedOfFiles
from aclkit.model.acl import Acl
from aclkit.model.findings import SEVERITIES, Finding, up_to
from aclkit.model.redpanda import MEMBERS_UNKNOWN, has_unknown_members
from aclkit.questions.denials.read import has_log, require_log
from aclkit.questions.difference.change import Change
from aclkit.questions.difference.compared import preview
from aclkit.questions.narrow.keep import read_kept
from aclkit.questions.narrow.propose import Asked, propose_narrow
from aclkit.questions.read_state import read_state
from aclkit.questions.remedy.answer import (
    Advised,
    proof_sentence,
    remedy_answer,
    summary,
    title_of,
)
from aclkit.questions.remedy.by_use import Keep, by_use, narrower
from aclkit.questions.remedy.change_set import (
    NARROW,
    TIDY,
    Advice,
    Binding,
    ForPerson,
    LeftOut,
    Proposal,
    Step,
    dropped_with,
)
from aclkit.questions.remedy.prove import Remedy, make_remedy
from aclkit.questions.state import State
from aclkit.questions.usage.read_use import LogOptions, read_use
from aclkit.questions.usage.use import UseOfAcls
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import Rules
from aclkit.rules.names.tidy import Reasons

_NOT_PROVEN: Final = 1
_ACCEPTED: Final = "A finding about it is accepted."
_KEPT: Final = "You left it out with --without."
_LEAST_DIGITS: Final = 4


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which advice is wanted."""

    only: tuple[str, ...]
    severity: str | None
    without: tuple[str, ...]
    baseline: str | None
    mutes: str | None

    def wants(self, kind: str, severity: str) -> bool:
        """Whether advice of a kind and severity is wanted."""
        is_of_kind = not self.only or kind in self.only
        return is_of_kind and (self.severity is None or severity in up_to(self.severity))


_chosen: Final = together(
    option(
        "--only",
        multiple=True,
        metavar="KIND",
        shell_complete=complete_finding,
        help="Only findings of this kind, tidy, or narrow. Repeatable.",
    ),
    option("--severity", type=click.Choice(SEVERITIES), help="Only this severity or higher."),
    option("--without", multiple=True, metavar="STEP", help="Leave out a step. Repeatable."),
    baseline_options,
    partial(gathered, "chosen", Chosen),
)


@question("remedy")
@_chosen
@keep_option
@log_options
@option("--step", "step_id", metavar="STEP", help="Preview one step alone.")
@budget_options
@formats(*FORMATS, KAFKA_ACLS, text="Output format; kafka-acls is a script.")
@click.pass_obj
def remedy(
    context: Context,
    chosen: Chosen,
    keep: tuple[str, ...],
    of_log: LogOptions,
    step_id: str | None,
    budget: Budget,
) -> None:
    """Fix findings in steps that never open access.

    \b
    Example:
      aclkit remedy
      aclkit remedy --step 4c6490eb
      aclkit remedy --without 4c6490eb --format kafka-acls > remedy.sh
      aclkit remedy --only orphan-resource --only tidy
      aclkit remedy --severity medium --mutes conf/mutes.toml --format json

    The remedies of all findings, of aclkit tidy and of aclkit narrow become one change set. First
    go the ALLOWs that no client used and that a finding names, or narrow. Then go ALLOWs without
    effect, and then DENYs that restrain nothing any more. After each step, and between the commands
    of a step, no principal has more access than before. Only access that no client used is lost,
    and none is lost for a while. All of it is proven for every possible name. If the proof exceeds
    the search limit, remedy prints nothing and exits with code 1.

    What was used is known only if aclkit usage has read the whole authorizer log of --unused-days.
    Otherwise no step takes access. What is in use, or may be, is listed under "Needs a decision",
    with who uses it and the ACLs that these need first, or with what is missing. --keep FILE is a
    file with ACLs, in a format that aclkit desired show reads, or with tables [[keep]] as for
    aclkit narrow.

    Each step has an id, which is the same in every run. It is the fingerprint of the finding; its
    first digits suffice. --without keeps the ACLs of a step. What needs the step is left out with
    it, and listed. Findings that a person must decide are listed with the reason. Findings that
    --baseline or --mutes accepts are left alone, and their ACLs stay.

    --format kafka-acls prints a script with the steps in order, or of one --step. Steps that
    kafka-acls cannot express are comments in the script, and make the exit code 1.
    """
    check_kinds(chosen.only, TIDY, NARROW)
    kept = read_kept(keep, AskedOfFiles(allows_empty=True))
    found = _Found.read(context, chosen, of_log, kept.acls, _again(budget))
    remedy, dropped = found.remedy(chosen, budget)
    _check_proof(remedy)
    steps = remedy.plan.steps
    if step_id is not None:
        steps = (_step_of(step_id, remedy),)
    if context.output_format == KAFKA_ACLS:
        _write_script(context, remedy, steps)
    elif step_id is not None:
        _write_step(context, found.base, remedy, steps[0], budget)
    else:
        change = _change(found.base, remedy.plan.start, remedy.plan.final)
        advised = Advised(
            remedy=remedy,
            preview=preview(change, found.base.inventory, _again(budget)),
            for_people=[each for each in found.for_people(remedy) if _wants(chosen, each)],
            accepted=len(found.accepted),
            dropped=dropped,
            notes=(*kept.notes, *found.notes),
        )
        context.write(masked(remedy_answer(advised), masker(kept.hidden)))
        if not steps and any(each.is_unknown for each in remedy.plan.left_out):
            click.get_current_context().exit(_NOT_PROVEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What there is to remedy.

    Attributes:
        base: the published state.
        facts: tells which ACLs a finding asks to remove or narrow.
        advice: of each finding that is not accepted.
        accepted: the accepted findings.
        use: what the log shows of the use of ACLs.
        notes: why nothing was narrowed.
    """

    base: State
    facts: AuditInput
    advice: Sequence[Advice]
    accepted: Sequence[Finding]
    use: UseOfAcls
    notes: Sequence[str]

    @classmethod
    def read(
        cls, context: Context, chosen: Chosen, of_log: LogOptions, keep: Keep, budget: Budget
    ) -> _Found:
        """Read the published state, its findings, and what was used."""
        baseline, mutes = read_baseline(chosen.baseline), read_mutes(chosen.mutes)
        with context.open() as opened:
            base = read_state(opened.source)
            facts = audit_published(*opened.source)
            findings = read_findings(opened.tables, opened.run)
            use = read_use(*opened.source, base.rules, of_log)
            used, notes = _narrower(opened, use, keep, chosen, budget)
        tell_all(base.notes)
        in_force = find_all(facts) if findings is None else findings
        judged = classify(in_force, baseline, mutes, datetime.now(UTC).date())
        new = [each.finding for each in judged if each.finding and each.state == "new"]
        known = [each.finding for each in judged if each.finding and each.state != "new"]
        found = (advice_of(finding, base.acls) for finding in new)
        advice = [*by_use(found, use, keep), *used]
        return cls(base=base, facts=facts, advice=advice, accepted=known, use=use, notes=notes)

    def remedy(self, chosen: Chosen, budget: Budget) -> tuple[Remedy, Sequence[LeftOut]]:
        """Return the change set, and the steps that are left out because others are."""
        held = self._held()
        first = self._make(chosen, budget, held)
        if not chosen.without:
            return first, ()
        kept = [_step_of(each, first) for each in chosen.without]
        held |= {acl.binding: _KEPT for step in kept for acl in step.remove}
        then = self._make(chosen, _again(budget), held)
        return then, dropped_with(first.plan, then.plan, kept)

    def for_people(self, remedy: Remedy) -> Iterable[ForPerson]:
        """Yield what a person must decide, but for findings of which no ACL is left."""
        left = {acl.binding for acl in remedy.plan.final.acls}
        for each in self.advice:
            if isinstance(each, ForPerson) and (
                not each.acls or any(acl.binding in left for acl in each.acls)
            ):
                yield each

    def _make(self, chosen: Chosen, budget: Budget, held: dict[Binding, str]) -> Remedy:
        proposals = [each for each in self.advice if isinstance(each, Proposal)]
        return make_remedy(
            self.base.rules,
            [each for each in proposals if _wants(chosen, each)],
            budget,
            held=held,
            reasons_of=self._reasons_of if chosen.wants(TIDY, "info") else None,
            used=self.use.requests(),
        )

    def _reasons_of(self, acls: Collection[Acl]) -> Reasons:
        return reasons_to_go(replace(self.facts, acls=tuple(acls)))

    def _held(self) -> dict[Binding, str]:
        """Return the ACLs that stay, and why."""
        acls = self.base.acls
        people = [each for each in self.advice if isinstance(each, ForPerson) and each.holds]
        accepted = (acls[name] for each in self.accepted for name in each.acl_ids if name in acls)
        read = self.base.semantics
        others = (acl for acl in acls.values() if has_unknown_members(acl.principal, read))
        return {
            **dict.fromkeys((acl.binding for acl in others), MEMBERS_UNKNOWN),
            **{
                acl.binding: f"{each.kind} is about it too. {each.why}"
                for each in people
                for acl in each.acls
            },
            **{acl.binding: _ACCEPTED for acl in accepted},
        }


def _narrower(
    opened: Opened, use: UseOfAcls, keep: Keep, chosen: Chosen, budget: Budget
) -> tuple[Sequence[Proposal], Sequence[str]]:
    """Return what narrower sets remove, or why there are none."""
    if NARROW in chosen.only:
        require_log(opened.published)
    if not has_log(opened.published) or not chosen.wants(NARROW, "info"):
        return (), ()
    if missing := use.log.missing:
        return (), [f"No ACL is narrowed. {each.words}" for each in missing]
    asked = Asked(use=use, keep=keep)
    return list(narrower(propose_narrow(asked, asked.chosen, budget))), ()


def _wants(chosen: Chosen, advice: Advice) -> bool:
    return chosen.wants(advice.kind, advice.severity)


def _again(budget: Budget) -> Budget:
    """Return the same limits, with nothing spent."""
    return Budget(per_question=budget.per_question, total=budget.total)


def _step_of(digits: str, remedy: Remedy) -> Step:
    """Return the step whose id begins with some digits.

    Raises:
        UsageError: none or several do, or it is left out.
    """
    if len(digits) < _LEAST_DIGITS:
        raise UsageError(f"{digits!r} is too short: a step has at least {_LEAST_DIGITS} digits.")
    steps = [step for step in remedy.plan.steps if step.step_id.startswith(digits)]
    if len(steps) == 1:
        return steps[0]
    if steps:
        raise UsageError(f"Several steps begin with {digits!r}. Pass more digits.")
    ended = [step for step in remedy.plan.steps for each in step.also
             if each.step_id.startswith(digits)]  # fmt: skip
    if ended:
        return ended[0]
    for left in remedy.plan.left_out:
        if left.proposal.step_id.startswith(digits):
            raise UsageError(f"Step {digits} is left out. {left.why}")
    raise UsageError(f"No step has the id {digits!r}. All steps: aclkit remedy")


def _check_proof(remedy: Remedy) -> None:
    """End where the proof is not known."""
    if not remedy.is_known:
        end_unproven("that only access that findings name is lost", remedy.proving.to_raise)


def _change(base: State, before: Rules, after: Rules) -> Change:
    """Return the change between two states; each ACL has its id."""
    return Change(before=base.with_only(before.acls), after=base.with_only(after.acls))


def _write_step(context: Context, base: State, remedy: Remedy, step: Step, budget: Budget) -> None:
    """Write what one step does, in the state that the steps before it lead to."""
    change = _change(base, *remedy.plan.around(step.step_id))
    position = 1 + [each.step_id for each in remedy.plan.steps].index(step.step_id)
    of = f"Step {position} of {len(remedy.plan.steps):,}, {step.proposal.kind}"
    tell(f"{of}: {step.proposal.reason}")
    write_effect(context, change, base.inventory, of, Gate(None, _again(budget)))


def _write_script(context: Context, remedy: Remedy, steps: Sequence[Step]) -> None:
    """Write steps as a script of kafka-acls; end with 1 where it cannot hold all of them."""
    lines, unsaid = render_stages(Stage(title_of(each), each.add, each.remove) for each in steps)
    context.deliver(f"{line}\n" for line in lines)
    tell(summary(remedy) if len(steps) != 1 else title_of(steps[0]))
    if steps:
        tell(proof_sentence(remedy))
    end_with_comments(unsaid, sum(len(each.add) + len(each.remove) for each in steps))
