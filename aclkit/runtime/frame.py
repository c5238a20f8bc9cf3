"""Rows that the driver holds → a DataFrame, and a DataFrame → one that is computed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from functools import cache
from inspect import signature
from typing import Any, cast
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from aclkit.runtime.arrow import arrow_table


def local_frame(
    spark: SparkSession, rows: Sequence[Sequence[Any]], schema: StructType | str
) -> DataFrame:
    """Make a DataFrame of driver-side rows, a local relation in Spark's plans; times are UTC.

    Through Arrow, and not by ``parallelize``: the rows travel once, as columns, and a join with
    them needs no job of its own.
    """
    struct = struct_of(schema) if isinstance(schema, str) else schema
    arrow = arrow_schema_of(struct)
    return spark.createDataFrame(arrow_table(rows, arrow), schema=struct)


def arrow_schema_of(struct: StructType) -> pa.Schema:
    """Return the columns as Arrow has them; times are UTC, which pyspark 4.1 takes for granted."""
    is_asked = "timezone" in signature(to_arrow_schema).parameters
    zone: dict[str, Any] = {"timezone": "UTC"} if is_asked else {}
    return to_arrow_schema(struct, **zone)


@cache
def struct_of(ddl: str) -> StructType:
    """Return the columns that a text of SQL names; pyspark has the JVM parse it each time."""
    return cast(StructType, StructType.fromDDL(ddl))


def checkpoint(frame: DataFrame) -> DataFrame:
    """Compute a frame once for all that builds on it.

    Where driver and executors are one process the way to it is forgotten too: half the time of
    a small run goes into planning what was planned before. Elsewhere an executor may be lost,
    and then the way is needed.
    """
    is_local = str(frame.sparkSession.conf.get("spark.master")).startswith("local")
    return frame.localCheckpoint() if is_local else frame.persist()


class Steps(ExitStack):
    """Frames that were computed once for what builds on them; its end frees all of them."""

    def __init__(self) -> None:
        """Begin without any."""
        super().__init__()
        self._views: dict[int, tuple[str, DataFrame]] = {}

    def view(self, frame: DataFrame) -> str:
        """Name a frame for SQL, until the end.

        ``spark.sql(…, name=frame)`` drops its name at once, and Spark then forgets what it has
        kept of this frame: all that was computed is computed again for each statement.
        """
        if id(frame) not in self._views:
            name = f"aclkit_{uuid4().hex}"
            frame.createOrReplaceTempView(name)
            self.callback(frame.sparkSession.catalog.dropTempView, name)
            self._views[id(frame)] = name, frame
        return self._views[id(frame)][0]

    def checkpoint(self, frame: DataFrame) -> DataFrame:
        """Compute a frame once; see ``checkpoint``."""
        computed = checkpoint(frame)
        self.callback(release, computed)
        return computed


def release(computed: DataFrame) -> None:
    """Free the memory of a computed frame, which Spark would do some time after it is forgotten."""
    plan = computed._jdf.logicalPlan()
    if plan.getClass().getSimpleName() == "LogicalRDD":
        # unpersist() knows frames of the cache only; a checkpoint is an RDD below the plan.
        plan.rdd().unpersist(False)  # noqa: FBT003 -- Java has no keywords
    else:
        computed.unpersist()
