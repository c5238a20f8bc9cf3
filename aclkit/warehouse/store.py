"""The Delta tables of one warehouse: read what was published, write what a run makes of it.

Readers open the versions that the newest ``job_run`` row names. Until a run appends its own
row, nothing that it wrote can be seen, and the next run takes it back (``recovery``).

What makes no DataFrame needs no session: a store may be opened without one, and pyspark is imported
by what needs it alone. Spark commits on a local disk only: on an object store it asks for no
condition, so there it writes files next to those of a table, which are taken over (``new_files``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
from deltalake import DeltaTable as OpenTable
from deltalake import Schema

from aclkit.runtime.arrow import arrow_table
from aclkit.runtime.environment import require_room
from aclkit.runtime.fail_points import after_commit
from aclkit.warehouse import commits
from aclkit.warehouse.column_types import arrow_schema
from aclkit.warehouse.duck_beside import ask_files
from aclkit.warehouse.job_run import ALL_RUNS, CURRENT_RUNS, JOB_RUN, PublishedRun, published_runs
from aclkit.warehouse.location import Location
from aclkit.warehouse.new_files import (
    ROWS_OF_A_FILE,
    NewFile,
    holds_only,
    write_by_spark,
    write_rows_of_others,
)
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.shared_folder import require_files_here
from aclkit.warehouse.storage import newest_version
from aclkit.warehouse.table_files import (
    Extent,
    active_files,
    columns_of,
    may_hold,
    read_files,
)

if TYPE_CHECKING:
    from delta.tables import DeltaTable
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from aclkit.warehouse.merge import Merge


class NeedsSparkError(Exception):
    """A store that was opened without a session was asked for what takes one."""


class Store:
    """The tables of a warehouse as one run sees and changes them.

    Attributes:
        place: where the warehouse lies; it holds a folder per table.
        runs: the published runs that hold its state, see
            ``aclkit.warehouse.job_run``, the oldest first.
        versions: table → Delta version that the run began with, its own writes included.
    """

    def __init__(
        self,
        spark: SparkSession | Callable[[], SparkSession] | None,
        warehouse: str,
        require_held: Callable[[], None] = lambda: None,
    ) -> None:
        """Open a warehouse; it need not exist yet.

        Args:
            spark: the session, or what starts it when it is first needed, where there is one.
            warehouse: see ``Location``.
            require_held: insists that it is this run's turn; called before each commit.
        """
        self._spark = spark
        self.require_held = require_held
        self.place = Location(warehouse)
        self.published: dict[str, int] = {}
        self.run_id = ""
        self._written: dict[str, int] = {}
        self._restored: dict[str, int] = {}
        self._writes: Counter[str] = Counter()
        self._frames: dict[tuple[str, int], DataFrame] = {}
        self._clusters: set[str] = set()
        self.runs = self._read_runs(CURRENT_RUNS)
        if self.runs:
            self.published = dict(self.runs[-1].table_versions)
            self._clusters = {run.cluster_id for run in self.runs}

    @property
    def spark(self) -> SparkSession:
        """The session, started if it was not yet.

        Raises:
            NeedsSparkError: there is none.
        """
        if self._spark is None:
            raise NeedsSparkError
        if callable(self._spark):
            self._spark = self._spark()
        return self._spark

    @property
    def versions(self) -> dict[str, int]:
        """Table → version that a reader of this run's result opens."""
        return {**self.published, **self._written}

    @property
    def moved(self) -> dict[str, tuple[int, int]]:
        """Published table that this run has written → the version found, and the one made."""
        now, found = self.versions, sorted(self.published.items())
        return {table: (v, now[table]) for table, v in found if now[table] != v}

    def read(self, table: str) -> DataFrame:
        """Read a table at this run's version; a table that was never written is empty."""
        return self.read_version(table, self.versions.get(table))

    def cluster_rows(self, table: str, cluster_id: str) -> DataFrame:
        """Read one cluster's rows of a table."""
        from pyspark.sql import functions as F

        return self.read(table).where(F.col("cluster_id") == cluster_id)

    def has(self, table: str) -> bool:
        """Whether the table is in the published versions or written by this run."""
        return table in self.versions

    def holds(self, table: str, version: int | None) -> bool:
        """Whether a table holds the rows of a version: it is that one, or was put back to it."""
        restored = version is not None and self._restored.get(table) == version
        return restored or self.versions.get(table) == version

    def append(self, table: str, rows: DataFrame) -> None:
        """Append rows."""
        rows = _of_contract(table, rows)
        if self.place.is_remote:
            self._take_over(table, self._commit(table), write_by_spark(self.place, table, rows))
        else:
            self._write_here(table, rows, "append")

    def append_rows(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        """Append rows that the driver holds, with the columns of the contract."""
        self.append_columns(table, arrow_table(rows, arrow_schema(table)))

    def append_columns(self, table: str, rows: pa.Table | pa.RecordBatchReader) -> None:
        """Append rows that the driver holds or lets pass, as columns of the contract."""
        commits.append_files(self.place.of_table(table), rows, self._commit(table))
        self.note_write(table)

    def replace_rows(
        self, table: str, rows: Sequence[Sequence[Any]], cluster_id: str | None
    ) -> None:
        """Put rows that the driver holds in the place of all rows of one cluster, or of all."""
        self.replace_columns(table, arrow_table(rows, arrow_schema(table)), cluster_id)

    def replace_cluster(self, table: str, rows: DataFrame, cluster_id: str | None) -> int:
        """Put rows in the place of all rows of one cluster, or of all for None, in one commit.

        ``cluster_id`` has been checked by ``parse_cluster_id`` and holds no quote.

        Returns:
            how many rows Spark has written.
        """
        rows = _of_contract(table, rows)
        if self.place.is_remote:
            files = write_by_spark(self.place, table, rows)
            self.replace_with_files(table, files, cluster_id)
            return sum(file.rows for file in files)
        only = self._only_of(cluster_id)
        whose = {} if only is None else {"replaceWhere": _whose(only)}
        return self._write_here(table, rows, "overwrite", **whose)

    def replace_columns(
        self, table: str, rows: pa.Table | pa.RecordBatchReader, cluster_id: str | None
    ) -> None:
        """Put columns that the driver holds or lets pass in the place of rows, in their order."""
        only, commit = self._only_of(cluster_id), self._commit(table)
        whose = None if only is None else _whose(only)
        stream = rows.to_reader() if isinstance(rows, pa.Table) else rows
        commits.replace_files(self.place.of_table(table), stream, commit, whose)
        self.note_write(table)

    def replace_with_files(
        self, table: str, files: Iterable[NewFile], cluster_id: str | None
    ) -> None:
        """Let files that were written beside a table take the place of a cluster's rows, or all."""
        only, commit = self._only_of(cluster_id), self._commit(table)
        gone: list[dict[str, Any]] = []
        if commit.on != commits.NEW:
            known = OpenTable(self.place.of_table(table), version=commit.on)
            gone = active_files(known, with_bounds=True)
        if only is not None:
            gone = [file for file in gone if may_hold(file, "cluster_id", only)]
            mixed = [file for file in gone if not holds_only(file, only)]
            files = [*files, *write_rows_of_others(self.place, table, mixed, only)]
        self._take_over(table, commit, files, gone)

    def _take_over(
        self,
        table: str,
        commit: commits.Commit,
        files: Iterable[NewFile],
        gone: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        written, paths = [file.action() for file in files], [file["path"] for file in gone]
        commits.take_over_files(self.place, table, written, paths, commit)
        self.note_write(table)

    def _only_of(self, cluster_id: str | None) -> str | None:
        """Return the cluster whose rows are to be looked for; None for the whole table.

        That it is where the warehouse knows no other cluster: to look for a cluster's rows Delta
        reads all of them.
        """
        if cluster_id is None:
            return None
        self._clusters.add(cluster_id)
        return None if self._clusters == {cluster_id} else cluster_id

    def drop(self, table: str) -> None:
        """Leave a table out of the versions that readers open."""
        self.published.pop(table, None)
        self._written.pop(table, None)

    def delete(self, table: str, condition: Column, cluster_id: str) -> None:
        """Remove the rows of a cluster that a condition holds for."""
        from pyspark.sql import functions as F

        goes = (F.col("cluster_id") == cluster_id) & condition
        stays = ~F.coalesce(condition, F.lit(False))
        self._revise(table, cluster_id, lambda found: found.delete(goes), lambda r: r.where(stays))

    def merge(self, table: str, merge: Merge, cluster_id: str) -> None:
        """Change rows of a cluster, and add those that it lacks; see ``Merge``."""
        self._revise(table, cluster_id, merge.execute, merge.merged)

    def _revise(
        self,
        table: str,
        cluster_id: str,
        revise: Callable[[DeltaTable], None],
        revised: Callable[[DataFrame], DataFrame],
    ) -> None:
        """Change rows of a cluster by Delta itself; on an object store replace all of them."""
        from delta.tables import DeltaTable

        if self.place.is_remote:
            self.replace_cluster(table, revised(self.cluster_rows(table, cluster_id)), cluster_id)
        else:
            revise(DeltaTable.forPath(self.spark, self.place.of_table(table)))
            self.note_write(table)

    def note_write(self, table: str) -> None:
        """Take the version that this run has just written into its result."""
        self._restored.pop(table, None)
        self.adopt(table)
        after_commit()

    def adopt(self, table: str) -> None:
        """Take a table's newest version into this run's result."""
        version = self.newest_version(table)
        if version is not None:
            self._written[table] = version

    def newest_version(self, table: str) -> int | None:
        """Return the newest version of a table, published or not; None where there is none."""
        return newest_version(self.place.files, table)

    def files(self, table: str, version: int) -> frozenset[str]:
        """Return the files that a version of a table is read from, by path within its folder."""
        return frozenset(file.name for file in read_files(self.place, table, version).files)

    def extent(self, table: str) -> Extent:
        """Return how many files the newest version of a table is read from, and their bytes."""
        found = active_files(OpenTable(self.place.of_table(table)))
        return Extent(len(found), sum(file["size_bytes"] for file in found))

    def compact(self, table: str) -> None:
        """Write the small files of a table together; its rows stay."""
        self._change(table, lambda found, **said: found.optimize.compact(**said))
        self._restored.pop(table, None)
        self.adopt(table)

    def restore(self, table: str, version: int) -> None:
        """Put a table back to an earlier version, its columns and properties too.

        Raises:
            DeltaError: the version is not there any more.
        """
        self._change(table, lambda found, **said: found.restore(version, **said))
        self._restored[table] = version

    def remove(self, table: str, predicate: str) -> None:
        """Remove the rows for which a predicate of Delta holds, without Spark."""
        self._change(table, lambda found, **said: found.delete(predicate, **said))
        self._restored.pop(table, None)
        self.adopt(table)

    def empty(self, table: str) -> None:
        """Remove all rows of a table that no reader uses."""
        self._change(table, OpenTable.delete)

    def require_properties(self, table: str) -> bool:
        """Give a table the properties by which it forgets nothing; False where it has them."""
        if commits.KEEPING.items() <= commits.properties_of(self.place.of_table(table)).items():
            return False
        self.set_properties(table, commits.KEEPING)
        return True

    def set_properties(self, table: str, properties: Mapping[str, str]) -> None:
        """Set properties of a table, in a commit of its own even where they are those it has."""
        said = dict(properties)
        self._change(table, lambda found, **how: found.alter.set_table_properties(said, **how))

    def describe(self, table: str) -> bool:
        """Describe a table and its columns, in a commit of its own; False where it is described."""
        if not commits.describe_table(self.place, table, self._commit(table)):
            return False
        after_commit()
        return True

    def add_columns(self, table: str, columns: Sequence[str]) -> None:
        """Give a table columns of the contract that it lacks, in a commit of its own."""
        new = Schema.from_arrow(arrow_schema(table, columns))
        self._change(table, lambda found, **said: found.alter.add_columns(new.fields, **said))

    def _change(self, table: str, change: Callable[..., object]) -> None:
        """Make the next commit to a table; see ``change_table``."""
        commits.change_table(self.place.of_table(table), self._commit(table), change)
        after_commit()

    def columns(self, table: str) -> Sequence[str]:
        """Return the columns of a table at its newest version."""
        return columns_of(self.place.of_table(table))

    def read_version(self, table: str, version: int | None) -> DataFrame:
        """Read a table as of a Delta version, however old; without one it is empty.

        A column that aclkit did not have at that time is null.
        """
        from pyspark.sql import functions as F

        from aclkit.runtime.frame import local_frame

        if version is None:
            return local_frame(self.spark, [], schema_of(table))
        if (table, version) not in self._frames:
            reader = self.spark.read.format("delta").option("versionAsOf", version)
            frame = reader.load(self.place.of_table(table))
            known = schema_of(table) if table in TABLES else ()
            lacking = [field for field in known if field.name not in frame.columns]
            nulls = {field.name: F.lit(None).cast(field.dataType) for field in lacking}
            self._frames[table, version] = frame.withColumns(nulls) if nulls else frame
        return self._frames[table, version]

    def forget_removed_files(self, table: str) -> None:
        """Write a checkpoint without the names of files that were ever removed from a table.

        They would stay as long as the properties state, and every reader of the table reads them.
        """
        self.set_properties(
            table, {**commits.KEEPING, "delta.deletedFileRetentionDuration": commits.AT_ONCE}
        )
        OpenTable(self.place.of_table(table)).create_checkpoint()
        self.set_properties(table, commits.KEEPING)

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
        commit = self._commit(table)
        if commit.on == commits.NEW:
            commits.make_table(self.place.of_table(table), table)
            commits.note_checksum_of_new(self.place, table)
            mode, options = "append", {}  # nothing to look for that an overwrite would remove
        writer = rows.write.format("delta").mode(mode).options(**options)
        writer = writer.option("maxRecordsPerFile", ROWS_OF_A_FILE)
        writer = writer.option("userMetadata", commit.run_id)
        writer.save(self.place.of_table(table))
        self.note_write(table)
        return require_files_here(self.place, table, self.versions[table])

    def _commit(self, table: str) -> commits.Commit:
        """Return the metadata of the next commit to a table; its disk must have room for one.

        The version that it must follow is read first. If the warehouse is still held afterwards,
        no other run has fenced that version.

        Raises:
            SurroundingsError: it is full, or another run holds the warehouse.
        """
        if not self.place.is_remote:
            require_room(self.place.of_table(table))
        newest = self.newest_version(table)
        self.require_held()
        self._writes[table] += 1
        application = f"aclkit/{self.run_id}/{table}"
        on = commits.NEW if newest is None else newest
        return commits.Commit(self.run_id, application, self._writes[table], on)

    def all_runs(self) -> tuple[PublishedRun, ...]:
        """Read all published runs, the oldest first."""
        return self._read_runs(ALL_RUNS)

    def _read_runs(self, query: str) -> tuple[PublishedRun, ...]:
        newest = self.newest_version(JOB_RUN)
        if newest is None:
            return ()
        files = read_files(self.place, JOB_RUN, newest)
        return published_runs(str(self.place), ask_files(JOB_RUN, files, query))


def _whose(cluster_id: str) -> str:
    """Return the predicate of a cluster's rows: ``parse_cluster_id`` lets no quote through."""
    return f"cluster_id = '{cluster_id}'"


def _of_contract(table: str, rows: DataFrame) -> DataFrame:
    """Return the columns of the contract, in its types."""
    from pyspark.sql import functions as F

    return rows.select(*[F.col(f.name).cast(f.dataType).alias(f.name) for f in schema_of(table)])


def schema_of(table: str) -> StructType:
    """Return the StructType that ``schemas.TABLES`` declares for a table."""
    from aclkit.runtime.frame import struct_of

    return struct_of(TABLES[table].ddl)
