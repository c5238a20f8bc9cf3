"""A warehouse → the rows that stay in fewer and better files, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import pyarrow as pa
from deltalake import DeltaTable

from aclkit.runtime.progress import step
from aclkit.warehouse.commits import AT_ONCE, KEEPING, with_properties
from aclkit.warehouse.job_run import JOB_RUN, MAINTAIN, RunSettings
from aclkit.warehouse.reader import Reader, read_versions
from aclkit.warehouse.retention import Kept, Policy, keep, remove_unneeded
from aclkit.warehouse.run import Run, publish
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.store import Store, remove_scratch_store
from aclkit.warehouse.table_files import Extent

PRUNED: Final = ("access_change", "finding")
"""Tables whose rows are about a run, and go with it; ``job_run`` is written by ``publish``."""

COMPACTED: Final = (
    "acl_log", "log_range", "acl_reject", "acl_history", "access_day", "setting",
    *PRUNED, JOB_RUN,
)  # fmt: skip
"""Tables that grow by a small file per run. The others are written as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintained:
    """What was done, or would be, to one table.

    Attributes:
        table: the table.
        rows_removed: rows that went with their runs.
        files_before: files of the published version.
        files_after: files of the version that takes its place.
        size_bytes: of these.
        oldest_version: the oldest version that a kept run names.
    """

    table: str
    rows_removed: int
    files_before: int
    files_after: int
    size_bytes: int
    oldest_version: int | None


def maintain(
    run: Run, policy: Policy, *, dry_run: bool, pinned: frozenset[str] = frozenset()
) -> list[Maintained]:
    """Write small files together, and remove what no kept run needs.

    All of it is published as one run, and only then files are removed.

    Args:
        run: the run; ``continue_from_newest`` has been called.
        policy: what is to stay.
        dry_run: nothing is written.
        pinned: ids of runs that stay as they are, whatever the policy says.

    After its publication the run's notes name what could not be removed.
    """
    store = run.store
    opened = {JOB_RUN: {store.newest_version(JOB_RUN) or 0}}
    runs = store.all_runs()
    kept = keep(runs, policy, datetime.now(UTC), pinned)
    before = {table: Extent.of(store.place, table) for table in (*sorted(store.versions), JOB_RUN)}
    removed: dict[str, int] = {t: _rows_to_go(store, t, kept) for t in PRUNED if t in before}
    removed[JOB_RUN] = len(runs) - len(kept.runs)
    if not dry_run:
        for table, found in before.items():
            with step(f"Maintaining {table}"):
                _rewrite(store, table, kept, found, removes=bool(removed.get(table)))
        _forget_removed_files(store, before)
        run.settings = RunSettings(
            rewritten=store.moved, keep_days=policy.keep_days, keep_runs=policy.keep_runs
        )
        publish(run, kept.runs)
        with step("Removing files that no kept run needs"):
            # Readers that opened the warehouse before this run was published still use job_run.
            run.notes.extend(remove_unneeded(store, {**kept.versions, **opened}))
            remove_scratch_store(store.place)
    after = before if dry_run else {table: Extent.of(store.place, table) for table in before}
    return [
        Maintained(
            table=table,
            rows_removed=removed.get(table, 0),
            files_before=found.files,
            files_after=after[table].files,
            size_bytes=after[table].size_bytes,
            oldest_version=min(kept.versions.get(table, ()), default=None),
        )
        for table, found in before.items()
    ]


def _forget_removed_files(store: Store, tables: Iterable[str]) -> None:
    """Let checkpoints of the tables that changed since the last maintenance name no removed file.

    This is done before publication, because a kill in between is taken back like any other.
    """
    last = next((run for run in reversed(store.runs) if run.job == MAINTAIN), None)
    then = last.table_versions if last is not None else {}
    with step("Writing checkpoints"):
        for table in tables:
            if table == JOB_RUN:
                _forget(store, table)
            elif store.versions[table] != then.get(table):
                _forget(store, table)
                store.adopt(table)


def _forget(store: Store, table: str) -> None:
    """Write a checkpoint without the names of files that were ever removed from a table.

    They would stay as long as the properties state, and every reader of the table reads them.
    """
    at_once = {**KEEPING, "delta.deletedFileRetentionDuration": AT_ONCE}
    store.change(table, with_properties(at_once))
    DeltaTable(store.place.of_table(table)).create_checkpoint()
    store.change(table, with_properties(KEEPING))


def _rewrite(store: Store, table: str, kept: Kept, before: Extent, *, removes: bool) -> None:
    is_scattered = before.files > 1
    if table in PRUNED:
        if removes or is_scattered:
            with _opened(store, table, kept) as read:
                read.rewrite(table, _kept_rows(table))
    elif table in COMPACTED and table != JOB_RUN and is_scattered:
        compact(store, table)


def compact(store: Store, table: str) -> None:
    """Write the small files of a table together; its rows stay."""
    store.change(table, lambda found, **how: found.optimize.compact(**how), adopts=True)


def _rows_to_go(store: Store, table: str, kept: Kept) -> int:
    with _opened(store, table, kept) as read:
        ((number,),) = read.rows(_GOING.format(table=table))
    return int(number)


@contextmanager
def _opened(store: Store, table: str, kept: Kept) -> Iterator[Reader]:
    """Open a table whose rows are about runs, with the runs, and those that are kept."""
    runs = (JOB_RUN, store.newest_version(JOB_RUN))
    tables = {table: (table, store.versions[table]), JOB_RUN: runs}
    run_ids = [run.run_id for run in kept.runs]
    with read_versions(store, None, tables) as read:
        read.give("kept_run", pa.table({"run_id": pa.array(run_ids, pa.string())}))
        yield read


def _kept_rows(table: str) -> str:
    """Return the SELECT of the rows that stay; of a finding also since when it is there."""
    columns = ", ".join(f"t.{name}" for name in TABLES[table].column_names if name != "first_seen")
    if table == "finding":
        return _KEPT_FINDINGS.format(columns=columns)
    return _KEPT.format(columns=columns, table=table)


_KEPT: Final = "SELECT {columns} FROM {table} t JOIN kept_run k ON k.run_id = t.run_id"
_KEPT_FINDINGS: Final = """\
WITH seen AS (
SELECT f.cluster_id, f.fingerprint, min(coalesce(f.first_seen, r.started_at)) AS first_seen
FROM finding f
LEFT JOIN job_run r ON r.cluster_id = f.cluster_id AND r.run_id = f.run_id
GROUP BY f.cluster_id, f.fingerprint
)
SELECT {columns}, s.first_seen
FROM finding t
JOIN kept_run k ON k.run_id = t.run_id
JOIN seen s ON s.cluster_id = t.cluster_id AND s.fingerprint = t.fingerprint"""
_GOING: Final = (
    "SELECT count(*) FROM {table} t LEFT JOIN kept_run k ON k.run_id = t.run_id "
    "WHERE k.run_id IS NULL"
)
