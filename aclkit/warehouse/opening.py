"""A warehouse and who reads it → what it has published and its tables, for a question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import duckdb

from aclkit.warehouse.duck import connect
from aclkit.warehouse.published import Published, open_warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from aclkit.warehouse.spark_tables import SparkTables

_EVERYTHING: Final[Mapping[str, Mapping[str, str]]] = {}


@contextmanager
def open_tables(
    warehouse: str | None,
    holding: Mapping[str, Mapping[str, str]] = _EVERYTHING,
    spark: SparkSession | None = None,
) -> Iterator[tuple[Published, duckdb.DuckDBPyConnection | SparkTables]]:
    """Open what a warehouse has published, with DuckDB unless a Spark session is given.

    Args:
        warehouse: folder of the tables; with Spark a URI of object storage too.
        holding: see ``duck.connect``; Spark finds the files by itself.
        spark: who reads in place of DuckDB.

    Raises:
        UsageError: see ``open_warehouse``.
        SurroundingsError: a published table cannot be read.
    """
    if spark is None:
        published = open_warehouse(warehouse)
        with connect(published, holding) as connection:
            yield published, connection
        return
    # Here, so that a question to DuckDB does not wait for pyspark.
    from aclkit.warehouse.spark_tables import open_with_spark

    yield open_with_spark(spark, warehouse)
