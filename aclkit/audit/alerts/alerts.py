"""A summary of a run → an alert: its text, as generic JSON or in Slack's format. Pure.

What of a run a receiver does not know yet is in ``since``; who sends it and remembers that, in
``delivery``. A run that ended with an error sends ``alert_of_failure(cluster_id, error)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from aclkit.audit.findings.baseline import Judged, is_alarming_finding
from aclkit.audit.reports.data import NightlySummary
from aclkit.audit.reports.words import (
    STATE_WORDS,
    count_severities,
    count_states,
    iso,
    verdict,
)
from aclkit.errors import AclkitError
from aclkit.model.findings import SEVERITIES, Finding, sort_findings
from aclkit.model.visible import visible

ALWAYS: Final = "always"
STYLES: Final = ("json", "slack")
MOST_FINDINGS: Final = 10
"""So many findings stand in an alert, the worst; all are counted."""

_LONGEST: Final = 2_900
"""Slack refuses a block of text over 3,000 characters."""
_LONGEST_HEADER: Final = 150
_LONGEST_LINE: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """The content of an alert.

    Attributes:
        title: the subject, in a few words.
        text: one sentence.
        lines: the worst of it.
        facts: the same for programs, as values that JSON can hold.
    """

    title: str
    text: str
    lines: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


def alert_of(summary: NightlySummary) -> Alert:
    """Return what a run found, the worst first, and what is in the baseline last."""
    states = summary.states
    found = sort_findings(summary.findings)
    found.sort(key=lambda f: not is_alarming_finding(f, states.get(f.fingerprint), SEVERITIES))
    worst = found[:MOST_FINDINGS]
    more = len(summary.findings) - len(worst)
    broken, unknown = summary.broken_assertions, summary.unknown_assertions
    return Alert(
        title=title_of(summary.cluster_id),
        text=verdict(summary, none="no new findings"),
        lines=(
            *(f"broken assertion: {name}" for name in broken[:MOST_FINDINGS]),
            *(f"unknown assertion: {name}" for name in unknown[:MOST_FINDINGS]),
            *(_line(finding, states.get(finding.fingerprint)) for finding in worst),
            *([f"… and {more:,} more findings"] if more else ()),
        ),
        facts={
            "cluster_id": summary.cluster_id,
            "run_id": summary.run_id,
            "started_at": iso(summary.started_at),
            "status": summary.status,
            "exit_code": summary.exit_code,
            "findings": count_severities(summary.findings),
            "states": None if summary.judged is None else count_states(summary.judged),
            "worst": [_finding(finding, states.get(finding.fingerprint)) for finding in worst],
            "broken_assertions": broken,
            "unknown_assertions": unknown,
            "access_changes": summary.access_changes,
            "answers_missing": summary.missing_answers,
        },
    )


def alert_of_failure(cluster_id: str | None, error: AclkitError) -> Alert:
    """Return that a run ended with an error and published nothing."""
    text = f"The run failed with exit code {error.exit_code}: {error}"
    facts = {"cluster_id": cluster_id, "exit_code": error.exit_code, "error": str(error)}
    return Alert(title=title_of(cluster_id or "?"), text=text, facts=facts)


def render_alert(alert: Alert, style: str) -> dict[str, Any]:
    """Return an alert as one of ``STYLES``.

    ``json`` has ``source``, ``title``, ``text``, ``lines`` and the facts. ``slack`` has blocks of
    plain text, in which no name can mention a person or a channel, nor hide a link.
    """
    if style == "slack":
        return _slack(alert)
    said = {"source": "aclkit", "title": alert.title, "text": alert.text, "lines": [*alert.lines]}
    return {**said, **alert.facts}


def title_of(cluster_id: str) -> str:
    """Return the subject of every alert about a cluster."""
    return f"aclkit: Kafka access on cluster {cluster_id}"


def _line(finding: Finding, state: Judged | None) -> str:
    said = ""
    if state is not None:
        said = f" ({'mute ran out' if state.is_expired else STATE_WORDS[state.state]})"
    return _cut(f"{finding.severity} {finding.finding}{said}: {finding.message}", _LONGEST_LINE)


def _finding(finding: Finding, state: Judged | None) -> dict[str, Any]:
    said = {"fingerprint": finding.fingerprint, "state": state and state.state}
    return {**asdict(finding), **said}


def _slack(alert: Alert) -> dict[str, Any]:
    title = _cut(visible(alert.title), _LONGEST_HEADER)
    body = "\n".join([visible(alert.text), *(f"• {visible(line)}" for line in alert.lines)])
    return {
        # For notifications; the only text that Slack reads marks in, so it gets none.
        "text": _slack_text(f"{title}. {visible(alert.text)}"),
        "blocks": [
            {"type": "header", "text": {"type": "plain_text", "text": title, "emoji": False}},
            {
                "type": "section",
                "text": {"type": "plain_text", "text": _cut(body, _LONGEST), "emoji": False},
            },
        ],
        "unfurl_links": False,
        "unfurl_media": False,
    }


def _slack_text(text: str) -> str:
    escaped = _cut(text, _LONGEST).replace("&", "&amp;").replace("<", "&lt;")
    return escaped.replace(">", "&gt;")


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
