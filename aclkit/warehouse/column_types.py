"""A column type of the contract or of a Delta table → DuckDB's name of it."""

from __future__ import annotations

from typing import Final

from deltalake.schema import ArrayType, MapType, PrimitiveType

from aclkit.errors import SurroundingsError


def type_of_contract(kind: str) -> str:
    """Return DuckDB's name of a Spark SQL type: a plain one, ``ARRAY<…>`` or ``MAP<…,…>``.

    >>> type_of_contract("BIGINT"), type_of_contract("MAP<STRING,BIGINT>")
    ('BIGINT', 'MAP(VARCHAR, BIGINT)')
    """
    outer, _, inner = kind.lower().removesuffix(">").partition("<")
    parts = [type_of_contract(part) for part in inner.split(",") if part]
    if outer == "array":
        return f"{parts[0]}[]"
    return f"MAP({', '.join(parts)})" if parts else _DUCKDB_TYPES[_SPARK_NAMES.get(outer, outer)]


def type_of_delta(kind: object) -> str:
    """Return DuckDB's name of a Delta type."""
    if isinstance(kind, ArrayType):
        return f"{type_of_delta(kind.element_type)}[]"
    if isinstance(kind, MapType):
        return f"MAP({type_of_delta(kind.key_type)}, {type_of_delta(kind.value_type)})"
    name = kind.type if isinstance(kind, PrimitiveType) else str(kind)
    if name not in _DUCKDB_TYPES:
        raise SurroundingsError(f"expected a column type that aclkit writes, found {name}")
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


_SPARK_NAMES: Final = {"bigint": "long", "int": "integer"}
"""Where Spark SQL, in which the contract is written, has another name than Delta's schema."""
