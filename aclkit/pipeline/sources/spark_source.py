"""Work items, or the path of a metadata log → a DataFrame of source rows, one task per file.

A Python data source: it reads in the workers, yields Arrow batches and needs no pandas.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from aclkit.errors import UsageError
from aclkit.model.facts import SPARK_DDL
from aclkit.pipeline.sources.arrow import batches_of
from aclkit.pipeline.sources.items import WorkItem, metadata_log_items
from aclkit.pipeline.sources.readers import Reader, read_item, read_or_tell
from aclkit.runtime.read_progress import ReadProgress


def read_sources(
    spark: SparkSession, items: Sequence[WorkItem], board: str | None = None
) -> DataFrame:
    """Read work items, each in a task of its own, into rows of ``SPARK_DDL``.

    ``board``: where to tell how far that is, see ``runtime.reading``.
    """
    if not items:
        return spark.createDataFrame([], SPARK_DDL)
    spark.dataSource.register(MetadataLog)
    options = {_ITEMS: json.dumps([asdict(item) for item in items]), _BOARD: board or ""}
    return spark.read.format(MetadataLog.name()).options(**options).load()


_ITEMS: Final = "items"
_BOARD: Final = "board"


class MetadataLog(DataSource):
    """The data source ``kafka_metadata_log``: of a path, or of work items as JSON.

    Who lists the items hears of failures when all is read; of a path a failure ends the task.
    """

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "kafka_metadata_log"

    def schema(self) -> str:
        """Return the row contract of all sources."""
        return SPARK_DDL

    def reader(self, schema: object) -> DataSourceReader:
        """Return the reader of the given work items, or of the files of a path.

        Raises:
            UsageError: there is nothing at the path, or none or several were passed.
            DataError: it is no metadata log.
        """
        if _ITEMS not in self.options:
            return _ItemReader(metadata_log_items(self._path()), None, read_item)
        items = [WorkItem(**item) for item in json.loads(self.options[_ITEMS])]
        return _ItemReader(items, self.options[_BOARD] or None, read_or_tell)

    def _path(self) -> str:
        path = self.options.get("path", "")  # of several Spark makes another option
        if not path:
            raise UsageError(
                f"{self.name()} reads one path. Pass a folder __cluster_metadata-0, a segment or a "
                'snapshot: load("/var/lib/kafka/__cluster_metadata-0").'
            )
        return path


class _ItemReader(DataSourceReader):
    def __init__(self, items: list[WorkItem], board: str | None, read: Reader) -> None:
        self._items = items
        self._board = board
        self._read = read

    def partitions(self) -> list[InputPartition]:
        return [InputPartition(item) for item in self._items]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        item: WorkItem = partition.value
        with closing(ReadProgress(self._board, self._items.index(item))) as told:
            yield from batches_of(self._read(item, told))
