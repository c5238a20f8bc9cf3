"""The rows of explain tables → the warehouse, or for a trial the memory alone."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from aclkit.runtime.frame import Steps, local_frame, release
from aclkit.warehouse.reader import Reader, Versions, read_versions, read_written
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.store import Store, schema_of
from aclkit.warehouse.views import EXPLAIN_TABLES


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where the tables of one cluster go.

    Attributes:
        store: the warehouse's tables.
        cluster_id: the cluster.
        is_trial: nothing is written, to try another reading: the rows are kept in memory.
        is_small: where a table has few rows, they are written without Spark.
        kept: table → its rows, of a trial.
        steps: frames that were computed on the way.
    """

    store: Store
    cluster_id: str
    is_trial: bool = False
    is_small: bool = False
    kept: dict[str, DataFrame] = field(default_factory=dict)
    steps: Steps = field(default_factory=Steps)

    def write(self, table: str, rows: DataFrame) -> None:
        """Put the rows in the place of the cluster's rows of a table."""
        frame = rows.withColumn("cluster_id", F.lit(self.cluster_id))
        frame = frame.select(*TABLES[table].column_names)
        if self.is_trial:
            self.kept[table] = frame.persist()
            return
        if self.is_small and self.store.replace_few(table, frame, self.cluster_id):
            return
        self.store.replace_cluster(table, frame, self.cluster_id, _ROWS_OF_A_FILE.get(table))

    def write_rows(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        """Put rows that the driver holds in the place of the cluster's rows of a table."""
        if self.is_trial:
            self.write(table, local_frame(self.store.spark, rows, schema_of(table)))
        else:
            self.store.replace_rows(table, rows, self.cluster_id)

    def read(self, table: str) -> DataFrame:
        """Return the cluster's rows of a table: those kept, or those written before."""
        if table in self.kept:
            return self.kept[table]
        return self.store.cluster_rows(table, self.cluster_id)

    def ask(self, *tables: str) -> AbstractContextManager[Reader]:
        """Open tables as this run leaves them, without Spark; see ``reader.read_written``."""
        return read_written(self.store, self.cluster_id, *tables)

    def ask_versions(self, tables: Versions) -> AbstractContextManager[Reader]:
        """Open tables at given versions, without Spark; see ``reader.read_versions``."""
        return read_versions(self.store, self.cluster_id, tables)

    def make_readable(self, prefix: str) -> None:
        """Give the tables of the view ``explain`` names that Spark's SQL knows them by."""
        for table in EXPLAIN_TABLES:
            self.read(table).createOrReplaceTempView(f"{prefix}{table}")

    def free(self, *frames: DataFrame) -> None:
        """Free steps that nothing will be built on any more, unless rows that are kept do."""
        if not self.is_trial:
            for frame in frames:
                release(frame)

    def forget_steps(self) -> None:
        """Free what was computed on the way, unless rows that are kept build on it."""
        if not self.is_trial:
            self.steps.forget()

    def forget(self) -> None:
        """Free what was computed and kept."""
        for frame in self.kept.values():
            frame.unpersist()
        self.kept.clear()
        self.steps.forget()


_ROWS_OF_A_FILE: Final = {"explain_pair": 50_000}
"""A part of the pairs is a range of resources, sorted by principal; cut into files it becomes a
grid, so that questions about one resource or one principal open few of them."""
