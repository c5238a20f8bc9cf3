"""What is published → DuckDB that has its tables and views, and nothing else in reach.

A table of the contract that no run has written is there too, empty; of ``explain``, which a run may
leave out, the view of that name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, Literal, Protocol

import duckdb
from deltalake.exceptions import DeltaError

from aclkit.errors import SurroundingsError
from aclkit.warehouse.damage import damage_of, damaged
from aclkit.warehouse.duck_beside import AS_WRITTEN, Settings, new_duckdb, served_if_remote
from aclkit.warehouse.job_run import JOB_RUN
from aclkit.warehouse.location import Location
from aclkit.warehouse.published import Published, open_warehouse, versions_before
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.table_files import (
    TableFiles,
    files_sql,
    open_files,
    quoted,
    read_files,
    unwritten,
)
from aclkit.warehouse.views import PAST, PAST_TABLES, view_sql

Opened = Mapping[tuple[str, str], TableFiles]
"""(table, cluster) → files: of the table as it stands where the cluster is empty, else of the past
of this cluster."""

Holding = Mapping[str, Mapping[str, str]]
"""Table → columns and values that the rows must have which a question is about."""

EVERYTHING: Final[Holding] = {}
"""A question that does not declare what it holds."""

_AT_ONCE: Final = 8
"""So many tables of an object store are opened at a time: each waits for several answers."""


class Answer(Protocol):
    """What a statement found."""

    def fetchall(self) -> list[Any]:
        """Return its rows as tuples."""


class Tables(Protocol):
    """The tables and views of a published run: nothing else can be read, and nothing written.

    A connection of ``connect`` is one, a cache of its answers another. Its SQL is DuckDB's; for
    another engine it is written anew.
    """

    def execute(self, query: str, parameters: object = None, /) -> Answer:
        """Run one of this package's own statements, with values in the places of its ``?``.

        Times come as UTC without a zone where it casts them to ``TIMESTAMP``.
        """


@contextmanager
def open_tables(
    warehouse: str | None,
    holding: Holding | Callable[[duckdb.DuckDBPyConnection], Holding] = EVERYTHING,
    *,
    sealed: bool = False,
) -> Iterator[tuple[Published, duckdb.DuckDBPyConnection]]:
    """Open what a warehouse has published, by one DuckDB: to make a second one takes 15 ms.

    Args:
        warehouse: folder or URI of the tables.
        holding: see ``connect``; or what finds it by a DuckDB that knows no table yet.
        sealed: see ``connect``.

    Raises:
        UsageError: see ``open_warehouse``.
        SurroundingsError: a published table cannot be read.
    """
    with _new(sealed=sealed) as connection:
        published = open_warehouse(warehouse, connection)
        tables = find_tables(published, holding(connection) if callable(holding) else holding)
        yield published, _lock(connection, published.place, tables, sealed=sealed)


def fetch(connection: Tables, text: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
    """Run one of this package's own statements.

    Raises:
        SurroundingsError: it fails, so the tables are damaged or there is no room.
    """
    try:
        return connection.execute(text, values).fetchall()
    except duckdb.Error as error:
        plain = SurroundingsError(f"DuckDB cannot answer: {error}")
        raise damage_of(error) or plain from error


def connect(
    published: Published,
    holding: Holding = EVERYTHING,
    *,
    sealed: bool = False,
    held: int = 0,
) -> duckdb.DuckDBPyConnection:
    """Open the published version of every table, add the views, and lock the door.

    Args:
        published: the warehouse.
        holding: all tables that a question names, each with columns and values: only they are
            opened, and of each only files that may hold such rows. Any other table that a question
            names does not exist. Without it all tables are opened, and those of the past.
        sealed: for SQL that a person wrote: DuckDB has no file system but one that reads these
            files, and half of the machine's memory. It is as fast, but takes 20 ms to load.
        held: tables whose files have at most so many bytes are read now and held in memory, for
            who asks often; then nothing can take their files away either.

    Raises:
        SurroundingsError: a published table cannot be read.
    """
    return connect_to(published.place, find_tables(published, holding), sealed=sealed, held=held)


def connect_to(
    place: Location, tables: Opened, *, sealed: bool = False, held: int = 0
) -> duckdb.DuckDBPyConnection:
    """Connect to tables that were found, see ``connect`` and ``find_tables``."""
    connection = _new(sealed=sealed)
    try:
        return _lock(connection, place, tables, sealed=sealed, held=held)
    except SurroundingsError:
        connection.close()
        raise


def _new(*, sealed: bool) -> duckdb.DuckDBPyConnection:
    """Make a DuckDB that knows no table yet."""
    connection = new_duckdb(_CONFIG | (_SEALED if sealed else {}))
    # It would go to stdout, among the data. Where a notebook lacks the package that draws it, it is
    # off already, and DuckDB takes no word about it.
    if connection.execute("SELECT current_setting('enable_progress_bar')").fetchall() == [(True,)]:
        connection.execute("SET enable_progress_bar = false")
    return connection


def _lock(
    connection: duckdb.DuckDBPyConnection,
    place: Location,
    tables: Opened,
    *,
    sealed: bool,
    held: int = 0,
) -> duckdb.DuckDBPyConnection:
    """Make tables known to a DuckDB, and nothing else from then on."""
    if sealed:
        # Here, so that the other questions do not wait for fsspec.
        from aclkit.warehouse.published_files import serve_files

        connection.execute("SET disabled_filesystems = 'LocalFileSystem'")
        tables = serve_files(connection, tables)
    else:
        tables = served_if_remote(connection, tables)
    create_tables(connection, place, tables, "VIEW", held)
    # The tables' own files are all that the connection can read from here on.
    readable = [name for table in tables.values() for name in table.readable]
    connection.execute("SET allowed_paths = ?", [readable])
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def find_tables(published: Published, holding: Holding = EVERYTHING) -> Opened:
    """Return what a question may read: tables of the contract, and those of the past.

    ``holding``: see ``connect``.

    Raises:
        SurroundingsError: a published table cannot be read.
    """
    named = holding or TABLES
    tables = {name: unwritten(name) for name in named if name != _VIEW_IF_UNWRITTEN}
    every = published.run.table_versions
    versions = {name: v for name, v in every.items() if name in holding or not holding}

    def open_table(name: str) -> TableFiles:
        try:
            return read_files(published.place, name, versions[name], holding.get(name))
        except (DeltaError, OSError) as error:
            where = f"version {versions[name]} of {published.place.of_table(name)}"
            raise damaged(where, error) from error

    if published.place.is_remote:
        # Here, so that no question to a local disk waits for it.
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(_AT_ONCE) as pool:
            tables |= zip(versions, pool.map(open_table, versions), strict=True)
    else:
        tables |= zip(versions, map(open_table, versions), strict=True)
    if JOB_RUN in tables:
        tables[JOB_RUN] = published.job_run
    now = {(name, ""): table for name, table in tables.items()}
    return now if holding else now | tables_before(published)


def create_tables(
    connection: duckdb.DuckDBPyConnection,
    place: Location,
    tables: Opened,
    kind: Literal["TABLE", "VIEW"],
    held: int = 0,
) -> None:
    """Make tables readable under their names, the files or a copy of their rows, and the views.

    Of a table whose files have at most ``held`` bytes it is a copy in any case.

    Raises:
        SurroundingsError: one cannot be read.
    """
    name, now = PAST, {name: table for (name, past), table in tables.items() if not past}
    try:
        for name, table in now.items():
            query = files_sql(connection, table)
            is_held = held and sum(file.size for file in table.files) <= held
            made = "TABLE" if is_held else kind
            connection.execute(f"CREATE {made} {quoted(name)} AS {query}")
        if now.keys() >= {"access_change", *PAST_TABLES}:
            _create_past(connection, tables, kind)
        for name, text in view_sql(now).items():
            connection.execute(f"CREATE VIEW {quoted(name)} AS {text}")
    except (duckdb.Error, OSError) as error:
        raise damaged(f"{name} of {place}", error) from error


_CONFIG: Final[Settings] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
    "temp_directory": "",
    **AS_WRITTEN,
}

_SEALED: Final[Settings] = {"memory_limit": "50%"}

_VIEW_IF_UNWRITTEN: Final = "explain"


def tables_before(published: Published) -> dict[tuple[str, str], TableFiles]:
    """Return the tables before the run that decided last, of clusters where it changed accesses.

    A cluster of which some table is no longer kept (``aclkit maintain``) is left out.
    """
    past: dict[tuple[str, str], TableFiles] = {}
    for cluster_id in published.clusters:
        versions = versions_before(published, cluster_id)
        found = [(n, _kept(published.place, n, versions.get(n))) for n in PAST_TABLES]
        kept = {(name, cluster_id): table for name, table in found if table is not None}
        past |= kept if len(kept) == len(found) else {}
    return past


def _kept(place: Location, name: str, version: int | None) -> TableFiles | None:
    """Return the files of a version if all of them are still there."""
    if version is None:
        return None
    try:
        table = read_files(place, name, version)
    except (DeltaError, OSError):
        return None
    return table if all(file.exists() for file in table.files) else None


def _create_past(
    connection: duckdb.DuckDBPyConnection, tables: Opened, kind: Literal["TABLE", "VIEW"]
) -> None:
    """Make the tables of the past readable in a schema of their own."""
    connection.execute(f"CREATE SCHEMA {PAST}")
    for name in PAST_TABLES:
        every = open_files(connection, unwritten(name))
        columns = ", ".join(every.columns)
        past = [(each, table) for (of, each), table in tables.items() if each and of == name]
        for cluster_id, table in past:
            rows = open_files(connection, table).project(columns).filter(is_of(cluster_id))
            every = every.union(rows)
        connection.execute(f"CREATE {kind} {PAST}.{quoted(name)} AS {every.sql_query()}")


def is_of(cluster_id: str) -> duckdb.Expression:
    """Return the condition that a row is of a cluster."""
    return duckdb.ColumnExpression("cluster_id") == duckdb.ConstantExpression(cluster_id)
