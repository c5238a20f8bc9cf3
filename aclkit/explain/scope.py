"""What one materialize is about, and how it reads and writes its tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from aclkit.delta import Store, schema_of
from aclkit.frame import local_frame, release, settle
from aclkit.inventory.survey import Inventory, Texts
from aclkit.model.semantics import Semantics
from aclkit.publish import Run
from aclkit.schemas import TABLES


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What one materialize is about: the run, the ACLs' texts, what is asked, how ACLs are read.

    What is written is kept too: a later step joins with the rows in memory instead of asking
    Delta for them again. With ``is_trial`` nothing is written: to try another reading.
    """

    run: Run
    texts: Texts
    inventory: Inventory
    semantics: Semantics
    super_users: frozenset[str]
    is_trial: bool = False
    kept: dict[str, DataFrame] = field(default_factory=dict)
    steps: list[DataFrame] = field(default_factory=list)

    @property
    def store(self) -> Store:
        """The warehouse's tables."""
        return self.run.store

    @property
    def spark(self) -> SparkSession:
        """The session."""
        return self.run.store.spark

    @property
    def cluster_id(self) -> str:
        """The cluster."""
        return self.run.cluster_id

    @property
    def principal_names(self) -> list[str]:
        """The principals asked about, in the order of their numbers."""
        return [entry.name for entry in self.inventory.principals]

    @property
    def host_names(self) -> list[str]:
        """The hosts asked about, in the order of their numbers."""
        return [entry.name for entry in self.inventory.hosts]

    @property
    def pairs(self) -> int:
        """How many (principal, resource) are asked about."""
        return len(self.inventory.principals) * len(self.inventory.resources)

    @property
    def partitions(self) -> int:
        """Over how many parts large work is spread: one where it is small."""
        by_pairs = self.pairs // _PAIRS_OF_A_PART
        by_patterns = len(self.texts.patterns) // _PATTERNS_OF_A_PART
        return max(1, min(_MOST_PARTS, max(by_pairs, by_patterns)))

    def small(self, rows: DataFrame, count: int) -> DataFrame:
        """Have a frame broadcast, if it has few enough rows for that."""
        return F.broadcast(rows) if count <= _BROADCAST_ROWS else rows

    def settle(self, rows: DataFrame) -> DataFrame:
        """Compute a frame once for the steps that build on it, until ``forget_steps``."""
        self.steps.append(settle(rows))
        return self.steps[-1]

    def write(self, table: str, rows: DataFrame) -> None:
        """Put the rows in the place of the cluster's rows of a table."""
        frame = rows.withColumn("cluster_id", F.lit(self.cluster_id))
        frame = frame.select(*TABLES[table].column_names)
        if self.is_trial or self.pairs <= _PAIRS_TO_KEEP:
            frame = self.kept[table] = frame.persist()
        if not self.is_trial:
            self.store.replace_cluster(
                table, frame, self.cluster_id, rows_per_file=_ROWS_OF_A_FILE.get(table)
            )

    def write_rows(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        """Put rows that the driver holds in the place of the cluster's rows of a table."""
        if self.is_trial:
            self.write(table, local_frame(self.spark, rows, schema_of(table)))
        else:
            self.store.replace_rows(table, rows, self.cluster_id)

    def read(self, table: str) -> DataFrame:
        """Return the cluster's rows of a table: those kept, or those written before."""
        return self.kept[table] if table in self.kept else self.written(table)

    def written(self, table: str) -> DataFrame:
        """Read the cluster's rows of a table back from Delta."""
        return self.store.cluster_rows(table, self.cluster_id)

    def forget_steps(self) -> None:
        """Free what was settled, unless rows that are kept build on it."""
        if not self.kept:
            while self.steps:
                release(self.steps.pop())

    def forget(self) -> None:
        """Free what was settled and kept."""
        for frame in self.kept.values():
            frame.unpersist()
        self.kept.clear()
        self.forget_steps()


_PAIRS_OF_A_PART: Final = 400_000
_PATTERNS_OF_A_PART: Final = 20_000
_MOST_PARTS: Final = 16
_BROADCAST_ROWS: Final = 1_000_000
_PAIRS_TO_KEEP: Final = 1_000_000
_ROWS_OF_A_FILE: Final = {"explain_pair": 50_000}
"""A part of the pairs is a range of resources, sorted by principal; cut into files it becomes a
grid, so that questions about one resource or one principal open few of them."""
