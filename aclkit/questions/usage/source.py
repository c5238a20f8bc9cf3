"""Authorizer logs → one row per entry, one task per file: a Python data source of Spark's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import astuple, fields
from itertools import islice
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from aclkit.model.acl import Request
from aclkit.pipeline.sources.masking import mask_text
from aclkit.questions.usage.clock import Clock, parse_zone
from aclkit.questions.usage.entry import LogEntry, read_entries
from aclkit.questions.usage.line import Statement
from aclkit.questions.usage.log_file import DamagedLogError, read_lines
from aclkit.runtime.arrow import record_batch
from aclkit.runtime.read_progress import NO_PROGRESS, ReadProgress
from aclkit.runtime.uri import shown

REQUEST: Final = tuple(field.name for field in fields(Request))
"""The columns that make a request."""

STATEMENT: Final = tuple(field.name for field in fields(Statement) if field.name != "request")
"""The columns for the rest of a line's content."""

_TYPES: Final = {
    "position": ("BIGINT", pa.int64()),
    "first_micros": ("BIGINT", pa.int64()),
    "last_micros": ("BIGINT", pa.int64()),
    "resource_ref_count": ("INT", pa.int32()),
    "is_ambiguous": ("BOOLEAN", pa.bool_()),
}
_TEXT: Final = ("STRING", pa.string())
COLUMNS: Final = (
    "source", "position", "line_id", "first_micros", "last_micros", *REQUEST, *STATEMENT,
    "problem", "is_ambiguous", "raw",
)  # fmt: skip
"""The columns of an entry; those of its content are null where it cannot be read."""

DDL: Final = ", ".join(f"{name} {_TYPES.get(name, _TEXT)[0]}" for name in COLUMNS)
_ARROW: Final = pa.schema([(name, _TYPES.get(name, _TEXT)[1]) for name in COLUMNS])


def read_log(
    spark: SparkSession, paths: Sequence[str], zone: str, board: str | None = None
) -> DataFrame:
    """Read log files into rows of ``COLUMNS``.

    Args:
        spark: the session.
        paths: the files.
        zone: for times without one.
        board: where to report progress, see ``runtime.reading``.
    """
    spark.dataSource.register(AuthorizerLogSource)
    options = {_PATHS: json.dumps(list(paths)), _ZONE: zone, _BOARD: board or ""}
    return spark.read.format(AuthorizerLogSource.name()).options(**options).load()


class AuthorizerLogSource(DataSource):
    """The data source ``aclkit_authorizer_log``; its option ``paths`` is a JSON list."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "aclkit_authorizer_log"

    def schema(self) -> str:
        """Return the columns of an entry."""
        return DDL

    def reader(self, schema: object) -> DataSourceReader:
        """Return the reader of the given files."""
        options = self.options
        return _Reader(json.loads(options[_PATHS]), options[_ZONE], options[_BOARD] or None)


class _Reader(DataSourceReader):
    def __init__(self, paths: list[str], zone: str, board: str | None) -> None:
        self._paths = paths
        self._zone = zone
        self._board = board

    def partitions(self) -> list[InputPartition]:
        return [InputPartition(path) for path in self._paths]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        path = partition.value
        with closing(ReadProgress(self._board, self._paths.index(path))) as told:
            rows = read_file(path, self._zone, told)
            while chunk := list(islice(rows, _ROWS_PER_BATCH)):
                told.add(0, len(chunk))
                yield record_batch(chunk, _ARROW)


def read_file(path: str, zone: str, told: ReadProgress = NO_PROGRESS) -> Iterator[tuple[Any, ...]]:
    """Yield a file's entries in ``COLUMNS``; where it is damaged, the last one reports it."""
    source = shown(path)
    damage: list[DamagedLogError] = []

    def lines() -> Iterator[bytes]:
        try:
            yield from read_lines(path, told)
        except DamagedLogError as error:
            damage.append(error)

    position = 0
    for entry in read_entries(lines(), Clock(parse_zone(zone))):
        position = entry.position
        yield _row(source, entry)
    if damage:
        problem = f"the rest of the gzipped file cannot be read: {damage[0]}"
        line_id = f"damaged {source}"
        rest = LogEntry(position=position + 1, line_id=line_id, text="", problem=problem)
        yield _row(source, rest)


def _row(source: str, entry: LogEntry) -> tuple[Any, ...]:
    statement, span = entry.statement, entry.span or (None, None)
    said: tuple[Any, ...] = (None,) * (len(REQUEST) + len(STATEMENT))
    if statement is not None:
        own = tuple(getattr(statement, name) for name in STATEMENT)
        said = (*astuple(statement.request), *own)
    raw = None if statement else mask_text(entry.text)
    whole = (source, entry.position, entry.line_id, *span, *said)
    return (*whole, entry.problem, entry.is_ambiguous, raw)


_PATHS: Final = "paths"
_ZONE: Final = "zone"
_BOARD: Final = "board"
_ROWS_PER_BATCH: Final = 10_000
