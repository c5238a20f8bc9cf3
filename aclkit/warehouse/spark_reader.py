"""Tables at given versions → what Spark answers a run about them, in a session of its own.

The other half of ``reader``: for tables that are too large for this process. The statements are
the same, DuckDB's SQL, rewritten for Spark (``spark_sql``). The session is new, so it has
cached nothing of what the run has written; values are bound, and no name is put into a statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyspark.sql import functions as F

from aclkit.runtime.arrow import record_batch
from aclkit.runtime.frame import Steps, arrow_schema_of
from aclkit.runtime.spark import session_beside
from aclkit.warehouse.frames import TableFrames
from aclkit.warehouse.pinned_sql import spark_sql
from aclkit.warehouse.store import Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from aclkit.warehouse.reader import Versions

_NAMES: Final = ("principal", "host", "resource")
"""Tables of the names asked about: joins copy them to all tasks, and move no pairs for them."""

_ROWS_OF_A_BATCH: Final = 50_000


@contextmanager
def read_by_spark(
    store: Store, cluster_id: str | None, tables: Versions, *beside: tuple[Store, Versions]
) -> Iterator[SparkReader]:
    """Open tables for a run's questions to Spark; see ``reader.read_versions``."""
    session = session_beside(store.spark)
    with Steps() as kept:
        reader = SparkReader(session, kept)
        for of, named in ((store, tables), *beside):
            opened = TableFrames(Store(session, of.place.text))
            for name, (table, version) in named.items():
                rows = opened.read_version(table, version)
                if cluster_id is not None:
                    rows = rows.where(F.col("cluster_id") == F.lit(cluster_id))
                reader.know(name, F.broadcast(rows) if table in _NAMES else rows)
        yield reader


@dataclass(frozen=True, slots=True)
class SparkReader:
    """What Spark knows under names, for statements in DuckDB's SQL; see ``reader.Asks``.

    Attributes:
        spark: a session that no other code uses.
        kept: frees what was computed for later statements.
    """

    spark: SparkSession
    kept: Steps

    def know(self, name: str, rows: DataFrame) -> None:
        """Make a frame known under a name."""
        rows.createOrReplaceTempView(name)

    def frame(self, sql: str, *values: object) -> DataFrame:
        """Return the result of a SELECT, still to be computed."""
        return self.spark.sql(spark_sql(sql), args=list(values) or None)

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a SELECT, few; each ``?`` in it stands for a value."""
        return [tuple(row) for row in self.frame(sql, *values).collect()]

    def stream(self, sql: str) -> pa.RecordBatchReader:
        """Return the result of a SELECT batch by batch, a partition of it at a time."""
        found = self.frame(sql)
        schema = arrow_schema_of(found.schema)
        rows = map(tuple, found.toLocalIterator())
        parts = iter(lambda: list(islice(rows, _ROWS_OF_A_BATCH)), [])
        batches = (record_batch(part, schema) for part in parts)
        return pa.RecordBatchReader.from_batches(schema, batches)

    def give(self, name: str, table: pa.Table) -> None:
        """Make a small table known under a name."""
        self.know(name, F.broadcast(self.spark.createDataFrame(table)))

    def keep(self, name: str, sql: str) -> None:
        """Compute a SELECT once for later statements, which find its rows under a name."""
        self.know(name, self.kept.checkpoint(self.frame(sql)))

    def see(self, name: str, sql: str) -> None:
        """Make a SELECT known under a name, which is computed wherever that is asked."""
        self.know(name, self.frame(sql))

    def append(self, store: Store, table: str, sql: str, whose: Mapping[str, str]) -> None:
        """Append the result of a SELECT to a table of a run, by tasks; see ``reader.Asks``."""
        values = {name: F.lit(value) for name, value in whose.items()}
        store.append(table, self.frame(sql).withColumns(values))
