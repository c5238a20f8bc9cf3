"""Facts and the plan of a history → the tables of lifetimes and rejects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession

from aclkit.model.facts import SNAPSHOT
from aclkit.pipeline.replay.history_plan import HistoryPlan
from aclkit.pipeline.replay.on_spark import fold
from aclkit.pipeline.replay.transactions import Span
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
    # Most logs have no jump, and many no transaction: joins with nothing are not planned.
    spans = spans_frame(spark, cluster_id, plan.spans) if plan.spans else None
    jumps = stretches if _has_jump(plan) else None
    effects = steps.checkpoint(fold.with_effect(facts, stretches, spans))
    of_replay = fold.reject_acls(effects, jumps)
    faults = faults_frame(spark, cluster_id, plan)
    return {
        "acl_history": steps.checkpoint(fold.fold_acls(effects, jumps)),
        "resource_lifetime": fold.fold_resources(effects, jumps),
        "principal_lifetime": fold.fold_users(effects, jumps),
        "acl_reject": rejected.unionByName(of_replay).unionByName(faults),
    }


def _has_jump(plan: HistoryPlan) -> bool:
    return any(stretch.fact == SNAPSHOT for stretch in plan.itinerary.stretches)


def stretches_frame(spark: SparkSession, cluster_id: str, plan: HistoryPlan) -> DataFrame:
    """Make the frame of a plan's stretches that ``fold`` joins with."""
    rows = [(cluster_id, x.fact, x.from_offset, x.to_offset) for x in plan.itinerary.stretches]
    return local_frame(spark, rows, fold.STRETCHES_DDL)


def spans_frame(spark: SparkSession, cluster_id: str, spans: Sequence[Span]) -> DataFrame:
    """Make the frame of transactions that ``fold`` joins with."""
    return local_frame(spark, [(cluster_id, *span) for span in spans], fold.SPANS_DDL)


def faults_frame(spark: SparkSession, cluster_id: str, plan: HistoryPlan) -> DataFrame:
    """Make ``acl_reject`` rows of transaction records that are invalid at their offset."""
    rows = [
        (cluster_id, "replay", None, None, fault.log_offset, fault.reason, None, None)
        for fault in plan.faults
    ]
    return local_frame(spark, rows, TABLES["acl_reject"].ddl)
