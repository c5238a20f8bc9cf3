"""What was written, read back: tables at given versions → answers to SQL that both engines speak.

On a local disk DuckDB reads the files: another engine than the one that wrote them, and no Spark
job for every question. Elsewhere Spark does, which knows object storage.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, Protocol

import duckdb
import pyarrow as pa
from pyspark.sql import functions as F

from aclkit.delta import Store
from aclkit.table_files import create_view, quoted, read_files, unwritten

Engine = Literal["duckdb", "spark"]

Versions = Mapping[str, tuple[str, int | None]]
"""Name in SQL → (table, version); None is a table that was never written."""


class Readback(Protocol):
    """Something that answers SQL about the tables it was opened with, one cluster's rows only.

    Attributes:
        engine: ``duckdb`` or ``spark``, for the few words in which their SQL differs.
    """

    @property
    def engine(self) -> Engine:
        """Say whose SQL is spoken."""

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a SELECT."""

    def arrow(self, sql: str) -> pa.Table:
        """Return the result of a SELECT as columns."""

    def give(self, name: str, table: pa.Table) -> None:
        """Make a small table known under a name."""


@contextmanager
def read_back(store: Store, cluster_id: str, tables: Versions) -> Iterator[Readback]:
    """Open tables for questions; ``cluster_id`` has been checked by ``parse_cluster_id``."""
    if "://" in store.warehouse:
        yield _Spark(store, cluster_id, tables)
        return
    with duckdb.connect(config={"memory_limit": "4GB"}) as connection:
        yield _Duck(connection, store, cluster_id, tables)


class _Duck:
    engine: Engine = "duckdb"

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        store: Store,
        cluster_id: str,
        tables: Versions,
    ) -> None:
        self._connection = connection
        root = Path(store.warehouse).absolute()
        for name, (table, version) in tables.items():
            files = unwritten(table) if version is None else read_files(root / table, version)
            create_view(connection, f"all {name}", files)
            of_all = quoted(f"all {name}")
            connection.execute(
                f"CREATE VIEW {quoted(name)} AS SELECT * FROM {of_all} "  # noqa: S608 -- names of the contract
                f"WHERE cluster_id = '{cluster_id}'"
            )

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql).fetchall()

    def arrow(self, sql: str) -> pa.Table:
        return self._connection.sql(sql).to_arrow_table()

    def give(self, name: str, table: pa.Table) -> None:
        self._connection.register(name, table)


class _Spark:
    engine: Engine = "spark"

    def __init__(self, store: Store, cluster_id: str, tables: Versions) -> None:
        self._spark = store.spark
        for name, (table, version) in tables.items():
            rows = store.read_version(table, version).where(F.col("cluster_id") == cluster_id)
            rows.createOrReplaceTempView(name)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self._spark.sql(sql).collect()]

    def arrow(self, sql: str) -> pa.Table:
        return self._spark.sql(sql).toArrow()

    def give(self, name: str, table: pa.Table) -> None:
        self._spark.createDataFrame(table).createOrReplaceTempView(name)
