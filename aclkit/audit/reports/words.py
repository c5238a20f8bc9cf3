"""A summary of a run, and the states of its findings → the plain English that all reports share.

What a baseline and mutes make of findings is ``audit.findings.baseline.classify``; without these
no report speaks of states.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final

from aclkit.audit.findings.baseline import STATES, Judged
from aclkit.audit.reports.data import COMPLETE, Cause, ChangedNames, NightlySummary, ReportedChange
from aclkit.model.acl import acl_words
from aclkit.model.facts import in_utc
from aclkit.model.findings import SEVERITIES, Finding
from aclkit.model.phrases import capitalized, listed, number_of


def count_states(judged: Iterable[Judged]) -> dict[str, int]:
    """Count every state, those without a finding too."""
    found = Counter(item.state for item in judged)
    return {name: found[name] for name in STATES}


def count_severities(findings: Iterable[Finding]) -> dict[str, int]:
    """Count findings of every severity, the worst first, those without any too."""
    found = Counter(finding.severity for finding in findings)
    return {name: found[name] for name in SEVERITIES}


def state_words(item: Judged) -> str:
    """Return a state with what belongs to it: who answers for it, until when, and why."""
    mute, state = item.mute, STATE_WORDS[item.state]
    if mute is None:
        return state
    if item.is_expired:
        return f"{state}; the mute of {mute.owner} ran out on {mute.until}: {mute.reason}"
    return f"{state} until {mute.until} by {mute.owner}: {mute.reason}"


def states_words(judged: Iterable[Judged]) -> str:
    """Name the states that there are, each with its number; nothing of none."""
    return counted({STATE_WORDS[name]: n for name, n in count_states(judged).items()})


STATE_WORDS: Final[Mapping[str, str]] = {
    "new": "not in the baseline",
    "known": "in the baseline",
    "muted": "muted",
    "fixed": "fixed",
}
"""The states of a finding for people, to whom a new finding is one that came with this run."""


def counted(counts: Mapping[str, int], between: str = ", ") -> str:
    """Name what there is, each with its number.

    >>> counted({"high": 1200, "medium": 0, "low": 2})
    '1,200 high, 2 low'
    """
    return between.join(f"{number:,} {name}" for name, number in counts.items() if number)


def ran_out_sentences(judged: Iterable[Judged]) -> Iterator[str]:
    """Yield which mutes of findings in force have run out."""
    for item in judged:
        if item.is_expired and item.mute is not None and item.finding is not None:
            yield (
                f"the mute of {item.mute.owner} on {item.finding.finding} {item.fingerprint} ran "
                f"out on {item.mute.until}"
            )


_MOST_NAMES: Final = 20


def thousands(value: int) -> str:
    """Return a number with commas between thousands."""
    return f"{value:,}"


def verdict(summary: NightlySummary, none: str = "no findings") -> str:
    """Return in one sentence whether a person has to do something, and what came out.

    Args:
        summary: the run.
        none: words for no findings.
    """
    changes = summary.access_changes
    states = states_words(summary.judged or ())
    wrong = (
        (summary.missing_answers, "decision is missing", "decisions are missing"),
        (len(summary.unknown_assertions), "policy is unknown", "policies are unknown"),
        (len(summary.broken_assertions), "policy failed", "policies failed"),
    )
    results = [
        *([] if summary.status == COMPLETE else [f"the run is {summary.status}"]),
        *(number_of(number, one, many) for number, one, many in wrong if number),
        f"{_findings(summary) or none}{f' ({states})' if states else ''}",
    ]
    call = "Action needed: " if summary.has_news else "" if summary.findings else "Nothing to do: "
    access = number_of(changes, "access change") if changes else "No access changed"
    more = "".join(f" {_names_count(names)}." for names in summary.names)
    said = capitalized(f"{call}{', '.join(results)}")
    return f"{said}. {access}.{more}{_exit_words(summary)}"


def _findings(summary: NightlySummary) -> str:
    """Name the findings: those that are new since the previous run, and how many are known."""
    if summary.known_before is None or not summary.findings:
        return severities(summary.findings) if summary.findings else ""
    new = summary.new_findings
    known = len(summary.findings) - len(new)
    words = f"{number_of(len(new), 'new finding')} ({_by_severity(new)})" if new else _NONE_NEW
    return f"{words}, {known:,} known" if known else words


def names_words(names: ChangedNames) -> str:
    """Return which names a run asks about for the first time, or no longer."""
    # One of the two is empty.
    first = [f"{each.who}{each.resource}" for each in names.names[:_MOST_NAMES]]
    more = names.number - len(first)
    shown = ", ".join(first) + (f" and {thousands(more)} more" if more else "")
    how = "New since the previous run" if names.is_new else "No longer known since this run"
    return f"{how}: {shown}."


def _names_count(names: ChangedNames) -> str:
    number = number_of(names.number, "name is", "names are")
    return f"{number} {'new' if names.is_new else 'gone'}"


def cause_words(change: ReportedChange, most: int) -> str:
    """Return through what an access changed: the ACL with offset and time, as far as is known."""
    if change.causes:
        return "; ".join(map(_record_words, change.causes[:most]))
    offsets = ", ".join(map(str, change.cause_offsets[:most]))
    return f"{change.cause} at offset {offsets}" if offsets else change.cause


def _record_words(cause: Cause) -> str:
    at = f" at {utc(cause.at)}" if cause.at else ""
    by = f", {cause.by.words}" if cause.by else ""
    return f"{cause.what} {acl_words(cause.acl)}, offset {cause.offset}{at}{by}"


def utc(time: datetime) -> str:
    """Return a time for people, in UTC; one without a zone is UTC."""
    return in_utc(time).strftime("%Y-%m-%d %H:%M:%S UTC")


def day(time: datetime) -> str:
    """Return the day of a time, in UTC."""
    return in_utc(time).strftime("%Y-%m-%d")


def iso(time: datetime) -> str:
    """Return a time for programs: ISO 8601 in UTC, to the millisecond."""
    return in_utc(time).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def severities(findings: Iterable[Finding]) -> str:
    """Name the severities that there are, each with its number."""
    found = list(findings)
    if not found:
        return "no findings"
    return f"{_by_severity(found)} {'finding' if len(found) == 1 else 'findings'}"


def _by_severity(findings: Iterable[Finding]) -> str:
    counts = count_severities(findings).items()
    return listed([f"{number:,} {name}" for name, number in counts if number])


def _exit_words(summary: NightlySummary) -> str:
    if summary.exit_code is None:
        return ""
    why = f": {summary.exit_reason}" if summary.exit_reason else ""
    return f" Exit code {summary.exit_code}{why}."


_NONE_NEW: Final = "no new findings"
