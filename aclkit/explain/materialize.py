"""The ACLs alive and the inventory → every decision of a cluster, written and checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from aclkit.errors import UsageError
from aclkit.explain import tables
from aclkit.explain.changes import changed_accesses, tables_of_changes
from aclkit.explain.completeness import check_completeness
from aclkit.explain.incremental import amend, find_touched
from aclkit.explain.pairing import pair_up
from aclkit.explain.scope import Scope
from aclkit.explain.views import EXPLAIN_TABLES
from aclkit.inventory.survey import Given, Inventory, log_entries, read_texts, survey
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.progress import step
from aclkit.publish import MATERIALIZING, Run, fail_point
from aclkit.readback import read_back

DENSE_LIMIT: Final = 50_000_000
"""``--dense auto`` writes the dense table up to this many rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MaterializeOptions:
    """What the user says about a materialize.

    Attributes:
        settings: super users and allow.everyone.
        semantics: how ACLs are read.
        given: files that name what to ask about.
        dense: always, never or auto.
        incremental: decide only what changes touch, where a run before allows it.
    """

    settings: BrokerSettings
    semantics: Semantics
    given: Given
    dense: str = "auto"
    incremental: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MaterializeResult:
    """How much was decided.

    Attributes:
        scope: what it was about.
        rows: decisions, any-other rows included.
        is_dense: the dense table was written.
    """

    scope: Scope
    rows: int
    is_dense: bool

    @property
    def inventory(self) -> Inventory:
        """What was asked about."""
        return self.scope.inventory


def take_inventory(run: Run, options: MaterializeOptions) -> Scope:
    """Collect what the ACLs alive are made of and what is asked about.

    Raises:
        UsageError: the cluster has never been replayed.
    """
    with step("taking the inventory"):
        acls = alive_acls(run).persist()
        texts = read_texts(acls)
        acls.unpersist()
        log = log_entries(
            run.store.cluster_rows("resource_lifetime", run.cluster_id),
            run.store.cluster_rows("principal_lifetime", run.cluster_id),
        )
        inventory = survey(texts, log, options.given, options.settings, options.semantics)
    return Scope(
        run=run,
        texts=texts,
        inventory=inventory,
        semantics=options.semantics,
        super_users=options.settings.super_users,
    )


def is_decided(scope: Scope, options: MaterializeOptions) -> bool:
    """Say whether the published decisions are those that ``materialize`` would write."""
    run = scope.run
    before = run.previous(MATERIALIZING)
    if before is None or json.loads(before["settings"]) != settings_json(options, scope.inventory):
        return False
    then, now = before["table_versions"], run.store.versions
    return all(then.get(table) == now.get(table) for table in (*_INPUTS, *EXPLAIN_TABLES))


def materialize(scope: Scope, options: MaterializeOptions) -> MaterializeResult:
    """Decide every principal × host × operation × resource of the run's cluster.

    Raises:
        DataError: the written tables are not complete; nothing is published then.
    """
    run = scope.run
    acls = alive_acls(run).persist()
    before = run.previous(MATERIALIZING)
    touched = None
    if options.incremental:
        touched = find_touched(scope, before, settings_json(options, scope.inventory))
    if touched is not None:
        run.notes.append(f"decided again: the pairs of {len(touched.resources):,} resources")
    with step("matching patterns and pairing"):
        tables.write_setting(scope, options.settings)
        tables.write_inventory(scope, options.settings)
        pairing = pair_up(scope, acls, touched)
        if touched is None:
            tables.write_pairing(scope, pairing)
    fail_point("between-pairs-and-rulings")
    with step("deciding"):
        if touched is None or before is None:
            tables.write_rulings(scope, pairing, allow_everyone=options.settings.allow_everyone)
        else:
            amend(scope, pairing, touched, before["table_versions"])
        pairing.forget()
    rows = rows_expected(scope.inventory)
    is_dense = options.dense == "always" or (options.dense == "auto" and rows <= DENSE_LIMIT)
    if is_dense:
        with step(f"writing {rows:,} decisions"):
            tables.write_dense(scope)
    else:
        run.store.drop("explain")
    with step("checking completeness"):
        check_completeness(scope, options.settings, rows)
    run.counts |= {"acls": acls.count(), "decided_in_run": run.run_number}
    run.notes.extend(scope.inventory.notes)
    run.settings = settings_json(options, scope.inventory)
    _write_changes(scope)
    acls.unpersist()
    return MaterializeResult(scope=scope, rows=rows, is_dense=is_dense)


def alive_acls(run: Run) -> DataFrame:
    """Return the ACLs alive at the head of the run's cluster."""
    history = run.store.cluster_rows("acl_history", run.cluster_id)
    return history.where(F.col("removed_offset").isNull())


def continue_from_replay(run: Run) -> None:
    """Take over head and status of the cluster's last replay, for a run that only decides.

    Raises:
        UsageError: the cluster has never been replayed.
    """
    before = run.previous()
    if before is None:
        raise UsageError(
            f"nothing has been replayed for cluster {run.cluster_id!r} yet: "
            f"aclkit --warehouse {run.store.warehouse} replay --source metadata-log:DIR"
        )
    run.head_offset = before["head_offset"]
    run.high_watermark = before["high_watermark"]
    run.status = before["status"]


def rows_expected(inventory: Inventory) -> int:
    """Multiply out what was asked about: how many decisions there must be."""
    operations = sum(len(OPERATIONS_OF_TYPE[entry.resource_type]) for entry in inventory.resources)
    return len(inventory.principals) * len(inventory.hosts) * operations


def settings_json(options: MaterializeOptions, inventory: Inventory) -> Mapping[str, Any]:
    """Write down under which settings the decisions hold, for ``job_run``."""
    return {
        "semantics": asdict(options.semantics),
        "super_users": sorted(options.settings.super_users),
        "allow_everyone": options.settings.allow_everyone,
        "dense": options.dense,
        "inventory_digest": inventory.digest(),
    }


def _write_changes(scope: Scope) -> None:
    """Write what changed against the materialize before, if there was one."""
    run = scope.run
    before = run.previous(MATERIALIZING)
    if before is None or run.settings is None:
        return
    then = json.loads(before["settings"])
    tables_of = tables_of_changes(before["table_versions"], run.store.versions)
    with (
        step("comparing with the run before"),
        read_back(run.store, run.cluster_id, tables_of) as read,
    ):
        changes = changed_accesses(
            read,
            settings_changed=any(then[key] != run.settings[key] for key in _DECIDING),
            hosts_changed=then["inventory_digest"] != run.settings["inventory_digest"],
        )
        run.counts["access_changes"] = changes.num_rows
        if changes.num_rows:
            rows = run.store.spark.createDataFrame(changes).withColumns(
                {"cluster_id": F.lit(run.cluster_id), "run_id": F.lit(run.run_id)}
            )
            run.store.append("access_change", rows)


_INPUTS: Final = ("acl_history", "resource_lifetime", "principal_lifetime")
_DECIDING: Final = ("semantics", "super_users", "allow_everyone")
