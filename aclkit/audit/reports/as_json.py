"""A report → JSON for programs, every value unchanged."""

from __future__ import annotations

from dataclasses import asdict
from datetime import date, datetime
from typing import Any

from aclkit.answer.rows import json_text
from aclkit.audit.findings.baseline import Judged
from aclkit.audit.reports.data import RunReport
from aclkit.audit.reports.words import count_severities, count_states, iso, verdict
from aclkit.model.findings import Finding


def render_json(report: RunReport) -> str:
    """Return the run, its findings, changes, assertions and the trend as one JSON object.

    Muted findings stand among the findings, with who answers for them; the counts leave them out.
    """
    summary = report.summary
    content = {
        "cluster_id": summary.cluster_id,
        "verdict": verdict(summary),
        "aclkit_version": report.version,
        "made_at": report.made_at,
        "run": _run(report),
        "counts": _counts(report),
        "findings": [_finding(finding, state, report) for finding, state in summary.listed],
        "fixed": list(map(asdict, summary.fixed)),
        "access_changes": list(map(asdict, summary.changes)),
        "assertions": None if summary.assertions is None else list(map(asdict, summary.assertions)),
        "trend": list(map(asdict, report.trend)),
    }
    return json_text(content, indent=2, default=_written) + "\n"


def _written(time: date) -> str:
    """Write what JSON has no form for: times and days."""
    return iso(time) if isinstance(time, datetime) else time.isoformat()


def _run(report: RunReport) -> dict[str, Any]:
    summary = report.summary
    return {
        "run_id": summary.run_id,
        "status": summary.status,
        "started_at": summary.started_at,
        "finished_at": report.finished_at,
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
    mute = state and state.mute
    return {
        **asdict(finding),
        "fingerprint": finding.fingerprint,
        "state": state and state.state,
        "mute": state and mute and {
            "until": mute.until, "owner": mute.owner, "reason": mute.reason,
            "has_run_out": state.is_expired,
        },
        "acls": [
            {
                **asdict(alive.acl),
                "added_offset": alive.added_offset,
                "added_at": alive.added_at,
                "changed_by": (alive.by.names or None) if alive.by else None,
                "changed_by_certainty": alive.by.certainty if alive.by else None,
            }
            for alive in report.acls_of(finding)
        ],
    }  # fmt: skip
