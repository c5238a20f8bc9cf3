"""Frames that are computed once, and freed."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F

from aclkit.runtime import frame
from aclkit.runtime.frame import checkpoint, local_frame, parts_by_hash, release, shuffles_over

pytestmark = pytest.mark.spark


def _kept(spark):
    return set(spark.sparkContext._jsc.getPersistentRDDs())


@pytest.mark.parametrize("is_large", [False, True])
def test_a_released_frame_leaves_no_rows_in_memory_and_may_be_released_again(spark, is_large):
    before = _kept(spark)
    numbers = checkpoint(spark.range(1_000), is_large=is_large)
    sums = checkpoint(numbers.groupBy((numbers.id % 7).alias("rest")).count(), is_large=is_large)
    assert sums.count() == 7
    assert _kept(spark) - before
    for released in (numbers, sums, sums):
        release(released)
    assert _kept(spark) == before


def test_shuffles_go_over_more_parts_only_for_the_length_of_a_with(spark):
    def parts():
        return spark.range(9).repartition("id").rdd.getNumPartitions()

    before = parts()
    with shuffles_over(spark, before + 4):
        assert parts() == before + 4
    with shuffles_over(spark, 0):
        assert parts() == before
    assert parts() == before


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


@pytest.mark.parametrize(("are_few", "shared_by"), [(True, 9), (False, 9), (False, 1)])
def test_rows_find_what_is_known_of_their_key_however_many_share_it(
    spark, monkeypatch, are_few, shared_by
):
    monkeypatch.setattr(frame, "_SHARED_BY", shared_by)
    rows = local_frame(spark, [(1, "a"), (1, "b"), (2, "c"), (4, "d")], "key INT, row STRING")
    known = local_frame(spark, [(1, "x"), (1, "y"), (2, "z"), (3, "-")], "key INT, of STRING")

    def joined(how):
        found = frame.join_known(rows, known, "key", are_few=are_few, how=how)
        return sorted(map(tuple, found.collect()))

    both = [(1, "a", "x"), (1, "a", "y"), (1, "b", "x"), (1, "b", "y"), (2, "c", "z")]
    assert joined("inner") == both
    assert joined("left") == [*both, (4, "d", None)]
