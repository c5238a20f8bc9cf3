"""Rows of a table and newer ones → the rows of the table, by Delta's own merge or as a frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

if TYPE_CHECKING:
    from delta.tables import DeltaTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """What rows do to the rows of a table; in conditions these are ``t`` and the rows ``s``.

    Attributes:
        rows: at most one for each row of the table.
        keys: columns by which a row of the table is found.
        where: a further condition on the table's row.
        updated: columns that it takes over.
        inserts: whether a row that finds none is added; then it has all columns.
    """

    rows: DataFrame
    keys: Sequence[str]
    where: Column
    updated: Sequence[str]
    inserts: bool = False

    @property
    def _is_same(self) -> Column:
        same = self.where
        for key in self.keys:
            same &= F.col(f"t.{key}") == F.col(f"s.{key}")
        return same

    def execute(self, table: DeltaTable) -> None:
        """Do it to a Delta table, in a commit of Delta's own."""
        merge = table.alias("t").merge(self.rows.alias("s"), self._is_same)
        new = {name: F.col(f"s.{name}") for name in self.updated}
        differs = (~F.col(f"t.{name}").eqNullSafe(value) for name, value in new.items())
        merge = merge.whenMatchedUpdate(reduce(Column.__or__, differs), new)
        (merge.whenNotMatchedInsertAll() if self.inserts else merge).execute()

    def merged(self, table: DataFrame) -> DataFrame:
        """Return what the rows of a table become."""
        there = table.withColumn(_THERE, F.lit(True)).alias("t")
        found = self.rows.withColumn(_FOUND, F.lit(True)).alias("s")
        joined = there.join(found, self._is_same, "full" if self.inserts else "left")
        return joined.select(*(self._column(name).alias(name) for name in table.columns))

    def _column(self, name: str) -> Column:
        old = F.col(f"t.{name}")
        if name in self.updated:
            return F.when(F.col(f"s.{_FOUND}"), F.col(f"s.{name}")).otherwise(old)
        if not self.inserts:
            return old
        return F.when(F.col(f"t.{_THERE}"), old).otherwise(F.col(f"s.{name}"))


_THERE = "is_there"
_FOUND = "is_found"
