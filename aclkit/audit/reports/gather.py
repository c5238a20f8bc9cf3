"""A published run → the record that all reports show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any, Final

import duckdb

import aclkit
from aclkit.audit.findings.baseline import Judged
from aclkit.audit.findings.kinds import AUTHORIZER_LOG_MISMATCH, KINDS, UNUSED_GRANT
from aclkit.audit.reports.data import AliveAcl, AssertionOutcome, NightlySummary, Report
from aclkit.audit.reports.gather_access import gather_explorer, gather_heat
from aclkit.audit.reports.gather_past import read_changes, read_trend
from aclkit.audit.reports.states import listed, with_states
from aclkit.model.acl import Acl
from aclkit.model.findings import Finding, sort_findings
from aclkit.warehouse.published import Published, Run, deciding_run
from aclkit.warehouse.sql import fetch

Judge = Callable[[Iterable[Finding]], Iterable[Judged]]
"""What says the states of findings: ``audit.baseline.classify``, given all but the findings."""

_AUDITING: Final = "run"
"""The job that looks for findings of every kind, those of ``usage`` aside."""
_OF_USAGE: Final = {UNUSED_GRANT.id, AUTHORIZER_LOG_MISMATCH.id}


def gather(
    connection: duckdb.DuckDBPyConnection,
    published: Published,
    cluster_id: str,
    *,
    now: datetime | None = None,
    has_access: bool = True,
    exit_code: int | None = None,
    assertions: Sequence[AssertionOutcome] | None = None,
    judge: Judge | None = None,
) -> Report:
    """Read all that reports show about the newest run that decided a cluster's accesses.

    Args:
        connection: see ``duck.connect``, over all tables.
        published: the warehouse.
        cluster_id: the cluster.
        now: the time of the report.
        has_access: read the heat map and the explorer too, which only HTML shows.
        exit_code: what the run ends with, where that is known.
        assertions: what came out of the team's policies, where some were tested.
        judge: what says the states of the findings, where there is a baseline or a mute.

    Raises:
        UsageError: nothing was decided yet.
    """
    run = deciding_run(published, cluster_id)
    acls = read_acls(connection, run)
    tested = None if assertions is None else tuple(assertions)
    summary = replace(_summary(connection, run), exit_code=exit_code, assertions=tested)
    if judge is not None:
        summary = with_states(summary, judge(summary.findings))
    made_at = now or datetime.now(UTC)
    report = _without_access(connection, published, run, acls, summary, made_at)
    if not has_access:
        return report
    explorer, note = gather_explorer(connection, cluster_id, acls)
    heat = gather_heat(connection, cluster_id)
    return replace(report, heat=heat, explorer=explorer, explorer_note=note)


def _without_access(
    connection: duckdb.DuckDBPyConnection,
    published: Published,
    run: Run,
    acls: Iterable[AliveAcl],
    summary: NightlySummary,
    now: datetime,
) -> Report:
    head = published.last_run(run.cluster_id).head_offset
    behind = {acl_id for finding, _ in listed(summary) for acl_id in finding.acl_ids}
    return Report(
        summary=summary,
        version=aclkit.__version__,
        made_at=now,
        finished_at=run.finished_at.replace(tzinfo=UTC) if run.finished_at else now,
        log_head=summary.head_offset if head is None else head,
        kinds=tuple(sorted(set(KINDS) - _OF_USAGE)) if run.job == _AUDITING else (),
        acls={alive.acl.acl_id: alive for alive in acls if alive.acl.acl_id in behind},
        trend=tuple(read_trend(connection, run.cluster_id)),
    )


def read_acls(connection: duckdb.DuckDBPyConnection, run: Run) -> list[AliveAcl]:
    """Read the ACLs by which a run decided, with the record that added each."""
    rows = fetch(connection, _ACLS, [run.cluster_id, *[run.head_offset] * 3])
    size = len(Acl.__slots__)
    return [
        AliveAcl(
            acl=Acl(**dict(zip(Acl.__slots__, row[:size], strict=True))),
            added_offset=row[size],
            added_at=row[size + 1] and row[size + 1].replace(tzinfo=UTC),
        )
        for row in rows
    ]


def _summary(connection: duckdb.DuckDBPyConnection, run: Run) -> NightlySummary:
    """Read what the nightly page shows; what the run ended with is not kept."""
    cluster_id = run.cluster_id
    ((started_at, seconds),) = fetch(connection, _RUN, [run.run_number])
    ((principals, hosts, resources),) = fetch(connection, _SIZES, [cluster_id] * 3)
    changes, number = read_changes(connection, run)
    return NightlySummary(
        cluster_id=cluster_id,
        run_id=run.run_id,
        started_at=started_at.replace(tzinfo=UTC),
        seconds=seconds,
        status=run.status,
        head_offset=run.head_offset or 0,
        acls=run.counts.get("acls", 0),
        principals=principals,
        hosts=hosts,
        resources=resources,
        rows_expected=run.counts.get("rows_expected", 0),
        rows_decided=run.counts.get("rows_decided", 0),
        notes=(*run.notes, *(() if run.job == _AUDITING else (_NOT_AUDITED,))),
        findings=tuple(sort_findings(_findings(connection, cluster_id))),
        changes=changes,
        access_changes=number,
        exit_code=None,
    )


def _findings(connection: duckdb.DuckDBPyConnection, cluster_id: str) -> Iterable[Finding]:
    """Read the findings in force; a field that an older run did not write has its default."""
    columns = [row[0] for row in fetch(connection, "DESCRIBE finding_current", [])]
    known = [field.name for field in fields(Finding) if field.name in columns]
    text = f"SELECT {', '.join(known)} FROM finding_current WHERE cluster_id = ?"  # noqa: S608 -- fields of Finding
    for row in fetch(connection, text, [cluster_id]):
        said: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in zip(known, row, strict=True)
            if value is not None
        }
        yield Finding(**said)


_NOT_AUDITED: Final = "this run only decided; aclkit run looks for findings too"
_RUN: Final = (
    "SELECT CAST(started_at AS TIMESTAMP), coalesce(seconds, 0) FROM job_run WHERE run_number = ?"
)
_SIZES: Final = (
    "SELECT (SELECT count(*) FROM principal WHERE cluster_id = ?), "
    "(SELECT count(*) FROM host WHERE cluster_id = ?), "
    "(SELECT count(*) FROM resource WHERE cluster_id = ?)"
)
_ACLS: Final = (
    "SELECT acl_id, resource_type, resource_name, pattern_type, principal, host, operation, "
    "permission_type, added_offset, CAST(added_at AS TIMESTAMP) FROM acl_history "
    "WHERE cluster_id = ? AND (? IS NULL OR (effective_offset < ? "
    "AND (removed_offset IS NULL OR removed_offset >= ?))) "
    "ORDER BY resource_type, resource_name, pattern_type, principal, acl_id"
)
