"""A session → what it can read of aclkit: published tables and views, and a raw log."""

from __future__ import annotations

import os
from collections.abc import Collection

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from aclkit.errors import SurroundingsError
from aclkit.pipeline.sources.spark_source import MetadataLog
from aclkit.warehouse.pinned_sql import by_place, pinned_sql
from aclkit.warehouse.published import open_warehouse


def register(spark: SparkSession) -> None:
    """Let a session read metadata logs: ``spark.read.format("kafka_metadata_log").load(path)``.

    The path is a folder ``__cluster_metadata-0``, one above it, a segment or a snapshot, on a disk
    that the workers see or in a bucket. A task reads a file. A row is a fact (``kind`` is
    ``fact``), a range of offsets that was read, or what could not be read, with the reason: see
    ``docs/spark.md``. Committed or not, in an aborted transaction or not, all that lies in the
    files comes; ``replay`` is what makes a history of it.
    """
    spark.dataSource.register(MetadataLog)


def tables(
    spark: SparkSession, warehouse: str | os.PathLike[str], only: Collection[str] | str = ()
) -> dict[str, DataFrame]:
    """Make temporary views of what a warehouse has published, and return them by name.

    All tables and views of ``docs/tables.md``, at the Delta versions that the newest published run
    names: what a run at work writes, or a killed one left, is in none of them, and they stay what
    they are when a later run publishes. Call it again to see that one. A table that no run has
    written is there, and empty. A temporary view of the session with one of these names is
    replaced; no other name is touched.

    Args:
        spark: a session that has Delta, classic or of Spark Connect.
        warehouse: folder or URI, by which this process and Spark reach the same place.
        only: make these, and the tables that they stand on; that is quicker than to open all.

    Raises:
        UsageError: nothing is published there, or there is no table of such a name.
        SurroundingsError: it cannot be read, or the session has no Delta.
    """
    published = open_warehouse(os.fspath(warehouse))
    wanted = [only] if isinstance(only, str) else only
    names: list[str] = []
    for name, query in pinned_sql(published, "spark", by_place(published), wanted):
        _open(spark, query).createOrReplaceTempView(name)
        names.append(name)
    return {name: spark.table(name) for name in names}


def _open(spark: SparkSession, query: str) -> DataFrame:
    try:
        opened = spark.sql(query)
        _ = opened.schema  # a client of Spark Connect asks its server only now
        return opened
    except AnalysisException as error:
        raise SurroundingsError(
            "Spark cannot open the warehouse. The session needs Delta's jars and two settings "
            "(docs/spark.md), and must reach the warehouse by the same path. Spark's error: "
            f"{str(error).splitlines()[0]}"
        ) from error
