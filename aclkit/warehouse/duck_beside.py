"""Files of tables, in a bucket too → a DuckDB that reads them, next to others of this process.

Every DuckDB of this package is made here, so each counts in UTC. By itself DuckDB takes the
machine's zone, and writes a time as UTC that was read in that zone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import duckdb

from aclkit.runtime.memory import IS_OURS
from aclkit.warehouse.table_files import Key, TableFiles, create_view, files_sql

Settings = dict[str, str | bool | int | float | list[str]]

AS_WRITTEN: Final[Settings] = {"disabled_optimizers": "build_side_probe_side"}
"""A join keeps its right side in memory, as our SQL has it.

DuckDB would take the side that it thinks the smaller one, and since 2.0.1 takes principals ×
resources for no more rows than there are resources: the view ``explain`` of B1 took 20 GB.
"""


_MEMORY: Final = "2GB" if IS_OURS else "1GB"
"""A driver that spark-submit started often has a container of 2 GiB, beside its JVM's heap.

With half the memory, comparing 250 million pairs with the previous run takes 1.1 times as long.
"""


def new_duckdb(settings: Settings, path: Path | str = ":memory:") -> duckdb.DuckDBPyConnection:
    """Make a DuckDB, in memory or in a file, whose cursors read and write times as UTC."""
    connection = duckdb.connect(path, config=settings)
    connection.execute("SET GLOBAL TimeZone = 'UTC'")
    return connection


def ask_files(
    name: str, table: TableFiles, query: str, on: duckdb.DuckDBPyConnection | None = None
) -> list[dict[str, Any]]:
    """Return the rows of a query about one table, which it knows by a name.

    Args:
        name: the table's, in the query.
        table: its files.
        query: a SELECT.
        on: a DuckDB to ask, where there is one already; it knows nothing of the table afterwards.
    """
    with connect_beside({name: table}, on=on) as (connection, files):
        create_view(connection, name, files_sql(connection, files[name]))
        found = connection.execute(query)
        names = [column[0] for column in found.description or ()]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


@contextmanager
def connect_beside(
    tables: Mapping[Key, TableFiles],
    spill: str = "",
    on: duckdb.DuckDBPyConnection | None = None,
) -> Iterator[tuple[duckdb.DuckDBPyConnection, Mapping[Key, TableFiles]]]:
    """Connect for statements of this package, next to others of it; yield what it reads, too.

    To make a DuckDB takes as long as most of what a run asks it: so there is one for each
    ``spill``. What a connection is given (``create_view``, ``register``) it has for itself alone.

    Args:
        tables: what it is to read. For an object store it is a DuckDB of its own.
        spill: a folder of this process for what does not fit into memory; none if empty.
        on: a DuckDB to take for a local disk.
    """
    if any(table.is_remote for table in tables.values()):
        with new_duckdb(_settings(spill)) as connection:
            yield connection, served_if_remote(connection, tables)
    else:
        with (_shared(spill) if on is None else on).cursor() as connection:
            yield connection, tables


@lru_cache(maxsize=2)
def _shared(spill: str) -> duckdb.DuckDBPyConnection:
    """Return the DuckDB of this process: one that spills and one that does not."""
    return new_duckdb(_settings(spill))


# A forked child would die at its end of one that it inherited, whose threads it does not have.
os.register_at_fork(before=_shared.cache_clear)


def _settings(spill: str) -> Settings:
    # Who reads it next reads other files: a run's own.
    return AS_WRITTEN | {
        "memory_limit": _MEMORY,
        "temp_directory": spill,
        "enable_external_file_cache": False,
    }


def served_if_remote(
    connection: duckdb.DuckDBPyConnection, tables: Mapping[Key, TableFiles]
) -> Mapping[Key, TableFiles]:
    """Return tables that a connection can read: for an object store it gets a file system."""
    if not any(table.is_remote for table in tables.values()):
        return tables
    # Here, so that no question to a local disk waits for fsspec.
    from aclkit.warehouse.published_files import serve_files

    return serve_files(connection, tables)
