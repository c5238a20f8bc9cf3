"""The rows of explain tables → the warehouse."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from aclkit.pipeline.explain.scope import Scope
from aclkit.warehouse.reader import Reader, Versions, read_versions, read_written
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.store import Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where the tables of one cluster go.

    Attributes:
        store: the warehouse's tables.
        cluster_id: the cluster.
        is_small: where a table has few rows, they are written without Spark.
    """

    store: Store
    cluster_id: str
    is_small: bool = False

    @classmethod
    def of(cls, store: Store, scope: Scope) -> Output:
        """Return where the tables of a scope go."""
        is_small = scope.pairs <= _FEW_PAIRS
        return cls(store=store, cluster_id=scope.cluster_id, is_small=is_small)

    def write(self, table: str, rows: DataFrame) -> None:
        """Put the rows in the place of the cluster's rows of a table."""
        from pyspark.sql import functions as F

        frame = rows.withColumn("cluster_id", F.lit(self.cluster_id))
        frame = frame.select(*TABLES[table].column_names)
        if self.is_small and self.store.replace_few(table, frame, self.cluster_id):
            return
        self.store.replace_cluster(table, frame, self.cluster_id, _ROWS_OF_A_FILE.get(table))

    def write_rows(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        """Put rows that the driver holds in the place of the cluster's rows of a table."""
        self.store.replace_rows(table, rows, self.cluster_id)

    def read(self, table: str) -> DataFrame:
        """Return the cluster's rows of a table."""
        return self.store.cluster_rows(table, self.cluster_id)

    def ask(self, *tables: str) -> AbstractContextManager[Reader]:
        """Open tables as this run leaves them, without Spark; see ``reader.read_written``."""
        return read_written(self.store, self.cluster_id, *tables)

    def ask_versions(
        self, tables: Versions, *beside: tuple[Store, Versions]
    ) -> AbstractContextManager[Reader]:
        """Open tables at given versions, without Spark; see ``reader.read_versions``."""
        return read_versions(self.store, self.cluster_id, tables, *beside)


_FEW_PAIRS: Final = 50_000
_ROWS_OF_A_FILE: Final = {"explain_pair": 50_000}
"""A part of the pairs is a range of resources, sorted by principal; cut into files it becomes a
grid, so that questions about one resource or one principal open few of them."""
