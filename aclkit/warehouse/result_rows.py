"""The columns of an answer and its rows: as tuples, or as a table of Arrow, pandas or polars."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING

from aclkit.answer.rows import distinct
from aclkit.errors import SurroundingsError
from aclkit.model.values import dataclass

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


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
        # Here: most rows are written as text.
        from aclkit.runtime.arrow import array_of_any, named_columns, whole_numbers

        if self.read_arrow is not None:
            found = [whole_numbers(column) for column in self.read_arrow().columns]
        else:
            rows = list(self.rows)
            columns = zip(*rows, strict=True) if rows else [()] * len(self.columns)
            found = [array_of_any(column) for column in columns]
        return named_columns(found, distinct(self.columns))

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


def _require(package: str) -> None:
    try:
        import_module(package)
    except ImportError as error:
        raise SurroundingsError(
            f".{package}() needs {package}, which is not installed: pip install {package}. "
            ".arrow() and .rows work without it."
        ) from error
