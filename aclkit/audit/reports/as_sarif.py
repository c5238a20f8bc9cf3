"""A report → SARIF 2.1.0, the form in which code scanners take findings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from aclkit.answer.rows import json_text
from aclkit.audit.findings.baseline import BaselineEntry, Judged
from aclkit.audit.reports.data import COMPLETE, AssertionOutcome, RunReport
from aclkit.audit.reports.words import iso
from aclkit.model.findings import SEVERITIES, Finding

ASSERTION: Final = "assertion"
"""The rule of a broken assertion."""

_BASELINE_STATES: Final = {True: "unchanged", False: "new"}
_LEVELS: Final = {"high": "error", "medium": "warning", "low": "note", "info": "note"}


def render_sarif(report: RunReport) -> str:
    """Return one SARIF run: a rule per kind of finding, a result per finding or broken assertion.

    An ACL has no file, so a result names it as a logical location (SARIF 2.1.0, 3.33). The
    fingerprint is the finding's own and the same in every run.

    Where there is a baseline or a mute, a result says by ``baselineState`` (3.27.24) whether it is
    new, and by ``suppressions`` (3.27.23, 3.35) who answers for it until when. What is fixed is a
    result ``absent`` that passes. A mute that has run out suppresses nothing: it is a property.
    """
    summary = report.summary
    findings, gone = summary.listed, summary.fixed
    broken = [tested for tested in summary.assertions or () if not tested.passed]
    worst = {finding.finding: finding for finding, _ in reversed(findings)}
    kinds = dict.fromkeys([*(each.finding for each, _ in findings), *(k.finding for k in gone)])
    rules = [*kinds, *([ASSERTION] if broken else ())]
    place = {kind: number for number, kind in enumerate(rules)}
    return sarif(
        f"{summary.cluster_id}/{summary.run_id}",
        driver_of(report.version, [_rule(name, worst.get(name)) for name in rules]),
        {
            "executionSuccessful": summary.status == COMPLETE,
            "startTimeUtc": iso(summary.started_at),
            "endTimeUtc": iso(report.finished_at),
            "toolExecutionNotifications": notes_of(summary.notes),
        },
        [
            *(_result(finding, state, place[finding.finding]) for finding, state in findings),
            *(_fixed(known, place[known.finding]) for known in gone),
            *(_broken(tested, place[ASSERTION]) for tested in broken),
        ],
    )


def _rule(name: str, worst: Finding | None) -> dict[str, Any]:
    """Describe a rule; a kind's level is that of its worst finding."""
    # Here: a proof of two files writes SARIF too, and needs no engine.
    from aclkit.audit.findings.registry import KINDS

    kind = KINDS.get(name)
    if name == ASSERTION:
        meaning, fix = "A policy of the team does not hold.", "Mend what breaks it."
    elif kind is not None:
        meaning, fix = kind.meaning, kind.fix
    else:
        meaning, fix = (worst.message, worst.fix) if worst else (name, name)
    severity = worst.severity if worst else kind.severity if kind else SEVERITIES[0]
    return rule_of(name, meaning, fix, _LEVELS[severity])


def _result(finding: Finding, state: Judged | None, rule: int) -> dict[str, Any]:
    properties = {
        "severity": finding.severity,
        "holdsFor": finding.holds_for,
        "evidence": list(finding.evidence),
        "aclIds": list(finding.acl_ids),
        **({"muteRanOut": _mute(state)} if state and state.is_expired else {}),
    }
    text = f"{finding.message} {finding.fix}"
    return result_of(
        (finding.finding, rule), _LEVELS[finding.severity], text, finding.subject,
        finding.fingerprint, properties=properties, **({} if state is None else _state(state)),
    )  # fmt: skip


def _state(state: Judged) -> dict[str, Any]:
    """Return what a state adds; every result has suppressions then, if an empty list."""
    suppression = {"kind": "external", "status": "accepted", "justification": _mute(state)}
    return {
        "baselineState": _BASELINE_STATES[state.known is not None],
        "suppressions": [suppression] if state.state == "muted" else [],
    }


def _mute(state: Judged) -> str:
    mute = state.mute
    return f"{mute.owner}, until {mute.until}: {mute.reason}" if mute is not None else ""


def _fixed(known: BaselineEntry, rule: int) -> dict[str, Any]:
    text = f"Fixed: {known.finding} of {known.subject}"
    return result_of(
        (known.finding, rule), "none", text, known.subject, known.fingerprint,
        kind="pass", baselineState="absent", suppressions=[],
    )  # fmt: skip


def _broken(tested: AssertionOutcome, rule: int) -> dict[str, Any]:
    example = f" For example: {tested.example}" if tested.example else ""
    return result_of(
        (ASSERTION, rule), _LEVELS[tested.severity], f"{tested.message}{example}", tested.name,
        f"assertion:{tested.name}",
        properties={"state": "unknown" if tested.is_unknown else "failed"},
    )  # fmt: skip


SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(
    name: str, driver: dict[str, Any], invocation: dict[str, Any], results: Sequence[dict[str, Any]]
) -> str:
    """Return a file of one run; ``name`` says what was run."""
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"aclkit/{name}"},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": results,
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json_text(document, indent=2) + "\n"


def driver_of(version: str, rules: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Describe aclkit as the tool, and its rules."""
    return {"name": "aclkit", "version": version, "rules": rules}


def notes_of(texts: Sequence[str]) -> list[dict[str, Any]]:
    """Return what a run has to say beside its results."""
    return [{"level": "note", "message": {"text": text}} for text in texts]


def result_of(
    rule: tuple[str, int], level: str, text: str, place: str, fingerprint: str, **more: object
) -> dict[str, Any]:
    """Describe a result of a rule, which is named with its place among the rules.

    What has no file, such as an ACL, is a logical location (3.33).
    """
    where = {"logicalLocations": [{"fullyQualifiedName": place, "kind": "resource"}]}
    return {
        "ruleId": rule[0],
        "ruleIndex": rule[1],
        "level": level,
        "kind": "fail",
        "message": {"text": text},
        "locations": [where],
        "partialFingerprints": {"aclkit/v1": fingerprint},
        **more,
    }


def rule_of(name: str, meaning: str, fix: str, level: str) -> dict[str, Any]:
    """Describe a rule."""
    return {
        "id": name,
        "shortDescription": {"text": name.replace("-", " ")},
        "fullDescription": {"text": meaning},
        "help": {"text": fix},
        "defaultConfiguration": {"level": level},
    }
