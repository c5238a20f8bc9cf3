"""The command audit: the findings in force, or what one kind of finding means."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import click
import duckdb

from aclkit.answer.document import Answer, Table
from aclkit.answer.render import TABLE
from aclkit.audit.findings.baseline import Judged, classify, fails, render_baseline
from aclkit.audit.findings.registry import KINDS, scope_words
from aclkit.audit.reports.states import count_severities, count_states, counted
from aclkit.cli.baseline_options import (
    baseline_options,
    fail_on_option,
    judged_row,
    read_baseline,
    read_mutes,
    tell_mutes,
)
from aclkit.cli.completing import complete_finding
from aclkit.cli.context import Context, format_option, tell_state
from aclkit.cli.output import tell
from aclkit.errors import UsageError
from aclkit.model.findings import Finding, up_to
from aclkit.questions.query.first_seen import first_seen
from aclkit.runtime.whole_file import write_whole
from aclkit.warehouse.codecs import finding_of, finding_sql
from aclkit.warehouse.sql import fetch

FINDINGS_EXIT: Final = 1


@click.command("audit")
@fail_on_option("The least severity of a finding that makes the exit code 1.")
@click.option(
    "--finding",
    "kinds",
    multiple=True,
    metavar="ID",
    shell_complete=complete_finding,
    help="Only findings of this kind, for --fail-on too; may be given again.",
)
@click.option(
    "--explain",
    "explained",
    metavar="ID",
    shell_complete=complete_finding,
    help="Say what a kind of finding means; needs nothing.",
)
@baseline_options
@click.option(
    "--write-baseline",
    "baseline_file",
    metavar="FILE.json",
    help="Write the findings in force as a baseline, and end with exit code 0.",
)
@format_option
@click.pass_obj
def audit(
    context: Context,
    /,
    kinds: tuple[str, ...],
    explained: str | None,
    baseline_file: str | None,
    **chosen: Any,  # noqa: ANN401 -- the option groups name them
) -> None:
    """Print the findings in force: what is wrong with the ACLs, the worst first.

    \b
    Example:
      aclkit audit
      aclkit audit --fail-on medium --finding public-access --finding escalation
      aclkit audit --write-baseline baseline.json
      aclkit audit --baseline baseline.json --mutes conf/mutes.toml
      aclkit audit --explain never-matches

    They are those of the last night (aclkit run). A table shows the message, --wide the subject
    and since when too; the other formats have fix, evidence and ids of the ACLs. first_seen is the
    log time of the youngest ACL behind a finding, or the start of the first run that showed it.
    The exit code is 1 where one that is printed is of the severity of --fail-on or worse; with
    --baseline or --mutes only where it is new, or its mute has run out.
    """
    _check_kinds([*kinds, *([explained] if explained is not None else [])])
    if explained is not None:
        click.echo("\n".join(_explanation(explained)))
        return
    baseline, mutes = read_baseline(chosen["baseline"]), read_mutes(chosen["mutes"])
    with context.open() as opened:
        run, cluster_id = opened.run, opened.cluster_id
        findings = _read(opened.tables, cluster_id, kinds)
        seen = first_seen(opened.tables, cluster_id, findings)
    tell_state(opened.published, run)
    if run.job != _NIGHTLY:
        tell(_HALF)
    if baseline_file is not None:
        text = render_baseline(findings, cluster_id, seen)
        write_whole(baseline_file, text)
        tell(f"wrote {baseline_file}")
    known = {name: item for name, item in baseline.items() if not kinds or item.finding in kinds}
    today = datetime.now(UTC).date()
    judged = classify(findings, known, mutes, today)
    _print(context, judged, seen, has_states=bool(chosen["baseline"] or mutes))
    tell_mutes(judged, [] if kinds else mutes, today)
    if baseline_file is None and fails(judged, up_to(chosen["fail_on"])):
        sys.exit(FINDINGS_EXIT)


_FIELDS: Final = (
    "severity", "finding", "subject", "message", "fix", "holds_for", "evidence", "acl_ids",
    "fingerprint",
)  # fmt: skip
_COLUMNS: Final = (*_FIELDS, "first_seen", "state", "muted_until", "owner", "reason")
_FEW: Final = ("severity", "finding", "message")
_WIDE: Final = ("severity", "finding", "holds_for", "first_seen", "subject", "message")


def _print(
    context: Context,
    judged: Sequence[Judged],
    seen: Mapping[str, datetime | None],
    *,
    has_states: bool,
) -> None:
    """Print findings with their states, in a table only where these can differ."""
    rows = [_row(item, seen) for item in judged]
    few = ("state", *_FEW) if has_states else _FEW
    wide = ("state", *_WIDE) if has_states else _WIDE
    table = Table(few, list(_cells(rows, few)), Table(wide, list(_cells(rows, wide))))
    context.write(
        Answer(
            title="Findings", columns=_COLUMNS, rows=_cells(rows, _COLUMNS), parts=lambda: [table]
        )
    )
    if context.output_format == TABLE:
        tell(_verdict(judged, has_states=has_states))


def _cells(
    rows: Sequence[Mapping[str, object]], columns: Sequence[str]
) -> Iterator[Sequence[object]]:
    return ([row.get(column) for column in columns] for row in rows)


def _row(item: Judged, seen: Mapping[str, datetime | None]) -> dict[str, Any]:
    """Return all columns of a finding; of a fixed one the baseline's."""
    names = ("fingerprint", "finding", "severity", "subject")
    row: dict[str, Any] = {name: getattr(item.finding or item.known, name) for name in names}
    if item.finding is not None:
        row |= {name: getattr(item.finding, name) for name in _FIELDS}
    return row | judged_row(item) | {"first_seen": seen.get(item.fingerprint)}


_NIGHTLY: Final = "run"
_HALF: Final = (
    "decided by materialize, which looks only at how ACLs are read; for all findings: aclkit run"
)
_WIDTH: Final = 88


def _check_kinds(kinds: Sequence[str]) -> None:
    """Refuse what is no kind of finding.

    Raises:
        UsageError: a word is none.
    """
    for kind in kinds:
        if kind not in KINDS:
            raise UsageError(f"no finding is called {kind!r}: expected one of {', '.join(KINDS)}")


def _read(
    connection: duckdb.DuckDBPyConnection, cluster_id: str, kinds: Sequence[str]
) -> list[Finding]:
    """Read the findings in force, of some kinds only if any are given."""
    found = fetch(connection, _FINDINGS, [cluster_id, len(kinds), list(kinds)])
    return list(map(finding_of, found))


_FINDINGS: Final = finding_sql(
    "FROM finding_current WHERE cluster_id = ? "
    "AND (? = 0 OR finding IN (SELECT unnest(CAST(? AS VARCHAR[]))))"
)


def _verdict(judged: Sequence[Judged], *, has_states: bool) -> str:
    """Count the findings by severity, and by state."""
    told = counted(count_severities(item.finding for item in judged if item.finding is not None))
    if has_states:
        told += f"; {counted(count_states(judged))}"
    return f"{told}; what one means: aclkit audit --explain ID" if told else "no findings"


def _explanation(kind_id: str) -> Iterator[str]:
    kind = KINDS[kind_id]
    yield kind.id
    for title, text in (
        ("severity", kind.severity_words),
        ("holds for", scope_words(kind)),
        ("meaning", kind.meaning),
        ("how to fix", kind.fix),
    ):
        yield ""
        yield f"{title}:"
        yield textwrap.fill(
            text, _WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
        )
