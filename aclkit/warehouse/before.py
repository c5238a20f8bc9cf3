"""A published run → the explain tables as they were before it decided, each cluster's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb
from deltalake.exceptions import DeltaError

from aclkit.warehouse.published import Published
from aclkit.warehouse.standing import decided_and_before
from aclkit.warehouse.table_files import TableFiles, open_files, quoted, read_files, unwritten
from aclkit.warehouse.views import PAST, PAST_TABLES

Past = Mapping[str, Sequence[tuple[str, TableFiles]]]
"""Table → (cluster, files) of the past."""


def tables_before(published: Published) -> Past:
    """Return the tables before the run that decided last, of clusters where it changed accesses.

    A cluster of which some table is no longer kept (``aclkit maintain``) is left out.
    """
    past: dict[str, list[tuple[str, TableFiles]]] = {name: [] for name in PAST_TABLES}
    for cluster_id in published.clusters:
        versions = versions_before(published, cluster_id)
        found = {name: _kept(published.path / name, versions.get(name)) for name in PAST_TABLES}
        for name, table in found.items():
            if table is not None and None not in found.values():
                past[name].append((cluster_id, table))
    return past


def create_past(connection: duckdb.DuckDBPyConnection, past: Past) -> None:
    """Make the tables of the past readable in a schema of their own."""
    connection.execute(f"CREATE SCHEMA {PAST}")
    for name in PAST_TABLES:
        every = open_files(connection, unwritten(name))
        for cluster_id, table in past.get(name, ()):
            is_its_own = duckdb.ColumnExpression("cluster_id") == duckdb.ConstantExpression(
                cluster_id
            )
            columns = ", ".join(column for column, _ in unwritten(name).columns)
            rows = open_files(connection, table).project(columns).filter(is_its_own)
            every = every.union(rows)
        connection.execute(f"CREATE VIEW {PAST}.{quoted(name)} AS {every.sql_query()}")


def versions_before(published: Published, cluster_id: str) -> Mapping[str, int]:
    """Return the table versions that the run which decided last began with."""
    runs = {run.run_number: run for run in published.standing if run.cluster_id == cluster_id}
    found = decided_and_before((r.run_number, r.job, r.counts) for r in runs.values())
    if found is None or found[1] is None or not runs[found[0]].counts.get("access_changes"):
        return {}
    return runs[found[1]].table_versions


def _kept(path: Path, version: int | None) -> TableFiles | None:
    """Return the files of a version if all of them are still there."""
    if version is None:
        return None
    try:
        table = read_files(path, version)
    except (DeltaError, OSError):
        return None
    return table if all(file.exists() for file in table.files) else None
