"""Snapshots that lie within the travelled log × history → those that contradict it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from aclkit.model.acl import Acl
from aclkit.model.counting import number_of
from aclkit.model.facts import ADD_ACL, SNAPSHOT
from aclkit.model.findings import Finding
from aclkit.model.log_findings import SNAPSHOT_CONTRADICTS_LOG
from aclkit.pipeline.replay.fold import alive_as_of
from aclkit.runtime.frame import local_frame

_FIELDS: Final = Acl.__slots__
_MOST_NAMED: Final = 100


def contradictions(
    facts: DataFrame, history: DataFrame, end_offsets: Sequence[int]
) -> dict[int, list[str]]:
    """Return, for each snapshot that differs from history, the ACLs on which they differ.

    Args:
        facts: rows of ``acl_log``, entries of these snapshots among them.
        history: the cluster's ``acl_history``.
        end_offsets: of the snapshots; an empty one has no entry.
    """
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


def contradiction(end_offset: int, acl_ids: Sequence[str]) -> Finding:
    """Return the finding that a snapshot and the log before it disagree."""
    found = SNAPSHOT_CONTRADICTS_LOG.about(
        f"snapshot at offset {end_offset}",
        f"The snapshot at offset {end_offset} and the log before it disagree on "
        f"{number_of(len(acl_ids), 'ACL')}. aclkit uses the log.",
    )
    return replace(found, acl_ids=tuple(acl_ids[:_MOST_NAMED]))
