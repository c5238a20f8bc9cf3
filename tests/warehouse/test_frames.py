"""Rows that change rows of a table: as Delta does it, and as a frame of what it becomes."""

from __future__ import annotations

from chispa import assert_df_equality
from pyspark.sql import functions as F

from aclkit.runtime.frame import local_frame
from aclkit.warehouse.frames import TableFrames, Update, schema_of
from aclkit.warehouse.store import Store

COLUMNS = "cluster_id STRING, line INT, verdict STRING, at INT"
OLD = [("c", 1, "a", 10), ("c", 2, None, 20), ("c", 3, "b", 30), ("c", 4, "b", None)]
NEW = [
    ("c", 1, "a", 11),
    ("c", 2, "x", 21),
    ("c", 3, None, 31),
    ("c", 4, "y", 41),
    ("c", 5, "n", 5),
]


def update(spark):
    return Update(
        rows=local_frame(spark, NEW, COLUMNS),
        keys=("cluster_id", "line"),
        where=F.col("t.at").isNull() | (F.col("t.at") < 30),
        updated=("verdict",),
    )


CHANGED = [("c", 1, "a", 10), ("c", 2, "x", 20), ("c", 3, "b", 30), ("c", 4, "y", None)]


def test_a_frame_becomes_what_delta_makes_of_the_table(spark, tmp_path):
    path = f"{tmp_path}/access_day"
    local_frame(spark, OLD, COLUMNS).write.format("delta").save(path)
    expected = local_frame(spark, CHANGED, COLUMNS)

    merged = update(spark).updated_rows(local_frame(spark, OLD, COLUMNS))
    assert_df_equality(merged, expected, ignore_row_order=True, ignore_nullable=True)

    TableFrames(Store(spark, str(tmp_path))).update("access_day", update(spark), "c")
    by_delta = spark.read.format("delta").load(path)
    assert_df_equality(by_delta, expected, ignore_row_order=True, ignore_nullable=True)


def test_a_frame_without_a_row_is_no_row_written(spark, tmp_path):
    frames = TableFrames(Store(spark, str(tmp_path)))
    none, one = (
        local_frame(spark, rows, schema_of("log_range"))
        for rows in ([], [("c", 0, 1, 1, "record", None)])
    )
    assert frames.replace("log_range", none, "c") == 0
    assert frames.replace("log_range", one, "c") == 1
    frames.append("log_range", none)
    assert frames.replace("log_range", none, "d") == 0
    assert_df_equality(frames.read("log_range"), one, ignore_nullable=True, ignore_metadata=True)
    assert frames.replace("log_range", none, "c") == 0
    assert frames.read("log_range").isEmpty()
