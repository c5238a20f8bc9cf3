"""Rows of ``access_log`` → how many of which verdict, what they cover, which grants are used."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from aclkit.questions.usage.check import MISMATCH, UNREADABLE, VERDICTS
from aclkit.questions.usage.clock import to_datetime
from aclkit.questions.usage.coverage import GAP, Coverage, FileCoverage, find_gaps
from aclkit.questions.usage.entry import CUT_SHORT
from aclkit.questions.usage.frames import collect_rows, uses
from aclkit.questions.usage.grants import Grant, Use, judge_grants
from aclkit.questions.usage.layout import LAYOUT_NOT_READ
from aclkit.questions.usage.past import ClusterPast
from aclkit.questions.usage.source import REQUEST
from aclkit.rules.decide.rules import ALLOWED, MATCHING_ACL


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


def count_verdicts(lines: DataFrame) -> dict[str, int]:
    """Count lines by verdict."""
    counts = {row[0]: row[1] for row in lines.groupBy("verdict").count().collect()}
    return {verdict: counts.get(verdict, 0) for verdict in VERDICTS}


def worst_lines(lines: DataFrame, verdict: str, most: int) -> list[dict[str, Any]]:
    """Collect the first lines of a verdict."""
    found = lines.where(F.col("verdict") == verdict).orderBy("log_time", "source", "position")
    found = found.drop("cluster_id", "line_id").limit(most)
    return [dict(zip(found.columns, row, strict=True)) for row in collect_rows(found)]


def disagreements(lines: DataFrame, most: int) -> list[Disagreement]:
    """Collect the mismatches, those alike together, the most frequent first."""
    alike = (*REQUEST, "decision", "rule", "reason")
    rows = (
        lines.where(F.col("verdict") == MISMATCH)
        .groupBy(*alike)
        .agg(
            F.count("*").alias("lines"),
            F.min(F.struct("log_time", "source", "position")).alias("first"),
        )
        .orderBy(F.col("lines").desc(), *alike)
        .limit(most)
        .select(*alike, "lines", "first.*")
    )
    own = [field.name for field in fields(Disagreement) if field.name != "request"]
    return [
        Disagreement(
            request=row[: len(REQUEST)],
            **dict(zip(own, row[len(REQUEST) :], strict=True)),
        )
        for row in collect_rows(rows)
    ]


def readable(lines: DataFrame) -> DataFrame:
    """Keep the lines that could be read, and that have a time."""
    return lines.where((F.col("verdict") != UNREADABLE) & F.col("log_time").isNotNull())


def first_unreadable(lines: DataFrame) -> tuple[str, int, str]:
    """Return the first line that could not be read: file, number and reason.

    One of the authorizer's comes before what stands among them.
    """
    is_other = ~F.col("reason").startswith(LAYOUT_NOT_READ) & (F.col("reason") != CUT_SHORT)
    found = lines.where(F.col("verdict") == UNREADABLE).orderBy(is_other, "source", "position")
    ((source, position, reason),) = collect_rows(
        found.select("source", "position", "reason").limit(1)
    )
    return source, position, reason


def unread_files(lines: DataFrame) -> tuple[str, ...]:
    """Return the files with lines of the authorizer that are laid out as none that is read."""
    is_unread = (F.col("verdict") == UNREADABLE) & F.col("reason").startswith(LAYOUT_NOT_READ)
    files = lines.where(is_unread).select("source").distinct().orderBy("source")
    return tuple(row[0] for row in collect_rows(files))


def coverage_of(lines: DataFrame) -> Coverage:
    """Return which time readable lines cover, and which files could not be read."""
    unread, lines = unread_files(lines), readable(lines)
    allowed = F.col("decision") == ALLOWED
    files = collect_rows(
        lines.groupBy("source")
        .agg(
            F.count("*"),
            F.count_if(allowed),
            F.min("log_time"),
            F.max("log_time"),
            F.min(F.when(allowed, F.col("log_time"))),
        )
        .orderBy("source")
    )
    own = [field.name for field in fields(FileCoverage)]
    # A gap is longer than such a stretch, so within one there is none.
    stretch = F.window("log_time", f"{int(GAP.total_seconds()) // 4} seconds")
    stretches = lines.groupBy(stretch).agg(F.min("log_time").alias("a"), F.max("log_time"))
    return Coverage(
        files=tuple(FileCoverage(**dict(zip(own, row[:-1], strict=True))) for row in files),
        allowed_from=min((row[-1] for row in files if row[-1]), default=None),
        gaps=find_gaps(collect_rows(stretches.drop("window"))),
        unread_files=unread,
    )


def uses_of(lines: DataFrame, since: datetime) -> dict[str, Use]:
    """Return when each ACL was last named by a readable ALLOWED line, and how often lately."""
    inside = F.col("log_time") >= F.lit(since.replace(tzinfo=UTC))
    named = F.col("deciding_acl_id").isNotNull() & (F.col("decision") == ALLOWED)
    by_acl = lines.where(named).groupBy("deciding_acl_id")
    rows = by_acl.agg(F.max("log_time"), F.count_if(inside))
    return {acl_id: Use(last=last, lines=lines) for acl_id, last, lines in collect_rows(rows)}


def allowed_requests(lines: DataFrame) -> DataFrame:
    """Return the requests that some ACL allowed, with the time of the last line (``at``).

    A line that names no rule may be of one.
    """
    may_be = F.col("rule").isNull() | (F.col("rule") == MATCHING_ACL)
    by_acl = (F.col("decision") == ALLOWED) & may_be
    return lines.where(by_acl).groupBy(*REQUEST).agg(F.unix_micros(F.max("log_time")).alias("at"))


def grants_of(lines: DataFrame, past: ClusterPast, coverage: Coverage, days: float) -> list[Grant]:
    """Judge the grants alive by all readable lines; see ``judge_grants``."""
    alive = [life for life in past.lives if life.is_alive(past.timeline.head)]
    matched = collect_rows(uses(allowed_requests(lines), past))
    named = uses_of(lines, coverage.last - timedelta(days=days)) if coverage.last else {}
    return judge_grants(
        (life for life in alive if life.acl.is_allow),
        named,
        {acl_id: to_datetime(at).replace(tzinfo=None) for acl_id, at in matched},
        coverage,
        days,
    )
