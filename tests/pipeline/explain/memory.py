"""Tables in DuckDB's memory, for what asks SQL of a run's tables: a reader without a warehouse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import duckdb
import pyarrow as pa

from aclkit.warehouse.duck_types import type_of_contract
from aclkit.warehouse.schemas import TABLES


class Memory:
    """Answers SQL about the tables that it was given."""

    def __init__(self) -> None:
        self.connection = duckdb.connect()

    @classmethod
    def of(cls, tables: Mapping[str, Sequence[Any]]) -> Memory:
        """Hold tables: name → its columns' names in a text, then its rows."""
        memory = cls()
        for name, (columns, *rows) in tables.items():
            memory.table(name, columns, *rows)
        return memory

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        return self.connection.execute(sql, list(values)).fetchall()

    def arrow(self, sql: str) -> pa.Table:
        return self.connection.sql(sql).to_arrow_table()

    def stream(self, sql: str) -> pa.RecordBatchReader:
        return self.connection.sql(sql).to_arrow_reader()

    def give(self, name: str, table: pa.Table) -> None:
        self.connection.register(name, table)

    def keep(self, name: str, sql: str) -> None:
        self.connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {sql}")

    def see(self, name: str, sql: str) -> None:
        self.connection.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {sql}")

    def rewrite(self, table: str, sql: str) -> None:
        self.connection.execute(f"CREATE OR REPLACE TABLE fresh AS {sql}")
        self.connection.execute(f"DROP TABLE {table}; ALTER TABLE fresh RENAME TO {table}")

    def table(self, name: str, columns: str, *rows: Sequence[Any]) -> None:
        """Give a table some columns, whose types are those of their values."""
        names = columns.split()
        values = zip(*rows, strict=True) if rows else ([] for _ in names)
        self.give(name, pa.table(dict(zip(names, map(list, values), strict=True))))

    def contract(
        self, table: str, rows: Iterable[Mapping[str, Any]] = (), *, name: str | None = None
    ) -> None:
        """Make a table of the contract of rows that say some of its columns."""
        columns = TABLES[table].columns
        text = ", ".join(f"{column} {type_of_contract(kind)}" for column, kind, _ in columns)
        self.connection.execute(f"CREATE TABLE {name or table} ({text})")
        self.insert(table, rows, name=name)

    def insert(
        self, table: str, rows: Iterable[Mapping[str, Any]], *, name: str | None = None
    ) -> None:
        """Add rows to a table of the contract; its maps stay empty."""
        said = [column for column, kind, _ in TABLES[table].columns if "MAP" not in kind]
        if values := [{column: row.get(column) for column in said} for row in rows]:
            self.give("given", pa.Table.from_pylist(values))
            self.connection.execute(f"INSERT INTO {name or table} BY NAME FROM given")
