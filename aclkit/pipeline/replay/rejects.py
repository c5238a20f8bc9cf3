"""Rejects of sources, known and now read → those that stand, and the offsets that are mended."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from aclkit.pipeline.replay.intake import incoming_rejects
from aclkit.warehouse.run import Run
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


def known_rejects(run: Run) -> DataFrame:
    """Return the rejects of sources that the run's cluster has."""
    return run.store.cluster_rows("acl_reject", run.cluster_id).where("stage = 'source'")


def stand_now(run: Run, rows: DataFrame, reread: Collection[str]) -> Rejects:
    """Put the rejects of sources that were read whole in the place of those known of them.

    A file that was damaged, or was being written, has others when it is read again.
    """
    columns = TABLES["acl_reject"].column_names
    known = known_rejects(run).withColumn(
        "is_stale", F.coalesce(F.col("source").isin(list(reread)), F.lit(False))
    )
    incoming = incoming_rejects(rows, run.cluster_id)
    standing = known.where("NOT is_stale").select(*columns).unionByName(incoming).distinct()
    ((is_new, gone),) = (
        known.withColumn("is_incoming", F.lit(False))
        .unionByName(incoming.withColumns({"is_stale": F.lit(False), "is_incoming": F.lit(True)}))
        .groupBy(*columns)
        .agg(
            F.bool_or(~F.col("is_incoming")).alias("is_known"),
            F.bool_or("is_incoming").alias("is_incoming"),
            F.bool_or("is_stale").alias("is_stale"),
        )
        .select(
            (F.col("is_incoming") & ~F.col("is_known")).alias("is_new"),
            (F.col("is_stale") & ~F.col("is_incoming")).alias("is_gone"),
            "log_offset",
        )
        .agg(
            F.bool_or("is_new"),
            F.collect_set(F.when(F.col("is_gone"), F.coalesce("log_offset", F.lit(-1)))),
        )
        .collect()
    )
    return Rejects(
        standing=standing,
        has_changed=bool(is_new or gone),
        gone=tuple(offset for offset in gone if offset >= 0),
        left=_offsets(standing) if gone else (),
    )


def _offsets(rejects: DataFrame) -> tuple[int, ...]:
    found = rejects.where("log_offset IS NOT NULL").select("log_offset").distinct().collect()
    return tuple(offset for (offset,) in found)
