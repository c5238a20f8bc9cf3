"""A metadata log by its path: the rows that replay reads, or the reason why it is none."""

from __future__ import annotations

import pytest

from aclkit.pipeline.sources.items import metadata_log_items
from aclkit.pipeline.sources.spark_source import read_sources
from aclkit.spark import register
from tests.cli.running import KRAFT


def test_a_path_has_the_rows_that_replay_reads(spark):
    register(spark)
    found = spark.read.format("kafka_metadata_log").load(str(KRAFT))
    right = read_sources(spark, metadata_log_items(str(KRAFT)))
    assert found.schema == right.schema
    assert sorted(map(str, found.collect())) == sorted(map(str, right.collect()))
    assert found.where("record_type = 'ACCESS_CONTROL_ENTRY_RECORD'").count() > 0


def test_what_is_no_log_ends_with_its_reason(spark, tmp_path):
    register(spark)
    with pytest.raises(Exception, match="expected segments"):
        spark.read.format("kafka_metadata_log").load(str(tmp_path)).collect()
