"""Rejects of sources, known and now read → those that remain, and the offsets that are fixed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from aclkit.pipeline.replay.engine import Rejects


def stand_now(
    known: DataFrame,
    incoming: DataFrame,
    reread: Collection[str],
    covered: Sequence[tuple[int, int]] = (),
) -> Rejects[DataFrame]:
    """See ``Engine``."""
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
        left=tuple(offsets(standing)) if gone else (),
    )


def _within(start: int, stop: int) -> Column:
    return (F.col("log_offset") >= start) & (F.col("log_offset") < stop)


def offsets(rejects: DataFrame) -> list[int]:
    """See ``Engine``."""
    found = rejects.where("log_offset IS NOT NULL").select("log_offset").distinct().collect()
    return [offset for (offset,) in found]
