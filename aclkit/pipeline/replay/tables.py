"""The tables of a cluster that a replay reads and writes: no rule, no transform."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from aclkit.model.acl import Acl
from aclkit.model.facts import RECORD
from aclkit.pipeline.replay.known import KnownLog, Replayed
from aclkit.pipeline.replay.known_tables import KnownTables
from aclkit.pipeline.replay.ranges import Range
from aclkit.runtime.fail_points import fail_point
from aclkit.runtime.frame import ROWS_IN_A_PLAN
from aclkit.warehouse.codecs import ACLS_ALIVE_SQL, acl_of, broker_rows
from aclkit.warehouse.column_types import arrow_schema
from aclkit.warehouse.merge import Merge
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.store import schema_of


@dataclass(frozen=True, slots=True)
class ReplayTables(KnownTables):
    """The tables of one cluster, to be read whole and written."""

    def read(self, head: int | None, *, has_brokers: bool = True) -> KnownLog:
        """Read all that is known; see ``known``."""
        small = self.known(head, has_brokers=has_brokers)
        return KnownLog(
            **{field.name: getattr(small, field.name) for field in fields(small)},
            facts=self._rows("acl_log"),
            history=self._rows("acl_history"),
            rejects=self.rejects(),
        )

    def rejects(self) -> DataFrame:
        """Return the rejects of sources."""
        return self._rows("acl_reject").where("stage = 'source'")

    def acls(self) -> list[Acl]:
        """Read the ACLs alive."""
        with self._open("acl_history") as read:
            return list(map(acl_of, read.rows(ACLS_ALIVE_SQL)))

    def _few_rows(self, table: str) -> pa.Table | None:
        """Read the rows of a table without Spark, which takes a job or two; None for many."""
        schema = arrow_schema(table)
        with self._open(table) as read:
            rows = read.arrow(f"FROM {table} LIMIT {ROWS_IN_A_PLAN + 1}").select(schema.names)
        return None if rows.num_rows > ROWS_IN_A_PLAN else rows.cast(schema)

    def most_rows(self, incoming: int) -> int:
        """Return how many rows each table has at most when so many have come.

        A fact may be a reject too, and what a listing leaves out becomes a fact of its own.
        """
        with self._open("acl_log", "acl_reject") as read:
            ((facts,),) = read.rows("SELECT count(*) FROM acl_log")
            ((rejects,),) = read.rows("SELECT count(*) FROM acl_reject")
        return 2 * (int(facts) + int(rejects) + incoming)

    def write(self, replayed: Replayed, at_most: int | None = None) -> None:
        """Write what a replay came to; each table has ``at_most`` so many rows, where known."""
        if replayed.corrected is not None:
            self.store.replace_cluster(
                "acl_log", replayed.corrected, self.cluster_id, at_most=at_most
            )
        if replayed.removed is not None:
            self.delete("acl_log", replayed.removed)
        if replayed.moved is not None:
            self._move(replayed.moved)
        if replayed.added is not None:
            self.store.append("acl_log", replayed.added, at_most)
        fail_point("after-facts")
        for table, rows in replayed.tables.items():
            self.store.replace_cluster(table, rows, self.cluster_id, at_most=at_most)
        if replayed.brokers is not None:
            registered = broker_rows(replayed.brokers, self.cluster_id)
            self.store.replace_rows("broker", registered, self.cluster_id)
        if replayed.ranges is not None:
            self.write_ranges(replayed.ranges)

    def write_ranges(self, ranges: Iterable[Range]) -> None:
        """Replace what has been read."""
        rows = [(self.cluster_id, *item) for item in ranges]
        self.store.replace_rows("log_range", rows, self.cluster_id)

    def delete(self, table: str, condition: Column) -> int:
        """Delete the rows of a table that a condition holds for; return how many."""
        few = self._few_rows(table)
        rows = self._frame(table, few)
        count = rows.where(condition).count()
        if count and few is not None:
            stays = rows.where(~F.coalesce(condition, F.lit(False)))
            # By the driver, where Delta takes jobs of Spark.
            self.store.replace_cluster(table, stays, self.cluster_id, at_most=few.num_rows)
        elif count:
            self.store.delete(table, condition, self.cluster_id)
        return count

    def _move(self, moved: DataFrame) -> None:
        """Correct ``txn_offset`` of facts whose transaction became known in a later run."""
        if moved.isEmpty():
            return
        merge = Merge(
            rows=moved,
            keys=("cluster_id", "log_offset"),
            where=F.col("t.fact") == RECORD,
            updated=("txn_offset",),
        )
        few = self._few_rows("acl_log")
        if few is not None:
            rows = merge.merged(self._frame("acl_log", few))
            self.store.replace_cluster("acl_log", rows, self.cluster_id, at_most=few.num_rows)
        else:
            self.store.merge("acl_log", merge, self.cluster_id)

    def _rows(self, table: str) -> DataFrame:
        """Return the cluster's rows of a table."""
        return self._frame(table, self._few_rows(table))

    def _frame(self, table: str, few: pa.Table | None) -> DataFrame:
        """Return rows as a frame: few become a part of Spark's plans, as they are."""
        if few is not None:
            return self.store.spark.createDataFrame(few, schema=schema_of(table))
        rows = self.store.cluster_rows(table, self.cluster_id)
        return rows.select(*TABLES[table].column_names)
