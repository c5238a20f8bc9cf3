"""The command materialize: ACLs and inventory → every decision."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

from aclkit.answer.document import Answer
from aclkit.audit.findings.audit_tables import show_openings
from aclkit.audit.findings.differences import note_readings
from aclkit.audit.findings.readings import (
    find_broker_settings_differ,
    find_reading_changed,
    find_super_users_unknown,
)
from aclkit.cli.context import Context, format_option
from aclkit.cli.help import command
from aclkit.cli.options import lock_timeout_option
from aclkit.cli.replay import tell_notes
from aclkit.cli.run_options import inventory_options, rebuild_of, rebuild_options
from aclkit.cli.session import command_run
from aclkit.cli.settings_options import (
    builder_of,
    follows_brokers,
    given_settings,
    principal_options,
    reading_of,
    settings_options,
)
from aclkit.errors import UsageError
from aclkit.kafka.principals.load import CheckedBuilder
from aclkit.model.broker_settings import resolve
from aclkit.model.semantics import BrokerSettings, asked_words
from aclkit.model.symbol import HOSTS, PRINCIPALS, RESOURCES
from aclkit.pipeline.explain.decided import MaterializeOptions, take_inventory
from aclkit.pipeline.explain.materialize import continue_from_replay, told_by_brokers
from aclkit.pipeline.explain.materialize import materialize as materialize_into
from aclkit.pipeline.inventory.files import attributes_built_by, entries_built_by, read_inventory
from aclkit.pipeline.inventory.survey import Given
from aclkit.pipeline.replay.known_tables import read_clusters
from aclkit.runtime.progress import tell_first
from aclkit.warehouse.run import publish

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SUMMARY = (
    "cluster", "head_offset", "acls", "principals", "hosts", "resources", "rows_expected",
    "rows_decided", "status",
)  # fmt: skip


@command()
@inventory_options
@principal_options
@settings_options
@rebuild_options
@lock_timeout_option
@format_option
@click.pass_obj
def materialize(
    context: Context,
    /,
    lock_timeout: float,
    **chosen: object,
) -> None:
    """Compute every decision and its deciding ACL.

    \b
    Example:
      aclkit --warehouse W materialize --super-users "User:admin;User:ops"
      aclkit --warehouse W materialize --semantics kafka --server-properties server.properties
      aclkit --warehouse W materialize --principals staff.csv --hosts hosts.csv --extend

    Every principal × host × operation × resource is decided. Without files, the names come from the
    log: existing topics and SCRAM users, principals and hosts that ACLs name, and one "any other"
    of each.
    """
    warehouse = context.require_warehouse()
    given = given_settings(chosen)
    builder = builder_of(chosen, given.mapping_rules)
    rebuild = rebuild_of(chosen)
    with command_run(context, "materialize", lock_timeout, rebuild=rebuild) as run:
        if run.rebuilt is not None:
            # Here, because computing history takes pyspark.
            from aclkit.pipeline.replay.again import replay_again

            replay_again(run)
        run.cluster_id = choose_cluster(read_clusters(run.store), warehouse, context.cluster)
        continue_from_replay(run)
        if run.rebuilt is not None:
            run.notes.extend(run.rebuilt.notes(run.store.runs, run.cluster_id))
        resolved = resolve(given, told_by_brokers(run))
        options = deciding_options(lambda: run.store.spark, chosen, resolved.settings, builder)
        tell_first(asked_words(options.reading))
        run.notes.extend(resolved.notes)
        run.findings.extend(find_broker_settings_differ(resolved))
        run.findings.extend(find_super_users_unknown(resolved.settings))
        result = materialize_into(run, take_inventory(run, options), options)
        run.findings.extend(find_reading_changed(run))
        note_readings(run, result, options)
        show_openings(run, resolved.settings, result.scope.semantics)
        publish(run)
    asked = result.inventory
    sizes = len(asked.principals), len(asked.hosts), len(asked.resources)
    acls, *rows = (run.counts[name] for name in ("acls", "rows_expected", "rows_decided"))
    row = (run.cluster_id, run.head_offset, acls, *sizes, *rows, run.status)
    context.write(Answer(columns=SUMMARY, rows=[row]))
    tell_notes(run.notes, run.findings)


def deciding_options(
    start: Callable[[], SparkSession],
    chosen: dict[str, Any],
    broker: BrokerSettings,
    builder: CheckedBuilder | None = None,
) -> MaterializeOptions:
    """Return the values of the options for deciding; ``start``: see ``read_inventory``."""
    build = {} if builder is None else {PRINCIPALS: entries_built_by(builder)}
    entries = {
        kind: read_inventory(start, chosen[kind], kind, build.get(kind))
        for kind in (PRINCIPALS, HOSTS, RESOURCES)
        if chosen[kind]
    }
    return MaterializeOptions(
        settings=broker,
        reading=reading_of(chosen),
        auto_ranges=follows_brokers(chosen),
        given=Given(
            entries=entries,
            extend=chosen["extend"],
            attributes_of=attributes_built_by(builder) if builder else None,
        ),
        dense=chosen["dense"],
        full=chosen["full"],
        decide_with=chosen["decide_with"],
    )


def choose_cluster(clusters: Iterable[str], warehouse: str, given: str | None) -> str:
    """Return the cluster to materialize: the given one, or the only one there is.

    Raises:
        UsageError: several clusters and none given, or one that was never replayed.
    """
    known = sorted(clusters)
    listed = ", ".join(known) or "none"
    if given is not None and given not in known:
        raise UsageError(f"Unknown cluster {given!r}. The warehouse has: {listed}.")
    if given is None and len(known) != 1:
        if known:
            raise UsageError(
                f"The warehouse has several clusters. Pass --cluster with one of: {listed}."
            )
        raise UsageError(
            f"Nothing has been replayed into {warehouse} yet. Next: "
            f"aclkit --warehouse {warehouse} replay --source metadata-log:DIR"
        )
    return given or known[0]
