"""Rules of aclkit.pipeline.sources.spark_source: Spark reads what the readers read."""

from __future__ import annotations

from collections import Counter

from aclkit.model import facts as rows
from aclkit.pipeline.sources.arrow import ARROW_SCHEMA
from aclkit.pipeline.sources.items import metadata_log_items
from aclkit.pipeline.sources.readers import read_item
from aclkit.pipeline.sources.spark_source import read_sources
from tests.pipeline.sources.log_bytes import KRAFT, SYNTHETIC


def test_dataframe_holds_the_rows_of_all_readers(spark):
    items = [*metadata_log_items(str(KRAFT)), *metadata_log_items(str(SYNTHETIC / "txn"))]
    expected = Counter(row for item in items for row in read_item(item))
    found = read_sources(spark, items)
    assert found.columns == ARROW_SCHEMA.names
    table = found.toArrow().to_pylist()
    assert Counter(rows.SourceRow(**row) for row in table) == expected


def test_nothing_to_read_is_no_rows(spark):
    assert read_sources(spark, []).count() == 0
