"""The three of ``aclkit.spark`` through Spark Connect, in a process and with a server of its own.

Arguments: a warehouse, a metadata log. On stdout comes one object of JSON.
"""

from __future__ import annotations

import json
import sys
import tempfile

from pyspark.sql import SparkSession

from aclkit.runtime.jars import DELTA
from aclkit.spark import decide, register, tables


def session(folder: str) -> SparkSession:
    """Start a server of Spark Connect with Delta, and a client of it."""
    jars = ",".join(str(DELTA.folder() / name) for name in DELTA.digests)
    settings = {
        "spark.jars": jars,
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.sql.warehouse.dir": folder,
        "spark.local.dir": folder,
    }
    builder = SparkSession.builder.remote("local[2]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def main() -> None:
    warehouse, log = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        spark = session(folder)
        try:
            opened = tables(spark, warehouse)
            asked = opened["explain"].where("host <> '<any-other>'")
            columns = ("principal", "host", "operation", "resource_type", "resource_name")
            requests = asked.where("NOT startswith(resource_name, '<')").where(
                "principal <> 'User:<any-other>'"
            )
            found = decide(requests.select(*columns, "cluster_id"), warehouse, prefix="new_")
            by = ["cluster_id", *columns]
            both = found.join(requests, by)
            register(spark)
            read = spark.read.format("kafka_metadata_log").load(log)
            said = {
                "client": type(spark).__module__,
                "counts": {name: frame.count() for name, frame in opened.items()},
                "requests": requests.count(),
                "joined": both.count(),
                "wrong": both.where(
                    "decision <> new_decision OR rule <> new_rule "
                    "OR NOT deciding_acl_id <=> new_deciding_acl_id"
                ).count(),
                "log": read.count(),
            }
        finally:
            spark.stop()
    sys.stdout.write(f"\n{json.dumps(said)}\n")


if __name__ == "__main__":
    main()
