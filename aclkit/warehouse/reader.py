"""Tables at given versions → what answers SQL about them: DuckDB from a local disk, or Spark.

There are two askers. A question asks what is published, views and all, and may leave the engine
to its user. A run asks one cluster's rows of tables as it leaves them, and may put others in
their place: on a local disk by another engine than the one that wrote them, and with no Spark job
for every question. Both write DuckDB's SQL; for Spark it is written anew (``dialect``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Final, Protocol

import duckdb
import pyarrow as pa

from aclkit.warehouse.duck import connect, open_duck_reader
from aclkit.warehouse.published import Published, open_warehouse
from aclkit.warehouse.rows import Rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from aclkit.warehouse.spark_tables import SparkTables
    from aclkit.warehouse.store import Store

_EVERYTHING: Final[Mapping[str, Mapping[str, str]]] = {}

Versions = Mapping[str, tuple[str, int | None]]
"""Name in SQL → (table, version); None is a table that was never written."""


class Answer(Protocol):
    """What a statement found."""

    def fetchall(self) -> list[Any]:
        """Return its rows as tuples."""


class Tables(Protocol):
    """The tables and views of a published run: nothing else can be read, and nothing written.

    A connection of ``duck.connect`` is one, ``spark_tables.SparkTables`` another.
    """

    def execute(self, query: str, parameters: object = None, /) -> Answer:
        """Run one of this package's own statements, with values in the places of its ``?``.

        Times come as UTC without a zone where it casts them to ``TIMESTAMP``.
        """


class AskedFreely(Protocol):
    """Tables over which a person may run a SELECT in the SQL of their engine."""

    def ask(self, text: str) -> Rows:
        """Run one SELECT; see ``sql.run_sql``."""


class Reader(Protocol):
    """The tables that a run opened, one cluster's rows only; it may replace them."""

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a SELECT; each ``?`` in it stands for a value."""

    def arrow(self, sql: str) -> pa.Table:
        """Return the result of a SELECT as columns."""

    def stream(self, sql: str) -> pa.RecordBatchReader:
        """Return the result of a SELECT batch by batch: what is too large to be held."""

    def give(self, name: str, table: pa.Table) -> None:
        """Make a small table known under a name."""

    def rewrite(self, table: str, sql: str) -> None:
        """Put the result of a SELECT in the place of the rows of a table that was opened."""


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


def read_versions(
    store: Store, cluster_id: str | None, tables: Versions
) -> AbstractContextManager[Reader]:
    """Open tables for a run's questions about one cluster, or about all for None.

    ``cluster_id`` has been checked by ``parse_cluster_id``.
    """
    return open_duck_reader(store.place, cluster_id, tables, store.rewrite)


def read_written(
    store: Store, cluster_id: str | None, *tables: str
) -> AbstractContextManager[Reader]:
    """Open tables under their own names as this run leaves them; see ``read_versions``."""
    versions = store.versions
    return read_versions(store, cluster_id, {name: (name, versions.get(name)) for name in tables})
