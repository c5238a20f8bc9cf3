"""The seam between a question and who reads the tables for it: DuckDB or Spark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol


class Answer(Protocol):
    """What a statement found."""

    def fetchall(self) -> list[Any]:
        """Return its rows as tuples."""


class Tables(Protocol):
    """The tables and views of a published run: nothing else can be read, and nothing written.

    A connection of ``duck.connect`` is one, ``spark_tables.SparkTables`` another.
    """

    def execute(self, query: str, parameters: object = None, /) -> Answer:
        """Run one of this package's own statements, with values in the places of its ``?``.

        It is written in DuckDB's SQL. Times come as UTC without a zone where it casts them to
        ``TIMESTAMP``.
        """


class AskedFreely(Protocol):
    """Tables over which a person may run a SELECT in the SQL of their engine."""

    def ask(self, text: str) -> Rows:
        """Run one SELECT; see ``sql.run_sql``."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The columns of an answer and its rows, which can be read once."""

    columns: tuple[str, ...]
    rows: Iterator[tuple[object, ...]]
