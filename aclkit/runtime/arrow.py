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


def named_columns(columns: Sequence[pa.Array | pa.ChunkedArray], names: Sequence[str]) -> pa.Table:
    """Put columns together under names."""
    return pa.Table.from_arrays(columns, names=names)


def array_of_any(values: Sequence[object]) -> pa.Array:
    """Make a column of Python's values; of what Arrow does not know, and of nulls alone, text."""
    try:
        array = pa.array(values)
    except pa.ArrowException:
        array = pa.array([None if value is None else str(value) for value in values], pa.string())
    return array.cast(pa.string()) if pa.types.is_null(array.type) else array


def whole_numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Make plain integers of a sum of integers, which DuckDB gives as decimals, if they fit."""
    if pa.types.is_decimal(column.type) and column.type.scale == 0:
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:
            return column
    return column


def _arrays(rows: Sequence[Sequence[Any]], schema: pa.Schema) -> list[pa.Array]:
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return [pa.array(list(c), type=f.type) for c, f in zip(columns, schema, strict=True)]
