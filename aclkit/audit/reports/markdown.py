"""The summary of a nightly run → one Markdown page that a person reads in the morning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from aclkit.audit.findings.baseline import Judged, Known
from aclkit.audit.reports.data import COMPLETE, AssertionOutcome, NightlySummary, ReportedChange
from aclkit.audit.reports.markdown_parts import document, escape_markdown, table
from aclkit.audit.reports.states import state_words
from aclkit.audit.reports.words import cause_words, thousands, utc, verdict
from aclkit.model.findings import Finding, sort_findings
from aclkit.model.groups import grouped

MOST_ROWS: Final = 50
"""So many things to do, findings of one kind, and changes are printed; the rest is counted."""


def render_summary(summary: NightlySummary) -> str:
    """Return the page: the verdict, what to do, counts, findings, access changes, notes.

    Muted findings stand apart, with who answers for them, and so does what is fixed.

    Names come from strangers; ``escape_markdown`` keeps them text.
    """
    tasks = list(_tasks(summary))
    blocks = (
        [f"# Kafka access on cluster {escape_markdown(summary.cluster_id)}"],
        [f"**{escape_markdown(verdict(summary))}**"],
        *_to_do(tasks),
        _counts(summary),
        *_findings(summary),
        *_list("Muted", [f"{_name(found)}: {state_words(s)}" for found, s in summary.muted]),
        *_list("Fixed", list(map(_name, summary.fixed))),
        *_assertions(summary.assertions),
        *_changes(summary.changes, summary.access_changes),
        *_notes(summary.notes),
    )
    return document(blocks)


def _to_do(tasks: Sequence[str]) -> Iterator[list[str]]:
    if tasks:
        yield ["## To do"]
        yield [*tasks[:MOST_ROWS], *_more(len(tasks), tasks[:MOST_ROWS])]


def _tasks(summary: NightlySummary) -> Iterator[str]:
    """Yield what there is to do, the worst first, whatever the exit code says about it."""
    if undecided := summary.missing_answers:
        yield f"- Find out why {thousands(undecided)} of the expected answers are missing."
    if summary.status != COMPLETE:
        yield "- Replay what the run lacks, see the notes: it stands on an incomplete log."
    elif (summary.exit_code or 0) > 1:
        yield r"- Look into the table acl\_reject: rows of the sources could not be used."
    for name in summary.broken_assertions:
        yield f"- Mend what breaks the assertion {escape_markdown(name)}."
    for name in summary.unknown_assertions:
        yield (
            f"- Find out whether the assertion {escape_markdown(name)} holds: "
            "aclkit assert with a larger --budget."
        )
    late = sum(item.is_expired for item in summary.judged or ())
    if late:
        yield f"- Fix, or answer anew for, {thousands(late)} findings whose mutes have run out."
    remedies = Counter((f.severity, f.finding, f.fix) for f in sort_findings(summary.findings))
    for (severity, kind, fix), number in remedies.items():
        yield f"- {thousands(number)} × {severity} {escape_markdown(kind)}: {escape_markdown(fix)}"


def _counts(summary: NightlySummary) -> list[str]:
    rows = (
        ("run", escape_markdown(summary.run_id)),
        ("started", utc(summary.started_at)),
        ("took", f"{summary.seconds:,.1f} s"),
        ("status", escape_markdown(summary.status)),
        ("as of log offset (exclusive)", thousands(summary.head_offset)),
        ("ACLs", thousands(summary.acls)),
        ("principals", thousands(summary.principals)),
        ("hosts", thousands(summary.hosts)),
        ("resources", thousands(summary.resources)),
        ("answers expected", thousands(summary.rows_expected)),
        ("answers decided", thousands(summary.rows_decided)),
        ("findings", thousands(len(summary.findings))),
        ("access changes", thousands(summary.access_changes)),
    )
    return table(("what", "count"), rows, right=("count",))


def _findings(summary: NightlySummary) -> Iterator[list[str]]:
    yield ["## Findings"]
    states = summary.states
    found = sort_findings(summary.findings)
    kinds = grouped(((finding.severity, finding.finding), finding) for finding in found)
    if not kinds:
        yield ["None."]
    left = dict.fromkeys((kind for _, kind in kinds), MOST_ROWS)
    for (severity, kind), rows in kinds.items():
        shown = rows[: left[kind]]
        left[kind] -= len(shown)
        yield [f"### {severity}: {escape_markdown(kind)} ({thousands(len(rows))})"]
        lines = [_finding(finding, states.get(finding.fingerprint)) for finding in shown]
        yield [*lines, *_more(len(rows), shown)]


def _finding(finding: Finding, state: Judged | None) -> str:
    subject, message, fix = map(escape_markdown, (finding.subject, finding.message, finding.fix))
    seen = "".join(f"\n  - *Seen:* {escape_markdown(text)}" for text in finding.evidence)
    said = f"\n  - *State:* {escape_markdown(state_words(state))}" if state else ""
    return f"- {subject}\n  - {message}{said}{seen}\n  - *Fix:* {fix}"


def _name(found: Finding | Known) -> str:
    return f"{found.severity} {found.finding} {found.subject}"


def _list(title: str, lines: Sequence[str]) -> Iterator[list[str]]:
    """Yield the first lines of a list under its title; nothing of an empty one."""
    if lines:
        yield [f"## {title}"]
        shown = [f"- {escape_markdown(line)}" for line in lines[:MOST_ROWS]]
        yield [*shown, *_more(len(lines), shown)]


def _assertions(assertions: Sequence[AssertionOutcome] | None) -> Iterator[list[str]]:
    """Yield the team's policies, the broken ones first; nothing where none were tested."""
    if assertions is None:
        return
    yield ["## Assertions"]
    rows = sorted(assertions, key=lambda tested: (tested.passed, tested.name))
    yield [*map(_assertion, rows[:MOST_ROWS]), *_more(len(rows), rows[:MOST_ROWS])] or ["None."]


def _assertion(tested: AssertionOutcome) -> str:
    state = "holds" if tested.passed else "UNKNOWN" if tested.is_unknown else "BROKEN"
    said = f"{state}: {escape_markdown(tested.message)}"
    example = f"\n  - *Example:* {escape_markdown(tested.example)}" if tested.example else ""
    return f"- {escape_markdown(tested.name)} {said}{example}"


def _changes(changes: Sequence[ReportedChange], number: int) -> Iterator[list[str]]:
    """Yield the largest changes, and how many there are beyond them."""
    yield ["## Access changes"]
    if not changes:
        yield ["None."]
        return
    largest = sorted(changes, key=lambda c: (-c.gained, -c.lost, c.who, c.resource))
    shown = largest[:MOST_ROWS]
    columns = ("who", "resource", "gained", "lost", "cause")
    yield table(columns, map(_change, shown), right=("gained", "lost"))
    yield from ([line] for line in _more(number, shown))


def _change(change: ReportedChange) -> Iterator[str]:
    cause = cause_words(change, MOST_ROWS)
    cells = (change.who, change.resource, thousands(change.gained), thousands(change.lost), cause)
    return map(escape_markdown, cells)


def _notes(notes: Iterable[str]) -> Iterator[list[str]]:
    lines = [f"- {escape_markdown(note)}" for note in notes]
    if lines:
        yield ["## Notes"]
        yield lines


def _more(number: int, shown: Sequence[object]) -> Iterator[str]:
    if number > len(shown):
        yield f"- … and {thousands(number - len(shown))} more"
