"""The columns of an answer and its rows: as tuples, or as a table of Arrow, pandas or polars."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

import pyarrow as pa

from aclkit.answer.rows import distinct
from aclkit.errors import SurroundingsError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


@dataclass(frozen=True, slots=True)
class Rows:
    """What was found.

    Attributes:
        columns: names of the columns, as the question has them: two may have one name.
        rows: the rows; those of a statement can be read once, and are found then.
        read_arrow: reads them as columns, where the engine that finds them can.
    """

    columns: tuple[str, ...]
    rows: Iterable[tuple[object, ...]]
    read_arrow: Callable[[], pa.Table] | None = None

    def arrow(self) -> pa.Table:
        """Return them as columns of Arrow: of one name the second is ``name_1``; times are UTC.

        Raises:
            AclkitError: as reading the rows does.
        """
        if self.read_arrow is not None:
            found = [_whole_numbers(column) for column in self.read_arrow().columns]
        else:
            rows = list(self.rows)
            columns = zip(*rows, strict=True) if rows else [()] * len(self.columns)
            found = [_array(column) for column in columns]
        return pa.Table.from_arrays(found, names=distinct(self.columns))

    def pandas(self) -> pd.DataFrame:
        """Return them as a DataFrame of pandas.

        Raises:
            SurroundingsError: pandas is not installed.
        """
        _require("pandas")  # Arrow's error names less of what is missing
        return self.arrow().to_pandas()

    def polars(self) -> pl.DataFrame:
        """Return them as a DataFrame of polars.

        Raises:
            SurroundingsError: polars is not installed.
        """
        _require("polars")
        import polars as pl

        return pl.DataFrame(self.arrow())


def _array(values: Sequence[object]) -> pa.Array:
    """Make a column of Python's values; of what Arrow does not know, and of nulls alone, text."""
    try:
        array = pa.array(values)
    except pa.ArrowException:
        array = pa.array([None if value is None else str(value) for value in values], pa.string())
    return array.cast(pa.string()) if pa.types.is_null(array.type) else array


def _whole_numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Make plain integers of a sum of integers, which DuckDB gives as decimals, if they fit."""
    if pa.types.is_decimal(column.type) and column.type.scale == 0:
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:
            return column
    return column


def _require(package: str) -> None:
    try:
        import_module(package)
    except ImportError as error:
        raise SurroundingsError(
            f".{package}() needs {package}, which is not installed: pip install {package}. "
            ".arrow() and .rows work without it."
        ) from error
