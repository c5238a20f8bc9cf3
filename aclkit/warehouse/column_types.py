"""A table of the contract → its columns in Arrow, and what its log says of them.

Comments and descriptions are metadata that every reader of Delta's first protocol passes over; NOT
NULL is a part of the schema, and each writer insists on it: Spark's writer by the schema, this
process before a batch is written, old tables too. A table is known by its name, or by its URI.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final

import pyarrow as pa
from deltalake import DeltaTable

from aclkit.errors import DataError
from aclkit.warehouse.duck_types import taken_apart
from aclkit.warehouse.schemas import TABLES, Table


def arrow_schema(table: str, names: Collection[str] | None = None) -> pa.Schema:
    """Return the columns of a table of the contract, or some of them; times are UTC."""
    columns = TABLES[table].columns
    return pa.schema([(n, _arrow_type(k)) for n, k, _ in columns if names is None or n in names])


def _arrow_type(kind: str) -> pa.DataType:
    """Return Arrow's type of a Spark SQL type, its parts named as Spark names them."""
    outer, inner = taken_apart(kind)
    parts = [_ARROW_TYPES[part] for part in (inner or outer).split(",")]
    if outer == "ARRAY":
        return pa.list_(pa.field("element", parts[0]))
    return pa.map_(*parts) if outer == "MAP" else parts[0]


_ARROW_TYPES: Final = {
    "STRING": pa.string(),
    "BIGINT": pa.int64(),
    "INT": pa.int32(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
    "TIMESTAMP": pa.timestamp("us", tz="UTC"),
}


def stored_schema(table: str) -> pa.Schema:
    """Return the columns of a table of the contract as the log of a new one keeps them."""
    of = TABLES[table]
    return pa.schema([
        field.with_metadata({"comment": meaning}).with_nullable(name not in of.required)
        for field, (name, _, meaning) in zip(arrow_schema(table), of.columns, strict=True)
    ])  # fmt: skip


def columns_of_new(table: str, columns: pa.Schema) -> pa.Schema:
    """Return the columns of a table that is made now: those of the contract, else those given."""
    known = _contract_of(table)
    return columns if known is None else stored_schema(known.name)


def description_of(table: str) -> str | None:
    """Return what a row of a table is; None where it is none of the contract."""
    known = _contract_of(table)
    return None if known is None else known.description


def without_nulls(table: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Let rows pass that are to be written.

    Raises:
        DataError: a column that is never null holds one.
    """
    known = _contract_of(table)
    for batch in batches:
        for name in known.required.intersection(batch.schema.names) if known else ():
            if nulls := batch.column(name).null_count:
                raise DataError(f"Expected no null in {name} of {table}, found {nulls} of them")
        yield batch


def metadata_with_comments(table: DeltaTable, name: str) -> dict[str, Any] | None:
    """Return the action that describes a table of an older aclkit; None where it is described.

    What may be null stays so: whether its files hold one is not known.
    """
    known, said = TABLES[name], table.metadata()
    schema = json.loads(table.schema().to_json())
    meanings = {column: meaning for column, _, meaning in known.columns}
    columns = [
        {**column, "metadata": {"comment": meanings[column["name"]], **column["metadata"]}}
        if column["name"] in meanings
        else column
        for column in schema["fields"]
    ]
    if said.description is not None and columns == schema["fields"]:
        return None
    return {
        "id": str(said.id),
        "name": said.name,
        "description": said.description or known.description,
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps({**schema, "fields": columns}),
        "partitionColumns": said.partition_columns,
        "createdTime": said.created_time,
        "configuration": said.configuration,
    }


def _contract_of(table: str) -> Table | None:
    return TABLES.get(table.rpartition("/")[2])
