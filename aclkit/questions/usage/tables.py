"""``access_log`` and ``acl_usage``: reading and writing only, no rule."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from aclkit.questions.usage.check import MISMATCH, UNREADABLE, VERDICTS
from aclkit.questions.usage.coverage import GAP, Coverage, FileCoverage, find_gaps
from aclkit.questions.usage.frames import collect_rows
from aclkit.questions.usage.grants import Grant, Use
from aclkit.questions.usage.source import REQUEST
from aclkit.rules.decide.rules import ALLOWED, MATCHING_ACL
from aclkit.runtime.frame import local_frame
from aclkit.warehouse.run import Run
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.store import schema_of

ACCESS_LOG: Final = "access_log"
ACL_USAGE: Final = "acl_usage"


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """Lines alike that do not follow from the ACLs.

    Attributes:
        request: the columns of the request, in the order of ``REQUEST``.
        decision: what the broker did.
        rule: by which rule.
        reason: what was in force.
        lines: how many there are.
        first: when the first of them was written.
        source: where the first of them stands.
        position: on which line.
    """

    request: tuple[str, ...]
    decision: str
    rule: str
    reason: str
    lines: int
    first: datetime
    source: str
    position: int


def merge_lines(run: Run, lines: DataFrame) -> None:
    """Put lines into ``access_log``: each once, under its newest verdict."""
    lines = lines.dropDuplicates(["line_id"])
    if not run.store.has(ACCESS_LOG):
        run.store.append(ACCESS_LOG, lines)
        return
    same = (F.col("t.cluster_id") == F.col("s.cluster_id")) & (
        F.col("t.line_id") == F.col("s.line_id")
    )
    judged = TABLES[ACCESS_LOG].column_names[_FIRST_JUDGED:]
    differs = F.lit(False)
    for name in judged:
        differs |= ~F.col(f"t.{name}").eqNullSafe(F.col(f"s.{name}"))
    (
        run.store.table(ACCESS_LOG)
        .alias("t")
        .merge(lines.alias("s"), same & _about(lines))
        .whenMatchedUpdate(condition=differs, set={n: F.col(f"s.{n}") for n in judged})
        .whenNotMatchedInsertAll()
        .execute()
    )
    run.store.note_write(ACCESS_LOG)


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


def read_coverage(run: Run) -> Coverage:
    """Read which time all lines of the run's cluster cover, of this run and those before it."""
    lines = _readable(run)
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
    )


def read_uses(run: Run, since: datetime) -> dict[str, Use]:
    """Read when each ACL was last named by an ALLOWED line, and how often since a time."""
    inside = F.col("log_time") >= F.lit(since.replace(tzinfo=UTC))
    named = F.col("deciding_acl_id").isNotNull() & (F.col("decision") == ALLOWED)
    rows = (
        _readable(run)
        .where(named)
        .groupBy("deciding_acl_id")
        .agg(F.max("log_time"), F.count_if(inside))
    )
    return {acl_id: Use(last=last, lines=lines) for acl_id, last, lines in collect_rows(rows)}


def allowed_requests(run: Run) -> DataFrame:
    """Return the requests that some ACL allowed, with the time of the last line (``at``)."""
    lines = _readable(run)
    by_acl = (F.col("decision") == ALLOWED) & (F.col("rule") == MATCHING_ACL)
    return lines.where(by_acl).groupBy(*REQUEST).agg(F.unix_micros(F.max("log_time")).alias("at"))


def write_usage(run: Run, grants: Iterable[Grant]) -> None:
    """Replace what is said of the grants of the run's cluster."""
    rows = [
        (
            run.cluster_id,
            grant.acl.acl_id,
            *grant.acl.binding,
            grant.usage,
            grant.last_used_at,
            grant.last_matched_at,
            grant.used_lines,
            grant.added_at,
            grant.window_from,
            grant.window_to,
            grant.covered,
        )
        for grant in grants
    ]
    frame = local_frame(run.store.spark, rows, schema_of(ACL_USAGE))
    run.store.replace_cluster(ACL_USAGE, frame, run.cluster_id)


def _readable(run: Run) -> DataFrame:
    lines = run.store.cluster_rows(ACCESS_LOG, run.cluster_id)
    return lines.where((F.col("verdict") != UNREADABLE) & F.col("log_time").isNotNull())


def _about(lines: DataFrame) -> Column:
    """Return what lets Delta pass over files of other times."""
    ends = lines.agg(F.min("log_time").alias("a"), F.max("log_time"))
    ((first, last),) = collect_rows(ends)
    if first is None:
        return F.col("t.log_time").isNull()
    first, last = (F.lit(end.replace(tzinfo=UTC)) for end in (first, last))
    return F.col("t.log_time").isNull() | F.col("t.log_time").between(first, last)


_FIRST_JUDGED: Final = TABLES[ACCESS_LOG].column_names.index("deciding_acl_id")
