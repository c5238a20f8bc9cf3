"""The summary of a nightly run → one Markdown page that a person reads in the morning."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from aclkit.findings import SEVERITIES, Finding, sort_findings

MOST_ROWS: Final = 50
"""So many things to do, findings of one kind, and changes are printed; the rest is counted."""

_COMPLETE: Final = "complete"
"""The status of a run that misses nothing, as in ``job_run``."""

_SPECIAL: Final = re.compile(r"[\\`*_\[\]|~$@!#]")
_LIST_MARK: Final = re.compile(r"^(\d*)([-+=.)])")
"""What would open a list or underline a heading at the start of a line."""
_OUTER_SPACE: Final = re.compile(r"^ | $")
_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessChange:
    """Accesses of one principal, or of a class of them, to one resource that a run changed.

    Attributes:
        who: the principal, or words for the class.
        resource: as people write it.
        gained: how many hosts × operations became ALLOWED.
        lost: how many became DENIED.
        cause: acl, settings or inventory.
        cause_offsets: log offsets of the ACL records behind it.
    """

    who: str
    resource: str
    gained: int
    lost: int
    cause: str
    cause_offsets: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NightlySummary:
    """What one nightly run read, decided and found.

    Attributes:
        status: ``complete`` or ``incomplete``, as in ``job_run``.
        head_offset: the state is as of this offset (exclusive).
        rows_expected: principals × hosts × operations × resources.
        rows_decided: how many of them the tables answer.
        changes: the largest access changes.
        access_changes: how many there are in all.
        exit_code: what the run ends with.
    """

    cluster_id: str
    run_id: str
    started_at: datetime
    seconds: float
    status: str
    head_offset: int
    acls: int
    principals: int
    hosts: int
    resources: int
    rows_expected: int
    rows_decided: int
    notes: tuple[str, ...]
    findings: tuple[Finding, ...]
    changes: tuple[AccessChange, ...]
    access_changes: int
    exit_code: int


def render_summary(summary: NightlySummary) -> str:
    """Write the page: the verdict, what to do, counts, findings, access changes, notes.

    Names come from strangers; ``escape_markdown`` keeps them text.
    """
    tasks = list(_tasks(summary))
    blocks = (
        [f"# Kafka access on cluster {escape_markdown(summary.cluster_id)}"],
        [f"**{_verdict(summary, has_tasks=bool(tasks))}**"],
        *_to_do(tasks),
        _counts(summary),
        *_findings(summary.findings),
        *_changes(summary.changes, summary.access_changes),
        *_notes(summary.notes),
    )
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def escape_markdown(text: str) -> str:
    r"""Write a text so that Markdown and HTML show it and do nothing else with it.

    What is not printable, line breaks and marks that turn the direction of writing among them,
    becomes its code point.

    >>> print(escape_markdown("a|b\n<i>`"))
    a\|b\\u{a}&lt;i&gt;\`
    """
    visible = "".join(c if c.isprintable() else f"\\u{{{ord(c):x}}}" for c in text)
    escaped = _SPECIAL.sub(r"\\\g<0>", visible)
    for character, entity in _ENTITIES.items():
        escaped = escaped.replace(character, entity)
    escaped = escaped.replace("](", "]\\(").replace("://", "\\://")
    escaped = _LIST_MARK.sub(r"\1\\\2", escaped)
    return _OUTER_SPACE.sub("&#32;", escaped)


def _verdict(summary: NightlySummary, *, has_tasks: bool) -> str:
    """Say in one sentence whether a person has to do something, and what came out."""
    changes = summary.access_changes
    results = [
        _severities(summary.findings),
        f"{_number(changes)} access changes" if changes else "no access changed",
    ]
    undecided = _undecided(summary)
    if undecided:
        results.insert(0, f"{_number(undecided)} of the expected answers are missing")
    if summary.status != _COMPLETE:
        results.insert(0, f"the run is {escape_markdown(summary.status)}")
    call = "Please look" if has_tasks else "Nothing to do"
    why = ", which --fail-on decides" if summary.findings and summary.exit_code == 0 else ""
    return f"{call}: {', '.join(results)} (exit code {summary.exit_code}{why})."


def _to_do(tasks: Sequence[str]) -> Iterator[list[str]]:
    if tasks:
        yield ["## To do"]
        yield [*tasks[:MOST_ROWS], *_more(len(tasks), tasks[:MOST_ROWS])]


def _tasks(summary: NightlySummary) -> Iterator[str]:
    """Yield what there is to do, the worst first, whatever the exit code says about it."""
    undecided = _undecided(summary)
    if undecided:
        yield f"- Find out why {_number(undecided)} of the expected answers are missing."
    if summary.status != _COMPLETE:
        yield "- Replay what the run lacks, see the notes: it stands on an incomplete log."
    elif summary.exit_code > 1:
        yield r"- Look into the table acl\_reject: rows of the sources could not be used."
    remedies = Counter((f.severity, f.finding, f.fix) for f in sort_findings(summary.findings))
    for (severity, kind, fix), number in remedies.items():
        yield f"- {_number(number)} × {severity} {escape_markdown(kind)}: {escape_markdown(fix)}"


def _undecided(summary: NightlySummary) -> int:
    return summary.rows_expected - summary.rows_decided


def _severities(findings: Iterable[Finding]) -> str:
    counts = [0] * len(SEVERITIES)
    for finding in findings:
        counts[SEVERITIES.index(finding.severity)] += 1
    named = [f"{_number(n)} {name}" for n, name in zip(counts, SEVERITIES, strict=True) if n]
    return f"findings: {' + '.join(named)}" if named else "no findings"


def _counts(summary: NightlySummary) -> list[str]:
    started = summary.started_at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    rows = (
        ("run", escape_markdown(summary.run_id)),
        ("started", started),
        ("took", f"{summary.seconds:,.1f} s"),
        ("status", escape_markdown(summary.status)),
        ("as of log offset (exclusive)", _number(summary.head_offset)),
        ("ACLs", _number(summary.acls)),
        ("principals", _number(summary.principals)),
        ("hosts", _number(summary.hosts)),
        ("resources", _number(summary.resources)),
        ("answers expected", _number(summary.rows_expected)),
        ("answers decided", _number(summary.rows_decided)),
        ("findings", _number(len(summary.findings))),
        ("access changes", _number(summary.access_changes)),
    )
    return ["| what | count |", "|---|---:|", *(f"| {what} | {count} |" for what, count in rows)]


def _findings(findings: Iterable[Finding]) -> Iterator[list[str]]:
    yield ["## Findings"]
    kinds: defaultdict[tuple[str, str], list[Finding]] = defaultdict(list)
    for finding in sort_findings(findings):
        kinds[finding.severity, finding.finding].append(finding)
    if not kinds:
        yield ["None."]
    left = dict.fromkeys((kind for _, kind in kinds), MOST_ROWS)
    for (severity, kind), rows in kinds.items():
        shown = rows[: left[kind]]
        left[kind] -= len(shown)
        yield [f"### {severity}: {escape_markdown(kind)} ({_number(len(rows))})"]
        yield [*map(_finding, shown), *_more(len(rows), shown)]


def _finding(finding: Finding) -> str:
    subject, message, fix = map(escape_markdown, (finding.subject, finding.message, finding.fix))
    return f"- {subject}\n  - {message}\n  - *Fix:* {fix}"


def _changes(changes: Sequence[AccessChange], number: int) -> Iterator[list[str]]:
    """Yield the largest changes, and how many there are beyond them."""
    yield ["## Access changes"]
    if not changes:
        yield ["None."]
        return
    largest = sorted(changes, key=lambda c: (-c.gained, -c.lost, c.who, c.resource))
    shown = largest[:MOST_ROWS]
    yield [
        "| who | resource | gained | lost | cause |",
        "|---|---|---:|---:|---|",
        *map(_change, shown),
    ]
    yield from ([line] for line in _more(number, shown))


def _change(change: AccessChange) -> str:
    offsets = ", ".join(map(str, change.cause_offsets[:MOST_ROWS]))
    cause = f"{change.cause} at offset {offsets}" if offsets else change.cause
    cells = (change.who, change.resource, _number(change.gained), _number(change.lost), cause)
    return f"| {' | '.join(map(escape_markdown, cells))} |"


def _notes(notes: Iterable[str]) -> Iterator[list[str]]:
    lines = [f"- {escape_markdown(note)}" for note in notes]
    if lines:
        yield ["## Notes"]
        yield lines


def _more(number: int, shown: Sequence[object]) -> Iterator[str]:
    if number > len(shown):
        yield f"- … and {_number(number - len(shown))} more"


def _number(number: int) -> str:
    return f"{number:,}"
