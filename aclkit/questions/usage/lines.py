"""Rows of ``access_day`` → how many lines of which verdict, what they cover, which grants are used.

Asked of DuckDB, which adds up what several runs and files have of a day.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import datetime
from string import Template
from typing import Any, Final

from aclkit.model.acl import Request
from aclkit.questions.usage.check import MISMATCH, UNREADABLE, VERDICTS
from aclkit.questions.usage.clock import to_naive
from aclkit.questions.usage.coverage import Coverage, FileCoverage, find_gaps
from aclkit.questions.usage.entry import CUT_SHORT
from aclkit.questions.usage.layout import LAYOUT_NOT_READ
from aclkit.questions.usage.past import ClusterPast
from aclkit.questions.usage.read_use import REQUEST
from aclkit.questions.usage.use import Grant, NamedUse, judge_grants
from aclkit.questions.usage.whole_log import Judgeable
from aclkit.rules.decide.rules import ALLOWED, MATCHING_ACL
from aclkit.warehouse.reader import Reader

EXAMPLE_COLUMNS: Final = (
    "source", "position", "first_at", "last_at", "lines", *REQUEST, "request_name", "decision",
    "rule", "deciding_acl_id", "verdict", "expected_decision", "expected_rule", "expected_acl_id",
    "reason", "raw",
)  # fmt: skip
"""What is told of lines alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """Lines alike that do not follow from the ACLs.

    Attributes:
        request: the columns of the request, in the order of ``REQUEST``.
        decision: what the broker did.
        rule: by which rule; None where the line names none.
        reason: what was in force.
        lines: how many there are.
        first: when the first of them was written.
        source: where the first of them stands.
        position: on which line.
    """

    request: tuple[str, ...]
    decision: str
    rule: str | None
    reason: str
    lines: int
    first: datetime
    source: str
    position: int


def count_verdicts(read: Reader, run_number: int) -> dict[str, int]:
    """Count the lines of a run by verdict."""
    rows = read.rows(
        "SELECT verdict, CAST(sum(lines) AS BIGINT) FROM access_day WHERE run_number = ? "
        "GROUP BY verdict",
        run_number,
    )
    return dict.fromkeys(VERDICTS, 0) | dict(rows)


def worst_lines(read: Reader, run_number: int, verdict: str, most: int) -> list[dict[str, Any]]:
    """Collect the first lines alike of a run that have a verdict."""
    rows = read.rows(_WORST, run_number, verdict, most)
    return [dict(zip(EXAMPLE_COLUMNS, row, strict=True)) for row in rows]


def disagreements(read: Reader, since: datetime | None, most: int) -> list[Disagreement]:
    """Collect the mismatches since a time, those alike together, the most frequent first."""
    own = [field.name for field in fields(Disagreement) if field.name != "request"]
    return [
        Disagreement(
            request=row[: len(REQUEST)],
            **dict(zip(own, row[len(REQUEST) :], strict=True)),
        )
        for row in read.rows(_DISAGREEMENTS, since, MISMATCH, most)
    ]


def first_unreadable(read: Reader, run_number: int) -> tuple[str, int, str]:
    """Return the first line of a run that could not be read: file, number and reason.

    One of the authorizer's comes before what stands among them.
    """
    values = (run_number, UNREADABLE, LAYOUT_NOT_READ, CUT_SHORT)
    ((source, position, reason),) = read.rows(_FIRST_UNREADABLE, *values)
    return source, position, reason


def coverage_of(read: Reader) -> Coverage:
    """Return which time readable lines cover, and which files could not be read."""
    files = read.rows(_FILES, ALLOWED, ALLOWED, UNREADABLE)
    own = [field.name for field in fields(FileCoverage)]
    stretches = read.rows(_STRETCHES)
    return Coverage(
        files=tuple(FileCoverage(**dict(zip(own, row[:-1], strict=True))) for row in files),
        allowed_from=min((row[-1] for row in files if row[-1]), default=None),
        gaps=find_gaps((to_naive(start), to_naive(end)) for start, end in stretches),
    )


def uses_of(read: Reader, since: datetime) -> dict[str, NamedUse]:
    """Return when each ACL was last named by a readable ALLOWED line, and how often lately.

    Of the day on which the window begins its lines count where the last of them is inside.
    """
    rows = read.rows(_USES, since, ALLOWED)
    return {acl_id: NamedUse(last=last, lines=lines) for acl_id, last, lines in rows}


def allowed_requests(read: Reader, past: ClusterPast) -> dict[Request, int]:
    """Return the requests that some ACL allowed, with the microseconds of the last line.

    A line that names no rule may be of one. Hosts that are decided alike are one host.
    """
    found: dict[Request, int] = {}
    for *request, at in read.rows(_ALLOWED, ALLOWED, MATCHING_ACL):
        alike = past.representative(Request(**dict(zip(REQUEST, request, strict=True))))
        found[alike] = max(found.get(alike, at), at)
    return found


def matches_of(requests: Iterable[tuple[Request, int]], past: ClusterPast) -> dict[str, datetime]:
    """Return which grants could have allowed requests too, by ACL id, and when last."""
    found: dict[str, int] = {}
    for request, at in requests:
        for life in past.granting(request, at):
            acl_id = life.acl.acl_id
            found[acl_id] = max(found.get(acl_id, at), at)
    return {acl_id: to_naive(at) for acl_id, at in found.items()}


def grants_of(read: Reader, past: ClusterPast, log: Judgeable) -> list[Grant]:
    """Judge the grants alive by all readable lines; see ``judge_grants``."""
    alive = [life for life in past.lives if life.is_alive(past.timeline.head)]
    matched = matches_of(allowed_requests(read, past).items(), past)
    named = uses_of(read, log.window_from) if log.window_from else {}
    grants = (life for life in alive if life.acl.is_allow)
    supers = past.timeline.settings[-1].broker.super_users
    return judge_grants(grants, named, matched, log, supers, past.semantics)


_OF_FILES: Final = "access_day JOIN log_file USING (file_id)"
_AS_UTC: Final = {name: f"CAST({name} AS TIMESTAMP) AS {name}" for name in ("first_at", "last_at")}
_WORDS: Final = {
    "of_files": _OF_FILES,
    "request": ", ".join(REQUEST),
    "alike": ", ".join((*REQUEST, "decision", "rule", "reason")),
    "example": ", ".join(_AS_UTC.get(name, name) for name in EXAMPLE_COLUMNS),
}


def _sql(text: str) -> str:
    """Put the columns of the contract into a statement."""
    return Template(text).substitute(_WORDS)


_WORST: Final = _sql("""\
SELECT $example FROM $of_files WHERE run_number = ? AND verdict = ?
ORDER BY first_at, source, position LIMIT ?""")
_DISAGREEMENTS: Final = _sql("""\
SELECT $alike, lines, first_line.written, first_line.source, first_line.position
FROM (
  SELECT $alike, CAST(sum(lines) AS BIGINT) AS lines,
         min(struct_pack(written := CAST(first_at AS TIMESTAMP), source := source,
                         position := position)) AS first_line
  FROM $of_files WHERE CAST(last_at AS TIMESTAMP) >= ? AND verdict = ? GROUP BY $alike
)
ORDER BY lines DESC, $alike LIMIT ?""")
_FIRST_UNREADABLE: Final = _sql("""\
SELECT source, position, reason FROM $of_files WHERE run_number = ? AND verdict = ?
ORDER BY NOT starts_with(reason, ?) AND reason <> ?, source, position LIMIT 1""")
_FILES: Final = _sql("""\
SELECT source, CAST(sum(lines) AS BIGINT),
       CAST(sum(CASE WHEN decision = ? THEN lines ELSE 0 END) AS BIGINT),
       min(CAST(first_at AS TIMESTAMP)), max(CAST(last_at AS TIMESTAMP)),
       min(CASE WHEN decision = ? THEN CAST(first_at AS TIMESTAMP) END)
FROM $of_files WHERE verdict <> ? AND first_at IS NOT NULL
GROUP BY source ORDER BY source""")
_STRETCHES: Final = "SELECT unnest(spoke_from), unnest(spoke_to) FROM log_file"
_USES: Final = """\
SELECT deciding_acl_id, max(CAST(last_at AS TIMESTAMP)),
       CAST(sum(CASE WHEN CAST(last_at AS TIMESTAMP) >= ? THEN lines ELSE 0 END) AS BIGINT)
FROM access_day WHERE deciding_acl_id IS NOT NULL AND decision = ? AND last_at IS NOT NULL
GROUP BY deciding_acl_id"""
_ALLOWED: Final = _sql("""\
SELECT $request, max(epoch_us(CAST(last_at AS TIMESTAMP)))
FROM access_day WHERE decision = ? AND (rule IS NULL OR rule = ?) AND last_at IS NOT NULL
GROUP BY $request""")
