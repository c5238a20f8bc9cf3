"""How long ``aclkit.spark.decide`` takes for many logged requests, on two cores of Spark.

``python -m tests.tools.benchmarks.spark_decide WAREHOUSE --rows 100000000`` decides requests that
are drawn from the names of a warehouse, and hosts and topics that it does not know, and counts the
rulings. It prints the time of the requests alone too: what Spark takes to make and to count them.
"""

from __future__ import annotations

import argparse
import sys
import time

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from aclkit.runtime.spark import build_session
from aclkit.spark import decide, tables


def drawn(names: list[str], salt: int) -> Column:
    """Return a column that draws names by a row's number."""
    place = F.abs(F.xxhash64(F.col("id"), F.lit(salt))) % len(names) + 1
    return F.element_at(F.array(*map(F.lit, names)), place.cast("int"))


def requests(spark: SparkSession, warehouse: str, rows: int, hosts: int) -> DataFrame:
    """Make requests of a warehouse's principals, of many hosts, and of its topics and others."""
    opened = tables(spark, warehouse)

    def names(table: str, column: str) -> list[str]:
        found = opened[table].where("NOT is_any_other").select(column).distinct().collect()
        return sorted(row[0] for row in found)

    topics = opened["resource"].where("NOT is_any_other AND resource_type = 'TOPIC'")
    known = sorted(row.resource_name for row in topics.select("resource_name").collect())
    address = F.abs(F.xxhash64("id", F.lit(7))) % hosts
    parts = [F.lit("10"), *((address / 256**n).cast("bigint") % 256 for n in (2, 1, 0))]
    return spark.range(rows, numPartitions=64).select(
        drawn(names("principal", "principal"), 1).alias("principal"),
        F.concat_ws(".", *parts).alias("host"),
        drawn(["READ", "WRITE", "DESCRIBE", "CREATE"], 3).alias("operation"),
        F.lit("TOPIC").alias("resource_type"),
        drawn([*known, *(f"{name}.new" for name in known)], 5).alias("resource_name"),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("warehouse")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--hosts", type=int, default=10_000)
    given = parser.parse_args()
    spark = build_session("aclkit-bench", master="local[2]")
    asked = requests(spark, given.warehouse, given.rows, given.hosts)
    for what, frame in (
        ("requests alone", asked.agg(*(F.max(F.length(name)) for name in asked.columns))),
        ("decided", decide(asked, given.warehouse).groupBy("decision", "rule").count()),
    ):
        start = time.monotonic()
        found = frame.collect()
        seconds = time.monotonic() - start
        sys.stdout.write(f"{what}: {given.rows:,} rows in {seconds:.1f} s\n")
    for row in sorted(found):
        sys.stdout.write(f"  {row[0]} {row[1]} {row[2]:,}\n")
    spark.stop()


if __name__ == "__main__":
    main()
