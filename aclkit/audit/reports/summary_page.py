"""The summary of a nightly run → its page, and the few lines that a terminal shows. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from aclkit.answer.document import Facts, Heading, Item, Items, Part, Sentence, Table
from aclkit.answer.markdown import document
from aclkit.audit.findings.baseline import BaselineEntry, Judged
from aclkit.audit.reports.data import COMPLETE, AssertionOutcome, NightlySummary
from aclkit.audit.reports.words import cause_words, state_words, utc, verdict
from aclkit.model.findings import Finding, sort_findings
from aclkit.model.groups import grouped
from aclkit.model.phrases import number_of

_MOST_CAUSES: Final = 5
_MOST_KINDS: Final = 4
"""So many kinds of findings a terminal shows."""


def render_summary(summary: NightlySummary) -> str:
    """Return the page in Markdown."""
    return document(page_parts(summary), level=1, rest="`aclkit report` has all")


def page_parts(summary: NightlySummary) -> Iterator[Part]:
    """Yield the page: the verdict, what to do, counts, findings, access changes, notes.

    Accepted findings stand apart, with who accepted them, and so does what is fixed.
    """
    yield Heading(f"Kafka access on cluster {summary.cluster_id}")
    yield _verdict(summary)
    yield from _list("To do", [Item(task) for task in _tasks(summary)])
    yield Facts(list(_counts(summary)))
    yield from _findings(summary)
    yield from _list("Accepted", [Item(f"{_name(f)}: {state_words(s)}") for f, s in summary.muted])
    yield from _list("Fixed", [Item(_name(known)) for known in summary.fixed])
    policies = sorted(summary.assertions or (), key=lambda tested: (tested.passed, tested.name))
    yield from _list("Policies", list(map(_assertion, policies)))
    yield from _changes(summary)
    yield from _list("Notes", list(map(Item, summary.notes)))


def short_parts(summary: NightlySummary) -> Iterator[Part]:
    """Yield what a terminal shows: the verdict, what was decided, the gravest kinds of findings."""
    yield _verdict(summary)
    yield Sentence(
        f"Cluster {summary.cluster_id} at offset {summary.head_offset:,}: {summary.acls:,} ACLs, "
        f"{summary.rows_decided:,} decisions, {summary.seconds:,.1f} s."
    )
    kinds = Counter((f.severity, f.finding) for f in sort_findings(summary.findings))
    shown = list(kinds.items())[:_MOST_KINDS]
    if shown:
        rows = [(*kind, number) for kind, number in shown]
        yield Table(("severity", "finding", "number"), rows, has_head=False)
    if kinds or summary.access_changes:
        more = len(kinds) - len(shown)
        rest = f"{more:,} more kinds; details" if more else "Details"
        yield Sentence(f"{rest}: aclkit audit, aclkit changes")


def _verdict(summary: NightlySummary) -> Sentence:
    return Sentence(verdict(summary), "bad" if summary.needs_a_person else "good")


def _tasks(summary: NightlySummary) -> Iterator[str]:
    """Yield what there is to do, the worst first, whatever the exit code says about it."""
    if undecided := summary.missing_answers:
        words = number_of(
            undecided, "expected decision is missing", "expected decisions are missing"
        )
        yield f"Find out why {words}."
    if summary.status != COMPLETE:
        yield "The log is incomplete: replay the missing part (see the notes)."
    elif (summary.exit_code or 0) > 1:
        yield "Rows of the sources could not be used: see the table acl_reject."
    for name in summary.broken_assertions:
        yield f"Fix what violates the policy {name!r}."
    for name in summary.unknown_assertions:
        yield f"Policy {name!r} is unknown: run aclkit assert with a larger --budget."
    if late := sum(item.is_expired for item in summary.judged or ()):
        yield f"Fix or accept anew {number_of(late, 'finding')}: the acceptance has expired."
    remedies = Counter((f.severity, f.finding, f.fix) for f in sort_findings(summary.findings))
    for (severity, kind, fix), number in remedies.items():
        yield f"{number:,} × {severity} {kind}: {fix}"


def _counts(summary: NightlySummary) -> Iterator[tuple[str, str]]:
    yield "run", summary.run_id
    yield "started", utc(summary.started_at)
    yield "duration", f"{summary.seconds:,.1f} s"
    yield "status", summary.status
    yield "log offset (exclusive)", f"{summary.head_offset:,}"
    yield "ACLs", f"{summary.acls:,}"
    yield "principals", f"{summary.principals:,}"
    yield "hosts", f"{summary.hosts:,}"
    yield "resources", f"{summary.resources:,}"
    yield "decisions", f"{summary.rows_decided:,} of {summary.rows_expected:,}"
    yield "findings", f"{len(summary.findings):,}"
    yield "access changes", f"{summary.access_changes:,}"


def _findings(summary: NightlySummary) -> Iterator[Part]:
    """Yield the findings kind by kind, the worst first; each kind with what it means."""
    yield Heading("Findings")
    kinds = grouped(((f.severity, f.finding), f) for f in sort_findings(summary.findings))
    if not kinds:
        yield Sentence("None.")
    for (severity, kind), findings in kinds.items():
        yield Heading(f"{severity}: {kind} ({len(findings):,})", is_sub=True)
        fixes = {found.fix for found in findings}
        if len(fixes) == 1:
            yield Sentence(f"Fix: {findings[0].fix}")
        states = summary.states
        yield Items(
            _finding(found, states.get(found.fingerprint), has_fix=len(fixes) > 1)
            for found in findings
        )


def _finding(finding: Finding, state: Judged | None, *, has_fix: bool) -> Item:
    return Item(
        finding.message,
        under=[
            *([f"State: {state_words(state)}"] if state else []),
            *finding.evidence,
            *([f"Fix: {finding.fix}"] if has_fix else []),
        ],
    )


def _name(found: Finding | BaselineEntry) -> str:
    return f"{found.severity} {found.finding} {found.subject}"


def _list(title: str, items: Sequence[Item]) -> Iterator[Part]:
    """Yield a list under its title; nothing of an empty one."""
    if items:
        yield Heading(title)
        yield Items(items)


def _assertion(tested: AssertionOutcome) -> Item:
    state = "passed" if tested.passed else "UNKNOWN" if tested.is_unknown else "FAILED"
    example = [f"For example, {tested.example}"] if tested.example else []
    return Item(f"{state}: {tested.name} ({tested.message})", under=example)


def _changes(summary: NightlySummary) -> Iterator[Part]:
    """Yield the largest changes, and how many there are beyond them."""
    yield Heading("Access changes")
    if not summary.changes:
        yield Sentence("No access changed.")
        return
    largest = sorted(summary.changes, key=lambda c: (-c.gained, -c.lost, c.who, c.resource))
    columns = ("principal", "resource", "gained", "lost", "cause")
    yield Table(
        columns,
        [(c.who, c.resource, c.gained, c.lost, cause_words(c, _MOST_CAUSES)) for c in largest],
    )
    if more := summary.access_changes - len(largest):
        yield Sentence(f"{more:,} more are in the table access_change.")
