"""A summary of a run → the plain English that all reports share."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from aclkit.audit.reports.data import Cause, NightlySummary, ReportedChange
from aclkit.audit.reports.states import count_severities, counted, state_counts_words
from aclkit.model.facts import in_utc
from aclkit.model.findings import Finding
from aclkit.questions.query.words import acl_words

COMPLETE: Final = "complete"
"""The status of a run that misses nothing, as in ``job_run``."""


def thousands(value: int) -> str:
    """Return a number with commas between thousands."""
    return f"{value:,}"


def verdict(summary: NightlySummary) -> str:
    """Return in one sentence whether a person has to do something, and what came out."""
    changes = summary.access_changes
    states = state_counts_words(summary)
    results = [
        f"{severities(summary.findings)}{f' ({states})' if states else ''}",
        f"{thousands(changes)} access changes" if changes else "no access changed",
    ]
    broken = len(broken_assertions(summary))
    if broken:
        results.insert(0, f"{thousands(broken)} broken assertions")
    unknown = len(unknown_assertions(summary))
    if unknown:
        results.insert(
            0, f"{thousands(unknown)} assertions of which it is unknown whether they hold"
        )
    undecided = missing_answers(summary)
    if undecided:
        results.insert(0, f"{thousands(undecided)} of the expected answers are missing")
    if summary.status != COMPLETE:
        results.insert(0, f"the run is {summary.status}")
    call = "Please look" if needs_a_person(summary) else "Nothing to do"
    return f"{call}: {', '.join(results)}{_exit_words(summary)}."


def needs_a_person(summary: NightlySummary) -> bool:
    """Whether there is anything to do, whatever the exit code says about it."""
    return bool(
        summary.findings
        or missing_answers(summary)
        or summary.status != COMPLETE
        or (summary.exit_code or 0) > 1
        or broken_assertions(summary)
        or unknown_assertions(summary)
    )


def missing_answers(summary: NightlySummary) -> int:
    """Count the cells that are expected and have no decision."""
    return summary.rows_expected - summary.rows_decided


def broken_assertions(summary: NightlySummary) -> list[str]:
    """Return the names of the policies that do not hold."""
    tested = summary.assertions or ()
    return [each.name for each in tested if not each.passed and not each.is_unknown]


def unknown_assertions(summary: NightlySummary) -> list[str]:
    """Return the names of the policies of which nobody knows whether they hold."""
    return [tested.name for tested in summary.assertions or () if tested.is_unknown]


def cause_words(change: ReportedChange, most: int) -> str:
    """Return through what an access changed: the ACL with offset and time, as far as is known."""
    if change.causes:
        return "; ".join(map(_record_words, change.causes[:most]))
    offsets = ", ".join(map(str, change.cause_offsets[:most]))
    return f"{change.cause} at offset {offsets}" if offsets else change.cause


def _record_words(cause: Cause) -> str:
    at = f" at {utc(cause.at)}" if cause.at else ""
    return f"{cause.what} {acl_words(cause.acl)}, offset {cause.offset}{at}"


def utc(time: datetime) -> str:
    """Return a time for people, in UTC; one without a zone is UTC."""
    return in_utc(time).strftime("%Y-%m-%d %H:%M:%S UTC")


def iso(time: datetime) -> str:
    """Return a time for programs: ISO 8601 in UTC, to the millisecond."""
    return in_utc(time).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def severities(findings: Iterable[Finding]) -> str:
    """Name the severities that there are, each with its number."""
    named = counted(count_severities(findings), " + ")
    return f"findings: {named}" if named else "no findings"


def _exit_words(summary: NightlySummary) -> str:
    if summary.exit_code is None:
        return ""
    why = ", which --fail-on decides" if summary.findings and summary.exit_code == 0 else ""
    return f" (exit code {summary.exit_code}{why})"
