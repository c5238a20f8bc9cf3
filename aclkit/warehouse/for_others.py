"""What a warehouse has published → for other programs: a DuckDB file, or a script of views.

The file has rows, or views of the files of the warehouse; the script has CREATE VIEW for Spark,
DuckDB or Trino. Each view reads the Delta versions of one run: what later runs publish needs the
file or the script of then.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, Literal

import duckdb

from aclkit.errors import SurroundingsError, UsageError
from aclkit.runtime.scratch import scratch
from aclkit.warehouse.duck import create_tables, find_tables
from aclkit.warehouse.duck_beside import Settings, new_duckdb, served_if_remote
from aclkit.warehouse.job_run import KEEP_DAYS
from aclkit.warehouse.pinned_sql import by_place, pinned_sql, sql_text
from aclkit.warehouse.published import Published
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.table_files import quoted
from aclkit.warehouse.views import PAST

ABOUT: Final = "about"
"""The table of the file that describes the file itself, as (name, value)."""


_AT_LEAST: Final = 16 << 20
_GROWTH: Final = 4
"""Bytes of a file of few rows, and how many a byte of Parquet takes there at most: 11 MB for the
sample, of which 0.7 MB are Parquet."""


def write_duck_file(published: Published, path: Path, now: datetime, *, with_rows: bool) -> None:
    """Make a DuckDB file of every published table and view, with the comments of the contract.

    Args:
        published: the warehouse, of which all clusters go along.
        path: a file that is not there yet.
        now: when that is, in UTC.
        with_rows: copy the rows; otherwise they stay in the files of the warehouse, and the file
            holds as long as these do.

    Raises:
        SurroundingsError: a table cannot be read, or there is no room.
    """
    kind: Literal["TABLE", "VIEW"] = "TABLE" if with_rows else "VIEW"
    settings: Settings = {
        "memory_limit": "2GB",
        "temp_directory": str(scratch() / "duckdb"),
        "preserve_insertion_order": False,
    }
    tables = find_tables(published)
    if with_rows:
        _require_room(path.parent, sum(f.size for found in tables.values() for f in found.files))
    try:
        with new_duckdb(settings, path) as connection:
            readable = served_if_remote(connection, tables)
            create_tables(connection, published.place, readable, kind)
            for statement in _comments(kind, {name for name, _ in tables}):
                connection.execute(statement)
            connection.execute(f"CREATE TABLE {ABOUT} (name VARCHAR, value VARCHAR)")
            for row in about(published, now, with_rows=with_rows).items():
                connection.table(ABOUT).insert(row)
    except (duckdb.Error, OSError) as error:
        raise SurroundingsError(f"Cannot write {published.place} as DuckDB: {error}") from error


def _require_room(folder: Path, size: int) -> None:
    """Refuse to begin a copy that the disk has no room for.

    Raises:
        SurroundingsError: it has not.
    """
    needed, free = _AT_LEAST + _GROWTH * size, shutil.disk_usage(folder).free
    if free < needed:
        raise SurroundingsError(
            f"A copy of the rows takes about {needed >> 20:,} MiB, and {folder} has "
            f"{free >> 20:,} MiB free. Next: set TMPDIR to a larger disk, or pass --views."
        )


def about(published: Published, now: datetime, *, with_rows: bool) -> dict[str, str]:
    """Return the description that a warehouse's file holds of itself."""
    run = published.run
    said = {
        "made_by": f"aclkit {run.aclkit_version}",
        "made_at": _utc(now),
        "holds": "rows" if with_rows else "views over the files of a warehouse",
        "run_number": str(run.run_number),
        "run_finished_at": _utc(run.finished_at) if run.finished_at else "",
        "clusters": ", ".join(published.clusters),
    }
    for cluster_id in published.clusters:
        said[f"offset of {cluster_id}"] = str(published.last_run(cluster_id).head_offset)
    if not with_rows:
        said["warehouse"] = str(published.place)
        said["holds_until"] = _utc(holds_until(now))
        said["note"] = (
            "After that, aclkit maintain may have removed the files (earlier with --keep-days "
            f"below {KEEP_DAYS:g}). Then export again, or export without --views."
        )
    return said


def holds_until(now: datetime) -> datetime:
    """Return until when maintenance keeps, by its default, what is published now."""
    return now + timedelta(days=KEEP_DAYS)


def _utc(time: datetime) -> str:
    return time.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def _comments(kind: str, written: set[str]) -> Iterator[str]:
    """Yield statements that comment each table and each of its columns."""
    for table in TABLES.values():
        form = kind if table.name in written else "VIEW"
        name = quoted(table.name)
        yield f"COMMENT ON {form} {name} IS {sql_text(table.description)}"
        for column, _, meaning in table.columns:
            yield f"COMMENT ON COLUMN {name}.{quoted(column)} IS {sql_text(meaning)}"


REGISTERED: Final = "aclkit_tables"
"""The schema in which Trino's catalog has the Delta tables; the views are in another one."""


def view_script(published: Published, dialect: str, now: datetime) -> Iterator[str]:
    """Yield the lines of the script.

    Args:
        published: the warehouse.
        dialect: one of ``DIALECTS``.
        now: when that is, in UTC.

    Raises:
        UsageError: DuckDB's views would be of files in a bucket.
        SurroundingsError: a table cannot be read.
    """
    run, until = published.run, holds_until(now)
    yield f"-- Views of {published.place} as of run {run.run_number} (aclkit {run.aclkit_version})."
    yield (
        f"-- They read the files of that run, which aclkit maintain keeps until {until:%Y-%m-%d} "
        f"at least (earlier with --keep-days below {KEEP_DAYS:g})."
    )
    yield from DIALECTS[dialect](published)


def _for_spark(published: Published) -> Iterator[str]:
    for name, query in pinned_sql(published, "spark", by_place(published)):
        yield f"CREATE OR REPLACE VIEW {name} AS {query};"


def _for_trino(published: Published) -> Iterator[str]:
    yield "-- This was parsed as Trino's SQL, but never run by Trino. First register the tables:"
    for table in sorted(published.run.table_versions):
        place = published.place.of_table(table).replace("'", "''")
        yield (
            f"-- CALL system.register_table(schema_name => '{REGISTERED}', "
            f"table_name => '{table}', table_location => '{place}');"
        )

    def named(table: str, version: int) -> str:
        return f"{REGISTERED}.{table} FOR VERSION AS OF {version}"

    for name, query in pinned_sql(published, "trino", named):
        yield f"CREATE OR REPLACE VIEW {name} AS {query};"


def _for_duckdb(published: Published) -> Iterator[str]:
    """Yield what a DuckDB that has these views says of them, in the order in which it made them."""
    if published.place.is_remote:
        raise UsageError(
            f"DuckDB's views read files of this machine, and {published.place} is an object store. "
            "Next: aclkit export duckdb, which copies the rows."
        )
    try:
        with new_duckdb({}) as connection:
            create_tables(connection, published.place, find_tables(published), "VIEW")
            found = connection.execute(_VIEWS).fetchall()
    except duckdb.Error as error:
        raise SurroundingsError(f"Cannot read {published.place}: {error}") from error
    yield f"CREATE SCHEMA IF NOT EXISTS {PAST};"
    for (text,) in found:
        yield text.replace("CREATE VIEW", "CREATE OR REPLACE VIEW", 1)


_VIEWS: Final = "SELECT sql FROM duckdb_views() WHERE NOT internal ORDER BY view_oid"

DIALECTS: Final[Mapping[str, Callable[[Published], Iterator[str]]]] = {
    "spark": _for_spark,
    "duckdb": _for_duckdb,
    "trino": _for_trino,
}
"""Engine → what yields its statements."""
