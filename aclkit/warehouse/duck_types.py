"""Types of columns, as the contract and Delta's log name them → DuckDB's names of them."""

from __future__ import annotations

from typing import Final

from deltalake.schema import ArrayType, MapType, PrimitiveType

from aclkit.errors import SurroundingsError


def type_of_contract(kind: str) -> str:
    """Return a name that DuckDB has for a Spark SQL type; it knows the plain ones by Spark's.

    >>> type_of_contract("BIGINT"), type_of_contract("MAP<STRING,BIGINT>")
    ('BIGINT', 'MAP(STRING,BIGINT)')
    """
    outer, inner = taken_apart(kind)
    return {"ARRAY": f"{inner}[]", "MAP": f"MAP({inner})"}.get(outer, kind)


def taken_apart(kind: str) -> tuple[str, str]:
    """Return the outer part of a Spark SQL type and what its brackets hold, if it has any."""
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
