"""The nightly run: replay, materialize, findings, what changed, and the page that tells it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from aclkit.audit.findings.broker_settings_differ import note_resolved
from aclkit.audit.findings.collect import find_all
from aclkit.audit.findings.differences import note_readings
from aclkit.audit.findings.facts import BROAD_SHARE
from aclkit.audit.findings.read import audit_of
from aclkit.audit.reports.data import AccessChange, NightlySummary
from aclkit.audit.reports.markdown import render_summary
from aclkit.model.broker_settings import ResolvedSettings
from aclkit.model.findings import EVERY_NAME, Finding, sort_findings
from aclkit.model.resource import Resource
from aclkit.nightly.policies import Policies, conclude
from aclkit.pipeline.explain.materialize import (
    MaterializeOptions,
    is_decided,
    materialize,
    take_inventory,
)
from aclkit.pipeline.explain.scope import Scope
from aclkit.pipeline.replay.command import Intake, replay
from aclkit.pipeline.replay.replay import ReplayOptions, ReplayResult
from aclkit.runtime.progress import step
from aclkit.warehouse.published import open_warehouse
from aclkit.warehouse.readback import read_written
from aclkit.warehouse.run import BROKERS, Run, publish
from aclkit.warehouse.standing import MATERIALIZING
from aclkit.warehouse.views import USAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class NightlyOptions:
    """What the user says about a nightly run.

    Attributes:
        cluster: the cluster, where one was named.
        replay: how to replay.
        materialize: how to decide.
        policies: what the team says about findings and decisions.
        resolved: how the settings of ``materialize`` came about.
        broad_share: the share of the topics that an ALLOW may reach without being ``over-broad``.
    """

    cluster: str | None
    replay: ReplayOptions
    materialize: MaterializeOptions
    policies: Policies
    resolved: ResolvedSettings | None = None
    broad_share: float = BROAD_SHARE


@dataclass(frozen=True, slots=True, kw_only=True)
class NightlyResult:
    """What a nightly run found.

    Attributes:
        replay: what was replayed.
        findings: all that are in force, muted ones too.
        summary: what the page shows, verdicts and exit code included.
        page: its Markdown.
        exit_code: the highest of all.
    """

    replay: ReplayResult
    findings: tuple[Finding, ...]
    summary: NightlySummary
    page: str
    exit_code: int


def run_nightly(run: Run, intake: Intake, options: NightlyOptions) -> NightlyResult:
    """Replay, decide, find and compare; publish once, as one run.

    Where neither log nor settings nor inventory brought anything new, the decisions and findings
    of the run before hold, and only the ``job_run`` row is written.
    """
    replayed = replay(run, intake, options.cluster, options.replay)
    told = run.settings or {}
    if options.resolved is not None:
        note_resolved(run, options.resolved)
    scope = take_inventory(run, options.materialize)
    if is_decided(run, scope, options.materialize) and _is_audited(run, options):
        _keep_decisions(run, told)
    else:
        result = materialize(run, scope, options.materialize)
        note_readings(run, result, options.materialize)
        result.output.forget()
        with step("looking for findings"):
            chosen = options.materialize
            audit = audit_of(
                run.store,
                run.cluster_id,
                chosen.settings,
                chosen.semantics,
                broad_share=options.broad_share,
            )
            run.findings.extend(find_all(audit))
        run.settings = {**(run.settings or {}), "broad_share": options.broad_share}
    findings = _findings_in_force(run)
    summary = _summarize(run, scope, findings)
    publish(run)
    warehouse = run.store.warehouse
    published = None if "://" in warehouse else open_warehouse(warehouse)
    summary = conclude(summary, replayed.exit_code, options.policies, published)
    return NightlyResult(
        replay=replayed,
        findings=tuple(findings),
        summary=summary,
        page=render_summary(summary),
        exit_code=summary.exit_code or 0,
    )


def _is_audited(run: Run, options: NightlyOptions) -> bool:
    """Whether the run whose decisions hold looked for findings, as this one would."""
    before = run.previous(MATERIALIZING)
    if before is None or before["job"] != run.job:
        return False
    then, now = json.loads(before["settings"]), run.settings or {}
    return bool(
        then.get("broad_share") == options.broad_share and then.get(BROKERS) == now.get(BROKERS)
    )


def _keep_decisions(run: Run, told: Mapping[str, Any]) -> None:
    """Let the decisions of the run before stand for this one."""
    before = run.previous(MATERIALIZING)
    if before is not None:
        run.settings = {**json.loads(before["settings"]), **told}
        run.counts = {**before["counts"], **run.counts, "access_changes": 0}
    run.notes.append("nothing new since the run before: its decisions and findings hold")


def _findings_in_force(run: Run) -> list[Finding]:
    """Return this run's findings and those that still stand, as ``finding_current`` will.

    Those of the run whose decisions hold stand, and those of the last ``usage`` whose ACLs are
    all alive.
    """
    found = {finding.fingerprint: finding for finding in run.findings}
    decided_in, usage = run.counts["decided_in_run"], run.previous((USAGE,))
    with read_written(run.store, run.cluster_id, "finding", "acl_history") as read:
        if decided_in != run.run_number:
            (deciding,) = (r["run_id"] for r in run.store.runs if r["run_number"] == decided_in)
            for finding in map(_finding, read.rows(_FINDINGS, deciding)):
                found.setdefault(finding.fingerprint, finding)
        if usage is not None:
            alive = {acl_id for (acl_id,) in read.rows(_ALIVE)}
            for finding in map(_finding, read.rows(_FINDINGS, usage["run_id"])):
                if alive.issuperset(finding.acl_ids):
                    found.setdefault(finding.fingerprint, finding)
    return sort_findings(found.values())


_FINDINGS: Final = """\
SELECT finding, severity, subject, message, fix, acl_ids, holds_for, evidence
FROM finding WHERE run_id = ?"""
_ALIVE: Final = "SELECT acl_id FROM acl_history WHERE removed_offset IS NULL"


def _finding(row: tuple[Any, ...]) -> Finding:
    finding, severity, subject, message, fix, acl_ids, holds_for, evidence = row
    return Finding(
        finding=finding,
        severity=severity,
        subject=subject,
        message=message,
        fix=fix,
        acl_ids=tuple(acl_ids),
        holds_for=holds_for or EVERY_NAME,
        evidence=tuple(evidence or ()),
    )


def _summarize(run: Run, scope: Scope, findings: Iterable[Finding]) -> NightlySummary:
    now = datetime.now(UTC)
    return NightlySummary(
        cluster_id=run.cluster_id,
        run_id=run.run_id,
        started_at=run.started_at,
        seconds=(now - run.started_at).total_seconds(),
        status=run.status,
        head_offset=run.head_offset,
        acls=run.counts["acls"],
        principals=len(scope.inventory.principals),
        hosts=len(scope.inventory.hosts),
        resources=len(scope.inventory.resources),
        rows_expected=run.counts["rows_expected"],
        rows_decided=run.counts["rows_decided"],
        notes=tuple(run.notes),
        findings=tuple(findings),
        changes=tuple(_changes(run)),
        access_changes=run.counts.get("access_changes", 0),
        exit_code=None,
    )


def _changes(run: Run) -> Iterator[AccessChange]:
    """Read back what this run wrote into ``access_change``, the largest changes first."""
    if not run.counts.get("access_changes"):
        return
    with read_written(run.store, run.cluster_id, "access_change") as read:
        rows = read.rows(_CHANGES, run.run_id, _MOST_CHANGES)
    for principal, peers, resource_type, name, gained, lost, cause, offsets in rows:
        yield AccessChange(
            who=principal or f"all principals of class {peers}",
            resource=str(Resource(resource_type, name)),
            gained=gained,
            lost=lost,
            cause=cause,
            cause_offsets=tuple(offsets),
        )


_CHANGES: Final = """\
SELECT principal, principal_class, resource_type, resource_name, gained, lost, cause, cause_offsets
FROM access_change WHERE run_id = ?
ORDER BY gained + lost DESC, principal, resource_name LIMIT ?"""
_MOST_CHANGES: Final = 1_000
