"""Facts × the way through the log → lifetimes of ACLs, topics and users, and rejected facts.

The state of an ACL after a record depends on that record alone: an add leaves it alive, a
removal dead. So a record made sense exactly when it differs from the one before it, and one
window per ACL does what ``tests/pipeline/replay/specification.py`` does step by step.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.window import WindowSpec

from aclkit.model.acl import BINDING
from aclkit.model.facts import (
    ADD_ACL,
    ADD_DELEGATION,
    ADD_RESOURCE,
    ADD_SCRAM,
    ADD_TOPIC,
    LISTING,
    RECORD,
    REMOVE_ACL,
    REMOVE_DELEGATION,
    REMOVE_RESOURCE,
    REMOVE_SCRAM,
    REMOVE_TOPIC,
    SNAPSHOT,
)
from aclkit.pipeline.replay.engine import ID_EXISTS, ID_IS_UNKNOWN
from aclkit.pipeline.replay.transactions import COMMITTED
from aclkit.warehouse.schemas import TABLES

STRETCHES_DDL: Final = "cluster_id STRING, fact STRING, from_offset BIGINT, to_offset BIGINT"
SPANS_DDL: Final = "cluster_id STRING, begin_offset BIGINT, end_offset BIGINT, outcome STRING"


def with_effect(facts: DataFrame, stretches: DataFrame, spans: DataFrame | None) -> DataFrame:
    """Keep the facts that history passes, with ``effective_offset``: where each takes effect.

    A record of a committed transaction takes effect at its End; one of an aborted or open
    transaction not at all. A snapshot's entries take effect at its last offset, and only where
    history jumps onto it. ``spans`` is None where there are no transactions.
    """
    offset, start, end = F.col("f.log_offset"), F.col("s.from_offset"), F.col("s.to_offset")
    records = facts.where(F.col("fact").isin(RECORD, LISTING))
    read = stretches.where(F.col("fact") == RECORD)
    passed = beside(records, read, (offset >= start) & (offset < end), "inner").select("f.*")
    if spans is None:
        inside = passed.withColumn("effective_offset", F.col("log_offset"))
    else:
        inside = (
            beside(passed, spans, is_within(), "left")
            .where(F.col("s.outcome").isNull() | (F.col("s.outcome") == COMMITTED))
            .select("f.*", F.coalesce("s.end_offset", "f.log_offset").alias("effective_offset"))
        )
    entries = facts.where(F.col("fact") == SNAPSHOT)
    jumps = stretches.where(F.col("fact") == SNAPSHOT)
    bridged = beside(entries, jumps, offset == end, "inner")
    return inside.unionByName(bridged.select("f.*", (offset - 1).alias("effective_offset")))


def beside(facts: DataFrame, small: DataFrame, on: Column, how: str) -> DataFrame:
    """Join facts, as ``f``, with a small frame of the same clusters, as ``s``."""
    same = F.col("f.cluster_id") == F.col("s.cluster_id")
    return facts.alias("f").join(F.broadcast(small.alias("s")), on=same & on, how=how)


def is_within() -> Column:
    """Whether a fact lies within the transaction joined to it."""
    offset = F.col("f.log_offset")
    return (offset > F.col("s.begin_offset")) & (offset < F.col("s.end_offset"))


def fold_acls(effects: DataFrame, stretches: DataFrame | None) -> DataFrame:
    """Fold ACL facts into ``acl_history``; here and below None means: no jump onto a snapshot."""
    lives = _fold(_acl_events(effects), stretches, ["acl_id"])
    payload = [f"payload.{name}" for name in BINDING]
    return lives.select(
        "cluster_id",
        "acl_id",
        *payload,
        F.when(F.col("fact") == SNAPSHOT, F.col("effective_offset"))
        .otherwise(F.col("log_offset"))
        .alias("added_offset"),
        "effective_offset",
        F.col("log_time").alias("added_at"),
        F.col("fact").alias("added_by"),
        "removed_offset",
        "removed_at",
    ).select(*TABLES["acl_history"].column_names)


def reject_acls(effects: DataFrame, stretches: DataFrame | None) -> DataFrame:
    """Return ``acl_reject`` rows for records that add a live id or remove an unknown one."""
    events = _with_previous(_with_vanished(_acl_events(effects), stretches, ["acl_id"]), ["acl_id"])
    refused = (F.col("is_add") == F.col("was_alive")) & (F.col("fact") != SNAPSHOT)
    reasons = F.when(F.col("is_add"), ID_EXISTS).otherwise(ID_IS_UNKNOWN)
    binding = F.to_json(F.struct("acl_id", *[F.col(f"payload.{name}") for name in BINDING]))
    return events.where(refused).select(
        "cluster_id",
        F.lit("replay").alias("stage"),
        "source",
        F.lit(None).cast("bigint").alias("position"),
        "log_offset",
        reasons.alias("reason"),
        binding.alias("raw"),
        F.sha2(binding, 256).alias("digest"),
    )


def fold_resources(effects: DataFrame, stretches: DataFrame | None) -> DataFrame:
    """Fold facts of topics and listed resources into ``resource_lifetime``.

    A topic is known by its id, all else by its type and name.
    """
    adds = (ADD_TOPIC, ADD_RESOURCE)
    is_topic = F.col("record_type").isin(ADD_TOPIC, REMOVE_TOPIC)
    events = effects.where(F.col("record_type").isin(*adds, REMOVE_TOPIC, REMOVE_RESOURCE)).select(
        *_EVENT,
        F.when(is_topic, F.lit("TOPIC")).otherwise(F.col("resource_type")).alias("resource_type"),
        F.when(is_topic, F.col("topic_id")).otherwise(F.col("resource_name")).alias("entity"),
        F.col("record_type").isin(*adds).alias("is_add"),
        F.struct("resource_name", "topic_id").alias("payload"),
    )
    return _fold(events, stretches, ["resource_type", "entity"]).select(
        "cluster_id",
        "resource_type",
        "payload.resource_name",
        "payload.topic_id",
        F.col("effective_offset").alias("first_offset"),
        F.col("removed_offset").alias("last_offset"),
    )


def fold_users(effects: DataFrame, stretches: DataFrame | None) -> DataFrame:
    """Fold facts of SCRAM users and owners of tokens into ``principal_lifetime``."""
    adds = (ADD_SCRAM, ADD_DELEGATION)
    events = effects.where(
        F.col("record_type").isin(*adds, REMOVE_SCRAM, REMOVE_DELEGATION)
    ).select(
        *_EVENT,
        "principal",
        "mechanism",
        F.col("record_type").isin(*adds).alias("is_add"),
        F.struct("principal").alias("payload"),
    )
    return _fold(events, stretches, ["principal", "mechanism"]).select(
        "cluster_id",
        "principal",
        "mechanism",
        F.col("effective_offset").alias("first_offset"),
        F.col("removed_offset").alias("last_offset"),
    )


def alive_as_of(history: DataFrame, log_offset: int | Column) -> DataFrame:
    """Keep the lifetimes in effect as of an offset (exclusive, as in snapshots)."""
    return history.where(
        (F.col("effective_offset") < log_offset)
        & (F.col("removed_offset").isNull() | (F.col("removed_offset") >= log_offset))
    )


_EVENT: Final = ("cluster_id", "fact", "log_offset", "effective_offset", "log_time", "source")


def _acl_events(effects: DataFrame) -> DataFrame:
    return effects.where(F.col("record_type").isin(ADD_ACL, REMOVE_ACL)).select(
        *_EVENT,
        "acl_id",
        (F.col("record_type") == ADD_ACL).alias("is_add"),
        F.struct(*BINDING).alias("payload"),
    )


def _fold(events: DataFrame, stretches: DataFrame | None, key: list[str]) -> DataFrame:
    """Pair each event that made its subject alive with the next one that ended it."""
    happened = _with_previous(_with_vanished(events, stretches, key), key).where(
        F.col("is_add") != F.col("was_alive")
    )
    following = _in_order(key)
    return (
        happened.withColumns(
            {
                "removed_offset": F.lead("effective_offset").over(following),
                "removed_at": F.lead("log_time").over(following),
            }
        )
        .where("is_add")
        .drop("was_alive", "is_add")
    )


def _with_vanished(events: DataFrame, stretches: DataFrame | None, key: list[str]) -> DataFrame:
    """Add an ending for whatever a snapshot that history jumps onto no longer lists."""
    if stretches is None:
        return events
    entries = events.where(F.col("fact") == SNAPSHOT)
    listed = entries.select("cluster_id", *key, "log_offset")
    times = entries.groupBy("cluster_id", "log_offset").agg(F.max("log_time").alias("log_time"))
    jumps = stretches.where(F.col("fact") == SNAPSHOT)
    jumps = jumps.select("cluster_id", F.col("to_offset").alias("log_offset"))
    vanished = (
        events.groupBy("cluster_id", *key)
        .agg(F.min("effective_offset").alias("first_seen"))
        .join(F.broadcast(jumps), on="cluster_id", how="inner")
        .where(F.col("first_seen") < F.col("log_offset") - 1)
        .join(listed, on=["cluster_id", *key, "log_offset"], how="left_anti")
        .join(times, on=["cluster_id", "log_offset"], how="left")
        .select(
            "cluster_id",
            F.lit(SNAPSHOT).alias("fact"),
            "log_offset",
            (F.col("log_offset") - 1).alias("effective_offset"),
            "log_time",
            *key,
            F.lit(False).alias("is_add"),
        )
    )
    # What is no record has neither a source nor a payload.
    return events.unionByName(vanished, allowMissingColumns=True)


def _with_previous(events: DataFrame, key: list[str]) -> DataFrame:
    return events.withColumn("was_alive", F.lag("is_add", 1, False).over(_in_order(key)))


def _in_order(key: list[str]) -> WindowSpec:
    """Log order: where records take effect, a snapshot after the records that it contains."""
    return Window.partitionBy("cluster_id", *key).orderBy(
        "effective_offset", F.col("fact") == SNAPSHOT, "log_offset"
    )
