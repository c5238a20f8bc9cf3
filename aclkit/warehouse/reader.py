"""Tables at given versions → what answers a run's SQL about them: DuckDB, or Spark.

A run asks one cluster's rows of tables as it leaves them, and may put others in their place: on a
local disk by another engine than the one that wrote them, and with no Spark job for every question.
Its SQL is DuckDB's, as that of a question (``duck.Tables``); for Spark it is written anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import duckdb
import pyarrow as pa

from aclkit.runtime.scratch import scratch
from aclkit.warehouse.column_types import arrow_schema
from aclkit.warehouse.duck import is_of
from aclkit.warehouse.duck_beside import connect_beside
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.table_files import create_view, files_sql, quoted, read_files, unwritten

if TYPE_CHECKING:
    from aclkit.warehouse.store import Store

Versions = Mapping[str, tuple[str, int | None]]
"""Name in SQL → (table, version); None is a table that was never written."""


class Asks(Protocol):
    """What a run asks about tables, in DuckDB's SQL: a ``Reader``, or Spark (``spark_reader``)."""

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a SELECT, few; each ``?`` in it stands for a value."""

    def stream(self, sql: str) -> pa.RecordBatchReader:
        """Return the result of a SELECT batch by batch: what is too large to be held."""

    def give(self, name: str, table: pa.Table) -> None:
        """Make a small table known under a name."""

    def keep(self, name: str, sql: str) -> None:
        """Compute a SELECT once for later statements, which find its rows under a name."""

    def see(self, name: str, sql: str) -> None:
        """Make a SELECT known under a name, which is computed wherever that is asked."""

    def append(self, store: Store, table: str, sql: str, whose: Mapping[str, str]) -> None:
        """Append the result of a SELECT to a table of a run.

        Args:
            store: the run's.
            table: the table.
            sql: the SELECT of its columns but those of ``whose``.
            whose: columns that have one value in all rows.
        """


@contextmanager
def read_versions(
    store: Store, cluster_id: str | None, tables: Versions, *beside: tuple[Store, Versions]
) -> Iterator[Reader]:
    """Open tables for a run's questions about one cluster, or about all for None.

    ``cluster_id`` has been checked by ``parse_cluster_id``. Tables of other places may stand
    next to them.
    """
    spill = str(scratch() / "duckdb")  # by default in the folder where the command was started
    found = {
        name: unwritten(table) if version is None else read_files(of.place, table, version)
        for of, named in ((store, tables), *beside)
        for name, (table, version) in named.items()
    }
    with connect_beside(found, spill) as (connection, readable):
        for name, files in readable.items():
            create_view(connection, _all(name), files_sql(connection, files))
            # An expression writes the id as DuckDB reads it.
            is_own = True if cluster_id is None else is_of(cluster_id)
            create_view(connection, name, f"FROM {quoted(_all(name))} WHERE {is_own}")
        yield Reader(connection, cluster_id, store.replace)


def read_written(
    store: Store, cluster_id: str | None, *tables: str
) -> AbstractContextManager[Reader]:
    """Open tables under their own names as this run leaves them; see ``read_versions``."""
    versions = store.versions
    return read_versions(store, cluster_id, {name: (name, versions.get(name)) for name in tables})


@dataclass(frozen=True, slots=True)
class Reader:
    """The tables that a run opened, one cluster's rows only; it may replace them.

    Attributes:
        connection: knows them.
        cluster_id: whose rows it reads; None for those of all clusters.
        replace: puts rows in the place of all rows of a table: ``Store.replace``.
    """

    connection: duckdb.DuckDBPyConnection
    cluster_id: str | None
    replace: Callable[[str, pa.RecordBatchReader, None], None]

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a SELECT; each ``?`` in it stands for a value."""
        return self.connection.execute(sql, list(values)).fetchall()

    def arrow(self, sql: str) -> pa.Table:
        """Return the result of a SELECT as columns."""
        return self.connection.sql(sql).to_arrow_table()

    def stream(self, sql: str) -> pa.RecordBatchReader:
        """Return the result of a SELECT batch by batch: what is too large to be held."""
        return self.connection.sql(sql).to_arrow_reader(_ROWS_OF_A_BATCH)

    def give(self, name: str, table: pa.Table) -> None:
        """Make a small table known under a name."""
        self.connection.register(name, table)

    def keep(self, name: str, sql: str) -> None:
        """Compute a SELECT once for later statements, which find its rows under a name."""
        self.connection.execute(f"CREATE OR REPLACE TEMP TABLE {quoted(name)} AS {sql}")

    def see(self, name: str, sql: str) -> None:
        """Make a SELECT known under a name, which is computed wherever that is asked."""
        self.connection.execute(f"CREATE OR REPLACE TEMP VIEW {quoted(name)} AS {sql}")

    def append(self, store: Store, table: str, sql: str, whose: Mapping[str, str]) -> None:
        """Append the result of a SELECT to a table of a run, batch by batch; see ``Asks``."""
        schema = arrow_schema(table)
        batches = (_with(batch, whose, schema) for batch in self.stream(sql))
        store.append(table, pa.RecordBatchReader.from_batches(schema, batches))

    def rewrite(self, table: str, sql: str) -> None:
        """Put the result of a SELECT in the place of the rows of a table that was opened.

        The rows of other clusters stay, before those.
        """
        columns = ", ".join(TABLES[table].column_names)
        rows = self.connection.sql(sql).project(columns)
        if self.cluster_id is not None:
            others = self.connection.view(_all(table)).filter(~is_of(self.cluster_id))
            rows = others.project(columns).union(rows)
        self.replace(table, rows.to_arrow_reader(_ROWS_OF_A_BATCH), None)


def _with(batch: pa.RecordBatch, values: Mapping[str, str], schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch with columns of one value each, in the order and types of a schema."""
    for name, value in values.items():
        batch = batch.append_column(name, pa.repeat(value, len(batch)))
    return batch.select(schema.names).cast(schema)


def _all(table: str) -> str:
    """Return the name of a table with the rows of every cluster."""
    return f"all {table}"


_ROWS_OF_A_BATCH: Final = 50_000
