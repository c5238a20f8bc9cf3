"""Rows of a source → Arrow, the form in which Spark takes them from a task."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

from aclkit.model.facts import SPARK_DDL, SourceRow

_TYPES: Final = {
    "BIGINT": pa.int64(),
    "INT": pa.int32(),
    "STRING": pa.string(),
    "TIMESTAMP": pa.timestamp("us", tz="UTC"),
}

ARROW_SCHEMA: Final = pa.schema([
    (name, _TYPES[kind]) for name, kind in (column.split() for column in SPARK_DDL.split(", "))
])  # fmt: skip


def to_record_batch(rows: list[SourceRow]) -> pa.RecordBatch:
    """Turn rows into one Arrow batch of ``ARROW_SCHEMA``."""
    names = ARROW_SCHEMA.names
    columns: list[list[Any]] = [[getattr(row, name) for row in rows] for name in names]
    arrays = [
        pa.array(column, type=field.type)
        for column, field in zip(columns, ARROW_SCHEMA, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=ARROW_SCHEMA)
