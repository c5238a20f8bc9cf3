"""The ACLs alive and the inventory → every decision of a cluster, written and checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

import pyarrow as pa
from pyspark.sql import functions as F

from aclkit.errors import UsageError
from aclkit.model.broker_settings import BrokerConfig
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import BrokerSettings
from aclkit.pipeline.explain import tables
from aclkit.pipeline.explain.affected import Affected, find_affected, tables_of_affected
from aclkit.pipeline.explain.changes import changed_accesses, tables_of_changes
from aclkit.pipeline.explain.completeness import READ_BACK, check_completeness
from aclkit.pipeline.explain.decided import MaterializeOptions, deciding_settings
from aclkit.pipeline.explain.deciding import decide_all
from aclkit.pipeline.explain.incremental import AMENDED, amend, decide_affected
from aclkit.pipeline.explain.output import Output
from aclkit.pipeline.explain.scope import Scope
from aclkit.pipeline.explain.whole import ColumnsOfTables, decide_whole, tables_of_whole
from aclkit.pipeline.inventory.survey import Inventory
from aclkit.runtime.fail_points import fail_point
from aclkit.runtime.progress import step
from aclkit.warehouse.column_types import arrow_schema
from aclkit.warehouse.job_run import PublishedRun, RunSettings
from aclkit.warehouse.reader import read_versions, read_written
from aclkit.warehouse.run import Run
from aclkit.warehouse.standing import MATERIALIZING
from aclkit.warehouse.views import EXPLAIN_TABLES, explain_sql

DENSE_LIMIT: Final = 50_000_000
"""``--dense auto`` writes the dense table up to this many rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MaterializeResult:
    """How much was decided.

    Attributes:
        scope: what it was about.
        output: where its tables went.
        rows: decisions, any-other rows included.
    """

    scope: Scope
    output: Output
    rows: int

    @property
    def inventory(self) -> Inventory:
        """What was asked about."""
        return self.scope.inventory


def materialize(run: Run, scope: Scope, options: MaterializeOptions) -> MaterializeResult:
    """Decide every principal × host × operation × resource of the run's cluster.

    Raises:
        DataError: the written tables are not complete; nothing is published then.
    """
    before = run.previous(MATERIALIZING)
    settings = deciding_settings(options, scope)
    affected = None if options.full else _find_affected(run, scope, before, settings)
    _write_setting(run, options.settings)
    output = Output.of(run.store, scope)
    of_inventory = tables.of_inventory(scope)
    digest = tables.digest_of(of_inventory)
    is_known = before is not None and before.settings.inventory_rows == digest
    for table in of_inventory if not is_known else ():
        output.write_rows(table, of_inventory[table])
    allow_everyone = options.settings.allow_everyone
    if affected is not None and _amend(run, scope, affected):
        run.notes.append(f"decided again: the pairs of {len(affected.resources):,} resources")
    else:
        decide_everything(run, scope, output, allow_everyone=allow_everyone)
    rows = rows_expected(scope.inventory)
    is_dense = options.dense == "always" or (options.dense == "auto" and rows <= DENSE_LIMIT)
    _write_dense(run, rows if is_dense else None)
    with (
        step("checking completeness"),
        read_written(run.store, run.cluster_id, *READ_BACK, *_DENSE[not is_dense :]) as written,
    ):
        run.counts |= check_completeness(
            scope, written, options.settings, rows, is_dense=is_dense, seed=run.run_id
        )
    run.counts["decided_in_run"] = run.run_number
    run.notes.extend(scope.inventory.notes)
    run.settings = run.settings.updated(replace(settings, inventory_rows=digest))
    _write_changes(run, before)
    return MaterializeResult(scope=scope, output=output, rows=rows)


def decide_everything(run: Run, scope: Scope, output: Output, *, allow_everyone: bool) -> None:
    """Decide every pair of a scope and write it: a small one on the driver, others by Spark."""
    found = decide_small(run, scope, allow_everyone=allow_everyone)
    if found is None:
        decide_large(run, scope, output, allow_everyone=allow_everyone)
        return
    for table in AMENDED:
        if table == "explain_ruling":
            fail_point("between-pairs-and-rulings")
        run.store.replace_columns(table, found[table], run.cluster_id)


def decide_small(run: Run, scope: Scope, *, allow_everyone: bool) -> ColumnsOfTables | None:
    """Decide a small scope on the driver; None where that is Spark's work."""
    versions = tables_of_whole(run.store.versions)
    with step("deciding"), read_versions(run.store, run.cluster_id, versions) as read:
        return decide_whole(scope, read, allow_everyone=allow_everyone)


def decide_large(run: Run, scope: Scope, output: Output, *, allow_everyone: bool) -> None:
    """Decide a scope by Spark."""
    history = run.store.cluster_rows("acl_history", run.cluster_id)
    alive = history.where(F.col("removed_offset").isNull())
    decide_all(scope, alive, output, allow_everyone=allow_everyone)


def _find_affected(
    run: Run, scope: Scope, before: PublishedRun | None, settings: RunSettings
) -> Affected | None:
    """Return the pairs to decide again; None for all, as where there was no run before."""
    if before is None:
        return None
    then = before.settings
    if _are_set_otherwise(then, settings) or then.rules_digest != settings.rules_digest:
        return None
    versions = tables_of_affected(before.table_versions, run.store.versions)
    with read_versions(run.store, run.cluster_id, versions) as read:
        return find_affected(scope, read)


def _amend(run: Run, scope: Scope, affected: Affected) -> bool:
    """Decide what is affected and put it in its place; False where that is Spark's work."""
    with (
        step("deciding what changed"),
        read_written(run.store, run.cluster_id, *AMENDED, "acl_history") as read,
    ):
        changes = decide_affected(scope, affected, read)
        amend(read, changes or ())
    return changes is not None


def _write_setting(run: Run, settings: BrokerSettings) -> None:
    """Note the broker settings with the time since which they hold, when they are new."""
    users = sorted(settings.super_users)
    with read_written(run.store, run.cluster_id, "setting") as read:
        newest = read.rows(_NEWEST_SETTING)
    if newest != [(users, settings.allow_everyone)]:
        row = (run.cluster_id, run.started_at, users, settings.allow_everyone)
        run.store.append_rows("setting", [row])


def _write_dense(run: Run, rows: int | None) -> None:
    """Write the table ``explain``, the view of that name multiplied out; drop it for None.

    Where the table was not there its rows are those of all clusters, for it takes the place of a
    view that holds them all.
    """
    if rows is None:
        run.store.drop("explain")
        return
    whose = run.cluster_id if run.store.has("explain") else None
    with (
        step(f"writing {rows:,} decisions"),
        read_written(run.store, whose, *EXPLAIN_TABLES, *_DENSE) as read,
    ):
        read.rewrite("explain", explain_sql())


def continue_from_replay(run: Run) -> None:
    """Take over head and status of the cluster's last replay, for a run that only decides.

    Raises:
        UsageError: the cluster has never been replayed.
    """
    before = run.previous()
    if before is None:
        raise UsageError(
            f"nothing has been replayed for cluster {run.cluster_id!r} yet: "
            f"aclkit --warehouse {run.store.place} replay --source metadata-log:DIR"
        )
    run.head_offset = before.head_offset or 0
    run.high_watermark = before.high_watermark
    run.status = before.status


def told_by_brokers(run: Run) -> tuple[BrokerConfig, ...]:
    """Return what the brokers told the cluster's last replay, if it asked them."""
    before = run.previous(("replay", "run"))
    told = before.settings.told if before is not None else None
    return told.brokers if told is not None else ()


def rows_expected(inventory: Inventory) -> int:
    """Multiply out what was asked about: how many decisions there must be."""
    operations = sum(len(OPERATIONS_OF_TYPE[entry.resource_type]) for entry in inventory.resources)
    return len(inventory.principals) * len(inventory.hosts) * operations


def _are_set_otherwise(then: RunSettings, now: RunSettings) -> bool:
    """Whether a user's settings let ACLs decide otherwise, the rules aside."""
    return (then.semantics, then.broker) != (now.semantics, now.broker)


def _write_changes(run: Run, before: PublishedRun | None) -> None:
    """Write what changed against the materialize before, if there was one."""
    if before is None:
        return
    then = before.settings
    tables_of = tables_of_changes(before.table_versions, run.store.versions)
    with (
        step("comparing with the run before"),
        read_versions(run.store, run.cluster_id, tables_of) as read,
    ):
        changes = changed_accesses(
            read,
            settings_changed=_are_set_otherwise(then, run.settings),
            rules_changed=then.rules_digest != run.settings.rules_digest,
            hosts_changed=then.inventory_digest != run.settings.inventory_digest,
        )
        run.counts["access_changes"] = 0
        batches = _counted(run, changes)
        first = next(batches, None)
        if first is not None:
            rows = pa.RecordBatchReader.from_batches(first.schema, chain([first], batches))
            run.store.append_columns("access_change", rows)


def _counted(run: Run, changes: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the batches that hold a row as they are written, and count them."""
    schema = arrow_schema("access_change")
    whose = {"cluster_id": run.cluster_id, "run_id": run.run_id}
    for batch in filter(len, changes):
        run.counts["access_changes"] += len(batch)
        for name, value in whose.items():
            batch = batch.append_column(name, pa.repeat(value, len(batch)))
        yield batch.select(schema.names).cast(schema)


_DENSE: Final = ("explain",)
_NEWEST_SETTING: Final = (
    "SELECT super_users, allow_everyone FROM setting ORDER BY since_time DESC LIMIT 1"
)
