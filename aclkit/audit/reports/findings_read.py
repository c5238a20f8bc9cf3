"""A published run → its findings in force, of some kinds and severities, as their answer needs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from aclkit.audit.findings.baseline import Judged
from aclkit.audit.reports.findings_answer import Findings
from aclkit.audit.reports.gather_principals import acls_behind
from aclkit.model.findings import SEVERITIES, Finding
from aclkit.questions.query.decisions import Where
from aclkit.questions.query.lifetimes import first_seen
from aclkit.warehouse.codecs import finding_of, finding_sql
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.sql import fetch


def read_findings(
    where: Where, kinds: Sequence[str] = (), severities: Collection[str] = SEVERITIES
) -> list[Finding]:
    """Read the findings in force, of some kinds only if any are given."""
    found = fetch(where.tables, _FINDINGS, [where.cluster_id, len(kinds), list(kinds)])
    return [each for each in map(finding_of, found) if each.severity in severities]


def read_judged(
    where: Where,
    run: PublishedRun,
    judged: Sequence[Judged],
    *,
    has_states: bool,
    kinds: Sequence[str] = (),
) -> Findings:
    """Return findings with their states, since when each is known, and the ACLs behind them."""
    findings = [each.finding for each in judged if each.finding is not None]
    return Findings(
        judged=judged,
        first_seen=first_seen(where.tables, where.cluster_id, findings),
        acls=acls_behind(where.tables, run, findings),
        has_states=has_states,
        kinds=kinds,
    )


def notes_on_audit(run: PublishedRun) -> Iterator[str]:
    """Yield that a run looked for some kinds of findings only."""
    if run.job != "run":
        yield (
            "These decisions are of materialize, which finds only how ACLs are read. "
            "For all findings: aclkit run"
        )


_FINDINGS: Final = finding_sql(
    "FROM finding_current WHERE cluster_id = ? "
    "AND (? = 0 OR finding IN (SELECT unnest(CAST(? AS VARCHAR[]))))"
)
