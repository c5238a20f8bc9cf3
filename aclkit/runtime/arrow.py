"""Rows that the driver holds → columns of Arrow, and these → rows, without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa


def arrow_table(rows: Sequence[Sequence[Any]], schema: pa.Schema) -> pa.Table:
    """Make columns of rows."""
    return pa.Table.from_arrays(_arrays(rows, schema), schema=schema)


def record_batch(rows: Sequence[Sequence[Any]], schema: pa.Schema) -> pa.RecordBatch:
    """Make the same as one batch, the form in which Spark takes rows from a task."""
    return pa.RecordBatch.from_arrays(_arrays(rows, schema), schema=schema)


def rows_of(columns: Iterable[pa.Array | pa.ChunkedArray]) -> Iterator[tuple[Any, ...]]:
    """Return the rows of columns, as Python's values.

    >>> list(rows_of([pa.array([1, 2]), pa.array(["a", None])]))
    [(1, 'a'), (2, None)]
    """
    return zip(*(column.to_pylist() for column in columns), strict=True)


def _arrays(rows: Sequence[Sequence[Any]], schema: pa.Schema) -> list[pa.Array]:
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return [pa.array(list(c), type=f.type) for c, f in zip(columns, schema, strict=True)]
