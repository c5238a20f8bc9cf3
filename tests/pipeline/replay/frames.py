"""Small frames for the transforms of a replay: rows of tables with defaults, and whole tables."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from aclkit.model.acl import BINDING, Acl
from aclkit.model.facts import ADD_ACL, FACT, RANGE, RECORD, REJECT, SNAPSHOT, SPARK_DDL
from aclkit.pipeline.replay.engine import Engine
from aclkit.runtime.arrow import arrow_table
from aclkit.warehouse.column_types import arrow_schema
from aclkit.warehouse.schemas import TABLES
from tests.factories import acl

Row = dict[str, Any]


def at(second: int) -> datetime:
    """A time of the log."""
    return datetime(2026, 11, 21, 10, tzinfo=UTC) + timedelta(seconds=second)


def binding_of(one: Acl) -> Row:
    """The seven fields of an ACL, as columns."""
    return {name: getattr(one, name) for name in BINDING}


def fact(log_offset: int, record_type: str = ADD_ACL, **columns: Any) -> Row:
    """A row of ``acl_log``: a record at offset n is of second n."""
    named = {"cluster_id": "c", "fact": RECORD, "source": "log", "epoch": 1}
    named |= {"log_offset": log_offset, "record_type": record_type, "log_time": at(log_offset)}
    return named | columns


def added(log_offset: int, acl_id: str, **columns: Any) -> Row:
    """A row of ``acl_log`` that adds the ACL of this id."""
    return fact(log_offset, acl_id=acl_id, **binding_of(acl(principal=f"User:{acl_id}")), **columns)


def listed(end_offset: int, acl_id: str, **columns: Any) -> Row:
    """An entry of the snapshot with this end offset."""
    return added(end_offset, acl_id, **{"fact": SNAPSHOT, "source": "snapshot", **columns})


def life(acl_id: str, added_offset: int, removed_offset: int | None = None, **columns: Any) -> Row:
    """A row of ``acl_history``, of an ACL that came and went by records of their own."""
    named = {"cluster_id": "c", "acl_id": acl_id, "added_by": RECORD}
    named |= binding_of(acl(principal=f"User:{acl_id}"))
    named |= {"added_offset": added_offset, "effective_offset": added_offset}
    named |= {"added_at": at(added_offset), "removed_offset": removed_offset}
    named |= {"removed_at": None if removed_offset is None else at(removed_offset)}
    return named | columns


def reject(reason: str, log_offset: int | None = None, **columns: Any) -> Row:
    """A row of ``acl_reject`` that a source has."""
    named = {"cluster_id": "c", "stage": "source", "source": "log", "reason": reason}
    return named | {"log_offset": log_offset} | columns


def source_fact(row: Row) -> Row:
    """The source row that a row of ``acl_log`` comes from."""
    return {**row, "kind": FACT}


def source_range(start: int, end: int, epoch: int | None = 1, fact: str = RECORD) -> Row:
    """The source row of a range."""
    return {"kind": RANGE, "fact": fact, "from_offset": start, "to_offset": end, "epoch": epoch}


def source_reject(reason: str, log_offset: int | None = None) -> Row:
    """The source row of a reject."""
    return {"kind": REJECT, "source": "log", "reason": reason, "log_offset": log_offset}


def table(engine: Engine[Any], name: str, rows: Iterable[Row]) -> Any:
    """Rows of a table; what a row does not name is null."""
    return engine.rows(name, _values(TABLES[name].ddl, rows))


def source_rows(engine: Engine[Any], *rows: Row) -> Any:
    """Rows as a source yields them."""
    return engine.source_rows(_values(SPARK_DDL, rows))


def must_be(frame: Any, name: str, rows: Iterable[Row]) -> None:
    """Compare a frame of either engine with a whole table, whatever the order of its rows."""
    expected = arrow_table(_values(TABLES[name].ddl, rows), arrow_schema(name))
    found = columns_of(frame)
    assert found.schema.names == expected.schema.names
    assert as_set(found.cast(expected.schema)) == as_set(expected)


def columns_of(frame: Any) -> pa.Table:
    """A frame of either engine as columns."""
    return frame if isinstance(frame, pa.Table) else frame.toArrow()


def rows_of(frame: Any) -> list[tuple[Any, ...]]:
    """The rows of a frame of either engine."""
    return [tuple(row.values()) for row in columns_of(frame).to_pylist()]


def as_set(table: pa.Table) -> list[Any]:
    """Rows in one order."""
    return sorted(table.to_pylist(), key=repr)


def _values(ddl: str, rows: Iterable[Row]) -> list[list[Any]]:
    names = [column.split()[0] for column in ddl.split(", ")]
    held = list(rows)
    assert all(row.keys() <= {*names, "cluster_id"} for row in held)
    return [[row.get(name) for name in names] for row in held]
