"""A session → the data source ``kafka_metadata_log`` in it, which replay reads logs with."""

from __future__ import annotations

from pyspark.sql import SparkSession

from aclkit.pipeline.sources.spark_source import MetadataLog


def register(spark: SparkSession) -> None:
    """Let a session read metadata logs: ``spark.read.format("kafka_metadata_log").load(path)``.

    The path is a folder ``__cluster_metadata-0``, one above it, a segment or a snapshot, on a disk
    that the workers see or in a bucket. A task reads a file. A row is a fact (``kind`` is
    ``fact``), a range of offsets that was read, or what could not be read, with the reason: see
    ``docs/spark.md``. Committed or not, in an aborted transaction or not, all that lies in the
    files comes; ``replay`` is what makes a history of it.
    """
    spark.dataSource.register(MetadataLog)
