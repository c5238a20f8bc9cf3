"""What the rules of a replay need of an engine: it makes frames, and asks them in SQL.

There are two engines: ``on_duckdb`` for what fits into this process, ``on_spark`` for all else.
The form of an engine's rows, a frame, is its own affair; everything small is a plain value. Both
run the same statements. Where their SQL differs a statement holds a word, ``$word``, and each
engine its own text for it. The frames that a statement reads are words too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, Generic, TypeVar

from aclkit.model.facts import SPARK_DDL
from aclkit.pipeline.replay.conditions import Columns, Condition, Expression
from aclkit.pipeline.replay.transactions import Span
from aclkit.pipeline.sources.items import WorkItem
from aclkit.warehouse.schemas import TABLES

Frame = TypeVar("Frame")
"""Rows as an engine has them: a DataFrame of Spark, a table of Arrow."""


class Asking(ABC, Generic[Frame]):
    """Makes and asks frames of the rows of one cluster.

    Attributes:
        WORDS: what stands for the words of a statement.
        COLUMNS: how conditions are written.
        cluster_id: the cluster.
    """

    WORDS: ClassVar[Mapping[str, str]]
    COLUMNS: ClassVar[Columns]
    cluster_id: str

    @abstractmethod
    def read(self, items: Sequence[WorkItem], board: str | None) -> Frame:
        """Read work items into source rows, once for all that is asked of them.

        Args:
            items: the files.
            board: where to tell how far that is, see ``runtime.reading``.

        Raises:
            TooManyRowsError: they hold more than this engine takes.
        """

    @abstractmethod
    def frame(self, ddl: str, rows: Sequence[Sequence[object]]) -> Frame:
        """Make a frame of values; ``ddl`` names its columns and their types."""

    @abstractmethod
    def union(self, *frames: Frame) -> Frame:
        """Return the rows of frames of the same table."""

    @abstractmethod
    def ask(
        self, sql: str, values: Sequence[object] = (), *, table: str = "", **frames: Frame
    ) -> Frame:
        """Return the rows of a SELECT from frames.

        Args:
            sql: a text of this package; no data is ever written into it.
            values: what stands in the places of its ``?``.
            table: the table whose columns it selects, if it does.
            frames: what it reads, by their words in it.
        """

    @abstractmethod
    def collect(self, sql: str, **frames: Frame) -> list[tuple[Any, ...]]:
        """Return the rows of such a SELECT as values."""

    @abstractmethod
    def where(self, rows: Frame, condition: Expression) -> Frame:
        """Return the rows that a condition of the engine's own holds for."""

    def only(self, rows: Frame, *any_of: Condition) -> Frame:
        """Return the facts or rejects that some condition holds for."""
        return self.where(rows, self.COLUMNS.any_of(any_of))

    def without(self, rows: Frame, *any_of: Condition) -> Frame:
        """Return the facts or rejects that no condition holds for."""
        return self.where(rows, ~self.COLUMNS.any_of(any_of))

    def keep(self, frame: Frame) -> Frame:
        """Compute a frame once for all that is asked of it."""
        return frame

    def rows(self, table: str, rows: Sequence[Sequence[object]]) -> Frame:
        """Make rows of a table of values."""
        return self.frame(TABLES[table].ddl, rows)

    def source_rows(self, rows: Sequence[Sequence[object]]) -> Frame:
        """Make source rows of values."""
        return self.frame(SPARK_DDL, rows)

    def spans(self, spans: Sequence[Span]) -> Frame:
        """Make a frame of transactions."""
        return self.frame(_SPANS, spans)


class TooManyRowsError(Exception):
    """Sources hold more rows than an engine takes; a larger one has to read them."""


def columns_of(table: str, source: str = "", **others: str) -> str:
    """Return the columns of a table for a SELECT, some by other expressions.

    >>> columns_of("setting", "s", cluster_id="?").split(", ")[:2]
    ['? AS cluster_id', 's.since_time']
    """
    of = f"{source}." if source else ""
    names = TABLES[table].column_names
    return ", ".join(f"{others[n]} AS {n}" if n in others else f"{of}{n}" for n in names)


def listed(*names: str) -> str:
    """Write constants of this package as a list in SQL.

    >>> listed("a", "b")
    "('a', 'b')"
    """
    return f"({', '.join(map(repr, names))})"


_SPANS: Final = "begin_offset BIGINT, end_offset BIGINT, outcome STRING"
