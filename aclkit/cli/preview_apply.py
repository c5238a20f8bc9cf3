"""The command preview apply: the files of a team → what they change, and the verdict on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import click

from aclkit.answer.formats import FORMATS, SARIF
from aclkit.answer.masked import masker
from aclkit.audit.findings.audit_input import AuditInput
from aclkit.audit.findings.audit_tables import AUDITED, audit_published, read_findings
from aclkit.audit.findings.registry import changed_findings
from aclkit.cli.budget_options import budget_options
from aclkit.cli.context import Context, formats
from aclkit.cli.desired import DesiredOptions, desired_options
from aclkit.cli.effect import end_with, tell_first_glob, without_gc
from aclkit.cli.gate_options import (
    GateOptions,
    gate_options,
    write_summary,
)
from aclkit.cli.help import question
from aclkit.cli.options import option
from aclkit.cli.output import tell_all
from aclkit.cli.settings_options import own_semantics, settings_options
from aclkit.cli.side_arguments import given_reading
from aclkit.errors import UsageError
from aclkit.kafka.desired.model import Place
from aclkit.kafka.desired.tf_blocks import in_tf_files, read_blocks
from aclkit.model.findings import Finding
from aclkit.model.semantics import AUTO
from aclkit.questions.difference.answer import Findings, gate_answer
from aclkit.questions.difference.compared import Compared, preview
from aclkit.questions.difference.demands import read_demands
from aclkit.questions.difference.globs import to_next_run
from aclkit.questions.difference.verdict import Verdict, judge, kinds_of
from aclkit.questions.query.as_of import STATE
from aclkit.questions.read_state import Files, read_state
from aclkit.questions.sides import read_alike
from aclkit.questions.state import Binding, State, names_in
from aclkit.rules.names.question import Budget


@question("apply")
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@option("--base", metavar="FILE", help="Start from the ACLs of this file, not of a warehouse.")
@desired_options
@gate_options
@settings_options
@budget_options
@formats(*FORMATS, SARIF, text="Output format.")
@click.pass_obj
def apply(
    context: Context,
    /,
    paths: tuple[str, ...],
    base: str | None,
    wanted: DesiredOptions,
    gate: GateOptions,
    budget: Budget,
    **chosen: object,
) -> None:
    """Show what files change, with a verdict.

    \b
    Example:
      aclkit preview apply plan.json --watch conf/watch.toml --fail-on gap
      aclkit preview apply users/ --format markdown > comment.md
      aclkit preview apply acls.csv --scope all --base now.txt

    PATH is a file, a folder, a glob or - (stdin) in any format that aclkit desired show reads, or
    records of the metadata log as JSON lines. A Terraform plan makes its own change, KafkaUsers
    replace the ACLs of their users, a listing is the whole new state. Other files need --scope.

    The worst case counts: an ACL that a plan both deletes and creates may be gone. The verdict is
    fail (exit code 1) if a policy, the reference, a watch or --fail-on is broken, or something is
    unknown; needs approval (0, with --strict 1) if access changes otherwise; else pass (0).
    """
    gate.forget_summary()
    start, audit, known = _start(context, base, wanted, chosen)
    files = Files(paths, wanted.asked, wanted.scope, wanted.operator, onto=start)
    change = to_next_run(start, read_state(files))
    after = change.after
    clean = masker(change.hidden)
    tell_first_glob(change, clean)
    with without_gc():
        compared = preview(change, start.inventory, budget)
        demands = read_demands(gate.files, kinds_of(gate.fail_on), compared)
        verdict = judge(compared, demands).said(clean)
        then = replace(audit, acls=tuple(after.acls.values()), semantics=after.semantics)
        brought, ended = changed_findings(audit, then, known)
        notes = [*(start.notes if base else ()), *after.notes]
        answer = gate_answer(
            compared,
            verdict,
            demands,
            f"Change by {after.place}, "
            + (f"on top of {start.place}" if base else f"cluster {start.cluster_id}"),
            notes,
            Findings(brought=[*map(_finding_words, brought)], ended=[*map(_finding_words, ended)]),
        )
        sarif = partial(_sarif, compared, verdict, notes, clean)
        context.write(replace(answer, sarif=sarif))
    if gate.summary_env:
        write_summary(gate.summary_env, compared, verdict)
    end_with(verdict, "strict" if wanted.strict else "gate")


def _start(
    context: Context, base: str | None, wanted: DesiredOptions, chosen: Mapping[str, Any]
) -> tuple[State, AuditInput, list[Finding] | None]:
    """Read the state from which the change starts, what an audit looks at, and known findings."""
    if base is None:
        _refuse_settings(chosen)
        with context.open({**STATE, **_AUDITED}) as opened:
            start = read_state(opened.source)
            audit = audit_published(*opened.source)
            known = read_findings(opened.tables, opened.run)
        tell_all(start.notes)
        return start, audit, known
    given = given_reading(chosen)
    (start,) = read_alike(
        [read_state(Files([base], replace(wanted.asked.of_start, form=None)))], given
    )
    start = replace(
        start,
        inventory=names_in(start.acls.values(), start.semantics),
        after_glob=given.after_glob(start.semantics),
    )
    acls = tuple(start.acls.values())
    audit = AuditInput(acls=acls, semantics=start.semantics, settings=start.settings)
    return start, audit, None


_AUDITED: Final[dict[str, dict[str, str]]] = {name: {} for name in (*AUDITED, "finding", "job_run")}


def _refuse_settings(chosen: Mapping[str, Any]) -> None:
    """Refuse settings of brokers for a warehouse: its runs know them.

    Raises:
        UsageError: one is passed.
    """
    own = [name for name, value in own_semantics(chosen).items() if value is not None]
    named = ("super_users", "allow_everyone", "server_properties")
    own += [name for name in named if chosen[name] is not None]
    if chosen["no_super_users"]:
        own.append("no_super_users")
    if chosen["semantics"] != AUTO:
        own.append("semantics")
    if own:
        raise UsageError(
            f"--{own[0].replace('_', '-')} goes with --base only: a warehouse has the settings of "
            "its runs. Next: aclkit run with this setting"
        )


def _sarif(
    compared: Compared,
    verdict: Verdict,
    notes: Sequence[str],
    clean: Callable[[str], str],
) -> str:
    # Here: other formats do not need it.
    from aclkit.audit.reports.verdict_sarif import gate_sarif

    return gate_sarif(compared, verdict, _places(compared.applied.places), notes, clean)


def _places(found: Mapping[Binding, Sequence[Place]]) -> dict[Binding, list[Place]]:
    """Return where files hold ACLs; those of plans as lines of ``.tf`` files of this folder."""
    has_addresses = any(place.address for places in found.values() for place in places)
    blocks = read_blocks(".") if has_addresses else {}
    return {binding: [*in_tf_files(places, blocks)] for binding, places in found.items()}


def _finding_words(finding: Finding) -> str:
    return f"{finding.severity}: {finding.message}"
