"""The facts of every cluster → the tables that are made of them, computed again."""

from __future__ import annotations

from dataclasses import replace

from aclkit.pipeline.replay.engines import fits, replaying
from aclkit.pipeline.replay.known import Known, ReplayOptions
from aclkit.pipeline.replay.known_tables import KnownTables, read_clusters
from aclkit.pipeline.replay.record import BROKERS_KEPT
from aclkit.pipeline.replay.replay import replay_log
from aclkit.runtime.progress import step
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.run import Run


def replay_again(run: Run) -> None:
    """Compute the history of all clusters from their facts, as the newest run of each did."""
    for cluster_id in sorted(read_clusters(run.store)):
        mine = [each for each in run.store.runs if each.cluster_id == cluster_id]
        with step(f"Computing the history of {cluster_id} again"):
            _replay_cluster(KnownTables(run.store, cluster_id), mine)


def _replay_cluster(small: KnownTables, runs: list[PublishedRun]) -> None:
    has_brokers = any(run.counts.get(BROKERS_KEPT) for run in runs)
    known = small.known(None, has_brokers=has_brokers)
    options = _options_of(known, runs[-1] if runs else None)
    with replaying(small, is_here=fits(small)) as tables:
        engine = tables.engine
        done = replay_log(engine, tables.whole(known), engine.source_rows([]), options)
        if not has_brokers:
            # Facts do not tell it, so what stands stays.
            done = replace(done, brokers=None)
        tables.write(done)


def _options_of(known: Known, newest: PublishedRun | None) -> ReplayOptions:
    """Return the options under which the newest run came to its head."""
    if newest is None:
        return ReplayOptions()
    options = ReplayOptions(high_watermark=newest.high_watermark)
    plan = options.plan(known.ranges, [marker for marker, _ in known.markers])
    is_reached = plan.itinerary.head == newest.head_offset
    return replace(options, accept_holes=not is_reached)
