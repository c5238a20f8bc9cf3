"""What was written, read back: tables at given versions → answers to SQL that both engines speak.

And put a little differently in the place of what was there.

On a local disk DuckDB reads the files: another engine than the one that wrote them, and no Spark
job for every question. Elsewhere Spark does, which knows object storage.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final, Literal, Protocol

import duckdb
import pyarrow as pa
from pyspark.sql import functions as F

from aclkit.runtime.scratch import scratch
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.store import Store
from aclkit.warehouse.table_files import create_view, quoted, read_files, unwritten

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

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a SELECT; each ``?`` in it stands for a value."""

    def arrow(self, sql: str) -> pa.Table:
        """Return the result of a SELECT as columns."""

    def give(self, name: str, table: pa.Table) -> None:
        """Make a small table known under a name."""

    def rewrite(self, table: str, sql: str) -> None:
        """Put the result of a SELECT in the place of the rows of a table that were opened.

        The table is one of those that were opened.
        """


@contextmanager
def read_back(store: Store, cluster_id: str | None, tables: Versions) -> Iterator[Readback]:
    """Open tables for questions about one cluster, or about all for None.

    ``cluster_id`` has been checked by ``parse_cluster_id``.
    """
    if "://" in store.warehouse:
        yield _Spark(store, cluster_id, tables)
        return
    spill = str(scratch() / "duckdb")  # by default in the folder where the command was started
    with duckdb.connect(config={"memory_limit": "2GB", "temp_directory": spill}) as connection:
        yield _Duck(connection, store, cluster_id, tables)


def read_written(
    store: Store, cluster_id: str | None, *tables: str
) -> AbstractContextManager[Readback]:
    """Open tables under their own names as this run leaves them; see ``read_back``."""
    versions = store.versions
    return read_back(store, cluster_id, {name: (name, versions.get(name)) for name in tables})


class _Duck:
    engine: Engine = "duckdb"

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        store: Store,
        cluster_id: str | None,
        tables: Versions,
    ) -> None:
        self._connection, self._store, self._cluster_id = connection, store, cluster_id
        root = Path(store.warehouse).absolute()
        for name, (table, version) in tables.items():
            files = unwritten(table) if version is None else read_files(root / table, version)
            create_view(connection, f"all {name}", files)
            of_all = quoted(f"all {name}")
            connection.execute(
                f"CREATE VIEW {quoted(name)} AS SELECT * FROM {of_all} "  # noqa: S608 -- names of the contract
                f"WHERE {self._own()}"
            )

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, list(values)).fetchall()

    def arrow(self, sql: str) -> pa.Table:
        return self._connection.sql(sql).to_arrow_table()

    def give(self, name: str, table: pa.Table) -> None:
        self._connection.register(name, table)

    def rewrite(self, table: str, sql: str) -> None:
        columns = ", ".join(TABLES[table].column_names)
        rows = self._connection.sql(
            f"SELECT {columns} FROM {quoted(f'all {table}')} WHERE NOT {self._own()} "  # noqa: S608 -- names of the contract
            f"UNION ALL SELECT {columns} FROM ({sql}) AS own"
        )
        self._store.rewrite(table, rows.to_arrow_reader(_ROWS_OF_A_BATCH))

    def _own(self) -> str:
        """Return the condition on rows of the cluster, true where it is all clusters."""
        return "true" if self._cluster_id is None else f"cluster_id = '{self._cluster_id}'"


class _Spark:
    engine: Engine = "spark"

    def __init__(self, store: Store, cluster_id: str | None, tables: Versions) -> None:
        self._spark, self._store, self._cluster_id = store.spark, store, cluster_id
        own = F.lit(True) if cluster_id is None else F.col("cluster_id") == cluster_id
        for name, (table, version) in tables.items():
            rows = store.read_version(table, version).where(own)
            rows.createOrReplaceTempView(name)

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self._spark.sql(sql, args=list(values) or None).collect()]

    def arrow(self, sql: str) -> pa.Table:
        return self._spark.sql(sql).toArrow()

    def give(self, name: str, table: pa.Table) -> None:
        self._spark.createDataFrame(table).createOrReplaceTempView(name)

    def rewrite(self, table: str, sql: str) -> None:
        self._store.replace_cluster(table, self._spark.sql(sql), self._cluster_id)


_ROWS_OF_A_BATCH: Final = 50_000
