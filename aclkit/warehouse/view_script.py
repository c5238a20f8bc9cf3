"""What a warehouse has published → a script of CREATE VIEW for Spark, DuckDB or Trino.

Each view reads the Delta versions of one run; what later runs publish needs the script of then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Final

import duckdb

from aclkit.errors import SurroundingsError, UsageError
from aclkit.warehouse.duck import create_tables, find_tables
from aclkit.warehouse.duck_beside import new_duckdb
from aclkit.warehouse.duck_file import holds_until
from aclkit.warehouse.job_run import KEEP_DAYS
from aclkit.warehouse.pinned_sql import by_place, pinned_sql
from aclkit.warehouse.published import Published
from aclkit.warehouse.views import PAST

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
