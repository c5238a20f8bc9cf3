"""Rows of a source → Arrow, the form in which Spark takes them from a task."""

from __future__ import annotations

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

ARROW_SCHEMA: Final = pa.schema([
    (name, _TYPES[kind]) for name, kind in (column.split() for column in SPARK_DDL.split(", "))
])  # fmt: skip


def to_record_batch(rows: list[SourceRow]) -> pa.RecordBatch:
    """Turn rows into one Arrow batch of ``ARROW_SCHEMA``."""
    return record_batch([*map(_cells, rows)], ARROW_SCHEMA)


_cells: Final = attrgetter(*ARROW_SCHEMA.names)
