"""A metadata log by its path: the rows that replay reads, or the reason why it is none."""

from __future__ import annotations

import re

import pytest
from pyspark.errors import AnalysisException

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


@pytest.mark.parametrize("paths", [(), ("",), (["a", "b"],)], ids=["none", "empty", "several"])
def test_it_takes_one_path(spark, paths):
    register(spark)
    with pytest.raises(AnalysisException) as told:
        spark.read.format("kafka_metadata_log").load(*paths).collect()
    assert "aclkit.errors.UsageError: kafka_metadata_log reads one path. Pass" in last(told)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "expected segments"),
        ("gone", "the file or directory does not exist"),
        ("notes.txt", "expected a .log or .checkpoint file"),
        (f"{0:020d}.log", "expected record batches of magic 2"),
    ],
)
def test_what_is_no_log_ends_with_its_reason(spark, tmp_path, name, reason):
    register(spark)
    if "." in name:
        (tmp_path / name).write_text("no log", encoding="utf-8")
    with pytest.raises(AnalysisException) as told:
        spark.read.format("kafka_metadata_log").load(str(tmp_path / name)).collect()
    assert re.match(rf"aclkit\.errors\.\w+: {re.escape(str(tmp_path))}.*: {reason}", last(told))


def last(told):
    """Return the last line of an error of Spark's, below the traceback of a worker."""
    *_, line, state = str(told.value).rstrip().splitlines()
    assert "SQLSTATE" in state
    return line
