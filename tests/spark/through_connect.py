"""The three of ``aclkit.spark`` through Spark Connect, in a process and with a server of its own.

Arguments: a warehouse, a metadata log, its super users. On stdout comes one object of JSON.
"""

from __future__ import annotations

import json
import sys
import tempfile

from pyspark.sql import SparkSession

from aclkit.runtime.jars import checked_jars
from aclkit.runtime.spark_release import delta_jars
from aclkit.spark import decide, register, tables

OPENED = ("acl_current", "explain", "job_run")
_DIFFERS = (
    "decision <> new_decision OR rule <> new_rule OR NOT deciding_acl_id <=> new_deciding_acl_id"
)


def session(folder: str) -> SparkSession:
    """Start a server of Spark Connect with Delta, and a client of it."""
    jars = ",".join(map(str, checked_jars(delta_jars())))
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
    warehouse, log, *super_users = sys.argv[1:]
    reading = {"allow_everyone": True, "semantics": "kip-1042"}
    with tempfile.TemporaryDirectory() as folder:
        spark = session(folder)
        try:
            opened = tables(spark, warehouse, OPENED)
            asked = opened["explain"].where(
                "host <> '<any-other>' AND principal <> 'User:<any-other>' "
                "AND NOT startswith(resource_name, '<')"
            )
            (decided,) = (
                decide(asked, warehouse, prefix="new_")
                .selectExpr("count(*) AS requests", f"count_if({_DIFFERS}) AS wrong")
                .collect()
            )
            acls = opened["acl_current"]
            (by_frame,) = (
                decide(asked, acls=acls, prefix="new_", super_users=super_users, **reading)
                .selectExpr(f"count_if({_DIFFERS}) AS wrong")
                .collect()
            )
            register(spark)
            read = spark.read.format("kafka_metadata_log").load(log)
            said = {
                "client": type(spark).__module__,
                "counts": {name: opened[name].count() for name in OPENED},
                "requests": decided["requests"],
                "wrong": decided["wrong"] + by_frame["wrong"],
                "log": read.where("kind = 'fact'").count(),
            }
        finally:
            spark.stop()
    sys.stdout.write(f"\n{json.dumps(said)}\n")


if __name__ == "__main__":
    main()
