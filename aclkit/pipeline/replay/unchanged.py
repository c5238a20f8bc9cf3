"""Sources with the content that the previous replay read → a replay that changes nothing.

It reports what a replay by Spark would report, without Spark. A replay changes nothing if three
conditions hold: the sources have the imprint (``intake``) that the cluster's newest replay kept,
the tables are as that one left them, and the way through the log ends where it ended. A replay
keeps no imprint if its log contradicts itself: every run must report that. All doubtful cases are
left to Spark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from aclkit.pipeline.replay.brokers import are_kept_alike, brokers_in, fold_brokers
from aclkit.pipeline.replay.cluster import resolve_cluster
from aclkit.pipeline.replay.intake import Intake
from aclkit.pipeline.replay.known import Known, Replayed, ReplayOptions
from aclkit.pipeline.replay.known_tables import KnownTables, read_clusters
from aclkit.pipeline.replay.lineage import trace
from aclkit.pipeline.replay.listed import notes_on_listing
from aclkit.pipeline.replay.record import BROKERS_KEPT, ReplayResult, enter
from aclkit.warehouse.job_run import REPLAYING
from aclkit.warehouse.run import Run

_TABLES: Final = (
    *("acl_log", "log_range", "acl_reject", "broker"),
    *("acl_history", "resource_lifetime", "principal_lifetime"),
)


def replay_unchanged(
    run: Run, intake: Intake, cluster: str | None, options: ReplayOptions
) -> ReplayResult | None:
    """Enter into the run what a replay of its sources comes to; None where they may hold news."""
    if intake.imprint is None:
        return None
    run.cluster_id = resolve_cluster(read_clusters(run.store), intake, cluster)
    if not _is_read(run, intake.imprint.digest):
        return None
    tables, before = KnownTables(run.store, run.cluster_id), run.previous()
    done = _nothing(tables.known(before.head_offset if before else None), intake, options)
    if done is None:
        return None
    run.settings = replace(run.settings, sources=intake.imprint.digest)
    return enter(run, tables, intake, done, options)


def _is_read(run: Run, digest: str) -> bool:
    """Whether the newest replay read this, and its tables have not changed since."""
    then = run.previous(REPLAYING)
    if then is None or then.settings.sources != digest or not run.has_kept(BROKERS_KEPT):
        return False
    return all(run.store.holds(table, then.table_versions.get(table)) for table in _TABLES)


def _nothing(known: Known, intake: Intake, options: ReplayOptions) -> Replayed[Any] | None:
    """Return the result of a replay without news; None where the known state does not prove it."""
    lineage = trace(known.ranges)
    plan = options.plan(known.ranges, known.markers_in(lineage))
    brokers = fold_brokers(brokers_in(known.broker_facts, lineage), plan)
    if plan.itinerary.head != known.head or not are_kept_alike(brokers, known.brokers):
        return None
    notes: Sequence[str] = () if intake.listing is None else (*notes_on_listing(intake.listing),)
    return Replayed(plan=plan, fact_count=0, notes=notes)
