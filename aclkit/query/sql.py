"""One SELECT that a person wrote → its rows; whatever is not a SELECT is refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import duckdb

from aclkit.errors import SurroundingsError, UsageError
from aclkit.query.tables import AskedFreely, Rows, Tables

BATCH: Final = 10_000
"""Rows that are held at a time."""


def run_sql(connection: duckdb.DuckDBPyConnection | AskedFreely, text: str) -> Rows:
    """Run one SELECT, VALUES, DESCRIBE, SHOW, or EXPLAIN of a SELECT, in the engine's own SQL.

    DuckDB's own parser says what the text is. That files and settings are out of reach is
    the connection's doing (``duck.connect``), not this check's. Spark's tables check it all
    themselves (``spark_guard``), and take no DESCRIBE, SHOW or EXPLAIN.

    Raises:
        UsageError: the text is anything else, or the engine refuses it.
    """
    if not isinstance(connection, duckdb.DuckDBPyConnection):
        return connection.ask(text)
    try:
        statement = _only_statement(connection, text)
        _check_reads_only(connection, statement)
        if statement.type == duckdb.StatementType.SELECT:
            relation = connection.sql(statement)
            if any(str(kind) == _ZONED for kind in relation.types):
                return Rows(tuple(relation.columns), iter(_without_zones(relation)))
        cursor = connection.execute(statement)
        columns = tuple(str(column[0]) for column in cursor.description or ())
        return Rows(columns, _batches(cursor))
    except duckdb.Error as error:
        raise _as_aclkit_error(error) from error


def fetch(connection: Tables, text: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
    """Run one of this package's own statements.

    Raises:
        SurroundingsError: it fails, so the tables are damaged or there is no room.
    """
    try:
        return connection.execute(text, values).fetchall()
    except duckdb.Error as error:
        raise SurroundingsError(f"DuckDB could not answer: {error}") from error


_ZONED: Final = "TIMESTAMP WITH TIME ZONE"


def _only_statement(connection: duckdb.DuckDBPyConnection, text: str) -> duckdb.Statement:
    """Return the one statement of a text."""
    statements = connection.extract_statements(text)
    if len(statements) != 1:
        raise UsageError(f"expected one SELECT, found {len(statements)} statements")
    statement = statements[0]
    if statement.named_parameters:
        raise UsageError("expected a SELECT without parameters, found ? or $name in it")
    return statement


def _check_reads_only(connection: duckdb.DuckDBPyConnection, statement: duckdb.Statement) -> None:
    """Refuse every kind of statement that is not a plain question."""
    kind = statement.type
    if kind == duckdb.StatementType.EXPLAIN:
        kind = _explained(connection, statement.query)
    if kind != duckdb.StatementType.SELECT:
        raise UsageError(
            f"{kind.name} is not allowed: expected one SELECT (also WITH, VALUES, DESCRIBE, SHOW, "
            "or EXPLAIN of a SELECT), because a warehouse is only read"
        )


def _explained(connection: duckdb.DuckDBPyConnection, text: str) -> duckdb.StatementType:
    """Return the type of the statement that an EXPLAIN holds.

    It is what follows EXPLAIN and its options, and no option makes a statement by itself: so
    it is the first rest of the text, from one token to the end, that the parser takes.
    """
    encoded = text.encode()
    for offset, _ in duckdb.tokenize(text)[1:]:
        try:
            (inner,) = connection.extract_statements(encoded[offset:].decode())
        except (duckdb.ParserException, ValueError):
            continue
        return inner.type
    return duckdb.StatementType.EXPLAIN


def _without_zones(relation: duckdb.DuckDBPyRelation) -> list[tuple[object, ...]]:
    """Fetch zoned times as plain UTC, because the zoned ones would need pytz."""
    columns = (
        f"CAST(#{place} AS TIMESTAMP)" if str(kind) == _ZONED else f"#{place}"
        for place, kind in enumerate(relation.types, start=1)
    )
    return relation.project(", ".join(columns)).fetchall()


def _batches(cursor: duckdb.DuckDBPyConnection) -> Iterator[tuple[object, ...]]:
    """Yield the rows without holding them all."""
    try:
        while batch := cursor.fetchmany(BATCH):
            yield from batch
    except duckdb.Error as error:
        raise _as_aclkit_error(error) from error


def _as_aclkit_error(error: duckdb.Error) -> UsageError | SurroundingsError:
    """Say whose fault an error is: the disk's and memory's, or the question's."""
    if isinstance(
        error, (duckdb.OutOfMemoryException, duckdb.IOException, duckdb.InternalException)
    ):
        return SurroundingsError(f"DuckDB could not answer: {error}")
    return UsageError(f"bad SQL: {error}")
