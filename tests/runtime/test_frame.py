"""Frames that are computed once, and freed."""

from __future__ import annotations

import pytest

from aclkit.runtime.frame import checkpoint, release

pytestmark = pytest.mark.spark


def _kept(spark):
    return set(spark.sparkContext._jsc.getPersistentRDDs())


def test_a_released_frame_leaves_no_rows_in_memory_and_may_be_released_again(spark):
    before = _kept(spark)
    numbers = checkpoint(spark.range(1_000))
    sums = checkpoint(numbers.groupBy((numbers.id % 7).alias("rest")).count())
    assert sums.count() == 7
    assert _kept(spark) - before
    for released in (numbers, sums, sums):
        release(released)
    assert _kept(spark) == before


def test_what_is_built_on_a_settled_frame_outlives_it(spark):
    numbers = checkpoint(spark.range(10))
    doubled = checkpoint(numbers.selectExpr("id * 2 AS id"))
    release(numbers)
    assert sorted(row.id for row in doubled.collect()) == list(range(0, 20, 2))
