"""Facts and the plan of a history → the tables of lifetimes and rejects."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession

from aclkit.pipeline.replay import fold
from aclkit.pipeline.replay.history_plan import HistoryPlan
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
