"""Snapshots that lie within the travelled log × history → those that contradict it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from aclkit.model.acl import Acl
from aclkit.model.facts import ADD_ACL, SNAPSHOT
from aclkit.pipeline.replay.on_spark.fold import alive_as_of
from aclkit.runtime.frame import local_frame

_FIELDS: Final = Acl.__slots__


def contradictions(
    facts: DataFrame, history: DataFrame, end_offsets: Sequence[int]
) -> dict[int, list[str]]:
    """See ``Engine``."""
    checks = local_frame(history.sparkSession, [(n,) for n in end_offsets], "log_offset BIGINT")
    listed = (
        facts.where((F.col("fact") == SNAPSHOT) & (F.col("record_type") == ADD_ACL))
        .join(F.broadcast(checks), on="log_offset", how="left_semi")
        .select("log_offset", *_FIELDS, F.lit(1).alias("side"))
        # Two sources may hold the same snapshot.
        .distinct()
    )
    by_log = alive_as_of(history.crossJoin(F.broadcast(checks)), F.col("log_offset")).select(
        "log_offset", *_FIELDS, F.lit(-1).alias("side")
    )
    # A hash in place of the fields: of many large snapshots it is all that is moved.
    differing = (
        listed.unionByName(by_log)
        .select("log_offset", "acl_id", "side", F.xxhash64(*_FIELDS).alias("content"))
        .groupBy("log_offset", "acl_id", "content")
        .agg(F.sum("side").alias("sides"))
        .where("sides <> 0")
        .groupBy("log_offset")
        .agg(F.sort_array(F.collect_set("acl_id")))
    )
    return {end_offset: list(acl_ids) for end_offset, acl_ids in sorted(differing.collect())}
