"""A cluster of ``shapes`` → a warehouse that looks replayed, and the options to decide it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import SparkSession

from aclkit.model.acl import Acl
from aclkit.model.semantics import KIP_1042, BrokerSettings, Semantics
from aclkit.model.symbol import HOSTS, PRINCIPALS, RESOURCES
from aclkit.pipeline.explain.decided import MaterializeOptions
from aclkit.pipeline.inventory.entry import Entry
from aclkit.pipeline.inventory.survey import Given
from aclkit.runtime.frame import local_frame
from aclkit.warehouse.frames import TableFrames, schema_of
from aclkit.warehouse.run import begin_run, publish
from tests.factories import exactly
from tests.tools.benchmarks.shapes import Cluster

CLUSTER_ID = "bench"
_NOW = datetime(2026, 11, 21, tzinfo=UTC)


def write_acls(spark: SparkSession, warehouse: str, acls: Sequence[Acl]) -> None:
    """Publish a history in which all these ACLs are alive, as a replay would."""
    rows: list[tuple[Any, ...]] = [
        (CLUSTER_ID, acl.acl_id, *acl.binding, number, number, _NOW, "record", None, None)
        for number, acl in enumerate(acls)
    ]
    with begin_run(spark, warehouse, "replay", lock_timeout=60) as run:
        run.cluster_id = CLUSTER_ID
        run.head_offset, run.counts = len(rows), {"acls_alive": len(rows)}
        store = run.store
        history = local_frame(spark, rows, schema_of("acl_history"))
        TableFrames(store).replace("acl_history", history, CLUSTER_ID)
        ranges = local_frame(
            spark, [(CLUSTER_ID, 0, len(rows), 1, "record", None)], schema_of("log_range")
        )
        TableFrames(store).replace("log_range", ranges, CLUSTER_ID)
        publish(run)


def options_for(
    cluster: Cluster, semantics: Semantics = KIP_1042, dense: str = "never"
) -> MaterializeOptions:
    """Ask about everything in the cluster."""
    return MaterializeOptions(
        settings=BrokerSettings(),
        reading=exactly(semantics),
        given=Given(
            entries={
                PRINCIPALS: [Entry(name=p, origin="file") for p in cluster.principals],
                HOSTS: [Entry(name=h, origin="file") for h in cluster.hosts],
                RESOURCES: [
                    Entry(name=t, resource_type="TOPIC", origin="file") for t in cluster.topics
                ],
            }
        ),
        dense=dense,
    )
