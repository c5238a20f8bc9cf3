"""A run and log files → ``access_log``, ``acl_usage``, findings, and what there is to tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from aclkit.model.findings import Finding
from aclkit.model.log_findings import AUTHORIZER_LOG_MISMATCH
from aclkit.model.resource import Resource
from aclkit.questions.usage import tables
from aclkit.questions.usage.check import MISMATCH, UNDETERMINED, UNREADABLE
from aclkit.questions.usage.clock import to_datetime
from aclkit.questions.usage.coverage import Coverage, describe
from aclkit.questions.usage.frames import collect_rows, judge, uses
from aclkit.questions.usage.grants import UNKNOWN, Grant, find_unused, judge_grants
from aclkit.questions.usage.past import Past
from aclkit.questions.usage.source import read_log
from aclkit.questions.usage.state import read_past
from aclkit.runtime.frame import checkpoint
from aclkit.runtime.progress import step
from aclkit.warehouse.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageOptions:
    """What the user says.

    Attributes:
        paths: the files to read.
        others: files of named directories that are other logs.
        zone: of times that do not say theirs; see ``parse_zone``.
        skew: how long brokers may take to learn of a change.
        days: grants that were not used for so long are unused.
    """

    paths: Sequence[str]
    others: Sequence[str]
    zone: str
    skew: timedelta
    days: float


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageResult:
    """What came out.

    Attributes:
        counts: verdict → lines that this run read.
        examples: verdict → the first lines of it, of the verdicts that ask for a look.
        coverage: of all lines of the cluster that were ever read.
        grants: every grant alive.
    """

    counts: Mapping[str, int]
    examples: Mapping[str, Sequence[Mapping[str, Any]]]
    coverage: Coverage
    grants: Sequence[Grant]

    @property
    def lines(self) -> int:
        """How many lines this run read."""
        return sum(self.counts.values())


def check_usage(run: Run, options: UsageOptions) -> UsageResult:
    """Read the log, check each line, and say which grants are used; the caller publishes."""
    past = read_past(run)
    skew = round(options.skew.total_seconds() * 1_000_000)
    with step(f"reading {len(options.paths):,} files and checking their lines"):
        read = read_log(run.store.spark, options.paths, options.zone)
        lines = checkpoint(judge(read, past, run.cluster_id, skew)).select("line.*")
    counts = tables.count_verdicts(lines)
    with step("writing access_log"):
        tables.merge_lines(run, lines)
    coverage = tables.read_coverage(run)
    with step("looking for unused grants"):
        grants = _grants(run, past, coverage, options.days)
        tables.write_usage(run, grants)
    mismatches = tables.disagreements(lines, MOST_FINDINGS)
    run.findings.extend(_mismatch(one, past) for one in mismatches)
    run.findings.extend(find_unused(grants))
    run.counts.update({f"lines_{verdict}": count for verdict, count in counts.items()})
    run.notes.extend(_notes(past, coverage, grants, options))
    asking = (MISMATCH, UNDETERMINED, UNREADABLE)
    return UsageResult(
        counts=counts,
        examples={each: tables.worst_lines(lines, each, MOST_EXAMPLES) for each in asking},
        coverage=coverage,
        grants=grants,
    )


def _grants(run: Run, past: Past, coverage: Coverage, days: float) -> list[Grant]:
    alive = [life for life in past.lives if life.is_alive(past.timeline.head)]
    matched = collect_rows(uses(tables.allowed_requests(run), past))
    named = tables.read_uses(run, coverage.last - timedelta(days=days)) if coverage.last else {}
    return judge_grants(
        (life for life in alive if life.acl.is_allow),
        named,
        {acl_id: to_datetime(at).replace(tzinfo=None) for acl_id, at in matched},
        coverage,
        days,
    )


def _mismatch(found: tables.Disagreement, past: Past) -> Finding:
    """Say that brokers did not decide as their ACLs say."""
    principal, host, operation, resource_type, name = found.request
    resource = Resource(resource_type, name)
    said = f"{found.decision} by {found.rule}"
    return AUTHORIZER_LOG_MISMATCH.about(
        f"{principal} {operation} {resource} from {host}: {said}; {found.reason}",
        f"{found.lines:,} lines of the authorizer log say that {operation} on {resource} "
        f"was {said} for {principal} from {host}, the first at {found.first.isoformat()}Z "
        f"({found.source}:{found.position}); {found.reason}",
    )


def _notes(
    past: Past, coverage: Coverage, grants: Iterable[Grant], options: UsageOptions
) -> Iterator[str]:
    """Yield what a reader of the result must know."""
    yield describe(coverage, options.days)
    since = past.timeline.settings[0].since
    if since is not None and coverage.first is not None and coverage.first < since:
        yield (
            f"super.users and allow.everyone are known since {since.isoformat()}Z only; those of "
            "then are taken for the lines before too"
        )
    if coverage.silent_files and coverage.allowed_lines:
        yield f"without ALLOWED lines: {_some(coverage.silent_files)}; use there is not known"
    if options.others:
        yield f"not read, as they begin without lines of an authorizer: {_some(options.others)}"
    if not coverage.allowed_lines and any(grant.usage == UNKNOWN for grant in grants):
        yield "what is used is unknown: set kafka.authorizer.logger to DEBUG on all brokers"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


MOST_FINDINGS: Final = 1_000
"""Mismatches, those alike together, that become findings; the table holds all."""

MOST_EXAMPLES: Final = 100
"""Lines of a verdict that are told; the table holds all."""

_MOST_NAMES: Final = 5
