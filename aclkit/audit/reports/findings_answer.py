"""A run's findings and their states → the answer: counts, then a block a kind with its worst."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from aclkit.answer.document import Answer, Facts, Heading, Part, Row, Sentence, Table
from aclkit.audit.findings.baseline import Judged
from aclkit.audit.findings.registry import KINDS, scope_words
from aclkit.audit.findings.sentences import subject_columns
from aclkit.audit.reports.reach import acls_behind
from aclkit.audit.reports.words import count_severities, counted, severities, states_words
from aclkit.model.acl import Acl
from aclkit.model.findings import SEVERITIES, Finding
from aclkit.model.groups import grouped
from aclkit.model.phrases import capitalized
from aclkit.questions.query.decisions import Where
from aclkit.questions.query.lifetimes import first_seen
from aclkit.warehouse.codecs import finding_of, finding_sql
from aclkit.warehouse.duck import fetch
from aclkit.warehouse.job_run import PublishedRun

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
    return Answer(
        title="Findings",
        columns=COLUMNS,
        rows=_cells(found, found.judged, COLUMNS),
        parts=lambda: _parts(found),
    )


def _parts(found: Findings) -> Iterator[Part]:
    yield Sentence(counts_sentence(found))
    blocks = grouped(
        (item.finding.finding, item) for item in found.judged if item.finding is not None
    )
    for kind, items in blocks.items():
        number = counted(count_severities(i.finding for i in items if i.finding is not None))
        yield Heading(f"{kind} ({number}): {KINDS[kind].summary}")
        yield _block(found, items)
    if fixed := [item for item in found.judged if item.finding is None]:
        yield Heading(f"fixed ({len(fixed):,}): findings of the baseline that no longer exist")
        yield _gone(found, fixed)
    if any(len(items) > MOST_OF_A_KIND for items in blocks.values()) and not found.kinds:
        yield Sentence("All of a kind: aclkit audit --kind KIND")
    if blocks:
        yield Sentence("What a kind means, and the fix: aclkit audit --explain KIND")


def counts_sentence(found: Findings) -> str:
    """Write how many findings there are, by severity and by state."""
    in_force = [item.finding for item in found.judged if item.finding is not None]
    text = severities(in_force)
    if found.has_states:
        text += f" ({states_words(found.judged)})"
    return f"{capitalized(text)}."


def _wide(found: Findings, items: Sequence[Judged]) -> Table:
    """Return findings with every column that a person reads, the message among them."""
    columns = ("state", *_WIDE) if found.has_states else _WIDE
    return Table(columns, list(_cells(found, items, columns)))


def _block(found: Findings, items: Sequence[Judged]) -> Table:
    """Return the worst of one kind; all where that kind was asked for.

    The message of a finding without a known ACL stands where the access of others does.
    """
    most = len(items) if found.kinds else MOST_OF_A_KIND
    columns = ("principal", "resource", "access", "since", *(["state"] if found.has_states else []))
    rows = [_row(found, item, item.finding) for item in items[:most] if item.finding]
    kept = [place for place, _ in enumerate(columns) if any(row[place] is not None for row in rows)]
    return Table(
        [columns[place] for place in kept],
        [[row[place] for place in kept] for row in rows],
        _wide(found, items),
        spare=("since",),
        has_head=False,
    )


def _gone(found: Findings, items: Sequence[Judged]) -> Table:
    """Return findings that only the baseline has, of all kinds together."""
    most = len(items) if found.kinds else MOST_OF_A_KIND
    known = [item.known for item in items[:most] if item.known is not None]
    rows = [(each.finding, each.subject) for each in known]
    return Table(("finding", "subject"), rows, _wide(found, items), has_head=False)


def _row(found: Findings, item: Judged, finding: Finding) -> Row:
    about = subject_columns(finding, found.acls)
    since = found.first_seen.get(item.fingerprint)
    return (
        about.principal or None,
        about.resource or None,
        about.access or finding.message,
        None if since is None else f"{since:%Y-%m-%d}",
        *([item.state] if found.has_states else []),
    )


def _cells(found: Findings, items: Iterable[Judged], columns: Sequence[str]) -> Iterator[Row]:
    rows = (_record(item, found.first_seen) for item in items)
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
    yield Heading(f"{kind.id}: {kind.summary}")
    yield Facts((
        ("severity", kind.severity_words),
        ("holds for", scope_words(kind)),
        ("meaning", kind.meaning),
        ("fix", kind.fix),
    ))  # fmt: skip


def read_findings(
    where: Where, kinds: Sequence[str] = (), severities: Collection[str] = SEVERITIES
) -> list[Finding]:
    """Read the findings in force, of some kinds only if any are given."""
    found = fetch(where.tables, _FINDINGS, [where.cluster_id, len(kinds), list(kinds)])
    return [each for each in map(finding_of, found) if each.severity in severities]


def read_judged(
    where: Where,
    run: PublishedRun,
    judged: Sequence[Judged],
    *,
    has_states: bool,
    kinds: Sequence[str] = (),
) -> Findings:
    """Return findings with their states, since when each is known, and the ACLs behind them."""
    findings = [each.finding for each in judged if each.finding is not None]
    return Findings(
        judged=judged,
        first_seen=first_seen(where.tables, where.cluster_id, findings),
        acls=acls_behind(where.tables, run, findings),
        has_states=has_states,
        kinds=kinds,
    )


def notes_on_audit(run: PublishedRun) -> Iterator[str]:
    """Yield that a run looked for some kinds of findings only."""
    if run.job != "run":
        yield (
            "These decisions are of materialize, which finds only how ACLs are read. "
            "For all findings: aclkit run"
        )


_FINDINGS: Final = finding_sql(
    "FROM finding_current WHERE cluster_id = ? "
    "AND (? = 0 OR finding IN (SELECT unnest(CAST(? AS VARCHAR[]))))"
)
