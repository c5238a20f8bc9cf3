"""Facts → the tables that a replay writes; reading and writing only, no rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from aclkit.errors import DataError, GoneError, SurroundingsError, UsageError
from aclkit.model.facts import (
    ABORT_TXN,
    BEGIN_TXN,
    END_TXN,
    FAILURE,
    RANGE,
    RECORD,
    SNAPSHOT,
    WRITTEN,
)
from aclkit.pipeline.replay.fold import LEGS_DDL, SPANS_DDL
from aclkit.pipeline.replay.listed import Thing
from aclkit.pipeline.replay.ranges import Range
from aclkit.pipeline.replay.timeline import Timeline
from aclkit.pipeline.replay.transactions import Marker
from aclkit.runtime.frame import local_frame
from aclkit.warehouse.readback import read_written
from aclkit.warehouse.run import Run
from aclkit.warehouse.store import Store, schema_of

MARKERS: Final = (BEGIN_TXN, END_TXN, ABORT_TXN)


def read_ranges(store: Store, cluster_id: str) -> list[Range]:
    """Collect what has been read of a cluster."""
    with read_written(store, cluster_id, "log_range") as read:
        rows = read.rows("SELECT from_offset, to_offset, epoch, fact FROM log_range")
    return [Range(*row) for row in rows]


def read_clusters(store: Store) -> set[str]:
    """Collect the clusters that something has been read of."""
    with read_written(store, None, "log_range") as read:
        return {name for (name,) in read.rows("SELECT DISTINCT cluster_id FROM log_range")}


def count_written(run: Run) -> int:
    """Count the records of the run's cluster that aclkit itself wrote."""
    with read_written(run.store, run.cluster_id, "acl_log") as read:
        ((count,),) = read.rows("SELECT count(*) FROM acl_log WHERE source = ?", WRITTEN)
    return int(count)


def read_alive(run: Run) -> tuple[list[str], list[Thing]]:
    """Collect the ids of the ACLs alive, and the topics, users and other names alive."""
    with read_written(
        run.store, run.cluster_id, "acl_history", "resource_lifetime", "principal_lifetime"
    ) as read:
        acls = read.rows("SELECT acl_id FROM acl_history WHERE removed_offset IS NULL")
        resources = read.rows(
            "SELECT resource_type, resource_name, topic_id FROM resource_lifetime "
            "WHERE last_offset IS NULL"
        )
        users = read.rows(
            "SELECT principal, mechanism FROM principal_lifetime WHERE last_offset IS NULL"
        )
    things = [Thing(*row) for row in resources]
    things += [Thing(principal=name, mechanism=mechanism) for name, mechanism in users]
    return [acl_id for (acl_id,) in acls], things


def read_markers(run: Run) -> list[Marker]:
    """Collect the transaction records among the facts of the run's cluster."""
    asked = (
        "SELECT DISTINCT log_offset, record_type FROM acl_log "
        "WHERE fact = ? AND record_type IN (?, ?, ?)"
    )
    with read_written(run.store, run.cluster_id, "acl_log") as read:
        return [Marker(*row) for row in read.rows(asked, RECORD, *MARKERS)]


def raise_failures(rows: DataFrame) -> None:
    """Raise the error with which a source could not be read, if one could not."""
    failures = rows.where(F.col("kind") == FAILURE).select("fact", "reason").limit(1).collect()
    known = {c.__name__: c for c in (UsageError, GoneError, SurroundingsError)}
    for name, reason in failures:
        raise known.get(name, DataError)(reason)


def collect_ranges(rows: DataFrame) -> list[Range]:
    """Collect the ranges among source rows."""
    ranges = (
        rows.where(F.col("kind") == RANGE)
        .select("from_offset", "to_offset", "epoch", "fact")
        .distinct()
        .collect()
    )
    return [Range(*row) for row in ranges]


def write_ranges(run: Run, ranges: Iterable[Range]) -> None:
    """Replace what is known to have been read of the run's cluster."""
    rows = [(run.cluster_id, *item) for item in ranges]
    run.store.replace_rows("log_range", rows, run.cluster_id)


def stretches_frame(store: Store, cluster_id: str, timeline: Timeline) -> DataFrame:
    """Make the DataFrame of a timeline's stretches that ``fold`` joins with."""
    rows = [(cluster_id, x.fact, x.from_offset, x.to_offset) for x in timeline.itinerary.stretches]
    return local_frame(store.spark, rows, LEGS_DDL)


def spans_frame(store: Store, cluster_id: str, timeline: Timeline) -> DataFrame:
    """Make the DataFrame of a timeline's transactions that ``fold`` joins with."""
    rows = [(cluster_id, *span) for span in timeline.spans]
    return local_frame(store.spark, rows, SPANS_DDL)


def faults_frame(store: Store, cluster_id: str, timeline: Timeline) -> DataFrame:
    """Make ``acl_reject`` rows of transaction records that make no sense where they stand."""
    rows = [
        (cluster_id, "replay", None, None, fault.log_offset, fault.reason, None, None)
        for fault in timeline.faults
    ]
    return local_frame(store.spark, rows, schema_of("acl_reject"))


def with_txn_offset(facts: DataFrame, spans: DataFrame) -> DataFrame:
    """Set ``txn_offset`` to the Begin of the transaction that each record is part of."""
    columns = facts.columns
    inside = (
        (F.col("f.cluster_id") == F.col("t.cluster_id"))
        & (F.col("f.fact") == RECORD)
        & (F.col("f.log_offset") > F.col("t.begin_offset"))
        & (F.col("f.log_offset") < F.col("t.end_offset"))
    )
    return (
        facts.alias("f")
        .join(F.broadcast(spans.alias("t")), on=inside, how="left")
        .select(
            *[
                F.col("t.begin_offset").alias("txn_offset") if c == "txn_offset" else f"f.{c}"
                for c in columns
            ]
        )
    )


def mend_txn_offsets(run: Run, spans: DataFrame) -> None:
    """Correct ``txn_offset`` of facts whose transaction became known in a later run."""
    facts = run.store.cluster_rows("acl_log", run.cluster_id)
    wrong = (
        with_txn_offset(facts, spans)
        .alias("now")
        .join(
            facts.alias("was"),
            on=(F.col("now.log_offset") == F.col("was.log_offset"))
            & (F.col("was.fact") == RECORD)
            & (F.col("now.fact") == RECORD),
            how="inner",
        )
        .where(~F.col("now.txn_offset").eqNullSafe(F.col("was.txn_offset")))
        .select("now.cluster_id", "now.log_offset", "now.txn_offset")
    )
    if wrong.isEmpty():
        return
    condition = (
        (F.col("t.cluster_id") == F.col("s.cluster_id"))
        & (F.col("t.log_offset") == F.col("s.log_offset"))
        & (F.col("t.fact") == RECORD)
    )
    (
        run.store.table("acl_log")
        .alias("t")
        .merge(wrong.alias("s"), condition)
        .whenMatchedUpdate(set={"txn_offset": F.col("s.txn_offset")})
        .execute()
    )
    run.store.note_write("acl_log")


def delete_snapshots(run: Run, end_offsets: Sequence[int]) -> None:
    """Delete the facts of snapshots of the run's cluster."""
    run.store.table("acl_log").delete(
        (F.col("cluster_id") == run.cluster_id)
        & (F.col("fact") == SNAPSHOT)
        & F.col("log_offset").isin(list(end_offsets))
    )
    run.store.note_write("acl_log")


def describe_spans(spans: Sequence[tuple[int, int]]) -> str:
    """Write half-open spans of offsets for people: ``12–19, 40``."""
    return ", ".join(f"{a}–{b - 1}" if b - a > 1 else f"{a}" for a, b in spans)
