"""The engine of ``replay.engine`` that Spark is: DataFrames, computed by its executors."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import reduce

from pyspark.sql import DataFrame, SparkSession

from aclkit.model.facts import SPARK_DDL
from aclkit.pipeline.replay.brokers import BrokerFact
from aclkit.pipeline.replay.engine import Condition, Conflict, Counted, Engine, Failure, Rejects
from aclkit.pipeline.replay.history_plan import HistoryPlan
from aclkit.pipeline.replay.on_spark import checks
from aclkit.pipeline.replay.on_spark import facts as of_facts
from aclkit.pipeline.replay.on_spark import history as of_history
from aclkit.pipeline.replay.on_spark import rejects as of_rejects
from aclkit.pipeline.replay.ranges import Range
from aclkit.pipeline.replay.transactions import Span
from aclkit.pipeline.sources.items import WorkItem
from aclkit.pipeline.sources.spark_source import read_sources
from aclkit.runtime.frame import Steps, local_frame, release
from aclkit.warehouse.schemas import TABLES


class OnSpark(Engine[DataFrame]):
    """Spark, with the frames that were computed on the way: they are needed until all is written.

    Each method's rule is told by ``Engine``.
    """

    def __init__(self, spark: SparkSession, cluster_id: str, steps: Steps) -> None:
        """Take a session, the cluster that rows are of, and what keeps frames."""
        self._spark = spark
        self._cluster_id = cluster_id
        self._steps = steps

    def read(self, items: Sequence[WorkItem], board: str | None) -> DataFrame:
        """Read them in tasks."""
        if not items:
            # As where something is only taken back: no job to read nothing.
            return self.source_rows([])
        rows = read_sources(self._spark, items, board).persist()
        self._steps.callback(release, rows)
        return rows

    def rows(self, table: str, rows: Sequence[Sequence[object]]) -> DataFrame:
        """Make a local relation."""
        return local_frame(self._spark, rows, TABLES[table].ddl)

    def source_rows(self, rows: Sequence[Sequence[object]]) -> DataFrame:
        """Make a local relation."""
        return local_frame(self._spark, rows, SPARK_DDL)

    def union(self, *frames: DataFrame) -> DataFrame:
        """Return the rows of all."""
        return reduce(DataFrame.unionByName, frames)

    def only(self, rows: DataFrame, *any_of: Condition) -> DataFrame:
        """Filter by a column."""
        return rows.where(of_facts.any_of(any_of))

    def without(self, rows: DataFrame, *any_of: Condition) -> DataFrame:
        """Filter by a column."""
        return rows.where(~of_facts.any_of(any_of))

    def are_alike(self, some: DataFrame, others: DataFrame) -> bool:
        """Subtract both ways."""
        return some.subtract(others).isEmpty() and others.subtract(some).isEmpty()

    def offsets(self, rejects: DataFrame) -> list[int]:
        """Collect them."""
        return of_rejects.offsets(rejects)

    def failure(self, source_rows: DataFrame) -> Failure | None:
        """Collect one."""
        return of_facts.failure(source_rows)

    def incoming_ranges(self, source_rows: DataFrame) -> list[Range]:
        """Collect them."""
        return of_facts.incoming_ranges(source_rows)

    def incoming_facts(self, source_rows: DataFrame) -> DataFrame:
        """Select them."""
        return of_facts.incoming_facts(source_rows, self._cluster_id)

    def incoming_rejects(self, source_rows: DataFrame) -> DataFrame:
        """Select them."""
        return of_facts.incoming_rejects(source_rows, self._cluster_id)

    def stand_now(
        self,
        known: DataFrame,
        incoming: DataFrame,
        reread: Collection[str],
        covered: Sequence[tuple[int, int]] = (),
    ) -> Rejects[DataFrame]:
        """Group the rejects of both."""
        return of_rejects.stand_now(known, incoming, reread, covered)

    def compare(self, known: DataFrame, incoming: DataFrame) -> DataFrame:
        """Group the facts of both, once for what is asked of them."""
        return self._steps.checkpoint(of_facts.compare(known, incoming))

    def worst_conflict(
        self, compared: DataFrame, known: Sequence[Range], incoming: Sequence[Range]
    ) -> Conflict | None:
        """Collect it."""
        return of_facts.worst_conflict(compared, known, incoming)

    def count_facts(self, compared: DataFrame) -> Counted:
        """Count and collect in one job."""
        return of_facts.count_facts(compared)

    def new_facts(self, compared: DataFrame) -> DataFrame:
        """Select them."""
        return of_facts.new_facts(compared)

    def with_times(self, known: DataFrame, compared: DataFrame) -> DataFrame:
        """Join with the right times."""
        return self._steps.checkpoint(of_facts.with_times(known, compared))

    def broker_facts(self, facts: DataFrame) -> list[BrokerFact]:
        """Collect them."""
        return of_facts.broker_facts(facts)

    def with_txn_offset(self, facts: DataFrame, spans: Sequence[Span]) -> DataFrame:
        """Join with the spans."""
        return of_facts.with_txn_offset(facts, self._frame_of(spans))

    def moved_records(self, facts: DataFrame, spans: Sequence[Span]) -> DataFrame:
        """Join with the spans."""
        return of_facts.moved_records(facts, self._frame_of(spans))

    def history(
        self, facts: DataFrame, rejected: DataFrame, plan: HistoryPlan
    ) -> Mapping[str, DataFrame]:
        """Fold with windows."""
        return of_history.compute_history(facts, rejected, plan, self._cluster_id, self._steps)

    def contradictions(
        self, facts: DataFrame, history: DataFrame, end_offsets: Sequence[int]
    ) -> dict[int, list[str]]:
        """Compare by hashes."""
        return checks.contradictions(facts, history, end_offsets)

    def _frame_of(self, spans: Sequence[Span]) -> DataFrame:
        return of_history.spans_frame(self._spark, self._cluster_id, spans)
