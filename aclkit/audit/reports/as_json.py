"""A report → JSON for programs, every value unchanged."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from aclkit.audit.findings.baseline import Judged
from aclkit.audit.reports.data import AliveAcl, ReportedChange, RunReport
from aclkit.audit.reports.states import count_severities, count_states
from aclkit.audit.reports.words import iso, verdict
from aclkit.model.findings import Finding


def render_json(report: RunReport) -> str:
    """Return the run, its findings, changes, assertions and the trend as one JSON object.

    Muted findings stand among the findings, with who answers for them; the counts leave them out.
    """
    summary = report.summary
    assertions = summary.assertions
    content = {
        "cluster_id": summary.cluster_id,
        "verdict": verdict(summary),
        "aclkit_version": report.version,
        "made_at": iso(report.made_at),
        "run": _run(report),
        "counts": _counts(report),
        "findings": [_finding(finding, state, report) for finding, state in summary.listed],
        "fixed": list(map(asdict, summary.fixed)),
        "access_changes": [_change(change) for change in summary.changes],
        "assertions": None if assertions is None else [asdict(tested) for tested in assertions],
        "trend": [asdict(point) | {"started_at": iso(point.started_at)} for point in report.trend],
    }
    # Escaped, because names of half a surrogate pair have no other form.
    return json.dumps(content, indent=2) + "\n"


def _run(report: RunReport) -> dict[str, Any]:
    summary = report.summary
    return {
        "run_id": summary.run_id,
        "status": summary.status,
        "started_at": iso(summary.started_at),
        "finished_at": iso(report.finished_at),
        "seconds": summary.seconds,
        "decided_offset": summary.head_offset,
        "log_head": report.log_head,
        "notes": list(summary.notes),
    }


def _counts(report: RunReport) -> dict[str, Any]:
    summary = report.summary
    return {
        "acls": summary.acls,
        "principals": summary.principals,
        "hosts": summary.hosts,
        "resources": summary.resources,
        "answers_expected": summary.rows_expected,
        "answers_missing": summary.missing_answers,
        "findings": count_severities(summary.findings),
        "states": None if summary.judged is None else count_states(summary.judged),
        "access_changes": summary.access_changes,
    }


def _finding(finding: Finding, state: Judged | None, report: RunReport) -> dict[str, Any]:
    return {
        **asdict(finding),
        "fingerprint": finding.fingerprint,
        "state": state and state.state,
        "mute": _mute(state),
        "acls": [_acl(alive) for alive in report.acls_of(finding)],
    }


def _mute(state: Judged | None) -> dict[str, Any] | None:
    if state is None or state.mute is None:
        return None
    mute = state.mute
    return {
        "until": mute.until.isoformat(),
        "owner": mute.owner,
        "reason": mute.reason,
        "has_run_out": state.is_expired,
    }


def _acl(alive: AliveAcl) -> dict[str, Any]:
    at = iso(alive.added_at) if alive.added_at else None
    return {**asdict(alive.acl), "added_offset": alive.added_offset, "added_at": at}


def _change(change: ReportedChange) -> dict[str, Any]:
    causes = [
        {
            "offset": cause.offset,
            "at": iso(cause.at) if cause.at else None,
            "what": cause.what,
            "acl": asdict(cause.acl),
        }
        for cause in change.causes
    ]
    return {**asdict(change), "causes": causes}
