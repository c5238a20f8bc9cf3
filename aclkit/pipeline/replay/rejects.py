"""Rejects of sources, known and now read → those that remain, and the offsets that are fixed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from aclkit.model.facts import REJECT, SourceRow
from aclkit.runtime.frame import local_frame
from aclkit.warehouse.schemas import TABLES


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejects:
    """What could not be used of the sources of a cluster.

    Attributes:
        standing: rows of ``acl_reject``, those of the replay aside.
        has_changed: they are not those that were known.
        gone: offsets of rejects that stand no longer.
        left: where there are such, offsets of those that stand.
    """

    standing: DataFrame
    has_changed: bool
    gone: tuple[int, ...] = ()
    left: tuple[int, ...] = ()


def stand_now(
    known: DataFrame,
    incoming: DataFrame,
    reread: Collection[str],
    covered: Sequence[tuple[int, int]] = (),
) -> Rejects:
    """Put the rejects of what was read now in the place of those known of it.

    A file that was damaged, or was being written, has others when it is read again. So has another
    file that holds the same offsets: those that it does not reject were read well.

    Args:
        known: rows of ``acl_reject``, those of the replay aside.
        incoming: those of the sources read now.
        reread: which sources were read whole.
        covered: the offsets, as (from, to), whose records were read now, see ``ranges.read_well``.
    """
    columns = known.columns
    # What is joined several times is made one again below.
    refused = incoming.select(F.col("log_offset").alias("refused"))
    known = known.join(refused, F.col("log_offset") == F.col("refused"), "left")
    is_within = reduce(or_, (_within(*span) for span in covered), F.lit(False))
    is_well = is_within & F.col("refused").isNull()
    stale = F.coalesce(F.col("source").isin(list(reread)) | is_well, F.lit(False))
    known = known.withColumn("is_stale", stale).drop("refused")
    standing = known.where("NOT is_stale").drop("is_stale").unionByName(incoming).distinct()
    sides = known.withColumn("is_incoming", F.lit(False)).unionByName(
        incoming.withColumns({"is_stale": F.lit(False), "is_incoming": F.lit(True)})
    )
    together = sides.groupBy(*columns).agg(
        F.bool_and("is_incoming").alias("is_new"),
        (F.bool_or("is_stale") & ~F.bool_or("is_incoming")).alias("is_gone"),
    )
    of_gone = F.when(F.col("is_gone"), F.coalesce("log_offset", F.lit(-1)))
    ((is_new, gone),) = together.agg(F.bool_or("is_new"), F.collect_set(of_gone)).collect()
    return Rejects(
        standing=standing,
        has_changed=bool(is_new or gone),
        gone=tuple(offset for offset in gone if offset >= 0),
        left=_offsets(standing) if gone else (),
    )


def mended_offsets(rejects: DataFrame, goes: Column) -> tuple[list[int], list[int]]:
    """Collect the offsets of the rejects that go, and of those that stay."""
    named = rejects.where("log_offset IS NOT NULL")
    rows = named.select("log_offset", goes.alias("goes")).distinct().collect()
    return [r[0] for r in rows if r["goes"]], [r[0] for r in rows if not r["goes"]]


def _within(start: int, stop: int) -> Column:
    return (F.col("log_offset") >= start) & (F.col("log_offset") < stop)


def listing_rejects(spark: SparkSession, rows: Iterable[SourceRow], cluster_id: str) -> DataFrame:
    """Make ``acl_reject`` rows of the rejects of a listing."""
    rejects = [
        (cluster_id, "source", r.source, r.position, r.log_offset, r.reason, r.raw, r.digest)
        for r in rows
        if r.kind == REJECT
    ]
    return local_frame(spark, rejects, TABLES["acl_reject"].ddl)


def _offsets(rejects: DataFrame) -> tuple[int, ...]:
    found = rejects.where("log_offset IS NOT NULL").select("log_offset").distinct().collect()
    return tuple(offset for (offset,) in found)
