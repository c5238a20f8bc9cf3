"""A summary of a run, and what a receiver knows → an alert of what came since, and its text. Pure.

Each change is told once. So what a receiver knows is remembered: up to which offset ACL changes
were told, and which findings are in force. A finding that was fixed and comes back is told again.
The text is generic JSON or in Slack's format; who sends it and remembers it is in ``delivery``. A
run that ended with an error sends ``alert_of_failure(cluster_id, error)``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
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
from aclkit.model.acl import Acl, acl_words
from aclkit.model.findings import NEVER, SEVERITIES, Finding, sort_findings, up_to
from aclkit.model.phrases import number_of
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """The ACLs that came and went between two offsets."""

    added: Sequence[Acl] = ()
    removed: Sequence[Acl] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Alerted:
    """What the receiver of alerts knows.

    Attributes:
        run_id: the newest run that decided and was told; of a beginning the run before it.
        offset: ACL changes below it were told.
        epoch: the highest of the records below it; -1 where none is known.
        findings: fingerprints of the findings in force that are worth an alert.
        troubles: what else was wrong: a policy that fails, an incomplete run.
    """

    run_id: str = ""
    offset: int = 0
    findings: frozenset[str] = frozenset()
    troubles: frozenset[str] = frozenset()
    epoch: int = -1

    def write(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        found, troubles = sorted(self.findings), sorted(self.troubles)
        return asdict(self) | {"findings": found, "troubles": troubles}


def read_alerted(said: Mapping[str, Any]) -> Alerted | None:
    """Read what ``write`` returns; None where it is something else."""
    try:
        return Alerted(
            run_id=str(said["run_id"]),
            offset=int(said["offset"]),
            findings=frozenset(map(str, said["findings"])),
            troubles=frozenset(map(str, said["troubles"])),
            epoch=int(said.get("epoch", -1)),
        )
    except (KeyError, TypeError, ValueError):
        return None


def alerted_by(summary: NightlySummary, least: str, known: Alerted | None = None) -> Alerted:
    """Return what the receiver knows once a run was told.

    Args:
        summary: the run.
        least: see ``alert_since``.
        known: what it knew before: of policies that were not tested now it still knows that.
    """
    severe = SEVERITIES if least in (ALWAYS, NEVER) else up_to(least)
    states = summary.states
    found = (
        f"{f.fingerprint} expired" if state is not None and state.is_expired else f.fingerprint
        for f in summary.findings
        for state in (states.get(f.fingerprint),)
        if is_alarming_finding(f, state, severe)
    )
    return Alerted(
        run_id=summary.run_id,
        offset=summary.head_offset,
        findings=frozenset(found),
        troubles=frozenset(_troubles(summary, known)),
        epoch=known.epoch if known else -1,
    )


def alert_since(
    summary: NightlySummary, known: Alerted | None, moved: Moved, least: str
) -> Alert | None:
    """Return what a receiver does not know yet; None where nothing of it is worth an alert.

    The text has what is of the asked severity: ACLs that came and went with ``always`` alone. The
    facts have them in each alert.

    Args:
        summary: the newest run.
        known: what the receiver knows; None where it was told nothing, so that all is new.
        moved: the ACLs that came and went since.
        least: the least severity of a finding that is worth an alert, unless it is in the baseline
            or accepted; ``always`` takes every change of an ACL or an access too, ``never``
            nothing. Whatever the severity, these are: an acceptance that expired, a policy that
            does not hold or is unknown, missing decisions, an incomplete run, an exit code above 1.
    """
    before = known or begin_with(summary)
    now = alerted_by(summary, least, before)
    new, troubles = now.findings - before.findings, now.troubles - before.troubles
    is_changed = summary.access_changes and now.run_id != before.run_id
    is_moved = bool(moved.added or moved.removed or is_changed)
    if least == NEVER or not (new or troubles or (least == ALWAYS and is_moved)):
        return None
    fresh = _only_new(summary, new, troubles)
    told = alert_of(fresh)
    shown = moved if least == ALWAYS else Moved()
    acls = [*_acl_lines("added", shown.added), *_acl_lines("removed", shown.removed)]
    return replace(
        told,
        text=f"{_counted(shown)}{told.text}",
        lines=(*told.lines, *acls),
        facts={
            **told.facts,
            "alert_id": _alert_id(summary, before, new, troubles),
            "from_offset": before.offset,
            "to_offset": summary.head_offset,
            "acls_added": [asdict(acl) for acl in moved.added[:MOST_ACLS]],
            "acls_removed": [asdict(acl) for acl in moved.removed[:MOST_ACLS]],
            "acls_added_count": len(moved.added),
            "acls_removed_count": len(moved.removed),
        },
    )


def begin_with(summary: NightlySummary) -> Alerted:
    """Return what a receiver knows that was told nothing: all findings in force are new to it."""
    return Alerted(run_id=summary.run_id, offset=summary.head_offset)


def alert_of_silence(cluster_id: str | None, error: AclkitError, polls: int, since: str) -> Alert:
    """Return that the sources could not be read so many times: what changes is not seen."""
    text = f"The watcher cannot read its sources since {since} ({polls} polls): {error}"
    facts = {"exit_code": error.exit_code, "error": str(error), "failing_since": since}
    return _about(cluster_id, text, {**facts, "is_failing": True})


def alert_of_return(cluster_id: str | None, since: str) -> Alert:
    """Return that the sources are read again."""
    text = f"The watcher reads its sources again. It could not since {since}."
    return _about(cluster_id, text, {"failing_since": since, "is_failing": False})


def _about(cluster_id: str | None, text: str, facts: Mapping[str, Any]) -> Alert:
    said = json.dumps([cluster_id, facts["failing_since"], facts["is_failing"]])
    alert_id = hashlib.blake2b(said.encode(), digest_size=16).hexdigest()
    return Alert(
        title=title_of(cluster_id or "?"),
        text=text,
        facts={"cluster_id": cluster_id, "alert_id": alert_id, **facts},
    )


def _only_new(
    summary: NightlySummary, new: frozenset[str], troubles: frozenset[str]
) -> NightlySummary:
    """Leave out of a run what the receiver knows: all that is left is new to it."""
    fingerprints = {each.partition(" ")[0] for each in new}
    tested = tuple(
        each
        for each in summary.assertions or ()
        if each.passed or _trouble_of(each.name, is_unknown=each.is_unknown) in troubles
    )
    return replace(
        summary,
        findings=tuple(f for f in summary.findings if f.fingerprint in fingerprints),
        judged=summary.judged
        and tuple(each for each in summary.judged if each.fingerprint in fingerprints),
        assertions=None if summary.assertions is None else tested,
        known_before=frozenset(),
        # Who gets an alert asked for no exit code.
        exit_code=summary.exit_code if (summary.exit_code or 0) > 1 else None,
    )


def _troubles(summary: NightlySummary, known: Alerted | None) -> list[str]:
    """Name what is wrong besides findings: see ``NightlySummary.is_in_trouble``."""
    before = known.troubles if known else frozenset()
    untested: tuple[str, ...] = _POLICIES if summary.assertions is None else ()
    untested += (_EXIT_CODE,) if summary.exit_code is None else ()
    return [
        *(trouble for trouble in before if trouble.startswith(untested)),
        *(["missing answers"] if summary.missing_answers else []),
        *([f"status {summary.status}"] if summary.status != "complete" else []),
        *([f"{_EXIT_CODE}{summary.exit_code}"] if (summary.exit_code or 0) > 1 else []),
        *(_trouble_of(name, is_unknown=False) for name in summary.broken_assertions),
        *(_trouble_of(name, is_unknown=True) for name in summary.unknown_assertions),
    ]


def _trouble_of(name: str, *, is_unknown: bool) -> str:
    return f"{_POLICIES[is_unknown]}{name}"


def _acl_lines(how: str, acls: Sequence[Acl]) -> list[str]:
    more = len(acls) - MOST_ACLS
    lines = [f"{how}: {acl_words(acl)}" for acl in acls[:MOST_ACLS]]
    return [*lines, f"… and {more:,} more ACLs {how}"] if more > 0 else lines


def _counted(moved: Moved) -> str:
    counts = ((len(moved.added), "added"), (len(moved.removed), "removed"))
    parts = [f"{number_of(number, 'ACL')} {how}" for number, how in counts if number]
    return f"{', '.join(parts)}. " if parts else ""


def _alert_id(
    summary: NightlySummary, before: Alerted, new: frozenset[str], troubles: frozenset[str]
) -> str:
    """Make an id that the same alert has each time it is sent, so that a receiver can drop it."""
    told = [summary.cluster_id, before.offset, summary.head_offset, sorted(new), sorted(troubles)]
    return hashlib.blake2b(json.dumps(told).encode(), digest_size=16).hexdigest()


_EXIT_CODE: Final = "exit code "
_POLICIES: Final = ("broken assertion ", "unknown assertion ")
"""How troubles begin: the exit code of a run, and policies that do not hold, or may not."""
MOST_ACLS: Final = 10
"""So many ACLs of each kind stand in an alert; all are counted."""
