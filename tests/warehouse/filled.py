"""Rows of which a test says a part → rows of the contract: what is never null is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from aclkit.warehouse.column_types import arrow_schema
from aclkit.warehouse.schemas import TABLES

SOME_TIME = datetime(2026, 11, 21, tzinfo=UTC)


def filled(table: str, said: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return a row; a column that a test does not name, and that is NOT NULL, has some value."""
    required = TABLES[table].required
    return tuple(
        _some(field.type) if said.get(field.name) is None and field.name in required
        else said.get(field.name)
        for field in arrow_schema(table)
    )  # fmt: skip


def _some(kind: pa.DataType) -> Any:
    if pa.types.is_timestamp(kind):
        return SOME_TIME
    if pa.types.is_boolean(kind):
        return False
    if pa.types.is_list(kind):
        return []
    return 0 if pa.types.is_integer(kind) or pa.types.is_floating(kind) else ""


def all_filled(table: str, rows: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    """Return rows; see ``filled``."""
    return [filled(table, row) for row in rows]
