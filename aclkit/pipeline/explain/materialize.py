"""The ACLs alive and the inventory → every decision of a cluster, written and checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from aclkit.errors import UsageError
from aclkit.model.broker_settings import BrokerConfig
from aclkit.model.brokers import RangesByBroker, note_on_ranges, ranges_by_broker
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.reading import semantics_words
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.pipeline.explain import tables
from aclkit.pipeline.explain.affected import Affected, find_affected, tables_of_affected
from aclkit.pipeline.explain.changes import changed_accesses, tables_of_changes
from aclkit.pipeline.explain.completeness import READ_BACK, check_completeness
from aclkit.pipeline.explain.deciding import decide_all
from aclkit.pipeline.explain.incremental import AMENDED, amend, decide_affected
from aclkit.pipeline.explain.output import Output
from aclkit.pipeline.explain.rules_digest import rules_digest
from aclkit.pipeline.explain.scope import Scope
from aclkit.pipeline.explain.whole import decide_whole, tables_of_whole
from aclkit.pipeline.inventory.survey import Given, Inventory, log_entries, read_texts, survey
from aclkit.runtime.fail_points import fail_point
from aclkit.runtime.progress import step
from aclkit.warehouse.codecs import BROKERS_SQL, brokers_of
from aclkit.warehouse.job_run import PublishedRun, RunSettings
from aclkit.warehouse.reader import read_versions, read_written
from aclkit.warehouse.run import Run
from aclkit.warehouse.standing import MATERIALIZING
from aclkit.warehouse.views import EXPLAIN_TABLES, explain_sql

DENSE_LIMIT: Final = 50_000_000
"""``--dense auto`` writes the dense table up to this many rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MaterializeOptions:
    """What the user says about a materialize.

    Attributes:
        settings: super users and allow.everyone.
        semantics: how ACLs are read; see ``auto_ranges``.
        given: files that name what to ask about.
        dense: always, never or auto.
        full: decide everything anew, where deciding what changed would do.
        auto_ranges: whether ranges (CIDR) decide follows the brokers that the log registers, not
            ``semantics``. What a run decides under is its scope's.
    """

    settings: BrokerSettings
    semantics: Semantics
    given: Given
    dense: str = "auto"
    full: bool = False
    auto_ranges: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MaterializeResult:
    """How much was decided.

    Attributes:
        scope: what it was about.
        output: where its tables went.
        rows: decisions, any-other rows included.
        is_dense: the dense table was written.
    """

    scope: Scope
    output: Output
    rows: int
    is_dense: bool

    @property
    def inventory(self) -> Inventory:
        """What was asked about."""
        return self.scope.inventory


def take_inventory(run: Run, options: MaterializeOptions) -> Scope:
    """Collect what the ACLs alive are made of and what is asked about; note how ACLs are read.

    Raises:
        UsageError: the cluster has never been replayed.
    """
    with step("taking the inventory"):
        with read_written(run.store, run.cluster_id, *_INPUTS) as read:
            texts, log = read_texts(read), log_entries(read)
            known = ranges_by_broker(brokers_of(read.rows(BROKERS_SQL)).brokers)
        semantics = options.semantics
        if options.auto_ranges:
            semantics = replace(semantics, cidr_hosts=known.newest_decides)
        inventory = survey(texts, log, options.given, options.settings, semantics)
    notes = _notes_on_reading(texts.hosts, known, semantics, is_auto=options.auto_ranges)
    # The replay of the same run may have said so already.
    fresh = [one for one in notes if not any(note.startswith(one) for note in run.notes)]
    inventory = replace(inventory, notes=(*fresh, *inventory.notes))
    return Scope(
        cluster_id=run.cluster_id,
        texts=texts,
        inventory=inventory,
        semantics=semantics,
        super_users=options.settings.super_users,
    )


def _notes_on_reading(
    acl_hosts: Iterable[str], known: RangesByBroker, semantics: Semantics, *, is_auto: bool
) -> Iterator[str]:
    """Yield how ACLs are read, and who says whether ranges decide where a host may be one."""
    yield semantics_words(semantics)
    if any("/" in host for host in acl_hosts):
        yield note_on_ranges(known, decide=semantics.cidr_hosts, is_auto=is_auto)


def is_decided(run: Run, scope: Scope, options: MaterializeOptions) -> bool:
    """Whether the published decisions are those that ``materialize`` would write."""
    before = run.previous(MATERIALIZING)
    if before is None:
        return False
    then = before.settings
    if then.updated(deciding_settings(options, scope)) != then:
        return False
    versions, now = before.table_versions, run.store.versions
    return all(versions.get(table) == now.get(table) for table in (*_INPUTS, *EXPLAIN_TABLES))


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
    elif not _decide_on_driver(run, scope, output, allow_everyone=allow_everyone):
        decide_all(scope, alive_acls(run), output, allow_everyone=allow_everyone)
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
    return MaterializeResult(scope=scope, output=output, rows=rows, is_dense=is_dense)


def alive_acls(run: Run) -> DataFrame:
    """Return the ACLs alive at the head of the run's cluster."""
    history = run.store.cluster_rows("acl_history", run.cluster_id)
    return history.where(F.col("removed_offset").isNull())


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


def _decide_on_driver(run: Run, scope: Scope, output: Output, *, allow_everyone: bool) -> bool:
    """Decide all of a small cluster and write it; False where that is Spark's work."""
    tables_of = tables_of_whole(run.store.versions)
    with (
        step("deciding"),
        read_versions(run.store, run.cluster_id, tables_of) as read,
    ):
        rows = decide_whole(scope, read, allow_everyone=allow_everyone)
    if rows is None:
        return False
    for table in AMENDED:
        if table == "explain_ruling":
            fail_point("between-pairs-and-rulings")
        output.write_rows(table, rows[table])
    return True


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


def deciding_settings(options: MaterializeOptions, scope: Scope) -> RunSettings:
    """Return the settings under which the decisions hold, for ``job_run``."""
    return RunSettings(
        semantics=scope.semantics,
        super_users=options.settings.super_users,
        allow_everyone=options.settings.allow_everyone,
        dense=options.dense,
        inventory_digest=scope.inventory.digest(),
        rules_digest=rules_digest(),
    )


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
        run.counts["access_changes"] = changes.num_rows
        if changes.num_rows:
            rows = run.store.spark.createDataFrame(changes).withColumns(
                {"cluster_id": F.lit(run.cluster_id), "run_id": F.lit(run.run_id)}
            )
            run.store.append("access_change", rows)


_INPUTS: Final = ("acl_history", "resource_lifetime", "principal_lifetime", "broker")
_DENSE: Final = ("explain",)
_NEWEST_SETTING: Final = (
    "SELECT super_users, allow_everyone FROM setting ORDER BY since_time DESC LIMIT 1"
)
