"""The ACLs alive and the inventory → every decision of a cluster, written and checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from aclkit.errors import UsageError
from aclkit.model.broker_settings import ALLOW_EVERYONE, SUPER_USERS, BrokerConfig
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import BrokerSettings
from aclkit.pipeline.explain import tables
from aclkit.pipeline.explain.changes import changed_accesses, tables_of_changes
from aclkit.pipeline.explain.completeness import READ_BACK, check_completeness
from aclkit.pipeline.explain.decided import MaterializeOptions, deciding_settings
from aclkit.pipeline.explain.deciding import decide
from aclkit.pipeline.explain.engines import engine_of
from aclkit.pipeline.explain.output import Output
from aclkit.pipeline.explain.scope import Scope
from aclkit.pipeline.inventory.survey import Inventory
from aclkit.pipeline.plan import plan_deciding
from aclkit.runtime.progress import step
from aclkit.warehouse.codecs import ALIVE_SQL, acl_sql
from aclkit.warehouse.column_types import arrow_schema
from aclkit.warehouse.job_run import PublishedRun, RunSettings
from aclkit.warehouse.reader import read_written
from aclkit.warehouse.run import Run, goes_on_from
from aclkit.warehouse.store import Store
from aclkit.warehouse.views import EXPLAIN_TABLES, explain_sql

DENSE_LIMIT: Final = 50_000_000
"""``--dense auto`` writes the dense table up to this many rows of all clusters together."""


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
    before = run.goes_on_from()
    settings = deciding_settings(options, scope, before.settings if before else None)
    output = Output(store=run.store, cluster_id=scope.cluster_id)
    write_setting(output, options.settings, run)
    of_inventory = tables.of_inventory(scope)
    digest = tables.digest_of(of_inventory)
    is_known = before is not None and before.settings.inventory_rows == digest
    for table in of_inventory if not is_known else ():
        output.write_rows(table, of_inventory[table])
    rows = rows_expected(scope.inventory)
    is_dense = options.dense == "always" or (
        options.dense == "auto" and rows + _rows_of_others(run) <= DENSE_LIMIT
    )
    by_tasks = rows if is_dense and _has_no_others(run.store, scope.cluster_id) else None
    written_rows = decide_scope(output, scope, run.store, options, dense=by_tasks)
    if not is_dense:
        run.store.drop("explain")
    elif "explain" not in written_rows:
        _write_dense(output, rows)
    with (
        step("Checking completeness"),
        output.ask(*READ_BACK, *_DENSE[not is_dense :]) as written,
    ):
        run.counts |= check_completeness(
            scope,
            written,
            options.settings,
            rows,
            is_dense=is_dense,
            seed=run.run_id,
            rows=written_rows,
        )
    run.counts["decided_in_run"] = run.run_number
    run.notes.extend(scope.inventory.notes)
    run.settings = run.settings.updated(replace(settings, inventory_rows=digest))
    if before is not None:
        run.counts["access_changes"] = _write_changes(output, run.run_id, before, settings)
    return MaterializeResult(scope=scope, output=output, rows=rows)


def decide_scope(
    output: Output,
    scope: Scope,
    store: Store,
    options: MaterializeOptions,
    *,
    dense: int | None = None,
) -> dict[str, int]:
    """Decide every pair of a scope by the engine planned for it; return the rows of each table.

    Args:
        output: has the ACLs.
        scope: what is asked about.
        store: where the tables go: the run's, or others.
        options: say which engine, and what holds where no ACL applies.
        dense: how many rows ``explain`` gets, if Spark decides; other engines do not write it.
    """
    plan = plan_deciding(options.decide_with, acls=scope.acls, pairs=scope.pairs)
    with output.ask("acl_history") as read:
        acls = read.arrow(acl_sql(ALIVE_SQL))
    everyone = options.settings.allow_everyone
    if plan.engine != "spark":
        return decide(scope, acls, store, engine_of(plan), allow_everyone=everyone)
    from aclkit.pipeline.explain.on_spark import decide_on_spark

    spark = output.store.spark
    return decide_on_spark(spark, scope, acls, store, allow_everyone=everyone, dense=dense)


def write_setting(output: Output, settings: BrokerSettings, run: Run) -> None:
    """Note the broker settings with the run since which they hold, when they are new."""
    users = sorted(settings.super_users) or (None if SUPER_USERS in settings.unknown else [])
    everyone = None if ALLOW_EVERYONE in settings.unknown else settings.allow_everyone
    with output.ask("setting") as read:
        newest = read.rows(_NEWEST_SETTING)
    if newest != [(users, everyone)]:
        seen = (run.run_number, run.head_offset)
        row = (output.cluster_id, run.started_at, users, everyone, *seen)
        output.store.append_rows("setting", [row])


def _has_no_others(store: Store, cluster_id: str) -> bool:
    """Whether the dense table needs no rows of other clusters: they are there, or there are none.

    Where the table was not there its rows are those of all clusters, for it takes the place of a
    view that holds them all.
    """
    return store.has("explain") or {run.cluster_id for run in store.runs} <= {cluster_id}


def _write_dense(output: Output, rows: int) -> None:
    """Write the table ``explain``, the view of that name multiplied out, on this machine."""
    store = output.store
    whose = output.cluster_id if store.has("explain") else None
    with (
        step(f"Writing {rows:,} decisions"),
        read_written(store, whose, *EXPLAIN_TABLES, *_DENSE) as read,
    ):
        read.rewrite("explain", explain_sql())


def _rows_of_others(run: Run) -> int:
    """Return how many decisions other clusters have: the dense table holds theirs too."""
    runs = run.store.runs
    others = {each.cluster_id for each in runs} - {run.cluster_id}
    found = (goes_on_from(runs, cluster_id) for cluster_id in others)
    return sum(each.counts.get("rows_expected", 0) for each in found if each is not None)


def continue_from_replay(run: Run) -> None:
    """Take over head and status of the cluster's last replay, for a run that only decides.

    Raises:
        UsageError: the cluster has never been replayed.
    """
    before = run.previous()
    if before is None:
        raise UsageError(
            f"Cluster {run.cluster_id!r} has no data yet. Next: aclkit --warehouse "
            f"{run.store.place} replay --source metadata-log:DIR"
        )
    run.continue_from(before)


def told_by_brokers(run: Run) -> tuple[BrokerConfig, ...]:
    """Return what the brokers told the cluster's last replay, if it asked them."""
    before = run.previous(("replay", "run"))
    told = before.settings.told if before is not None else None
    return told.brokers if told is not None else ()


def rows_expected(inventory: Inventory) -> int:
    """Multiply out what was asked about: how many decisions there must be."""
    operations = sum(len(OPERATIONS_OF_TYPE[entry.resource_type]) for entry in inventory.resources)
    return len(inventory.principals) * len(inventory.hosts) * operations


def _write_changes(output: Output, run_id: str, before: PublishedRun, now: RunSettings) -> int:
    """Write what changed against the materialize before; return how many rows that are."""
    then, sizes = before.settings, list[int]()
    tables_of = tables_of_changes(before.table_versions, output.store.versions)
    with step("Comparing with the previous run"), output.ask_versions(tables_of) as read:
        changes = changed_accesses(
            read,
            settings_changed=(then.semantics, then.broker) != (now.semantics, now.broker),
            rules_changed=then.rules_digest != now.rules_digest,
            hosts_changed=then.inventory_digest != now.inventory_digest,
        )
        batches = _of_run(changes, {"cluster_id": output.cluster_id, "run_id": run_id}, sizes)
        first = next(batches, None)
        if first is not None:
            rows = pa.RecordBatchReader.from_batches(first.schema, chain([first], batches))
            output.store.append_columns("access_change", rows)
    return sum(sizes)


def _of_run(
    changes: Iterable[pa.RecordBatch], whose: Mapping[str, str], sizes: list[int]
) -> Iterator[pa.RecordBatch]:
    """Yield the batches that hold a row as they are written; note how many changes each holds.

    A name that only one run asked about has a row, but changes no access.
    """
    schema = arrow_schema("access_change")
    for batch in filter(len, changes):
        both = (batch.column(f"ruleset_{side}").is_valid() for side in ("before", "after"))
        sizes.append(pc.sum(pc.and_(*both)).as_py())
        for name, value in whose.items():
            batch = batch.append_column(name, pa.repeat(value, len(batch)))
        yield batch.select(schema.names).cast(schema)


_DENSE: Final = ("explain",)
_NEWEST_SETTING: Final = (
    "SELECT super_users, allow_everyone FROM setting "
    "ORDER BY run_number DESC NULLS LAST, since_time DESC LIMIT 1"
)
