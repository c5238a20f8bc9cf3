"""Facts and the plan of a history → the tables of lifetimes and rejects, and what to tell of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession

from aclkit.pipeline.replay import fold
from aclkit.pipeline.replay.history_plan import HistoryPlan
from aclkit.pipeline.replay.transactions import OPEN
from aclkit.runtime.frame import Steps, local_frame
from aclkit.warehouse.schemas import TABLES


def compute_history(
    facts: DataFrame, rejected: DataFrame, plan: HistoryPlan, cluster_id: str, steps: Steps
) -> Mapping[str, DataFrame]:
    """Return what the tables of a cluster's history hold, by their names.

    Args:
        facts: rows of ``acl_log``.
        rejected: rows of ``acl_reject`` that its sources have.
        plan: the way through the log.
        cluster_id: the cluster.
        steps: what is computed on the way.
    """
    spark = facts.sparkSession
    stretches = stretches_frame(spark, cluster_id, plan)
    effects = fold.with_effect(facts, stretches, spans_frame(spark, cluster_id, plan))
    effects = steps.checkpoint(effects)
    of_replay = fold.reject_acls(effects, stretches)
    faults = faults_frame(spark, cluster_id, plan)
    return {
        "acl_history": steps.checkpoint(fold.fold_acls(effects, stretches)),
        "resource_lifetime": fold.fold_resources(effects, stretches),
        "principal_lifetime": fold.fold_users(effects, stretches),
        "acl_reject": rejected.unionByName(of_replay).unionByName(faults),
    }


def stretches_frame(spark: SparkSession, cluster_id: str, plan: HistoryPlan) -> DataFrame:
    """Make the frame of a plan's stretches that ``fold`` joins with."""
    rows = [(cluster_id, x.fact, x.from_offset, x.to_offset) for x in plan.itinerary.stretches]
    return local_frame(spark, rows, fold.STRETCHES_DDL)


def spans_frame(spark: SparkSession, cluster_id: str, plan: HistoryPlan) -> DataFrame:
    """Make the frame of a plan's transactions that ``fold`` joins with."""
    return local_frame(spark, [(cluster_id, *span) for span in plan.spans], fold.SPANS_DDL)


def faults_frame(spark: SparkSession, cluster_id: str, plan: HistoryPlan) -> DataFrame:
    """Make ``acl_reject`` rows of transaction records that make no sense where they stand."""
    rows = [
        (cluster_id, "replay", None, None, fault.log_offset, fault.reason, None, None)
        for fault in plan.faults
    ]
    return local_frame(spark, rows, TABLES["acl_reject"].ddl)


def notes_on(plan: HistoryPlan, high_watermark: int | None) -> Iterator[str]:
    """Yield how far history goes and what it had to leave out."""
    if high_watermark is None:
        yield "no high watermark was given: every complete batch counts as committed"
    for start, end in plan.itinerary.bridged:
        if start == 0:
            yield f"history begins with the snapshot at offset {end}: what was before is not known"
        else:
            yield (
                f"offsets {describe_spans([(start, end)])} are bridged by the snapshot at offset "
                f"{end}: only what differs between their beginning and their end is known"
            )
    if plan.itinerary.holes:
        yield f"offsets {describe_spans(plan.itinerary.holes)} could not be read"
    waiting = [span for span in plan.spans if span.outcome == OPEN]
    if waiting:
        yield (
            f"the transaction that began at offset {waiting[-1].begin} has not ended: "
            "what it holds has no effect yet"
        )


def describe_spans(spans: Sequence[tuple[int, int]]) -> str:
    """Write half-open spans of offsets for people: ``12–19, 40``."""
    return ", ".join(f"{a}–{b - 1}" if b - a > 1 else f"{a}" for a, b in spans)
