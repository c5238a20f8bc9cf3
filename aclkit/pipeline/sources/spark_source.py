"""Work items → a DataFrame of source rows, one task per item.

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

from aclkit.model.facts import SPARK_DDL
from aclkit.pipeline.sources.arrow import batches_of
from aclkit.pipeline.sources.items import WorkItem
from aclkit.pipeline.sources.readers import read_or_tell
from aclkit.runtime.read_progress import ReadProgress


def read_sources(
    spark: SparkSession, items: Sequence[WorkItem], board: str | None = None
) -> DataFrame:
    """Read work items, each in a task of its own, into rows of ``SPARK_DDL``.

    ``board``: where to tell how far that is, see ``runtime.reading``.
    """
    if not items:
        return spark.createDataFrame([], SPARK_DDL)
    spark.dataSource.register(AclkitSource)
    options = {_ITEMS: json.dumps([asdict(item) for item in items]), _BOARD: board or ""}
    return spark.read.format(AclkitSource.name()).options(**options).load()


_ITEMS: Final = "items"
_BOARD: Final = "board"


class AclkitSource(DataSource):
    """The data source ``aclkit_source``; its option ``items`` is a JSON list of work items."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "aclkit_source"

    def schema(self) -> str:
        """Return the row contract of all sources."""
        return SPARK_DDL

    def reader(self, schema: object) -> DataSourceReader:
        """Return the reader of the given work items."""
        items = json.loads(self.options[_ITEMS])
        return _ItemReader([WorkItem(**item) for item in items], self.options[_BOARD] or None)


class _ItemReader(DataSourceReader):
    def __init__(self, items: list[WorkItem], board: str | None) -> None:
        self._items = items
        self._board = board

    def partitions(self) -> list[InputPartition]:
        return [InputPartition(item) for item in self._items]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        item: WorkItem = partition.value
        with closing(ReadProgress(self._board, self._items.index(item))) as told:
            yield from batches_of(read_or_tell(item, told))
