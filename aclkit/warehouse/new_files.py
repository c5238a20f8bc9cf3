"""Rows in columns → Parquet files in the folder of a table, which a commit takes over later.

Any process or task may write them, on a local disk and on an object store alike. Until a commit
names them nobody reads them; those of a run that ends before, ``aclkit maintain`` removes.

So Spark writes to an object store too: its own commit asks for no condition there, and two drivers
could lose each other's.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake.transaction import AddAction

from aclkit.errors import SurroundingsError, first_line
from aclkit.runtime.environment import write_error
from aclkit.runtime.permissions import make_folder
from aclkit.warehouse.column_types import arrow_schema, without_nulls
from aclkit.warehouse.commits import (
    ROWS_OF_A_GROUP,
    indexed_columns,
    make_table,
    note_checksum_of_new,
)
from aclkit.warehouse.damage import damaged
from aclkit.warehouse.location import Location
from aclkit.warehouse.storage import DIGITS, LOG

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS_OF_A_FILE: Final = 2_000_000
"""A file ends with the batch that reaches so many rows: some tens of megabytes."""

_LONGEST_BOUND: Final = 64
"""Of a text so many letters are noted as a bound, as Delta lets writers do."""
_GREATEST: Final = "\U0010ffff"


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file that no version of its table names yet.

    Attributes:
        path: within the table's folder.
        size: its bytes.
        modified: when it was written, in milliseconds since 1970.
        stats: its number of rows and the bounds of its columns, as Delta notes them.
    """

    path: str
    size: int
    modified: int
    stats: str

    @property
    def rows(self) -> int:
        """How many it has."""
        return int(json.loads(self.stats)["numRecords"])

    def action(self) -> AddAction:
        """Return what a commit says of it."""
        return AddAction(
            path=self.path,
            size=self.size,
            partition_values={},
            modification_time=self.modified,
            data_change=True,
            stats=self.stats,
        )


def write_files(place: Location, table: str, rows: Iterable[pa.Table]) -> Iterator[NewFile]:
    """Write rows, in their order, and yield each file; tables without a row make none.

    Args:
        place: the warehouse.
        table: the table.
        rows: with the columns of the contract; texts may be dictionaries.

    Raises:
        DataError: see ``without_nulls``.
        SurroundingsError: they cannot be written.
    """
    left = filter(len, without_nulls(table, rows))
    while (first := next(left, None)) is not None:
        try:
            yield _write_file(place, table, _up_to(ROWS_OF_A_FILE, chain([first], left)))
        except OSError as error:
            uri = place.of_table(table)
            plain = write_error(uri, str(error))
            raise plain or SurroundingsError(f"Cannot write {uri}: {first_line(error)}") from error


def write_by_spark(place: Location, table: str, rows: DataFrame) -> list[NewFile]:
    """Let Spark write rows to an object store.

    It fills a Delta table in a folder within that of the table: so the files lie where they are to
    stay, hold no null where the contract has none, and their bounds are noted in its log, which is
    removed.
    """
    folder = uuid.uuid4().hex
    staging = f"{place.of_table(table)}/{folder}"
    make_table(staging, table)
    note_checksum_of_new(place, f"{table}/{folder}")
    writer = rows.write.format("delta").mode("append")
    writer = writer.option("maxRecordsPerFile", ROWS_OF_A_FILE)
    writer.save(staging)
    try:
        log = place.files.read(f"{table}/{folder}/{LOG}/{1:0{DIGITS}}.json")
    except FileNotFoundError:
        log = b""  # Delta's writer commits nothing where no row came
    context: Any = rows.sparkSession.sparkContext  # whose JVM's names no type knows
    # By Spark, because it also put objects there that stand for folders.
    path, is_recursive = context._jvm.org.apache.hadoop.fs.Path(f"{staging}/{LOG}"), True
    path.getFileSystem(context._jsc.hadoopConfiguration()).delete(path, is_recursive)
    return [
        NewFile(
            f"{folder}/{add['path']}",
            add["size"],
            add["modificationTime"],
            add.get("stats") or "{}",
        )
        for add in (json.loads(line).get("add") for line in log.splitlines())
        if add is not None
    ]


def _up_to(most: int, batches: Iterable[pa.Table]) -> Iterator[pa.Table]:
    for batch in batches:
        yield batch
        most -= len(batch)
        if most <= 0:
            return


def _write_file(place: Location, table: str, batches: Iterator[pa.Table]) -> NewFile:
    first = next(batches)
    path = f"part-{uuid.uuid4().hex}.parquet"
    if place.is_remote:
        target: Any = pa.BufferOutputStream()
    else:
        make_folder(place.folder / table)
        target = str(place.folder / table / path)
    metadata: list[pq.FileMetaData] = []
    with pq.ParquetWriter(
        target, first.schema, store_schema=False, metadata_collector=metadata
    ) as writer:
        for batch in chain([first], batches):
            whole = batch.cast(first.schema)
            for start in range(0, len(whole), ROWS_OF_A_GROUP):
                group = whole.slice(start, ROWS_OF_A_GROUP)
                writer.write_table(pa.table([*map(_compact, group.columns)], first.schema))
    if place.is_remote:
        content = target.getvalue()
        size = len(content)
        place.files.create(f"{table}/{path}", content.to_pybytes())
    else:
        size = (place.folder / table / path).stat().st_size
    # Letters as they are: deltalake takes some pairs of \u escapes for another letter.
    stats = json.dumps(_stats(table, metadata[0]), ensure_ascii=False)
    return NewFile(path, size, int(time.time() * 1000), stats)


def _compact(column: pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return a dictionary with the values alone that occur: each row group writes all of them."""
    if not pa.types.is_dictionary(column.type):
        return column
    whole = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    used = whole.indices.dictionary_encode()
    return pa.DictionaryArray.from_arrays(used.indices, whole.dictionary.take(used.dictionary))


def _stats(table: str, metadata: pq.FileMetaData) -> dict[str, Any]:
    """Return what Delta notes of a file: its rows, and bounds of texts where readers use them."""
    least, most, nulls = {}, {}, {}
    for number in range(min(metadata.num_columns, indexed_columns(table))):
        column = metadata.schema.column(number)
        groups = [metadata.row_group(n) for n in range(metadata.num_row_groups)]
        stats = [group.column(number).statistics for group in groups]
        if column.max_repetition_level or any(s is None or not s.has_null_count for s in stats):
            continue
        nulls[name := column.path] = sum(each.null_count for each in stats)
        bounded = [each for each in stats if each.has_min_max]
        # A row group of nulls alone has no bounds, one of very long texts neither.
        is_told = bounded and all(each.has_min_max or not each.num_values for each in stats)
        if is_told and column.logical_type.type == "STRING":
            least[name] = min(each.min for each in bounded)[:_LONGEST_BOUND]
            most[name] = _at_most(max(each.max for each in bounded))
    return {
        "numRecords": metadata.num_rows,
        "minValues": least,
        "maxValues": most,
        "nullCount": nulls,
    }


def _at_most(text: str) -> str:
    """Return a bound of a text from above that is not long, its greatest letters aside."""
    rest = text[_LONGEST_BOUND:].lstrip(_GREATEST)
    return f"{text[: len(text) - len(rest)]}{_GREATEST}" if rest else text


def holds_only(file: Mapping[str, Any], cluster_id: str) -> bool:
    """Whether a file of a table has rows of one cluster alone, by its bounds."""
    return bool(file.get("min.cluster_id") == file.get("max.cluster_id") == cluster_id)


def write_rows_of_others(
    place: Location, table: str, files: Iterable[Mapping[str, Any]], cluster_id: str
) -> Iterator[NewFile]:
    """Write anew the rows of other clusters in files that hold some of this one too.

    They get the columns of the contract, which a file of an older aclkit may lack.

    Raises:
        DamagedError: a file is missing or cannot be read.
        SurroundingsError: they cannot be written.
    """
    none = arrow_schema(table).empty_table()

    def rows() -> Iterator[pa.Table]:
        for file in files:
            for batch in _batches(place, f"{table}/{file['path']}"):
                found = [none, pa.Table.from_batches([batch])]
                whole = pa.concat_tables(found, promote_options="default")
                yield whole.filter(pc.field("cluster_id") != cluster_id).cast(none.schema)

    yield from write_files(place, table, rows())


def _batches(place: Location, path: str) -> Iterator[pa.RecordBatch]:
    try:
        is_here = not place.is_remote
        source = place.folder / path if is_here else pa.BufferReader(place.files.read(path))
        with pq.ParquetFile(source) as parquet:
            yield from parquet.iter_batches(ROWS_OF_A_GROUP)
    except (OSError, pa.ArrowInvalid) as error:
        raise damaged(f"{place}/{path}", error) from error
