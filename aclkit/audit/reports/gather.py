"""A published run → its summary, and the record that all reports show."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

import duckdb

import aclkit
from aclkit.audit.findings.baseline import Judged
from aclkit.audit.findings.registry import KINDS
from aclkit.audit.reports.data import AliveAcl, NightlySummary, RunReport
from aclkit.audit.reports.gather_access import gather_explorer
from aclkit.audit.reports.gather_past import read_changes, read_names, read_trend
from aclkit.audit.reports.gather_principals import gather_principals
from aclkit.audit.reports.heat import gather_heat
from aclkit.audit.reports.words import names_words
from aclkit.model.findings import Finding, sort_findings
from aclkit.model.log_findings import AUTHORIZER_LOG_MISMATCH, REFUSED_ACCESS, UNUSED_GRANT
from aclkit.questions.query.lifetimes import ChangeKey, first_seen, read_changed_by
from aclkit.warehouse.codecs import acl_of, acl_sql, behind_acl, finding_of, finding_sql
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.published import Published, deciding_run, read_again
from aclkit.warehouse.reader import Tables
from aclkit.warehouse.sql import fetch
from aclkit.warehouse.views import sql_of

Judge = Callable[[Iterable[Finding]], Iterable[Judged]]
"""What says the states of findings: ``audit.baseline.classify``, given all but the findings."""

_AUDITING: Final = "run"
"""The job that looks for findings of every kind, those of ``usage`` aside."""
_OF_USAGE: Final = {UNUSED_GRANT.id, AUTHORIZER_LOG_MISMATCH.id, REFUSED_ACCESS.id}


def gather(
    connection: duckdb.DuckDBPyConnection,
    published: Published,
    summary: NightlySummary,
    *,
    now: datetime | None = None,
    has_access: bool = True,
) -> RunReport:
    """Read what reports show beside the summary of the newest run that decided.

    Args:
        connection: see ``duck.connect``, over all tables.
        published: the warehouse.
        summary: the run, see ``read_summary``.
        now: the time of the report.
        has_access: read what only HTML shows too: principals, the heat map and the explorer.

    Raises:
        UsageError: nothing was decided yet.
    """
    cluster_id, now = summary.cluster_id, now or datetime.now(UTC)
    run = deciding_run(published, cluster_id)
    acls = read_acls(connection, run)
    head = published.last_run(cluster_id).head_offset
    behind = {acl_id for finding, _ in summary.listed for acl_id in finding.acl_ids}
    report = RunReport(
        summary=summary,
        version=aclkit.__version__,
        made_at=now,
        finished_at=run.finished_at.replace(tzinfo=UTC) if run.finished_at else now,
        log_head=summary.head_offset if head is None else head,
        is_read_again=read_again(published, run) is not None,
        kinds=tuple(sorted(set(KINDS) - _OF_USAGE)) if run.job == _AUDITING else (),
        acls=_with_by(connection, cluster_id, (a for a in acls if a.acl.acl_id in behind)),
        trend=tuple(read_trend(connection, cluster_id)),
    )
    if not has_access:
        return report
    explorer, note = gather_explorer(connection, cluster_id, acls)
    heat = gather_heat(connection, cluster_id)
    return replace(
        report,
        since=first_seen(connection, cluster_id, (finding for finding, _ in summary.listed)),
        principals=gather_principals(connection, run, summary.findings),
        heat=heat,
        explorer=explorer,
        explorer_note=note,
    )


def read_acls(connection: duckdb.DuckDBPyConnection, run: PublishedRun) -> list[AliveAcl]:
    """Read the ACLs by which a run decided, with the record that added each."""
    rows = fetch(connection, _ACLS, [run.cluster_id, *[run.head_offset] * 3])
    added = ((acl_of(row), *behind_acl(row)) for row in rows)
    return [
        AliveAcl(acl=acl, added_offset=offset, added_at=at and at.replace(tzinfo=UTC))
        for acl, offset, at in added
    ]


def _with_by(
    connection: duckdb.DuckDBPyConnection, cluster_id: str, acls: Iterable[AliveAcl]
) -> dict[str, AliveAcl]:
    """Return ACLs by id, each with who may have added it, as far as that is known."""
    found = list(acls)
    by = read_changed_by(connection, cluster_id, (alive.added_offset for alive in found))
    return {
        alive.acl.acl_id: replace(
            alive, by=by.get(ChangeKey(alive.acl.acl_id, "added", alive.added_offset))
        )
        for alive in found
    }


def read_summary(tables: Tables, run: PublishedRun, judge: Judge | None = None) -> NightlySummary:
    """Read what a run that decided has published; what it ended with is not kept.

    Args:
        tables: see ``opening.open_tables``.
        run: the newest that decided.
        judge: what says the states of the findings, where there is a baseline or a mute.
    """
    cluster_id = run.cluster_id
    ((principals, hosts, resources),) = fetch(tables, _SIZES, [cluster_id] * 3)
    changes, number = read_changes(tables, run)
    names = read_names(tables, run)
    unaudited = () if run.job == _AUDITING else (_NOT_AUDITED,)
    summary = NightlySummary(
        cluster_id=cluster_id,
        run_id=run.run_id,
        started_at=run.began,
        seconds=run.seconds or 0.0,
        status=run.status,
        head_offset=run.head_offset or 0,
        acls=run.counts.get("acls", 0),
        principals=principals,
        hosts=hosts,
        resources=resources,
        rows_expected=run.counts.get("rows_expected", 0),
        rows_decided=run.counts.get("rows_decided", 0),
        notes=(*run.notes, *map(names_words, names), *unaudited),
        findings=tuple(sort_findings(map(finding_of, fetch(tables, _FINDINGS, [cluster_id])))),
        changes=changes,
        access_changes=number,
        names=names,
        exit_code=None,
        known_before=_known_before(tables, run),
    )
    return summary if judge is None else summary.with_states(judge(summary.findings))


def _known_before(tables: Tables, run: PublishedRun) -> frozenset[str] | None:
    """Read which findings were in force before a run; None where none looked for any."""
    if not fetch(tables, _AUDITED_BEFORE, [run.cluster_id, _AUDITING, run.run_number]):
        return None
    earlier = f"(SELECT * FROM job_run WHERE run_number < {run.run_number:d})"  # noqa: S608 -- a number
    in_force = sql_of("finding_current", {"job_run": earlier})
    rows = fetch(tables, finding_sql(f"FROM ({in_force}) WHERE cluster_id = ?"), [run.cluster_id])
    return frozenset(finding_of(row).fingerprint for row in rows)


_FINDINGS: Final = finding_sql("FROM finding_current WHERE cluster_id = ?")
_AUDITED_BEFORE: Final = (
    "SELECT 1 FROM job_run WHERE cluster_id = ? AND job = ? AND run_number < ? LIMIT 1"
)
_NOT_AUDITED: Final = "this run only decided; aclkit run looks for findings too"
_SIZES: Final = (
    "SELECT (SELECT count(*) FROM principal WHERE cluster_id = ?), "
    "(SELECT count(*) FROM host WHERE cluster_id = ?), "
    "(SELECT count(*) FROM resource WHERE cluster_id = ?)"
)
_ACLS: Final = acl_sql(
    "FROM acl_history WHERE cluster_id = ? AND (? IS NULL OR (effective_offset < ? "
    "AND (removed_offset IS NULL OR removed_offset >= ?))) "
    "ORDER BY resource_type, resource_name, pattern_type, principal, acl_id",
    "added_offset",
    "CAST(added_at AS TIMESTAMP)",
)
