"""Seconds and decisions per second: of aclkit, of Kafka's loop, of plain SQL, of a copy."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from aclkit.model.acl import Request
from aclkit.model.operation import OPERATIONS_OF_TYPE, coverage
from aclkit.model.semantics import BrokerSettings
from aclkit.pipeline.explain.decided import MaterializeOptions, take_inventory
from aclkit.pipeline.explain.materialize import continue_from_replay, materialize
from aclkit.runtime.frame import local_frame
from aclkit.warehouse.frames import TableFrames
from aclkit.warehouse.run import begin_run, publish
from aclkit.warehouse.store import Store
from tests.tools.benchmarks.kafka_loop import measure_loop
from tests.tools.benchmarks.shapes import Cluster
from tests.tools.benchmarks.warehouse import CLUSTER_ID, options_for, write_acls

TOPIC = OPERATIONS_OF_TYPE["TOPIC"]


def factored_seconds(
    spark: SparkSession, folder: Path, cluster: Cluster, dense: str = "never"
) -> tuple[float, dict[str, int]]:
    """Decide a cluster in a new warehouse; return the seconds of the run and its counts."""
    write_acls(spark, str(folder), cluster.acls)
    return decide_again(spark, folder, options_for(cluster, dense=dense))


def decide_again(
    spark: SparkSession, folder: Path, options: MaterializeOptions
) -> tuple[float, dict[str, int]]:
    """Materialize a warehouse, lock to publish."""
    started = time.perf_counter()
    with begin_run(spark, str(folder), "materialize", lock_timeout=60) as run:
        run.cluster_id = CLUSTER_ID
        continue_from_replay(run)
        scope = take_inventory(run, options)
        materialize(run, scope, options)
        publish(run)
    return time.perf_counter() - started, run.counts


def loop_rate(cluster: Cluster, seconds: float) -> float:
    """Return how many decisions a second StandardAuthorizer itself makes, on one core."""
    return measure_loop(cluster.acls, sample(cluster, 100_000), BrokerSettings(), seconds)


def sample(cluster: Cluster, count: int) -> list[Request]:
    """Draw requests from those that the benchmark decides."""
    rng = random.Random(cluster.shape.seed)
    return [
        Request(
            principal=rng.choice(cluster.principals),
            host=rng.choice(cluster.hosts),
            operation=rng.choice(TOPIC),
            resource_type="TOPIC",
            resource_name=rng.choice(cluster.topics),
        )
        for _ in range(count)
    ]


def plain_sql_rate(spark: SparkSession, cluster: Cluster) -> float:
    """Return how many decisions a second the join makes that one would write first."""
    few = replace_few(cluster)
    acls = local_frame(
        spark,
        [(a.resource_name, a.pattern_type, a.principal, a.host, a.operation, a.permission_type)
         for a in cluster.acls],
        "pattern STRING, kind STRING, who STRING, acl_host STRING, acl_operation STRING, "
        "permission STRING",
    )  # fmt: skip
    covers = [
        (operation, permission, asked)
        for operation in (*TOPIC, "ALL")
        for permission in ("ALLOW", "DENY")
        for asked in TOPIC
        if coverage(operation, permission, asked) is not None
    ]
    asked = (
        _column(spark, few.principals, "principal")
        .crossJoin(_column(spark, few.hosts, "host"))
        .crossJoin(_column(spark, few.topics, "topic"))
        .crossJoin(_column(spark, TOPIC, "operation"))
    )
    cover = local_frame(spark, covers, "acl_operation STRING, permission STRING, operation STRING")
    is_literal = F.col("kind") == "LITERAL"
    matches = (
        (is_literal & F.col("pattern").isin("*"))
        | (is_literal & (F.col("pattern") == F.col("topic")))
        | ((F.col("kind") == "PREFIXED") & F.col("topic").startswith(F.col("pattern")))
    )
    applies = (
        (asked["operation"] == cover["operation"])
        & (F.col("who").isin("User:*") | (F.col("who") == F.col("principal")))
        & (F.col("acl_host").isin("*") | (F.col("acl_host") == F.col("host")))
        & matches
    )
    decided = (
        asked.join(acls.join(cover, on=["acl_operation", "permission"]), on=applies, how="left")
        .groupBy("principal", "host", "topic", asked["operation"])
        .agg(
            F.max(F.col("permission") == "DENY").alias("denied"),
            F.max(F.col("permission") == "ALLOW").alias("allowed"),
        )
    )
    return rate(decided)


def replace_few(cluster: Cluster) -> Cluster:
    """Keep little enough of a cluster for the slow way."""
    rng = random.Random(1)
    return replace(
        cluster,
        principals=rng.sample(cluster.principals, 10),
        hosts=cluster.hosts[:1],
        topics=rng.sample(cluster.topics, 100),
    )


def rate(decided: DataFrame) -> float:
    """Compute a frame of decisions and return how many there are a second."""
    started = time.perf_counter()
    count = decided.agg(F.count("*"), F.count_if("denied"), F.count_if("allowed")).collect()[0][0]
    return float(count) / (time.perf_counter() - started)


def floor_seconds(spark: SparkSession, folder: Path, times: int) -> float:
    """Return the median time to read the dense table and write the same rows again."""
    store = Store(spark, str(folder))
    seconds = []
    for number in range(times):
        started = time.perf_counter()
        copy = str(folder.parent / f"{folder.name}-copy{number}")
        TableFrames(store).read("explain").write.format("delta").save(copy)
        seconds.append(time.perf_counter() - started)
    return median(seconds)


def _column(spark: SparkSession, values: Sequence[str], name: str) -> DataFrame:
    return local_frame(spark, [(value,) for value in values], f"{name} STRING")
