"""The rows of explain tables → the warehouse, or for a trial the memory alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from aclkit.pipeline.explain.scope import Scope
from aclkit.runtime.frame import Steps, local_frame, release
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.store import Store, schema_of
from aclkit.warehouse.views import EXPLAIN_TABLES


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where the tables of one cluster go.

    While they are few, the rows that are written are kept too: a later step joins with the rows in
    memory instead of asking Delta for them again.

    Attributes:
        store: the warehouse's tables.
        cluster_id: the cluster.
        keeps: rows that are written are kept.
        is_trial: nothing is written, to try another reading.
        kept: table → its rows.
        steps: frames that were computed on the way.
    """

    store: Store
    cluster_id: str
    keeps: bool
    is_trial: bool = False
    kept: dict[str, DataFrame] = field(default_factory=dict)
    steps: Steps = field(default_factory=Steps)

    @classmethod
    def of(cls, store: Store, scope: Scope, *, is_trial: bool = False) -> Output:
        """Return the output of a materialize."""
        keeps = is_trial or scope.pairs <= _PAIRS_TO_KEEP
        return cls(store=store, cluster_id=scope.cluster_id, keeps=keeps, is_trial=is_trial)

    def write(self, table: str, rows: DataFrame) -> None:
        """Put the rows in the place of the cluster's rows of a table."""
        frame = rows.withColumn("cluster_id", F.lit(self.cluster_id))
        frame = frame.select(*TABLES[table].column_names)
        if self.keeps:
            frame = self.kept[table] = frame.persist()
        if not self.is_trial:
            self.store.replace_cluster(
                table, frame, self.cluster_id, rows_per_file=_ROWS_OF_A_FILE.get(table)
            )

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

    def make_readable(self, prefix: str) -> None:
        """Give the tables of the view ``explain`` names that Spark's SQL knows them by."""
        for table in EXPLAIN_TABLES:
            self.read(table).createOrReplaceTempView(f"{prefix}{table}")

    def free(self, *frames: DataFrame) -> None:
        """Free steps that nothing will be built on any more, unless rows that are kept do."""
        if not self.keeps:
            for frame in frames:
                release(frame)

    def forget_steps(self) -> None:
        """Free what was computed on the way, unless rows that are kept build on it."""
        if not self.kept:
            self.steps.forget()

    def forget(self) -> None:
        """Free what was computed and kept."""
        for frame in self.kept.values():
            frame.unpersist()
        self.kept.clear()
        self.steps.forget()


_PAIRS_TO_KEEP: Final = 1_000_000
_ROWS_OF_A_FILE: Final = {"explain_pair": 50_000}
"""A part of the pairs is a range of resources, sorted by principal; cut into files it becomes a
grid, so that questions about one resource or one principal open few of them."""
