"""The rows of a cluster as DataFrames: Spark reads and writes the tables."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from aclkit.model.facts import RECORD
from aclkit.pipeline.replay.conditions import Condition
from aclkit.pipeline.replay.on_spark import OnSpark
from aclkit.pipeline.replay.tables import Rows
from aclkit.warehouse.frames import TableFrames, Update
from aclkit.warehouse.schemas import TABLES


@dataclass(frozen=True, slots=True)
class SparkRows(Rows[DataFrame]):
    """The rows of one cluster."""

    frames: TableFrames
    cluster_id: str

    def read(self, table: str) -> DataFrame:
        """Open the table."""
        rows = self.frames.of_cluster(table, self.cluster_id)
        return rows.select(*TABLES[table].column_names)

    def append(self, table: str, rows: DataFrame) -> None:
        """Append them in a commit of Spark's."""
        self.frames.append(table, rows)

    def replace(self, table: str, rows: DataFrame) -> None:
        """Replace them in a commit of Spark's."""
        self.frames.replace(table, rows, self.cluster_id)

    def delete(self, table: str, *any_of: Condition) -> int:
        """Delete them in a commit of Delta's own."""
        condition = OnSpark.COLUMNS.any_of(any_of)
        count = self.read(table).where(condition).count()
        if count:
            self.frames.delete(table, condition, self.cluster_id)
        return count

    def move(self, moved: DataFrame) -> None:
        """Merge them in a commit of Delta's own."""
        if moved.isEmpty():
            return
        update = Update(
            rows=moved,
            keys=("cluster_id", "log_offset"),
            where=F.col("t.fact") == RECORD,
            updated=("txn_offset",),
        )
        self.frames.update("acl_log", update, self.cluster_id)
