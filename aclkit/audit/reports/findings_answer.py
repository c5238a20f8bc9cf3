"""Findings and their states → the answer: counts, then a block a kind with its worst. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from aclkit.answer.document import Answer, Facts, Heading, Part, Row, Sentence, Table
from aclkit.audit.findings.baseline import Judged
from aclkit.audit.findings.registry import KINDS, scope_words
from aclkit.audit.findings.subjects import subject_columns
from aclkit.audit.reports.states import count_severities, count_states, counted
from aclkit.audit.reports.words import severities
from aclkit.model.acl import Acl
from aclkit.model.groups import grouped

_FIELDS: Final = (
    "severity", "finding", "subject", "message", "fix", "holds_for", "evidence", "acl_ids",
    "fingerprint",
)  # fmt: skip
COLUMNS: Final = (*_FIELDS, "first_seen", "state", "muted_until", "owner", "reason")
_WIDE: Final = ("severity", "finding", "holds_for", "first_seen", "subject", "message")

MOST_OF_A_KIND: Final = 3
"""So many findings of a kind are shown, unless one kind is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The findings in force.

    Attributes:
        judged: each with its state, the worst first.
        first_seen: since when each is known, by fingerprint.
        acls: those behind them, by id.
        has_states: there is a baseline, or there are accepted findings.
        kinds: the kinds asked for; empty for all.
    """

    judged: Sequence[Judged]
    first_seen: Mapping[str, datetime | None]
    acls: Mapping[str, Acl]
    has_states: bool = False
    kinds: Sequence[str] = field(default=())


def findings_answer(found: Findings) -> Answer:
    """Return the findings."""
    rows = [_record(item, found.first_seen) for item in found.judged]
    return Answer(
        title="Findings",
        columns=COLUMNS,
        rows=_cells(rows, COLUMNS),
        parts=lambda: _parts(found, rows),
    )


def _parts(found: Findings, records: Sequence[Mapping[str, Any]]) -> Iterator[Part]:
    in_force = [item for item in found.judged if item.finding is not None]
    yield Sentence(counts_sentence(found))
    wide = ("state", *_WIDE) if found.has_states else _WIDE
    every = Table(wide, list(_cells(records, wide)))
    blocks = grouped((item.finding.finding, item) for item in in_force if item.finding is not None)
    for place, (kind, items) in enumerate(blocks.items()):
        number = counted(count_severities(i.finding for i in items if i.finding is not None))
        yield Heading(f"{kind} ({number}): {KINDS[kind].summary}")
        yield _block(found, items, every if place == 0 else None)
    if any(len(items) > MOST_OF_A_KIND for items in blocks.values()) and not found.kinds:
        yield Sentence("All of a kind: aclkit audit --kind KIND")
    if blocks:
        yield Sentence("What a kind means, and the fix: aclkit audit --explain KIND")


def counts_sentence(found: Findings) -> str:
    """Write how many findings there are, by severity and by state."""
    in_force = [item.finding for item in found.judged if item.finding is not None]
    text = severities(in_force)
    if found.has_states:
        text += f" ({counted(count_states(found.judged))})"
    return f"{text[0].upper()}{text[1:]}."


def _block(found: Findings, items: Sequence[Judged], wide: Table | None) -> Table:
    """Return the worst of one kind; all where that kind was asked for."""
    most = len(items) if found.kinds else MOST_OF_A_KIND
    columns = ("principal", "resource", "access", "since", *(["state"] if found.has_states else []))
    rows = [_row(found, item) for item in items[:most]]
    kept = [place for place, _ in enumerate(columns) if any(row[place] is not None for row in rows)]
    return Table(
        [columns[place] for place in kept],
        [[row[place] for place in kept] for row in rows],
        wide,
        spare=("since",),
        has_head=False,
    )


def _row(found: Findings, item: Judged) -> Row:
    finding = item.finding
    if finding is None:
        return (None, None, None, None, item.state)
    about = subject_columns(finding, found.acls)
    since = found.first_seen.get(item.fingerprint)
    return (
        about.principal or None,
        about.resource or None,
        about.access or None,
        None if since is None else f"{since:%Y-%m-%d}",
        *([item.state] if found.has_states else []),
    )


def _cells(rows: Sequence[Mapping[str, object]], columns: Sequence[str]) -> Iterator[Row]:
    return ([row.get(column) for column in columns] for row in rows)


def _record(item: Judged, first_seen: Mapping[str, datetime | None]) -> dict[str, Any]:
    """Return all columns of a finding; of a fixed one the baseline's."""
    names = ("fingerprint", "finding", "severity", "subject")
    row: dict[str, Any] = {name: getattr(item.finding or item.known, name) for name in names}
    if item.finding is not None:
        row |= {name: getattr(item.finding, name) for name in _FIELDS}
    mute = item.mute
    return row | {
        "first_seen": first_seen.get(item.fingerprint),
        "state": item.state,
        "muted_until": mute and mute.until,
        "owner": mute and mute.owner,
        "reason": mute and mute.reason,
    }


def explanation(kind_id: str) -> Iterator[Part]:
    """Yield what a kind of finding means, and how to fix one."""
    kind = KINDS[kind_id]
    yield Heading(kind.id)
    yield Facts((
        ("severity", kind.severity_words),
        ("holds for", scope_words(kind)),
        ("meaning", kind.meaning),
        ("fix", kind.fix),
    ))  # fmt: skip
