"""A published run whose tables are in DuckDB's memory: for tests with many small warehouses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import duckdb

from aclkit.model.acl import Acl
from aclkit.warehouse.duck_types import type_of_contract
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.location import Location
from aclkit.warehouse.published import Published
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.table_files import TableFiles

CLUSTER = "c1"
START = datetime(2026, 11, 21, 12, 0, tzinfo=UTC).replace(tzinfo=None)
"""As DuckDB gives times: UTC, without saying so."""


def time_of(offset: float) -> datetime:
    """Return the time of a record: one a second."""
    return START + timedelta(seconds=offset)


@dataclass(frozen=True)
class Life:
    """An ACL from the record that added it to the one that removed it."""

    acl: Acl
    added: int
    removed: int | None = None
    added_by: str = "record"
    effective: int | None = None


def open_memory(
    lives: Iterable[Life],
    *,
    head: int,
    settings: str,
    tables: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    began: datetime | None = None,
) -> tuple[duckdb.DuckDBPyConnection, Published]:
    """Make the tables that questions about one access read; every offset has a record.

    There is one database: what is opened takes the place of what was opened before.

    Args:
        lives: rows of ``acl_history``.
        head: offset of the run.
        settings: JSON of the run.
        tables: rows of other tables.
        began: when the run began, which is the ninth then.
    """
    connection = _database().cursor()
    rows: dict[str, Sequence[Mapping[str, Any]]] = {
        "acl_history": [_history(life) for life in lives],
        "acl_log": [
            {"fact": "record", "log_offset": offset, "log_time": time_of(offset)}
            for offset in range(head)
        ],
        "log_range": [{"from_offset": 0, "to_offset": head, "epoch": 1, "fact": "record"}],
        "setting": [], "host": [], "principal": [], "resource": [], "broker": [],
        "acl_change_by": [], "acl_lease": [],
        **(tables or {}),
    }  # fmt: skip
    for name, content in rows.items():
        create_table(connection, name, name, content)
    run = PublishedRun(
        run_number=9 if began else 1, run_id="r", cluster_id=CLUSTER, job="run", status="complete",
        started_at=began, finished_at=START, head_offset=head, settings_text=settings, counts={},
        notes=(), table_versions={"explain_ruling": 0},
    )  # fmt: skip
    return connection, Published(place=Location("."), standing=(run,), job_run=TableFiles((), ()))


@cache
def _database() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1})


def create_table(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    table: str,
    rows: Sequence[Mapping[str, Any]],
) -> None:
    """Create a table with the columns of the contract, and put rows into it at once."""
    columns = [(column, type_of_contract(kind)) for column, kind, _ in TABLES[table].columns]
    connection.execute(
        f"CREATE OR REPLACE TABLE {name} ({', '.join(f'{c} {kind}' for c, kind in columns)})"
    )
    full = [{"cluster_id": CLUSTER, **row} for row in rows]
    names = list(full[0]) if full else []
    marks = ", ".join(f"({', '.join('?' * len(names))})" for _ in full)
    if full:
        values = [row[column] for row in full for column in names]
        connection.execute(f"INSERT INTO {name} ({', '.join(names)}) VALUES {marks}", values)


def _history(life: Life) -> dict[str, Any]:
    effective = life.added if life.effective is None else life.effective
    return asdict(life.acl) | {
        "added_offset": life.added,
        "effective_offset": effective,
        "added_at": time_of(life.added),
        "added_by": life.added_by,
        "removed_offset": life.removed,
        "removed_at": None if life.removed is None else time_of(life.removed),
    }
