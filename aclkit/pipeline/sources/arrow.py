"""Rows of a source → Arrow, the form in which both engines of a replay take them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from operator import attrgetter
from typing import Final

import pyarrow as pa

from aclkit.model.facts import SPARK_DDL, SourceRow
from aclkit.runtime.arrow import record_batch

_TYPES: Final = {
    "BIGINT": pa.int64(),
    "INT": pa.int32(),
    "STRING": pa.string(),
    "TIMESTAMP": pa.timestamp("us", tz="UTC"),
}


def schema_of(ddl: str) -> pa.Schema:
    """Return columns of Arrow for those that a text of SQL names, with their types."""
    return pa.schema([(name, _TYPES[kind]) for name, kind in map(str.split, ddl.split(", "))])


ARROW_SCHEMA: Final = schema_of(SPARK_DDL)


def batches_of(rows: Iterator[SourceRow]) -> Iterator[pa.RecordBatch]:
    """Turn rows into batches while they come."""
    while chunk := list(islice(rows, _ROWS_PER_BATCH)):
        yield to_record_batch(chunk)


_ROWS_PER_BATCH: Final = 10_000


def to_record_batch(rows: list[SourceRow]) -> pa.RecordBatch:
    """Turn rows into one Arrow batch of ``ARROW_SCHEMA``."""
    return record_batch([*map(_cells, rows)], ARROW_SCHEMA)


_cells: Final = attrgetter(*ARROW_SCHEMA.names)
