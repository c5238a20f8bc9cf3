"""Frames that are computed once, and freed."""

from __future__ import annotations

import pytest

from aclkit.runtime.frame import Steps, checkpoint, release

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


def test_what_is_kept_of_a_frame_outlasts_statements_that_name_it(spark):
    with Steps() as steps:
        kept = spark.range(3).selectExpr("id", "id * 2 AS double").persist()
        name = steps.view(kept)
        for _ in range(2):
            assert spark.sql(f"SELECT sum(double) FROM {steps.view(kept)}").collect() == [(6,)]
            assert kept.storageLevel.useMemory
        assert spark.catalog.tableExists(name)
    assert not spark.catalog.tableExists(name)
