"""The command audit: the findings in force, what a kind of them means, and accepting one."""

from __future__ import annotations

import sys
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

import click

from aclkit.answer.text import lay_out
from aclkit.audit.findings.baseline import (
    classify,
    fails,
    parse_mutes,
    render_baseline,
    render_mute,
)
from aclkit.audit.findings.registry import check_kinds
from aclkit.audit.reports.findings_answer import (
    explanation,
    findings_answer,
    notes_on_audit,
    read_findings,
    read_judged,
)
from aclkit.cli.asked import options_of
from aclkit.cli.baseline_options import (
    baseline_options,
    fail_on_option,
    read_baseline,
    read_mutes,
    tell_mutes,
)
from aclkit.cli.completion import complete_finding
from aclkit.cli.context import Context, format_option, tell_state
from aclkit.cli.help import QuestionGroup
from aclkit.cli.output import tell, tell_all, write_lines
from aclkit.errors import UsageError
from aclkit.model.findings import SEVERITIES, up_to
from aclkit.questions.arguments import FindingsOf
from aclkit.runtime.atomic_file import write_atomically
from aclkit.runtime.safe_read import read_text

FINDINGS_EXIT: Final = 1


@click.group("audit", cls=QuestionGroup, invoke_without_command=True)
@fail_on_option("Exit with code 1 on findings of this severity or higher.")
@options_of(FindingsOf)
@click.option(
    "--explain",
    "explained",
    metavar="KIND",
    shell_complete=complete_finding,
    help="Explain a kind of finding. Needs no warehouse.",
)
@baseline_options
@click.option(
    "--write-baseline",
    "baseline_file",
    metavar="FILE.json",
    help="Write the current findings as a baseline, and exit with code 0.",
)
@format_option
@click.pass_context
def audit(
    ctx: click.Context,
    /,
    severity: str | None,
    kind: tuple[str, ...],
    explained: str | None,
    baseline_file: str | None,
    **chosen: Any,  # noqa: ANN401 -- the option groups name them
) -> None:
    """List risks and mistakes in the ACLs, worst first.

    \b
    Example:
      aclkit audit
      aclkit audit --severity medium
      aclkit audit --kind public-access --fail-on never
      aclkit audit --write-baseline baseline.json
      aclkit audit --baseline baseline.json --mutes conf/mutes.toml
      aclkit audit --explain never-matches

    The findings are those of the last nightly run (aclkit run). For each kind the three worst are
    shown, with --kind all of that kind; the other formats have every finding with its fix and
    evidence. first_seen is the log time of the newest ACL of a finding, or the start of the first
    run that reported it. The exit code is 1 if a listed finding has the severity of --fail-on or
    higher. With --baseline or --mutes, only findings that are not in the baseline and not accepted
    count, and expired acceptances.
    """
    context: Context = ctx.ensure_object(Context)
    if ctx.invoked_subcommand is not None:
        return
    check_kinds([*kind, *([explained] if explained is not None else [])])
    if explained is not None:
        write_lines(lay_out(explanation(explained), context.layout), sys.stdout)
        return
    baseline, mutes = read_baseline(chosen["baseline"]), read_mutes(chosen["mutes"])
    wanted = up_to(severity) if severity else SEVERITIES
    known = {
        name: item
        for name, item in baseline.items()
        if (not kind or item.finding in kind) and item.severity in wanted
    }
    today = datetime.now(UTC).date()
    with context.open() as opened:
        findings = read_findings(opened.where, kind, wanted)
        judged = classify(findings, known, mutes, today)
        has_states = bool(chosen["baseline"] or mutes)
        found = read_judged(opened.where, opened.run, judged, has_states=has_states, kinds=kind)
    tell_state(opened.published, opened.run)
    tell_all(notes_on_audit(opened.run))
    if baseline_file is not None:
        text = render_baseline(findings, opened.cluster_id, found.first_seen)
        write_atomically(baseline_file, text)
        tell(f"Wrote {baseline_file}.")
    context.write(findings_answer(found))
    tell_mutes(judged, [] if kind or severity else mutes, today)
    if baseline_file is None and fails(judged, up_to(chosen["fail_on"])):
        sys.exit(FINDINGS_EXIT)


@audit.command("accept")
@click.argument("fingerprint")
@click.option("--until", metavar="YYYY-MM-DD", required=True, help="Last day of the acceptance.")
@click.option("--reason", required=True, help="Why the finding may stay.")
@click.option("--owner", required=True, help="Who accepts it.")
@click.option("--mutes", metavar="FILE.toml", help="File of accepted findings; made if missing.")
@click.pass_obj
def accept(
    context: Context, fingerprint: str, until: str, reason: str, owner: str, mutes: str | None
) -> None:
    """Accept a finding until a day, in the mutes file.

    \b
    Example:
      aclkit audit accept 0f3c2b1a9d8e7f60 --until 2027-03-31 --owner ops --reason legacy

    The fingerprint stands in --format json and csv of aclkit audit. The file is that of --mutes of
    audit and run. The finding must be in force; comments and other entries of the file stay.
    """
    day = _day(until)
    ctx = click.get_current_context()
    file = mutes or (ctx.find_root().default_map or {}).get("audit", {}).get("mutes")
    if file is None:
        raise UsageError("No file of accepted findings. Pass --mutes FILE.toml.")
    text = read_text(file) if Path(file).exists() else ""
    today = datetime.now(UTC).date()
    for mute in parse_mutes(text, file):
        if mute.fingerprint == fingerprint and mute.until >= today:
            raise UsageError(f"{file} already accepts {fingerprint} until {mute.until}.")
    with context.open() as opened:
        findings = read_findings(opened.where)
    found = next((f for f in findings if f.fingerprint == fingerprint), None)
    if found is None:
        raise UsageError(
            f"No finding in force has the fingerprint {fingerprint!r}. "
            "List them: aclkit audit --format csv --columns fingerprint,message"
        )
    lead = f"{text.rstrip()}\n\n" if text.strip() else ""
    changed = lead + render_mute(found, day, owner, reason)
    parse_mutes(changed, file)
    write_atomically(file, changed)
    tell(f"Accepted {found.finding} {fingerprint} until {day} in {file}.")


def _day(text: str) -> date:
    """Read a day that is not over.

    Raises:
        UsageError: it is none, or in the past.
    """
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{text!r} is no day. Use YYYY-MM-DD, such as 2027-03-31.") from None
    if day < datetime.now(UTC).date():
        raise UsageError(f"--until {text} is in the past.")
    return day
