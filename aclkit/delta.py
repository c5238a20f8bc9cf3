"""The Delta tables of one warehouse: read what was published, write what a run makes of it.

Readers open the versions that the newest ``job_run`` row names. Until a run appends its own
row, nothing that it wrote can be seen, and the next run takes it back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Final, cast

import pyarrow as pa
import pyarrow.fs as pafs
from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from aclkit.frame import arrow_table, local_frame
from aclkit.schemas import TABLES
from aclkit.surroundings import require_room
from aclkit.table_files import Commit, append_files, newest_rows, replace_files

JOB_RUN: Final = "job_run"

_PROPERTIES: Final = {
    # Every Delta reader must be able to open the tables: DESIGN.md §3.
    "delta.enableDeletionVectors": "false",
    "delta.columnMapping.mode": "none",
}


class Store:
    """The tables of a warehouse as one run sees and changes them.

    Attributes:
        warehouse: folder or URI that holds a folder per table.
        runs: the published ``job_run`` rows, the oldest first.
        versions: table → Delta version that the run began with, its own writes included.
    """

    def __init__(self, spark: SparkSession, warehouse: str) -> None:
        """Open a warehouse; it need not exist yet."""
        self.spark = spark
        self.warehouse = warehouse
        self.published: dict[str, int] = {}
        self.run_id = ""
        self._written: dict[str, int] = {}
        self._writes: Counter[str] = Counter()
        self._frames: dict[tuple[str, int], DataFrame] = {}
        self._clusters: set[str] = set()
        self.runs: list[dict[str, Any]] = self._read_runs()
        if self.runs:
            self.published = dict(self.runs[-1]["table_versions"])
            self._clusters = {run["cluster_id"] for run in self.runs}

    @property
    def versions(self) -> dict[str, int]:
        """Table → version that a reader of this run's result opens."""
        return {**self.published, **self._written}

    def read(self, table: str) -> DataFrame:
        """Read a table at this run's version; a table that was never written is empty."""
        return self.read_version(table, self.versions.get(table))

    def cluster_rows(self, table: str, cluster_id: str) -> DataFrame:
        """Read one cluster's rows of a table."""
        return self.read(table).where(F.col("cluster_id") == cluster_id)

    def has(self, table: str) -> bool:
        """Say whether the table is in the published versions or written by this run."""
        return table in self.versions

    def append(self, table: str, rows: DataFrame) -> None:
        """Append rows; a retry of this very write adds nothing.

        A table of an older aclkit gets the columns that it lacks.
        """
        self._write(table, rows, "append", {"mergeSchema": "true"})

    def append_rows(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        """Append rows that the driver holds, with the columns of the contract."""
        contract = schema_of(table)
        if self._is_remote:
            self.append(table, local_frame(self.spark, rows, contract))
            return
        append_files(self._path(table), arrow_table(rows, contract), self._commit(table))
        self.note_write(table)

    def replace_rows(self, table: str, rows: Sequence[Sequence[Any]], cluster_id: str) -> None:
        """Put rows that the driver holds in the place of all rows of one cluster."""
        contract = schema_of(table)
        if self._is_remote or self._clusters - {cluster_id}:
            self.replace_cluster(table, local_frame(self.spark, rows, contract), cluster_id)
            return
        self._clusters.add(cluster_id)
        self.rewrite(table, arrow_table(rows, contract).to_reader())

    def replace_cluster(
        self, table: str, rows: DataFrame, cluster_id: str | None, rows_per_file: int | None = None
    ) -> None:
        """Put rows in the place of all rows of one cluster, or of all for None, in one commit.

        Where the warehouse knows no other cluster the whole table is written anew: to look for
        the cluster's rows Delta reads all of them. ``cluster_id`` has been checked by
        ``parse_cluster_id`` and holds no quote.
        """
        if cluster_id is not None:
            self._clusters.add(cluster_id)
        is_alone = cluster_id is None or self._clusters == {cluster_id}
        options = {} if is_alone else {"replaceWhere": f"cluster_id = '{cluster_id}'"}
        if rows_per_file is not None:
            options["maxRecordsPerFile"] = str(rows_per_file)
        self._write(table, rows, "overwrite", options)

    def rewrite(self, table: str, rows: pa.RecordBatchReader) -> None:
        """Put rows, of all clusters, in the place of those of a table on a local disk.

        Without Spark: a stream of rows that another engine made, in its order.
        """
        replace_files(self._path(table), rows, self._commit(table))
        self.note_write(table)

    def drop(self, table: str) -> None:
        """Leave a table out of the versions that readers open."""
        self.published.pop(table, None)
        self._written.pop(table, None)

    def table(self, table: str) -> DeltaTable:
        """Return the DeltaTable for a merge or delete; call ``note_write`` after it."""
        return table_at(self.spark, self._path(table))

    def note_write(self, table: str) -> None:
        """Take the table's newest version into this run's result."""
        version = self._current_version(table)
        if version is not None:
            self._written[table] = version

    def take_back_unpublished(self) -> list[str]:
        """Restore every table that a killed run left ahead of its published version."""
        restored = []
        for name in sorted(set(TABLES) - {JOB_RUN}):
            current = self._current_version(name)
            if current is None or current == self.published.get(name):
                continue
            if name in self.published:
                self.table(name).restoreToVersion(self.published[name])
                self.note_write(name)
            else:
                self.table(name).delete()
            restored.append(name)
        return restored

    def read_version(self, table: str, version: int | None) -> DataFrame:
        """Read a table as of a Delta version; without one it is empty."""
        if version is None:
            return local_frame(self.spark, [], schema_of(table))
        if (table, version) not in self._frames:
            reader = self.spark.read.format("delta").option("versionAsOf", version)
            self._frames[table, version] = reader.load(self._path(table))
        return self._frames[table, version]

    def _write(self, table: str, rows: DataFrame, mode: str, options: Mapping[str, str]) -> None:
        contract, commit = schema_of(table), self._commit(table)
        writer = (
            rows.select(*[F.col(f.name).cast(f.dataType).alias(f.name) for f in contract])
            .write.format("delta")
            .mode(mode)
            .options(**options)
            .options(**_PROPERTIES)
            .option("userMetadata", commit.run_id)
            .option("txnAppId", commit.application)
            .option("txnVersion", commit.version)
        )
        writer.save(self._path(table))
        self.note_write(table)

    def _commit(self, table: str) -> Commit:
        """Say what the next write of a table is; its disk must have room for one.

        Raises:
            SurroundingsError: it is full.
        """
        if not self._is_remote:
            require_room(self._path(table))
        self._writes[table] += 1
        return Commit(self.run_id, f"aclkit/{self.run_id}/{table}", self._writes[table])

    def _read_runs(self) -> list[dict[str, Any]]:
        """Read all ``job_run`` rows."""
        if not self._is_remote:
            rows = newest_rows(self._path(JOB_RUN))
        else:
            found = self.read_version(JOB_RUN, self._current_version(JOB_RUN)).collect()
            rows = [row.asDict(recursive=True) for row in found]
        return sorted(rows, key=lambda row: int(row["run_number"]))

    @property
    def _is_remote(self) -> bool:
        """Say whether the warehouse is a URI: only Spark reads and writes there."""
        return "://" in self.warehouse

    def _path(self, table: str) -> str:
        return f"{self.warehouse}/{table}"

    def _current_version(self, table: str) -> int | None:
        return newest_version(self._path(table))


def table_at(spark: SparkSession, path: str) -> DeltaTable:
    """Return the DeltaTable at a path, for updates, merges and restores."""
    return DeltaTable.forPath(spark, path)


def schema_of(table: str) -> StructType:
    """Return the StructType that ``schemas.TABLES`` declares for a table."""
    return cast(StructType, StructType.fromDDL(TABLES[table].ddl))


def newest_version(path: str) -> int | None:
    """Return the newest version in a table's Delta log, or None where there is no table."""
    filesystem, root = filesystem_of(path)
    selector = pafs.FileSelector(f"{root}/_delta_log", allow_not_found=True)
    names = (PurePosixPath(info.path) for info in filesystem.get_file_info(selector))
    commits = [int(name.stem) for name in names if name.suffix == ".json" and name.stem.isdigit()]
    return max(commits, default=None)


def filesystem_of(path: str) -> tuple[pafs.FileSystem, str]:
    """Return the file system and the path within it for a folder, file or URI.

    Hadoop says ``s3a`` where pyarrow says ``s3``.
    """
    if "://" in path:
        scheme, _, rest = path.partition("://")
        filesystem, root = pafs.FileSystem.from_uri(f"{_SCHEMES.get(scheme, scheme)}://{rest}")
        return filesystem, root
    return pafs.LocalFileSystem(), path


_SCHEMES: Final = {"s3a": "s3", "s3n": "s3"}
