"""One SELECT that a person wrote → its rows; whatever is not a SELECT is refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import duckdb

from aclkit.errors import SurroundingsError, UsageError
from aclkit.warehouse.damage import damage_of
from aclkit.warehouse.duck import EVERYTHING, Holding
from aclkit.warehouse.duck_guard import checked_statement, relations
from aclkit.warehouse.result_rows import Rows
from aclkit.warehouse.views import RELATIONS, tables_below

if TYPE_CHECKING:
    import pyarrow as pa

BATCH: Final = 10_000
"""Rows that are held at a time."""


def run_sql(connection: duckdb.DuckDBPyConnection, text: str) -> Rows:
    """Run one SELECT, VALUES, DESCRIBE, SHOW, or EXPLAIN of a SELECT, in DuckDB's SQL.

    The text is judged part by part (``duck_guard``). What keeps DuckDB off the files even so is
    the connection's doing (``duck.connect``) and the process's (``confinement``).

    Raises:
        UsageError: the text is anything else, or the engine refuses it.
    """
    with _as_aclkit_errors():
        statement = checked_statement(connection, text)
        if statement.type == duckdb.StatementType.SELECT:
            return _select(connection, statement)
        cursor = connection.execute(statement)
        columns = tuple(str(column[0]) for column in cursor.description or ())
        return Rows(columns, _batches(cursor))


def tables_of(connection: duckdb.DuckDBPyConnection, text: str) -> Holding:
    """Return the tables that a text asks, as ``duck.connect`` takes them: all where it may be any.

    Most texts name two or three of thirty, and to open one takes as long as to ask it.
    """
    names = relations(connection, text, RELATIONS)
    below = None if names is None else tables_below(names)
    return EVERYTHING if below is None else {name: {} for name in below}


def _select(connection: duckdb.DuckDBPyConnection, statement: duckdb.Statement) -> Rows:
    """Return rows that are found when they are first asked for, as tuples or as columns."""
    relation = connection.sql(statement)
    plain = _without_zones(relation)
    query = statement if plain is relation else plain.sql_query()

    def read_arrow() -> pa.Table:
        with _as_aclkit_errors():
            return plain.to_arrow_table()

    return Rows(tuple(relation.columns), _Selected(connection, query), read_arrow)


@dataclass(frozen=True, slots=True)
class _Selected:
    """The rows of a SELECT; who begins to read them runs it."""

    connection: duckdb.DuckDBPyConnection
    query: str | duckdb.Statement

    def __iter__(self) -> Iterator[tuple[object, ...]]:
        with _as_aclkit_errors():
            return _batches(self.connection.execute(self.query))


_ZONED: Final = "TIMESTAMP WITH TIME ZONE"


def _without_zones(relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Give zoned times as plain UTC, because the zoned ones would need pytz."""
    if all(str(kind) != _ZONED for kind in relation.types):
        return relation
    columns = (
        f"CAST(#{place} AS TIMESTAMP)" if str(kind) == _ZONED else f"#{place}"
        for place, kind in enumerate(relation.types, start=1)
    )
    return relation.project(", ".join(columns))


def _batches(cursor: duckdb.DuckDBPyConnection) -> Iterator[tuple[object, ...]]:
    """Yield the rows without holding them all."""
    with _as_aclkit_errors():
        while batch := cursor.fetchmany(BATCH):
            yield from batch


@contextmanager
def _as_aclkit_errors() -> Iterator[None]:
    try:
        yield
    except duckdb.Error as error:
        raise _as_aclkit_error(error) from error


def _as_aclkit_error(error: duckdb.Error) -> UsageError | SurroundingsError:
    """Return the error of ours: the disk's fault, or the question's, its size included."""
    if isinstance(error, duckdb.OutOfMemoryException):
        return UsageError(f"{TOO_LARGE}: {str(error).splitlines()[0]}")
    if isinstance(error, (duckdb.IOException, duckdb.InternalException)):
        return damage_of(error) or SurroundingsError(f"DuckDB cannot answer: {error}")
    if type(error) is duckdb.Error and (damage := damage_of(error)):
        return damage
    return UsageError(f"Invalid SQL: {error}")


TOO_LARGE: Final = "The query needs more memory than the limit"
