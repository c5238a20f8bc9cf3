"""The engine that Spark is: DataFrames, computed by its executors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from string import Template
from typing import Any, ClassVar, Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from aclkit.model.acl import Acl
from aclkit.pipeline.replay.conditions import Columns, Expression
from aclkit.pipeline.replay.engine import Engine
from aclkit.pipeline.sources.items import WorkItem
from aclkit.pipeline.sources.spark_source import read_sources
from aclkit.runtime.frame import Steps, local_frame, release
from aclkit.warehouse.schemas import TABLES

_LOG: Final = ", ".join(TABLES["acl_log"].column_names)


class OnSpark(Engine[DataFrame]):
    """Spark, with the frames that were computed on the way: they are needed until all is written.

    A hash stands in the place of what a fact holds: it is all that is moved.
    """

    WORDS: ClassVar = {
        "digest": "xxhash64",
        "fact": f"struct({_LOG})",
        "least_row": "min(row)",
        "first_by": "min_by",
        "micros": "unix_micros",
        "millis": "unix_millis(log_time)",
        "json": f"to_json(struct({', '.join(Acl.__slots__)}))",
        "sha256": "sha2(raw, 256)",
    }
    COLUMNS = Columns(
        column=F.col,
        text=F.lit,
        nothing=lambda: F.lit(False),
        settled=lambda condition: F.coalesce(condition, F.lit(False)),
        is_in=lambda column, numbers: column.isin(list(numbers)),
        starts_with=Column.startswith,
    )

    def __init__(self, spark: SparkSession, cluster_id: str, steps: Steps) -> None:
        """Take a session, the cluster that rows are of, and what keeps frames."""
        self._spark = spark
        self.cluster_id = cluster_id
        self._steps = steps

    def read(self, items: Sequence[WorkItem], board: str | None) -> DataFrame:
        """Read them in tasks."""
        if not items:
            # As where something is only taken back: no job to read nothing.
            return self.source_rows([])
        rows = read_sources(self._spark, items, board).persist()
        self._steps.callback(release, rows)
        return rows

    def frame(self, ddl: str, rows: Sequence[Sequence[object]]) -> DataFrame:
        """Make a local relation."""
        return local_frame(self._spark, rows, ddl)

    def union(self, *frames: DataFrame) -> DataFrame:
        """Return the rows of all."""
        return reduce(DataFrame.unionByName, frames)

    def ask(
        self, sql: str, values: Sequence[object] = (), *, table: str = "", **frames: DataFrame
    ) -> DataFrame:
        """Plan a statement; frames that are kept are computed."""
        named = {name: self._steps.view(frame) for name, frame in frames.items()}
        return self._spark.sql(Template(sql).substitute({**self.WORDS, **named}), list(values))

    def collect(self, sql: str, **frames: DataFrame) -> list[tuple[Any, ...]]:
        """Collect the rows."""
        return [*map(tuple, self.ask(sql, (), table="", **frames).collect())]

    def where(self, rows: DataFrame, condition: Expression) -> DataFrame:
        """Filter by a column."""
        return rows.where(condition)

    def keep(self, frame: DataFrame) -> DataFrame:
        """Compute it once for all that builds on it."""
        return self._steps.checkpoint(frame)
