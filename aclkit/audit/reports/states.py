"""A summary and what a baseline and mutes say of its findings → states, as all reports tell them.

The rule is ``audit.baseline.classify``. Without a baseline and mutes no report speaks of states.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from aclkit.audit.findings.baseline import STATES, Judged, fails
from aclkit.audit.reports.data import NightlySummary
from aclkit.model.findings import SEVERITIES, Finding


def with_states(summary: NightlySummary, judged: Iterable[Judged]) -> NightlySummary:
    """Return a summary with the states of its findings; muted ones are no longer among these.

    Args:
        summary: the run, its findings all that are in force.
        judged: what ``classify`` says of them.
    """
    items = tuple(judged)
    asked = tuple(item.finding for item in items if item.finding and not item.is_muted)
    return replace(summary, findings=asked, judged=items)


def count_states(judged: Iterable[Judged]) -> dict[str, int]:
    """Count every state, those without a finding too."""
    found = Counter(item.state for item in judged)
    return {name: found[name] for name in STATES}


def count_severities(findings: Iterable[Finding]) -> dict[str, int]:
    """Count findings of every severity, the worst first, those without any too."""
    found = Counter(finding.severity for finding in findings)
    return {name: found[name] for name in SEVERITIES}


def is_alarming_finding(finding: Finding, state: Judged | None, severities: Sequence[str]) -> bool:
    """Whether a finding fails a run: it is severe and not known or muted, or its mute ran out.

    The same rule as that of the exit code (``audit.baseline.fails``).
    """
    return finding.severity in severities if state is None else fails([state], severities)


def state_words(item: Judged) -> str:
    """Return a state with what belongs to it: who answers for it, until when, and why."""
    mute = item.mute
    if mute is None:
        return item.state
    if item.is_expired:
        return f"{item.state}; the mute of {mute.owner} ran out on {mute.until}: {mute.reason}"
    return f"{item.state} until {mute.until} by {mute.owner}: {mute.reason}"


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
