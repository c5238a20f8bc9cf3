"""The command tidy: fewer ACLs that decide alike → a list or a script; and proposals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import click

from aclkit.answer.formats import FORMATS
from aclkit.answer.masked import masked, masker
from aclkit.audit.findings.audit_tables import AUDITED, audit_published
from aclkit.audit.findings.redundant import reasons_to_go
from aclkit.cli.acls import KAFKA_ACLS, end_with_comments, tell_left_out
from aclkit.cli.budget_options import budget_options, end_unproven
from aclkit.cli.context import Context, formats
from aclkit.cli.desired import DesiredOptions, desired_options
from aclkit.cli.help import question
from aclkit.cli.options import flag
from aclkit.cli.output import tell, tell_all
from aclkit.errors import UsageError
from aclkit.kafka.acls.script import render_changes
from aclkit.model.groups import grouped
from aclkit.questions.query.as_of import STATE
from aclkit.questions.read_state import Files, read_state
from aclkit.questions.tidy.answer import proposals_answer, reason_words, summary, tidy_answer
from aclkit.questions.tidy.propose import Proven, propose, tidy_proven
from aclkit.rules.names.question import Budget
from aclkit.rules.names.tidy import IDLE
from aclkit.rules.patterns.match import GLOB, PREFIXED


@question("tidy")
@click.argument("paths", nargs=-1, metavar="[PATH]…")
@desired_options
@flag("--idle-denies", "Also remove DENYs that deny nothing today.")
@flag("--keep-operations", "Do not replace all operations by ALL.")
@click.option(
    "--to-globs", "pattern_type", flag_value=GLOB, help="Propose globs in place of ALLOWs."
)
@click.option(
    "--to-prefixes",
    "pattern_type",
    flag_value=PREFIXED,
    help="Propose prefixes in place of ALLOWs.",
)
@budget_options
@formats(*FORMATS, KAFKA_ACLS, text="Output format; kafka-acls is a script.")
@click.pass_obj
def tidy(
    context: Context,
    paths: tuple[str, ...],
    wanted: DesiredOptions,
    pattern_type: str | None,
    budget: Budget,
    *,
    idle_denies: bool,
    keep_operations: bool,
) -> None:
    """List ACLs you can remove without effect.

    \b
    Example:
      aclkit tidy
      aclkit tidy --idle-denies --format kafka-acls > tidy.sh
      aclkit tidy --to-globs --format json
      aclkit tidy users/ acls.csv --scope add

    The result is proven: the ACLs before and after decide the same for every possible principal,
    host, operation and name. If the proof exceeds the search limit, tidy prints nothing and exits
    with code 1. If ACLs for all operations of a resource type exist, one ACL for ALL replaces them;
    it also covers operations that later Kafka versions add. ACLs that a finding asks you to remove
    or narrow, such as one for User:*, do not make other ACLs redundant.

    --format kafka-acls prints a script that first adds and then removes ACLs. ACLs that kafka-acls
    cannot express are comments in the script, are listed on stderr, and make the exit code 1.

    With PATHs, tidy is about the state that these files lead to, as aclkit preview apply reads
    them, and shows the file and line of each ACL.

    With --to-globs or --to-prefixes, tidy proposes one ALLOW in place of three or more. A proposal
    changes nothing for known names; tidy lists exactly what it would open in addition.
    """
    if pattern_type is not None and (idle_denies or keep_operations):
        raise UsageError(
            "--idle-denies and --keep-operations do not go with --to-globs or --to-prefixes."
        )
    if pattern_type is not None and context.output_format == KAFKA_ACLS:
        raise UsageError(
            "Proposals need your review, so they are not a script. Pass another --format."
        )
    with context.open({**STATE, **_AUDITED}) as opened:
        state = read_state(opened.source)
        facts = audit_published(*opened.source)
    tell_all(state.notes)
    names = grouped(state.inventory.resources)
    if paths:
        operator = bool(wanted.operator)
        state = read_state(Files(paths, wanted.asked, wanted.scope, operator, onto=state))
        tell_all(map(masker(state.hidden), state.notes))
    clean, rules = masker(state.hidden), state.rules
    places = state.applied.places if state.applied else {}
    reasons = reasons_to_go(replace(facts, acls=tuple(rules.acls)))
    if pattern_type is None:
        proven = tidy_proven(
            rules,
            budget,
            reasons=reasons,
            idle_denies=idle_denies,
            keep_operations=keep_operations,
        )
        _check(proven)
        if context.output_format == KAFKA_ACLS:
            _write_script(context, proven, clean)
        else:
            context.write(masked(tidy_answer(proven, places), clean))
    else:
        if pattern_type == GLOB and not state.semantics.glob_patterns:
            raise UsageError(
                "--to-globs needs decisions with globs. Next: aclkit run --semantics kip-1042"
            )
        proposals = propose(rules, names, pattern_type, budget, reasons)
        context.write(masked(proposals_answer(proposals, budget.to_raise), clean))


_AUDITED: Final[dict[str, dict[str, str]]] = {name: {} for name in AUDITED}


def _check(proven: Proven) -> None:
    """End where the proof is not known."""
    if not proven.proof.is_known:
        end_unproven("that no decision changes", proven.proving.to_raise)


def _write_script(context: Context, proven: Proven, clean: Callable[[str], str]) -> None:
    """Write the change as a script of kafka-acls; end with 1 where it cannot hold all of it."""
    found = proven.found
    reasons = {step.acl: reason_words(step) for step in found.steps}
    covered, idle = (
        {step.acl: reasons[step.acl] for step in found.steps if (step.why == IDLE) is is_idle}
        for is_idle in (False, True)
    )
    lines, unsaid = render_changes(found.added, [covered, idle])
    context.deliver(f"{line}\n" for line in lines)
    tell(summary(proven))
    tell_left_out(unsaid, clean)
    end_with_comments(unsaid, len(found.added) + len(found.steps))
