"""A column type of the contract or of a Delta table → DuckDB's name of it, or Arrow's type."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import pyarrow as pa
from deltalake.schema import ArrayType, MapType, PrimitiveType

from aclkit.errors import SurroundingsError
from aclkit.warehouse.schemas import TABLES


def type_of_contract(kind: str) -> str:
    """Return a name that DuckDB has for a Spark SQL type; it knows the plain ones by Spark's.

    >>> type_of_contract("BIGINT"), type_of_contract("MAP<STRING,BIGINT>")
    ('BIGINT', 'MAP(STRING,BIGINT)')
    """
    outer, inner = _taken_apart(kind)
    return {"ARRAY": f"{inner}[]", "MAP": f"MAP({inner})"}.get(outer, kind)


def arrow_schema(table: str, names: Collection[str] | None = None) -> pa.Schema:
    """Return the columns of a table of the contract, or some of them; times are UTC."""
    columns = TABLES[table].columns
    return pa.schema([(n, _arrow_type(k)) for n, k, _ in columns if names is None or n in names])


def _arrow_type(kind: str) -> pa.DataType:
    """Return Arrow's type of a Spark SQL type, its parts named as Spark names them."""
    outer, inner = _taken_apart(kind)
    parts = [_ARROW_TYPES[part] for part in (inner or outer).split(",")]
    if outer == "ARRAY":
        return pa.list_(pa.field("element", parts[0]))
    return pa.map_(*parts) if outer == "MAP" else parts[0]


def _taken_apart(kind: str) -> tuple[str, str]:
    outer, _, inner = kind.removesuffix(">").partition("<")
    return outer, inner


def type_of_delta(kind: object) -> str:
    """Return DuckDB's name of a Delta type."""
    if isinstance(kind, ArrayType):
        return f"{type_of_delta(kind.element_type)}[]"
    if isinstance(kind, MapType):
        return f"MAP({type_of_delta(kind.key_type)}, {type_of_delta(kind.value_type)})"
    name = kind.type if isinstance(kind, PrimitiveType) else str(kind)
    if name not in _DUCKDB_TYPES:
        raise SurroundingsError(f"Expected a column type that aclkit writes, found {name}")
    return _DUCKDB_TYPES[name]


_DUCKDB_TYPES: Final = {
    "string": "VARCHAR",
    "long": "BIGINT",
    "integer": "INTEGER",
    "short": "SMALLINT",
    "byte": "TINYINT",
    "double": "DOUBLE",
    "float": "FLOAT",
    "boolean": "BOOLEAN",
    "binary": "BLOB",
    "date": "DATE",
    # UTC without a zone: DuckDB's Python client needs pytz to hand out a zoned one.
    "timestamp": "TIMESTAMP",
    "timestamp_ntz": "TIMESTAMP",
}

_ARROW_TYPES: Final = {
    "STRING": pa.string(),
    "BIGINT": pa.int64(),
    "INT": pa.int32(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
    "TIMESTAMP": pa.timestamp("us", tz="UTC"),
}
