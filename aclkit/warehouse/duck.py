"""A published run → a DuckDB connection with its tables and views, and nothing else in reach.

A table of the contract that no run has written is there too, empty; of ``explain``, which a run
may leave out, the view of that name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import duckdb
from deltalake.exceptions import DeltaError

from aclkit.errors import SurroundingsError
from aclkit.warehouse.before import Past, create_past, tables_before
from aclkit.warehouse.job_run import JOB_RUN
from aclkit.warehouse.published import Published
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.table_files import TableFiles, create_view, quoted, read_files, unwritten
from aclkit.warehouse.views import view_sql

_EVERYTHING: Final[Mapping[str, Mapping[str, str]]] = {}


def connect(
    published: Published,
    holding: Mapping[str, Mapping[str, str]] = _EVERYTHING,
    *,
    sealed: bool = False,
) -> duckdb.DuckDBPyConnection:
    """Open the published version of every table, add the views, and lock the door.

    Args:
        published: the warehouse.
        holding: table → columns and values: of this table only files that may hold such rows are
            opened, for a question about no others, and none of the past.
        sealed: for SQL that a person wrote: DuckDB has no file system but one that reads these
            files, and half of the machine's memory. It is as fast, but takes 20 ms to load.

    Raises:
        SurroundingsError: a published table cannot be read.
    """
    tables = {name: unwritten(name) for name in TABLES if name != _VIEW_IF_UNWRITTEN}
    for name, version in published.run.table_versions.items():
        tables[name] = _open_table(published, name, version, holding.get(name))
    tables[JOB_RUN] = published.job_run
    past = {} if holding else tables_before(published)
    connection = duckdb.connect(config=_CONFIG | (_SEALED if sealed else {}))
    connection.execute("SET TimeZone = 'UTC'")
    # It would go to stdout, among the data.
    connection.execute("SET enable_progress_bar = false")
    if sealed:
        tables, past = _serve(connection, tables, past)
    try:
        for name, table in tables.items():
            create_view(connection, name, table)
        create_past(connection, past)
        for name, text in view_sql(tables, "duckdb").items():
            connection.execute(f"CREATE VIEW {quoted(name)} AS {text}")
    except duckdb.Error as error:
        connection.close()
        raise SurroundingsError(f"cannot read {name} of {published.path}: {error}") from error
    _lock(connection, [*tables.values(), *(table for parts in past.values() for _, table in parts)])
    return connection


_Settings = dict[str, str | bool | int | float | list[str]]

_CONFIG: Final[_Settings] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
    "temp_directory": "",
}

_SEALED: Final[_Settings] = {"memory_limit": "50%"}


def _serve(
    connection: duckdb.DuckDBPyConnection, tables: Mapping[str, TableFiles], past: Past
) -> tuple[dict[str, TableFiles], Past]:
    """Give a connection a file system that has the files of these tables; return them renamed."""
    # Here, so that the other questions do not wait for fsspec.
    from aclkit.warehouse.published_files import PublishedFiles

    files = PublishedFiles()
    served = {name: files.serve(table) for name, table in tables.items()}
    served_past = {
        name: [(cluster_id, files.serve(table)) for cluster_id, table in parts]
        for name, parts in past.items()
    }
    connection.register_filesystem(files)
    connection.execute("SET disabled_filesystems = 'LocalFileSystem'")
    return served, served_past


_VIEW_IF_UNWRITTEN: Final = "explain"


def _open_table(
    published: Published, name: str, version: int, holding: Mapping[str, str] | None
) -> TableFiles:
    """Return a table's files at its published version."""
    path = published.path / name
    try:
        return read_files(path, version, holding)
    except (DeltaError, OSError) as error:
        raise SurroundingsError(f"cannot read version {version} of {path}: {error}") from error


def _lock(connection: duckdb.DuckDBPyConnection, tables: Iterable[TableFiles]) -> None:
    """Leave the tables' own files as all that the connection can read, for good."""
    files = [name for table in tables for name in table.readable]
    connection.execute("SET allowed_paths = ?", [files])
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
