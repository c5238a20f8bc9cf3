"""A report → SARIF 2.1.0, the form in which code scanners take findings."""

from __future__ import annotations

import json
from typing import Any, Final

from aclkit.audit.kinds import KINDS
from aclkit.findings import Finding, sort_findings
from aclkit.reports.data import AssertionOutcome, Report
from aclkit.reports.words import COMPLETE, iso

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
ASSERTION: Final = "assertion"
"""The rule of a broken assertion."""

_LEVELS: Final = {"high": "error", "medium": "warning", "low": "note", "info": "note"}


def render_sarif(report: Report) -> str:
    """Write one SARIF run: a rule per kind of finding, a result per finding or broken assertion.

    An ACL has no file, so a result names it as a logical location (SARIF 2.1.0, 3.33). The
    fingerprint is the finding's own and the same in every run.
    """
    findings = sort_findings(report.summary.findings)
    broken = [tested for tested in report.summary.assertions or () if not tested.passed]
    kinds = list(dict.fromkeys(finding.finding for finding in findings))
    rules = [*kinds, *([ASSERTION] if broken else ())]
    place = {kind: number for number, kind in enumerate(rules)}
    run = {
        "tool": {"driver": _driver(report, rules, findings)},
        "automationDetails": {"id": f"aclkit/{report.summary.cluster_id}/{report.summary.run_id}"},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(report)],
        "results": [
            *(_result(finding, place[finding.finding]) for finding in findings),
            *(_broken(tested, place[ASSERTION]) for tested in broken),
        ],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _invocation(report: Report) -> dict[str, Any]:
    summary = report.summary
    return {
        "executionSuccessful": summary.status == COMPLETE,
        "startTimeUtc": iso(summary.started_at),
        "endTimeUtc": iso(report.finished_at),
        "toolExecutionNotifications": [
            {"level": "note", "message": {"text": note}} for note in summary.notes
        ],
    }


def _driver(report: Report, rules: list[str], findings: list[Finding]) -> dict[str, Any]:
    """Describe the rules; a kind's level is that of its worst finding, which comes first."""
    first = {finding.finding: finding for finding in reversed(findings)}
    return {
        "name": "aclkit",
        "version": report.version,
        "rules": [_rule(rule, first.get(rule)) for rule in rules],
    }


def _rule(rule: str, worst: Finding | None) -> dict[str, Any]:
    if worst is None:
        meaning, fix, level = "A policy of the team does not hold.", "Mend what breaks it.", "error"
    else:
        kind = KINDS.get(rule)
        meaning, fix = (kind.meaning, kind.fix) if kind else (worst.message, worst.fix)
        level = _LEVELS[worst.severity]
    return {
        "id": rule,
        "shortDescription": {"text": rule.replace("-", " ")},
        "fullDescription": {"text": meaning},
        "help": {"text": fix},
        "defaultConfiguration": {"level": level},
    }


def _result(finding: Finding, rule: int) -> dict[str, Any]:
    return {
        "ruleId": finding.finding,
        "ruleIndex": rule,
        "level": _LEVELS[finding.severity],
        "kind": "fail",
        "message": {"text": f"{finding.message} {finding.fix}"},
        "locations": [_place(finding.subject)],
        "partialFingerprints": {"aclkit/v1": finding.fingerprint},
        "properties": {
            "severity": finding.severity,
            "holdsFor": finding.holds_for,
            "evidence": list(finding.evidence),
            "aclIds": list(finding.acl_ids),
        },
    }


def _broken(tested: AssertionOutcome, rule: int) -> dict[str, Any]:
    example = f" For example: {tested.example}" if tested.example else ""
    return {
        "ruleId": ASSERTION,
        "ruleIndex": rule,
        "level": _LEVELS[tested.severity],
        "kind": "fail",
        "message": {"text": f"{tested.message}{example}"},
        "locations": [_place(tested.name)],
        "partialFingerprints": {"aclkit/v1": f"assertion:{tested.name}"},
    }


def _place(name: str) -> dict[str, Any]:
    return {"logicalLocations": [{"fullyQualifiedName": name, "kind": "resource"}]}
