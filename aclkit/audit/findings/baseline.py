"""Findings, a baseline and mutes → which are new, known, fixed or muted. Pure.

A baseline is what a team has seen and lives with for now: JSON, written by aclkit. Mutes are what
somebody answers for until a day: TOML, written by people. Both know a finding by its
fingerprint, which it has in every run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final, Literal

from aclkit.answer.rows import json_text
from aclkit.errors import UsageError
from aclkit.model.findings import SEVERITIES, Finding, sort_findings
from aclkit.model.glob import glob_matches
from aclkit.model.visible import visible
from aclkit.runtime.notation import parse_json, parse_tables, refuse_unknown, require_texts

FindingState = Literal["new", "known", "muted", "fixed"]
STATES: Final[tuple[FindingState, ...]] = ("new", "known", "muted", "fixed")

_VERSION: Final = 1
_KNOWN_FIELDS: Final = ("fingerprint", "finding", "severity", "subject")
_MUTE_KEYS: Final = ("fingerprint", "finding", "subject", "until", "owner", "reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineEntry:
    """A finding of a baseline; a fixed one is all that is left of it."""

    fingerprint: str
    finding: str
    severity: str
    subject: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mute:
    """Accepted findings: one, or all of a kind whose subject matches.

    Attributes:
        fingerprint: of one finding; None if ``finding`` and ``subject`` select the findings.
        finding: the kind.
        subject: a glob over the subjects of that kind.
        until: the last day on which they are accepted.
        owner: who is responsible for them.
        reason: why they are accepted.
    """

    fingerprint: str | None
    finding: str | None
    subject: str | None
    until: date
    owner: str
    reason: str

    def covers(self, finding: Finding) -> bool:
        """Whether the mute is about a finding, whatever the day."""
        if self.fingerprint is not None:
            return self.fingerprint == finding.fingerprint
        return self.finding == finding.finding and (
            self.subject is None or glob_matches(self.subject, finding.subject)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A finding with its state.

    Attributes:
        state: one of ``STATES``.
        fingerprint: the finding's.
        finding: the finding; None of a fixed one.
        known: the baseline's entry, where it has one.
        mute: the mute about it, of several the one that holds longest; in force or expired.
    """

    state: FindingState
    fingerprint: str
    finding: Finding | None
    known: BaselineEntry | None = None
    mute: Mute | None = None

    @property
    def severity(self) -> str:
        """How bad it is, or was."""
        found = self.finding or self.known
        return found.severity if found is not None else SEVERITIES[-1]

    @property
    def is_muted(self) -> bool:
        """Whether somebody answers for it today."""
        return self.state == "muted"

    @property
    def is_expired(self) -> bool:
        """Whether a mute about it has run out: it has to be fixed or answered for anew."""
        return self.mute is not None and self.state in ("new", "known")


def classify(
    findings: Iterable[Finding],
    baseline: Mapping[str, BaselineEntry],
    mutes: Sequence[Mute],
    today: date,
) -> list[Judged]:
    """Return each finding with its state, new, known or muted, and what is fixed.

    A mute in force goes before the baseline. What the baseline holds and the run does not is
    fixed. Findings come the worst first, the fixed ones last.

    Args:
        findings: those in force.
        baseline: fingerprint → entry; without one every finding is ``new``: not in it.
        mutes: in force or not.
        today: mutes hold through their last day.
    """
    judged = [_judge(finding, baseline, mutes, today) for finding in sort_findings(findings)]
    present = {item.fingerprint for item in judged}
    gone = (known for name, known in sorted(baseline.items()) if name not in present)
    fixed = [
        Judged(state="fixed", fingerprint=known.fingerprint, finding=None, known=known)
        for known in gone
    ]
    return [*judged, *fixed]


def failing(judged: Iterable[Judged], severities: Sequence[str]) -> list[Judged]:
    """Return the findings that fail a run.

    They are those of some severities that are neither in the baseline nor muted, and those whose
    mute has run out.
    """
    return [
        item
        for item in judged
        if item.is_expired or (item.state == "new" and item.severity in severities)
    ]


def fails(judged: Iterable[Judged], severities: Sequence[str]) -> bool:
    """Whether findings fail a run; see ``failing``."""
    return bool(failing(judged, severities))


def is_alarming_finding(finding: Finding, state: Judged | None, severities: Sequence[str]) -> bool:
    """Whether a finding fails a run: it is severe and not known or muted, or its mute ran out."""
    return finding.severity in severities if state is None else fails([state], severities)


def parse_baseline(text: str, source: str) -> dict[str, BaselineEntry]:
    """Read a baseline: JSON that ``render_baseline`` wrote.

    Raises:
        UsageError: it is none.
    """
    content = parse_json(text, source)
    version = content.get("aclkit_baseline") if isinstance(content, dict) else None
    if type(version) is int and version != _VERSION:
        raise UsageError(f"{source}: expected a baseline of version {_VERSION}, found {version}")
    rows = content.get("findings") if type(version) is int else None
    if not isinstance(rows, list):
        raise UsageError(
            f"{source}: expected a baseline as aclkit audit --write-baseline makes it, with "
            f"aclkit_baseline and findings of {', '.join(_KNOWN_FIELDS)}"
        )
    entries = [_known(row, f"{source}: finding {n}") for n, row in enumerate(rows, start=1)]
    return {known.fingerprint: known for known in entries}


def _known(row: object, where: str) -> BaselineEntry:
    fields = row if isinstance(row, dict) else {}
    for name in _KNOWN_FIELDS:
        if not isinstance(fields.get(name), str):
            raise UsageError(f"{where}: {name}: expected a text, found {fields.get(name)!r}")
    if fields["severity"] not in SEVERITIES:
        known = ", ".join(SEVERITIES)
        raise UsageError(f"{where}: severity: expected {known}, found {fields['severity']!r}")
    return BaselineEntry(**{name: fields[name] for name in _KNOWN_FIELDS})


def render_baseline(
    findings: Iterable[Finding], cluster_id: str, first_seen: Mapping[str, datetime | None]
) -> str:
    """Return a baseline of findings: a line each, so that a change of it can be read.

    ``first_seen`` is for people: fingerprint → time.
    """
    rows: dict[str, dict[str, Any]] = {}
    for finding in sort_findings(findings):
        seen = first_seen.get(finding.fingerprint)
        fields = {name: getattr(finding, name) for name in _KNOWN_FIELDS}
        rows[finding.fingerprint] = fields | {"first_seen": seen.isoformat() if seen else None}
    lines = ",\n".join(f"  {json_text(row)}" for row in rows.values())
    cluster = json_text(cluster_id)
    return (
        f'{{"aclkit_baseline": {_VERSION}, "cluster_id": {cluster}, "findings": [\n{lines}\n]}}\n'
    )


def parse_mutes(text: str, source: str) -> list[Mute]:
    """Read mutes: TOML tables ``[[mute]]``.

    Each names a ``fingerprint``, or a ``finding`` and, if not all of the kind are meant, a
    ``subject`` in which ``*`` and ``?`` are wildcards; and ``until``, ``owner`` and ``reason``.

    Raises:
        UsageError: no TOML, an unknown key, or one that is missing.
    """
    return [_mute(table, where) for where, table in parse_tables(text, source, "mute").items()]


def _mute(table: Mapping[str, Any], where: str) -> Mute:
    refuse_unknown(table, _MUTE_KEYS, where)
    until = table.get("until")
    if not isinstance(until, date):
        raise UsageError(f"{where}: until: expected a day such as 2026-12-31, found {until!r}")
    texts: dict[str, Any] = {key: table.get(key) for key in _MUTE_KEYS if key != "until"}
    require_texts({key: text for key, text in texts.items() if text is not None}, where)
    for key in ("owner", "reason"):
        if texts[key] is None:
            raise UsageError(f"{where}: expected {key}: who answers for it, and why it may stay")
    if (texts["fingerprint"] is None) == (texts["finding"] is None):
        raise UsageError(f"{where}: expected either fingerprint or finding")
    if texts["fingerprint"] is not None and texts["subject"] is not None:
        raise UsageError(f"{where}: subject: a fingerprint names one finding already")
    day = until.date() if isinstance(until, datetime) else until
    return Mute(until=day, **texts)


def render_mute(finding: Finding, until: date, owner: str, reason: str) -> str:
    """Return the TOML table that accepts a finding, as ``parse_mutes`` reads it."""
    fields = {"fingerprint": finding.fingerprint, "owner": owner, "reason": reason}
    lines = (
        f"{key} = {json.dumps(visible(text), ensure_ascii=False)}" for key, text in fields.items()
    )
    about = visible(f"{finding.severity} {finding.finding}: {finding.message}")
    return "\n".join([f"# {about}", "[[mute]]", *lines, f"until = {until.isoformat()}", ""])


def _judge(
    finding: Finding, baseline: Mapping[str, BaselineEntry], mutes: Sequence[Mute], today: date
) -> Judged:
    about = [mute for mute in mutes if mute.covers(finding)]
    mute = max(about, key=lambda mute: mute.until, default=None)
    known = baseline.get(finding.fingerprint)
    state: FindingState = "known" if known else "new"
    if mute is not None and today <= mute.until:
        state = "muted"
    return Judged(
        state=state, fingerprint=finding.fingerprint, finding=finding, known=known, mute=mute
    )
