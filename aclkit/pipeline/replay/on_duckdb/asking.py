"""SQL of this package over tables of Arrow → a table of Arrow, by the DuckDB of this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from aclkit.runtime.scratch import scratch
from aclkit.warehouse.duck_beside import connect_beside


def ask(sql: str, values: Sequence[object] = (), **tables: pa.Table) -> pa.Table:
    """Return the rows of a SELECT from tables, by their names in it.

    Args:
        sql: a text of this package; no data is ever written into it.
        values: what stands in the places of its ``?``.
        tables: what it reads; it reads nothing else.
    """
    # What does not fit into DuckDB's share of the memory goes to this process's own folder.
    with connect_beside({}, str(scratch() / "duckdb")) as (connection, _):
        for name, table in tables.items():
            connection.register(name, table)
        return connection.sql(sql, params=list(values)).to_arrow_table()


def rows_of(sql: str, values: Sequence[object] = (), **tables: pa.Table) -> list[tuple[Any, ...]]:
    """Return the rows of such a SELECT as Python's values."""
    with connect_beside({}, str(scratch() / "duckdb")) as (connection, _):
        for name, table in tables.items():
            connection.register(name, table)
        return connection.execute(sql, list(values)).fetchall()
