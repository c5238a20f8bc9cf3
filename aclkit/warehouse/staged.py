"""Rows of Spark → Parquet files in the folder of a table on an object store, then one commit of it.

Spark's own commit to a bucket asks for no condition, so two drivers could lose each other's. Spark
therefore makes a private Delta table in a folder within that of the table: so it writes the files
where they are to stay, and notes their bounds. The driver reads that and commits the files to the
table. A run that cannot commit leaves files which no version names; ``aclkit maintain`` removes
them.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deltalake import DeltaTable
from deltalake.transaction import AddAction

from aclkit.warehouse.commits import NEW, Commit, properties_of_new, take_over_files
from aclkit.warehouse.location import Location
from aclkit.warehouse.new_files import holds_only
from aclkit.warehouse.storage import LOG
from aclkit.warehouse.table_files import active_files, may_hold

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Stage:
    """A write of a table that has not happened yet."""

    place: Location
    table: str
    commit: Commit

    def write(
        self,
        rows: DataFrame,
        cluster_id: str | None,
        *,
        replaces: bool,
    ) -> None:
        """Write rows and commit them.

        Args:
            rows: with the columns of the table.
            cluster_id: the cluster whose rows they replace; None for all.
            replaces: whether they replace any.
        """
        removed = self._replaced(cluster_id) if replaces else []
        if cluster_id is not None and (
            mixed := [file for file in removed if not holds_only(file, cluster_id)]
        ):
            rows = rows.unionByName(self._others(rows, mixed, cluster_id))
        folder = uuid.uuid4().hex
        staging = f"{self.place.of_table(self.table)}/{folder}"
        writer = rows.write.format("delta").mode("error")
        writer.options(**properties_of_new(self.table)).save(staging)
        written = list(self._written(folder))
        schema = DeltaTable(staging).schema()
        _remove(rows.sparkSession, f"{staging}/{LOG}")
        paths = [file["path"] for file in removed]
        take_over_files(self.place.of_table(self.table), written, paths, schema, self.commit)

    def _replaced(self, cluster_id: str | None) -> list[dict[str, Any]]:
        """Return the files that hold rows which go, by what Delta noted of them."""
        if self.commit.on == NEW:
            return []
        table = DeltaTable(self.place.of_table(self.table), version=self.commit.on)
        files = active_files(table, with_bounds=True)
        if cluster_id is None:
            return files
        return [file for file in files if may_hold(file, "cluster_id", cluster_id)]

    def _others(
        self, rows: DataFrame, mixed: Sequence[Mapping[str, Any]], cluster_id: str
    ) -> DataFrame:
        """Return the rows of other clusters in files that hold some of this one too."""
        paths = [f"{self.place.of_table(self.table)}/{file['path']}" for file in mixed]
        found = rows.sparkSession.read.schema(rows.schema).parquet(*paths)
        return found.where(found["cluster_id"] != cluster_id)

    def _written(self, folder: str) -> Iterator[AddAction]:
        """Yield the files that Spark wrote, as a commit of the table takes them over."""
        log, _ = self.place.files.read(f"{self.table}/{folder}/{LOG}/{0:020}.json")
        for line in log.splitlines():
            add = json.loads(line).get("add")
            if add is not None:
                yield AddAction(
                    path=f"{folder}/{add['path']}",
                    size=add["size"],
                    partition_values={},
                    modification_time=add["modificationTime"],
                    data_change=True,
                    stats=add.get("stats") or "{}",
                )


def _remove(spark: SparkSession, uri: str) -> None:
    """Remove a folder that Spark made: it also put objects there that stand for folders."""
    context: Any = spark.sparkContext  # whose JVM's names no type knows
    path, is_recursive = context._jvm.org.apache.hadoop.fs.Path(uri), True
    path.getFileSystem(context._jsc.hadoopConfiguration()).delete(path, is_recursive)
