"""The engine of ``replay.engine`` that this process is: tables of Arrow, and SQL of DuckDB."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from typing import Final

import pyarrow as pa

from aclkit.pipeline.plan import ROWS_REPLAYED_HERE
from aclkit.pipeline.replay.brokers import BrokerFact
from aclkit.pipeline.replay.engine import (
    Condition,
    Conflict,
    Counted,
    Engine,
    Failure,
    Rejects,
    TooManyRowsError,
)
from aclkit.pipeline.replay.history_plan import HistoryPlan
from aclkit.pipeline.replay.on_duckdb import facts as of_facts
from aclkit.pipeline.replay.on_duckdb import history as of_history
from aclkit.pipeline.replay.on_duckdb import rejects as of_rejects
from aclkit.pipeline.replay.on_duckdb.asking import rows_of
from aclkit.pipeline.replay.ranges import Range
from aclkit.pipeline.replay.transactions import Span
from aclkit.pipeline.sources.arrow import ARROW_SCHEMA, batches_of
from aclkit.pipeline.sources.items import WorkItem
from aclkit.runtime.arrow import arrow_table
from aclkit.runtime.read_progress import ReadProgress
from aclkit.warehouse.column_types import arrow_schema


class OnDuckdb(Engine[pa.Table]):
    """This process, whose tables are in its memory. Each method's rule is told by ``Engine``."""

    def __init__(self, cluster_id: str) -> None:
        """Take the cluster that rows are of."""
        self._cluster_id = cluster_id

    def read(self, items: Sequence[WorkItem], board: str | None) -> pa.Table:
        """Read one after the other."""
        # Imported here, so that a run with nothing new does not load the decoders.
        from aclkit.pipeline.sources.readers import read_or_tell

        batches, left = [], ROWS_REPLAYED_HERE
        for number, item in enumerate(items):
            with closing(ReadProgress(board, number)) as told:
                for batch in batches_of(read_or_tell(item, told)):
                    batches.append(batch)
                    left -= batch.num_rows
                    if left < 0:
                        raise TooManyRowsError
        return pa.Table.from_batches(batches, ARROW_SCHEMA)

    def rows(self, table: str, rows: Sequence[Sequence[object]]) -> pa.Table:
        """Make columns of them."""
        return arrow_table(rows, arrow_schema(table))

    def source_rows(self, rows: Sequence[Sequence[object]]) -> pa.Table:
        """Make columns of them."""
        return arrow_table(rows, ARROW_SCHEMA)

    def union(self, *frames: pa.Table) -> pa.Table:
        """Lay them one after the other."""
        return pa.concat_tables(frames)

    def only(self, rows: pa.Table, *any_of: Condition) -> pa.Table:
        """Filter by SQL."""
        return of_facts.only(rows, any_of)

    def without(self, rows: pa.Table, *any_of: Condition) -> pa.Table:
        """Filter by SQL."""
        return of_facts.only(rows, any_of, is_not=True)

    def are_alike(self, some: pa.Table, others: pa.Table) -> bool:
        """Look for a row that one of them lacks."""
        return not rows_of(_DIFFERING, these=some, those=others)

    def offsets(self, rejects: pa.Table) -> list[int]:
        """Select them."""
        return of_rejects.offsets(rejects)

    def failure(self, source_rows: pa.Table) -> Failure | None:
        """Select one."""
        return of_facts.failure(source_rows)

    def incoming_ranges(self, source_rows: pa.Table) -> list[Range]:
        """Select them."""
        return of_facts.incoming_ranges(source_rows)

    def incoming_facts(self, source_rows: pa.Table) -> pa.Table:
        """Select them."""
        return of_facts.incoming_facts(source_rows, self._cluster_id)

    def incoming_rejects(self, source_rows: pa.Table) -> pa.Table:
        """Select them."""
        return of_facts.incoming_rejects(source_rows, self._cluster_id)

    def stand_now(
        self,
        known: pa.Table,
        incoming: pa.Table,
        reread: Collection[str],
        covered: Sequence[tuple[int, int]] = (),
    ) -> Rejects[pa.Table]:
        """Group the rejects of both."""
        return of_rejects.stand_now(known, incoming, reread, covered)

    def compare(self, known: pa.Table, incoming: pa.Table) -> pa.Table:
        """Group the facts of both."""
        return of_facts.compare(known, incoming)

    def worst_conflict(
        self, compared: pa.Table, known: Sequence[Range], incoming: Sequence[Range]
    ) -> Conflict | None:
        """Select it."""
        return of_facts.worst_conflict(compared, known, incoming)

    def count_facts(self, compared: pa.Table) -> Counted:
        """Count and select."""
        return of_facts.count_facts(compared)

    def new_facts(self, compared: pa.Table) -> pa.Table:
        """Select them."""
        return of_facts.new_facts(compared)

    def with_times(self, known: pa.Table, compared: pa.Table) -> pa.Table:
        """Join with the right times."""
        return of_facts.with_times(known, compared)

    def broker_facts(self, facts: pa.Table) -> list[BrokerFact]:
        """Select them."""
        return of_facts.broker_facts(facts)

    def with_txn_offset(self, facts: pa.Table, spans: Sequence[Span]) -> pa.Table:
        """Join with the spans."""
        return of_facts.with_txn_offset(facts, spans)

    def moved_records(self, facts: pa.Table, spans: Sequence[Span]) -> pa.Table:
        """Join with the spans."""
        return of_facts.moved_records(facts, spans)

    def history(
        self, facts: pa.Table, rejected: pa.Table, plan: HistoryPlan
    ) -> Mapping[str, pa.Table]:
        """Fold with windows."""
        return of_history.compute_history(facts, rejected, plan, self._cluster_id)

    def contradictions(
        self, facts: pa.Table, history: pa.Table, end_offsets: Sequence[int]
    ) -> dict[int, list[str]]:
        """Compare all fields."""
        return of_history.contradictions(facts, history, end_offsets)


_DIFFERING: Final = """\
SELECT 1 FROM (
  (FROM these EXCEPT FROM those) UNION ALL (FROM those EXCEPT FROM these)) LIMIT 1"""
