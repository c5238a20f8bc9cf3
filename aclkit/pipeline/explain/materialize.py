"""The ACLs alive and the inventory → every decision of a cluster, written and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from aclkit.errors import UsageError
from aclkit.model.broker_settings import ALLOW_EVERYONE, SUPER_USERS, BrokerConfig
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import BrokerSettings
from aclkit.pipeline.explain.changes import write_changes
from aclkit.pipeline.explain.completeness import (
    check_completeness,
    note_on_slices,
    open_written,
)
from aclkit.pipeline.explain.decided import MaterializeOptions, deciding_settings
from aclkit.pipeline.explain.deciding import decide, engine_of
from aclkit.pipeline.explain.output import Output
from aclkit.pipeline.explain.scope import Scope, digest_of, of_inventory
from aclkit.pipeline.inventory.survey import Inventory
from aclkit.pipeline.plan import Plan, plan_deciding, reads_back_here
from aclkit.runtime.progress import step
from aclkit.warehouse.codecs import ALIVE_SQL, acl_sql
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
    inventory_rows = of_inventory(scope)
    digest = digest_of(inventory_rows)
    is_known = before is not None and before.settings.inventory_rows == digest
    for table in inventory_rows if not is_known else ():
        output.write_rows(table, inventory_rows[table])
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
    output = replace(output, is_large=_is_large(scope, options, written_rows))
    with (
        step("Checking completeness"),
        open_written(output, is_dense=is_dense) as (written, asked),
    ):
        run.counts |= check_completeness(
            scope,
            written,
            options.settings,
            rows,
            is_dense=is_dense,
            seed=run.run_id,
            rows=written_rows,
            asked=asked,
        )
    run.notes.extend(note_on_slices(run.counts))
    run.counts["decided_in_run"] = run.run_number
    run.notes.extend(scope.inventory.notes)
    run.settings = run.settings.updated(replace(settings, inventory_rows=digest))
    if before is not None:
        run.counts["access_changes"] = write_changes(output, run.run_id, before, settings)
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
    plan = _plan(scope, options)
    with output.ask("acl_history") as read:
        acls = read.arrow(acl_sql(ALIVE_SQL))
    everyone = options.settings.allow_everyone
    if plan.engine != "spark":
        return decide(scope, acls, store, engine_of(plan), allow_everyone=everyone)
    from aclkit.pipeline.explain.on_spark import decide_on_spark

    spark = output.store.spark
    return decide_on_spark(spark, scope, acls, store, allow_everyone=everyone, dense=dense)


def _plan(scope: Scope, options: MaterializeOptions) -> Plan:
    return plan_deciding(options.decide_with, acls=scope.acls, pairs=scope.pairs)


def _is_large(scope: Scope, options: MaterializeOptions, written: Mapping[str, int]) -> bool:
    """Whether Spark reads back what it wrote."""
    rows = sum(written[name] for name in ("explain_pair", "explain_class_pair", "explain_ruling"))
    return not reads_back_here(_plan(scope, options).engine, pairs=scope.pairs, rows=rows)


def write_setting(output: Output, settings: BrokerSettings, run: Run) -> None:
    """Note the broker settings with the run since which they hold, when they are new."""
    users = sorted(settings.super_users) or (None if SUPER_USERS in settings.unknown else [])
    everyone = None if ALLOW_EVERYONE in settings.unknown else settings.allow_everyone
    with output.ask("setting") as read:
        newest = read.rows(_NEWEST_SETTING)
    if newest != [(users, everyone)]:
        seen = (run.run_number, run.head_offset)
        row = (output.cluster_id, run.started_at, users, everyone, *seen)
        output.store.append("setting", [row])


def _has_no_others(store: Store, cluster_id: str) -> bool:
    """Whether the dense table needs no rows of other clusters: they are there, or there are none.

    Where the table was not there its rows are those of all clusters, for it takes the place of a
    view that holds them all.
    """
    return "explain" in store.versions or {run.cluster_id for run in store.runs} <= {cluster_id}


def _write_dense(output: Output, rows: int) -> None:
    """Write the table ``explain``, the view of that name multiplied out, on this machine."""
    store = output.store
    whose = output.cluster_id if "explain" in store.versions else None
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


_DENSE: Final = ("explain",)
_NEWEST_SETTING: Final = (
    "SELECT super_users, allow_everyone FROM setting "
    "ORDER BY run_number DESC NULLS LAST, since_time DESC LIMIT 1"
)
