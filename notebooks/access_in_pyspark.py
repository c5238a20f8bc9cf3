# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Access in PySpark
#
# `aclkit.spark` opens the published tables as DataFrames, decides requests of your own, and reads a
# metadata log. This notebook needs the warehouse that `make demo` makes, and Java 17 or newer.
# `ACLKIT_WAREHOUSE` names another warehouse, `ACLKIT_TOPIC` another topic, and `ACLKIT_LOG` another
# log.

# %%
import os
import sys
from importlib.resources import files
from pathlib import Path

import matplotlib.pyplot as plt
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from aclkit.spark import decide, register, tables

warehouse = os.environ.get("ACLKIT_WAREHOUSE", "warehouse/demo")
topic = os.environ.get("ACLKIT_TOPIC", "payments.v1.events")
sample = files("aclkit.cli") / "data" / "sample" / "__cluster_metadata-0"
log = os.environ.get("ACLKIT_LOG", str(sample))

# %% [markdown]
# ## A session with Delta
#
# Spark's workers import aclkit, so they are this Python. `aclkit jars delta` has put the jars of
# Delta below this environment. Where the platform has a session with Delta, use that one. The
# last two settings make small tables quicker.

# %%
os.environ["PYSPARK_PYTHON"] = sys.executable
folder = os.environ.get("ACLKIT_JARS") or Path(sys.prefix, "share", "aclkit", "jars")
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.jars", ",".join(map(str, sorted(Path(folder).glob("io.delta_*.jar")))))
    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.databricks.delta.snapshotPartitions", "1")
    .getOrCreate()
)

# %% [markdown]
# ## Who can touch the topic?
#
# `tables` makes a temporary view of each table, pinned to the published run. `explain` has a row
# for each principal, host, operation and resource. A filter on the name reads only the files that
# can hold it.

# %%
published = tables(spark, warehouse, only=["acl_current", "explain"])
explain = published["explain"].where(F.col("resource_name") == topic)
allowed = explain.where("resource_type = 'TOPIC' AND decision = 'ALLOWED'")
who = allowed.groupBy("operation").agg(F.countDistinct("principal").alias("principals"))
counted = who.orderBy("principals", "operation").toPandas()
figure, axes = plt.subplots(figsize=(7, 2.6))
axes.bar_label(axes.barh(counted["operation"], counted["principals"]), padding=3)
axes.set_title(f"Principals that are allowed an operation on {topic}")
axes.margins(x=0.1)
plt.show()

# %% [markdown]
# The views have names for SQL too. How many ACLs are in force, by pattern and permission?

# %%
spark.sql(
    """
    SELECT pattern_type, permission_type, count(*) AS acls, count(DISTINCT principal) AS principals
    FROM acl_current
    WHERE resource_type = 'TOPIC'
    GROUP BY ALL ORDER BY ALL
    """
).toPandas()

# %% [markdown]
# ## Decide requests of your own
#
# Any DataFrame with the five columns of a request will do: a log of accesses, or a plan. The names
# need not exist. Here two applications ask for topics of a release that is planned.

# %%
asked = [
    (principal, "10.0.0.13", operation, "TOPIC", name)
    for principal in ("User:bob", "User:svc-orders-etl")
    for operation in ("READ", "WRITE")
    for name in ("payments.v2.events", "orders.v2.raw")
]
names = ("principal", "host", "operation", "resource_type", "resource_name")
requests = spark.createDataFrame(asked, ", ".join(f"{name} STRING" for name in names))
decided = decide(requests, warehouse)
decided.drop("host", "resource_type").orderBy(*names).toPandas()

# %% [markdown]
# ## Read the metadata log
#
# `register` adds the format `kafka_metadata_log`. A task reads a segment or a snapshot. The rows
# are those that `replay` makes a history of. Here are the records of the segments, by their type.

# %%
register(spark)
records = spark.read.format("kafka_metadata_log").load(log)
facts = records.where("kind = 'fact' AND fact = 'record'")
facts.groupBy("record_type").count().orderBy(F.desc("count"), "record_type").toPandas()

# %%
spark.stop()
