"""A published run → a DuckDB connection with its tables and views, and nothing else in reach."""

from __future__ import annotations

from collections.abc import Mapping

import duckdb
from deltalake.exceptions import DeltaError

from aclkit.errors import SurroundingsError
from aclkit.explain.views import view_sql
from aclkit.query.warehouse import JOB_RUN, Published, TableFiles, read_files


def connect(published: Published) -> duckdb.DuckDBPyConnection:
    """Open the published version of every table, add the views, and lock the door.

    Raises:
        SurroundingsError: a published table cannot be read.
    """
    tables = {
        name: _open_table(published, name, version)
        for name, version in sorted(published.run.table_versions.items())
    }
    tables[JOB_RUN] = published.job_run
    connection = duckdb.connect(
        config={
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_enable_replacements": False,
            "temp_directory": "",
        }
    )
    connection.execute("SET TimeZone = 'UTC'")
    try:
        for name, table in tables.items():
            _create_table_view(connection, name, table)
    except duckdb.Error as error:
        raise SurroundingsError(f"cannot read {published.path}: {error}") from error
    for name, text in view_sql(tables, "duckdb").items():
        connection.execute(f'CREATE VIEW "{name}" AS {text}')
    _lock(connection, tables)
    return connection


def _open_table(published: Published, name: str, version: int) -> TableFiles:
    """Return a table's files at its published version."""
    path = published.path / name
    try:
        return read_files(path, version)
    except (DeltaError, OSError) as error:
        raise SurroundingsError(f"cannot read version {version} of {path}: {error}") from error


def _create_table_view(connection: duckdb.DuckDBPyConnection, name: str, table: TableFiles) -> None:
    """Make a table's files readable under its name, with the types of the Delta schema."""
    columns = ", ".join(
        f"CAST({'NULL' if not table.files else _quoted(column)} AS {kind}) AS {_quoted(column)}"
        for column, kind in table.columns
    )
    if table.files:
        relation = connection.read_parquet([str(file) for file in table.files])
        relation.project(columns).create_view(name)
    else:
        connection.sql(f"SELECT {columns} WHERE false").create_view(name)


def _lock(connection: duckdb.DuckDBPyConnection, tables: Mapping[str, TableFiles]) -> None:
    """Leave the tables' own files as all that the connection can read, for good."""
    files = [str(file) for table in tables.values() for file in table.files]
    connection.execute("SET allowed_paths = ?", [files])
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
