"""Tables at given versions → DuckDB that has them; see ``reader``.

For a question: the tables and views of a published run, and nothing else in reach. A table of the
contract that no run has written is there too, empty; of ``explain``, which a run may leave out,
the view of that name. For a run: one cluster's rows of the tables that it names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal

import duckdb
import pyarrow as pa
from deltalake.exceptions import DeltaError

from aclkit.errors import SurroundingsError
from aclkit.runtime.scratch import scratch
from aclkit.warehouse.job_run import JOB_RUN
from aclkit.warehouse.place import Place
from aclkit.warehouse.published import Published, versions_before
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.table_files import (
    TableFiles,
    connect_beside,
    create_view,
    files_sql,
    open_files,
    quoted,
    read_files,
    served_if_remote,
    unwritten,
)
from aclkit.warehouse.views import PAST, PAST_TABLES, view_sql

Past = Mapping[str, Sequence[tuple[str, TableFiles]]]
"""Table → (cluster, files) of the past."""

_EVERYTHING: Final[Mapping[str, Mapping[str, str]]] = {}
_AT_ONCE: Final = 8
"""So many tables of an object store are opened at a time: each waits for several answers."""


def connect(
    published: Published,
    holding: Mapping[str, Mapping[str, str]] = _EVERYTHING,
    *,
    sealed: bool = False,
    held: int = 0,
) -> duckdb.DuckDBPyConnection:
    """Open the published version of every table, add the views, and lock the door.

    Args:
        published: the warehouse.
        holding: all tables that a question names, each with columns and values: only they are
            opened, and of each only files that may hold such rows. What a question names besides
            is not there. Without it all tables are opened, and those of the past.
        sealed: for SQL that a person wrote: DuckDB has no file system but one that reads these
            files, and half of the machine's memory. It is as fast, but takes 20 ms to load.
        held: tables whose files have at most so many bytes are read now and held in memory, for
            who asks often; then nothing can take their files away either.

    Raises:
        SurroundingsError: a published table cannot be read.
    """
    return connect_to(published.place, *find_tables(published, holding), sealed=sealed, held=held)


def connect_to(
    place: Place,
    tables: Mapping[str, TableFiles],
    past: Past,
    *,
    sealed: bool = False,
    held: int = 0,
) -> duckdb.DuckDBPyConnection:
    """Connect to tables that were found, see ``connect`` and ``find_tables``."""
    connection = duckdb.connect(config=_CONFIG | (_SEALED if sealed else {}))
    # For cursors of it too.
    connection.execute("SET GLOBAL TimeZone = 'UTC'")
    # It would go to stdout, among the data. Where a notebook lacks the package that draws it, it is
    # off already, and DuckDB takes no word about it.
    if connection.execute("SELECT current_setting('enable_progress_bar')").fetchall() == [(True,)]:
        connection.execute("SET enable_progress_bar = false")
    if sealed:
        connection.execute("SET disabled_filesystems = 'LocalFileSystem'")
    tables, past = served(connection, tables, past, also_local=sealed)
    try:
        create_tables(connection, place, tables, past, "VIEW", held)
    except SurroundingsError:
        connection.close()
        raise
    _lock(connection, [*tables.values(), *(table for parts in past.values() for _, table in parts)])
    return connection


def find_tables(
    published: Published, holding: Mapping[str, Mapping[str, str]] = _EVERYTHING
) -> tuple[dict[str, TableFiles], Past]:
    """Return what a question may read: tables of the contract, and those of the past.

    ``holding``: see ``connect``.

    Raises:
        SurroundingsError: a published table cannot be read.
    """
    named = holding or [name for name in TABLES if name != _VIEW_IF_UNWRITTEN]
    tables = {name: unwritten(name) for name in named}
    every = published.run.table_versions
    versions = {name: v for name, v in every.items() if name in holding or not holding}

    def open_table(name: str) -> TableFiles:
        return _open_table(published.place, name, versions[name], holding.get(name))

    if published.place.is_remote:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            tables |= zip(versions, pool.map(open_table, versions), strict=True)
    else:
        tables |= zip(versions, map(open_table, versions), strict=True)
    if JOB_RUN in tables:
        tables[JOB_RUN] = published.job_run
    return tables, {} if holding else _tables_before(published)


def create_tables(
    connection: duckdb.DuckDBPyConnection,
    place: Place,
    tables: Mapping[str, TableFiles],
    past: Past,
    kind: Literal["TABLE", "VIEW"],
    held: int = 0,
) -> None:
    """Make tables readable under their names, the files or a copy of their rows, and the views.

    Of a table whose files have at most ``held`` bytes it is a copy in any case.

    Raises:
        SurroundingsError: one cannot be read.
    """
    name = PAST
    try:
        for name, table in tables.items():
            query = files_sql(connection, table)
            is_held = held and sum(file.size for file in table.files) <= held
            made = "TABLE" if is_held else kind
            connection.execute(f"CREATE {made} {quoted(name)} AS {query}")
        if past:
            _create_past(connection, past, kind)
        for name, text in view_sql(tables).items():
            connection.execute(f"CREATE VIEW {quoted(name)} AS {text}")
    except (duckdb.Error, OSError) as error:
        raise SurroundingsError(f"cannot read {name} of {place}: {error}") from error


_Settings = dict[str, str | bool | int | float | list[str]]

_CONFIG: Final[_Settings] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
    "temp_directory": "",
}

_SEALED: Final[_Settings] = {"memory_limit": "50%"}


_Key = tuple[str, str]
"""A table and the cluster of which it is the past, or none."""


def served(
    connection: duckdb.DuckDBPyConnection,
    tables: Mapping[str, TableFiles],
    past: Past,
    *,
    also_local: bool = False,
) -> tuple[dict[str, TableFiles], Past]:
    """Give a connection a file system for the files that DuckDB's own does not open, or should not.

    Return the tables with the names by which it opens them.
    """
    every: dict[_Key, TableFiles] = {(name, ""): table for name, table in tables.items()} | {
        (name, cluster_id): table for name, parts in past.items() for cluster_id, table in parts
    }
    if also_local:
        # Here, so that the other questions do not wait for fsspec.
        from aclkit.warehouse.published_files import serve_files

        found: Mapping[_Key, TableFiles] = serve_files(connection, every)
    else:
        found = served_if_remote(connection, every)
    return {name: found[name, ""] for name in tables}, {
        name: [(cluster_id, found[name, cluster_id]) for cluster_id, _ in parts]
        for name, parts in past.items()
    }


_VIEW_IF_UNWRITTEN: Final = "explain"


def _open_table(
    place: Place, name: str, version: int, holding: Mapping[str, str] | None
) -> TableFiles:
    """Return a table's files at its published version."""
    try:
        return read_files(place, name, version, holding)
    except (DeltaError, OSError) as error:
        where = place.of_table(name)
        raise SurroundingsError(f"cannot read version {version} of {where}: {error}") from error


def _lock(connection: duckdb.DuckDBPyConnection, tables: Iterable[TableFiles]) -> None:
    """Leave the tables' own files as all that the connection can read, for good."""
    files = [name for table in tables for name in table.readable]
    connection.execute("SET allowed_paths = ?", [files])
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _tables_before(published: Published) -> Past:
    """Return the tables before the run that decided last, of clusters where it changed accesses.

    A cluster of which some table is no longer kept (``aclkit maintain``) is left out.
    """
    past: dict[str, list[tuple[str, TableFiles]]] = {name: [] for name in PAST_TABLES}
    for cluster_id in published.clusters:
        versions = versions_before(published, cluster_id)
        found = {name: _kept(published.place, name, versions.get(name)) for name in PAST_TABLES}
        for name, table in found.items():
            if table is not None and None not in found.values():
                past[name].append((cluster_id, table))
    return past


def _kept(place: Place, name: str, version: int | None) -> TableFiles | None:
    """Return the files of a version if all of them are still there."""
    if version is None:
        return None
    try:
        table = read_files(place, name, version)
    except (DeltaError, OSError):
        return None
    return table if all(file.exists() for file in table.files) else None


def _create_past(
    connection: duckdb.DuckDBPyConnection, past: Past, kind: Literal["TABLE", "VIEW"]
) -> None:
    """Make the tables of the past readable in a schema of their own."""
    connection.execute(f"CREATE SCHEMA {PAST}")
    for name in PAST_TABLES:
        every = open_files(connection, unwritten(name))
        for cluster_id, table in past.get(name, ()):
            columns = ", ".join(column for column, _ in unwritten(name).columns)
            rows = open_files(connection, table).project(columns).filter(_is_of(cluster_id))
            every = every.union(rows)
        connection.execute(f"CREATE {kind} {PAST}.{quoted(name)} AS {every.sql_query()}")


def _is_of(cluster_id: str) -> duckdb.Expression:
    return duckdb.ColumnExpression("cluster_id") == duckdb.ConstantExpression(cluster_id)


Replace = Callable[[str, pa.RecordBatchReader], None]
"""Puts rows in the place of all rows of a table."""


@contextmanager
def open_duck_reader(
    place: Place,
    cluster_id: str | None,
    tables: Mapping[str, tuple[str, int | None]],
    replace: Replace,
) -> Iterator[DuckReader]:
    """Open tables for a run; see ``reader.read_versions``."""
    spill = str(scratch() / "duckdb")  # by default in the folder where the command was started
    found = {
        name: unwritten(table) if version is None else read_files(place, table, version)
        for name, (table, version) in tables.items()
    }
    with connect_beside(found, spill) as (connection, readable):
        for name, files in readable.items():
            create_view(connection, _all(name), files_sql(connection, files))
            # An expression writes the id as DuckDB reads it.
            is_own = True if cluster_id is None else _is_of(cluster_id)
            create_view(connection, name, f"FROM {quoted(_all(name))} WHERE {is_own}")
        yield DuckReader(connection, cluster_id, replace)


@dataclass(frozen=True, slots=True)
class DuckReader:
    """What a run opened, read by DuckDB; see ``reader.Reader``."""

    connection: duckdb.DuckDBPyConnection
    cluster_id: str | None
    replace: Replace

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """See ``Reader.rows``."""
        return self.connection.execute(sql, list(values)).fetchall()

    def arrow(self, sql: str) -> pa.Table:
        """See ``Reader.arrow``."""
        return self.connection.sql(sql).to_arrow_table()

    def stream(self, sql: str) -> pa.RecordBatchReader:
        """See ``Reader.stream``."""
        return self.connection.sql(sql).to_arrow_reader(_ROWS_OF_A_BATCH)

    def give(self, name: str, table: pa.Table) -> None:
        """See ``Reader.give``."""
        self.connection.register(name, table)

    def rewrite(self, table: str, sql: str) -> None:
        """See ``Reader.rewrite``; the rows of other clusters stay, before those."""
        columns = ", ".join(TABLES[table].column_names)
        rows = self.connection.sql(sql).project(columns)
        if self.cluster_id is not None:
            others = self.connection.view(_all(table)).filter(~_is_of(self.cluster_id))
            rows = others.project(columns).union(rows)
        self.replace(table, rows.to_arrow_reader(_ROWS_OF_A_BATCH))


def _all(table: str) -> str:
    """Return the name of a table with the rows of every cluster."""
    return f"all {table}"


_ROWS_OF_A_BATCH: Final = 50_000
