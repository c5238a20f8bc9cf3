"""The tables of a store as DataFrames: Spark reads and writes them, and answers a run about them.

Spark commits on a local disk only: on an object store it asks for no condition, so there it writes
files next to those of a table, which are taken over (``new_files``).

What answers is the other half of ``reader``, for tables that are too large for this process. The
statements are the same, DuckDB's SQL, rewritten for Spark (``spark_sql``). The session is new, so
it has cached nothing of what the run has written; values are bound, and no name is put into a
statement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal

import pyarrow as pa
from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from aclkit.runtime.arrow import record_batch
from aclkit.runtime.frame import Steps, arrow_schema_of, local_frame, struct_of
from aclkit.runtime.spark import session_beside
from aclkit.warehouse import commits
from aclkit.warehouse.new_files import ROWS_OF_A_FILE, write_by_spark
from aclkit.warehouse.pinned_sql import spark_sql
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.shared_folder import require_files_here
from aclkit.warehouse.store import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from aclkit.warehouse.reader import Versions


@dataclass(frozen=True, slots=True)
class TableFrames:
    """The tables of a store as its run sees them."""

    store: Store
    _known: dict[tuple[str, int], DataFrame] = field(default_factory=dict)

    def read(self, table: str) -> DataFrame:
        """Read a table at this run's version."""
        return self.read_version(table, self.store.versions.get(table))

    def read_version(self, table: str, version: int | None) -> DataFrame:
        """Read a table as of a Delta version, however old; without one it is empty.

        A column that aclkit did not have when the version was written is null.
        """
        if version is None:
            return local_frame(self.store.spark, [], schema_of(table))
        if (table, version) not in self._known:
            reader = self.store.spark.read.format("delta").option("versionAsOf", version)
            frame = reader.load(self.store.place.of_table(table))
            known = schema_of(table) if table in TABLES else ()
            lacking = [field for field in known if field.name not in frame.columns]
            nulls = {field.name: F.lit(None).cast(field.dataType) for field in lacking}
            self._known[table, version] = frame.withColumns(nulls) if nulls else frame
        return self._known[table, version]

    def of_cluster(self, table: str, cluster_id: str) -> DataFrame:
        """Read one cluster's rows of a table."""
        return self.read(table).where(F.col("cluster_id") == cluster_id)

    def append(self, table: str, rows: DataFrame) -> None:
        """Append rows."""
        rows = _of_contract(table, rows)
        if self.store.place.is_remote:
            files = write_by_spark(self.store.place, table, rows)
            self.store.take_over(table, files, None, appends=True)
        else:
            self._write_here(table, rows, "append")

    def replace(self, table: str, rows: DataFrame, cluster_id: str | None) -> int:
        """Put rows in the place of all rows of one cluster, or of all for None, in one commit.

        Returns:
            how many rows Spark has written.
        """
        rows = _of_contract(table, rows)
        if self.store.place.is_remote:
            files = write_by_spark(self.store.place, table, rows)
            self.store.take_over(table, files, cluster_id)
            return sum(file.rows for file in files)
        whose = self.store.whose(cluster_id)
        return self._write_here(
            table, rows, "overwrite", **({} if whose is None else {"replaceWhere": whose})
        )

    def delete(self, table: str, condition: Column, cluster_id: str) -> None:
        """Remove the rows of a cluster that a condition holds for."""
        goes = (F.col("cluster_id") == cluster_id) & condition
        stays = ~F.coalesce(condition, F.lit(False))
        self._revise(table, cluster_id, lambda found: found.delete(goes), lambda r: r.where(stays))

    def update(self, table: str, update: Update, cluster_id: str) -> None:
        """Change rows of a cluster; see ``Update``."""
        self._revise(table, cluster_id, update.execute, update.updated_rows)

    def _revise(
        self,
        table: str,
        cluster_id: str,
        revise: Callable[[DeltaTable], None],
        revised: Callable[[DataFrame], DataFrame],
    ) -> None:
        """Change rows of a cluster by Delta itself; on an object store replace all of them."""
        if self.store.place.is_remote:
            self.replace(table, revised(self.of_cluster(table, cluster_id)), cluster_id)
        else:
            revise(DeltaTable.forPath(self.store.spark, self.store.place.of_table(table)))
            self.store.note_write(table)

    def _write_here(
        self,
        table: str,
        rows: DataFrame,
        mode: Literal["append", "overwrite"],
        **options: str,
    ) -> int:
        """Write rows in a commit of Spark's own, and return how many it wrote.

        Its writer makes every column nullable and knows no description, so it makes no table.

        Raises:
            SurroundingsError: a file of the commit is not here: the workers have another disk.
        """
        store = self.store
        commit = store.next_commit(table)
        if commit.on == commits.NEW:
            commits.make_table(store.place.of_table(table), table)
            commits.note_checksum_of_new(store.place, table)
            mode, options = "append", {}  # nothing to look for that an overwrite would remove
        writer = rows.write.format("delta").mode(mode).options(**options)
        writer = writer.option("maxRecordsPerFile", ROWS_OF_A_FILE)
        writer = writer.option("userMetadata", commit.run_id)
        writer.save(store.place.of_table(table))
        store.note_write(table)
        version = store.versions[table]
        # Where no row came and none went, Delta's writer commits nothing.
        return (
            0 if version == max(commit.on, 0) else require_files_here(store.place, table, version)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """What rows change in the rows of a table; in conditions these are ``t`` and the rows ``s``.

    Attributes:
        rows: at most one for each row of the table.
        keys: columns by which a row of the table is found.
        where: a further condition on the table's row.
        updated: columns that it takes over.
    """

    rows: DataFrame
    keys: Sequence[str]
    where: Column
    updated: Sequence[str]

    @property
    def _is_same(self) -> Column:
        same = self.where
        for key in self.keys:
            same &= F.col(f"t.{key}") == F.col(f"s.{key}")
        return same

    def execute(self, table: DeltaTable) -> None:
        """Do it to a Delta table, in a commit of Delta's own."""
        new = {name: F.col(f"s.{name}") for name in self.updated}
        differs = (~F.col(f"t.{name}").eqNullSafe(value) for name, value in new.items())
        merge = table.alias("t").merge(self.rows.alias("s"), self._is_same)
        merge.whenMatchedUpdate(reduce(Column.__or__, differs), new).execute()

    def updated_rows(self, table: DataFrame) -> DataFrame:
        """Return what the rows of a table become."""
        found = self.rows.withColumn(_FOUND, F.lit(True)).alias("s")
        joined = table.alias("t").join(found, self._is_same, "left")
        return joined.select(*(self._column(name).alias(name) for name in table.columns))

    def _column(self, name: str) -> Column:
        old = F.col(f"t.{name}")
        if name not in self.updated:
            return old
        return F.when(F.col(f"s.{_FOUND}"), F.col(f"s.{name}")).otherwise(old)


_FOUND = "is_found"


def _of_contract(table: str, rows: DataFrame) -> DataFrame:
    """Return the columns of the contract, in its types."""
    return rows.select(*[F.col(f.name).cast(f.dataType).alias(f.name) for f in schema_of(table)])


def schema_of(table: str) -> StructType:
    """Return the StructType that ``schemas.TABLES`` declares for a table."""
    return struct_of(TABLES[table].ddl)


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
        TableFrames(store).append(table, self.frame(sql).withColumns(values))
