"""Frames that are computed once, and freed."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F

from aclkit.runtime import frame
from aclkit.runtime.frame import checkpoint, local_frame, parts_by_hash, release

pytestmark = pytest.mark.spark


def _kept(spark):
    return set(spark.sparkContext._jsc.getPersistentRDDs())


def test_a_released_frame_leaves_no_rows_in_memory(spark):
    before = _kept(spark)
    numbers = checkpoint(spark.range(1_000))
    sums = checkpoint(numbers.groupBy((numbers.id % 7).alias("rest")).count())
    assert sums.count() == 7
    assert _kept(spark) - before
    release(numbers)
    release(sums)
    assert _kept(spark) == before


def test_what_is_built_on_a_settled_frame_outlives_it(spark):
    numbers = checkpoint(spark.range(10))
    doubled = checkpoint(numbers.selectExpr("id * 2 AS id"))
    release(numbers)
    assert sorted(row.id for row in doubled.collect()) == list(range(0, 20, 2))


def test_numbers_are_put_by_their_hash_each_into_a_part_of_its_own(spark):
    for parts in (1, 2, 6, 16):
        numbers = parts_by_hash(parts)
        rows = local_frame(spark, [(number,) for number in numbers], "number INT")
        spread = rows.repartition(parts, "number")
        found = spread.select("number", F.spark_partition_id().alias("part")).collect()
        assert {row["number"]: row["part"] for row in found} == {
            n: p for p, n in enumerate(numbers)
        }


@pytest.mark.parametrize(("many", "shared_by"), [(9, 9), (0, 9), (0, 1)])
def test_rows_find_what_is_known_of_their_key_however_many_share_it(
    spark, monkeypatch, many, shared_by
):
    monkeypatch.setattr(frame, "_BROADCAST_ROWS", many)
    monkeypatch.setattr(frame, "_SHARED_BY", shared_by)
    rows = spark.createDataFrame([(1, "a"), (1, "b"), (2, "c"), (4, "d")], "key INT, row STRING")
    known = spark.createDataFrame([(1, "x"), (1, "y"), (2, "z"), (3, "-")], "key INT, of STRING")
    found = sorted(map(tuple, frame.join_known(rows, known, "key", 4).collect()))
    assert found == [(1, "a", "x"), (1, "a", "y"), (1, "b", "x"), (1, "b", "y"), (2, "c", "z")]
