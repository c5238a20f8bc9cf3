"""The explain view of a published run → batches of its rows, and a Parquet file of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, Final

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from aclkit.errors import SurroundingsError
from aclkit.warehouse.damage import damage_of
from aclkit.warehouse.schemas import TABLES

EXPLAIN_COLUMNS: Final = TABLES["explain"].column_names
_SCHEMA: Final = pa.schema([(name, pa.string()) for name in EXPLAIN_COLUMNS])
_BATCH_ROWS: Final = 100_000


def explain_batches(
    connection: duckdb.DuckDBPyConnection, cluster_id: str
) -> Iterator[pa.RecordBatch]:
    """Yield every decision of a cluster, in no particular order, a batch at a time.

    DuckDB's COPY is out of reach, as are all files but the tables' own (``duck.connect``).

    Raises:
        SurroundingsError: the tables are damaged or there is no room.
    """
    try:
        rows = connection.sql("SELECT * FROM explain WHERE cluster_id = ?", params=[cluster_id])
        for batch in rows.to_arrow_reader(_BATCH_ROWS):
            yield batch.select(EXPLAIN_COLUMNS).cast(_SCHEMA)
    except (duckdb.Error, pa.ArrowException) as error:
        plain = SurroundingsError(f"DuckDB cannot answer: {error}")
        raise damage_of(error) or plain from error


def render_csv(
    batches: Iterable[pa.RecordBatch], write_field: Callable[[str | None], str]
) -> Iterator[str]:
    """Yield the text of CSV, a batch at a time; each distinct value is written once per batch."""
    yield ",".join(EXPLAIN_COLUMNS) + "\r\n"
    for batch in batches:
        columns = []
        for column in batch.columns:
            encoded = column.dictionary_encode(null_encoding="encode")
            fields = [write_field(value) for value in encoded.dictionary.to_pylist()]
            columns.append(pa.array(fields, pa.string()).take(encoded.indices))
        lines = pc.binary_join_element_wise(*columns, ",").to_pylist()
        yield "".join(f"{line}\r\n" for line in lines)


def write_parquet(batches: Iterable[pa.RecordBatch], file: BinaryIO) -> None:
    """Write batches as a Parquet file; every column is text."""
    with pq.ParquetWriter(file, _SCHEMA, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(batch)
