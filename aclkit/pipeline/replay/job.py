"""One replay of one cluster, whatever the kind of its source: read, compute, write."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

from pyspark.sql import functions as F

from aclkit.pipeline.replay.cluster import require_not_empty, require_same_kind, resolve_cluster
from aclkit.pipeline.replay.forget import (
    MOST_NAMED,
    Offsets,
    Origin,
    extent_of,
    is_of,
    note_on,
    nothing_of,
)
from aclkit.pipeline.replay.intake import Intake, listing_now
from aclkit.pipeline.replay.known import ReplayOptions
from aclkit.pipeline.replay.known_tables import read_clusters
from aclkit.pipeline.replay.listing import replay_listing
from aclkit.pipeline.replay.ranges import readable_again, without_offsets
from aclkit.pipeline.replay.record import BROKERS_KEPT, ReplayResult, enter
from aclkit.pipeline.replay.rejects import mended_offsets
from aclkit.pipeline.replay.replay import replay_log
from aclkit.pipeline.replay.source_rows import news_filter, source_rows
from aclkit.pipeline.replay.tables import ReplayTables
from aclkit.runtime.frame import Steps
from aclkit.runtime.progress import step
from aclkit.warehouse.run import Run


def replay(
    run: Run,
    intake: Intake,
    cluster: str | None,
    options: ReplayOptions,
    wrong: Sequence[Offsets | Origin] = (),
) -> ReplayResult:
    """Take back what was read wrongly, and replay sources into the run's tables.

    Raises:
        UsageError: there is nothing of the kind to take back.
        DataError: another cluster's source, a log for a cluster that follows listings or the
            other way round, or content that contradicts what was read before.
    """
    intake = listing_now(intake)
    run.cluster_id = resolve_cluster(_clusters(run), intake, cluster)
    tables, before = ReplayTables(run.store, run.cluster_id), run.previous()
    head = before.head_offset if before else None
    has_brokers = run.has_kept(BROKERS_KEPT)
    known = tables.read(head, has_brokers=has_brokers)
    require_same_kind(
        run.cluster_id, known.ranges, intake, tables.count_written, is_forgetting=bool(wrong)
    )
    for item in wrong:
        with step("Forgetting"):
            count, note = take_back(tables, item)
        run.counts["facts_forgotten"] = run.counts.get("facts_forgotten", 0) + count
        run.notes.append(note)
    if wrong:
        known = tables.read(None, has_brokers=has_brokers)
    with ExitStack() as needed:
        steps = needed.enter_context(Steps())
        if intake.listing is None:
            is_news = news_filter(known.ranges, head, has_brokers=known.has_brokers)
            reading = source_rows(run.store.spark, intake, is_news)
            rows, whole, incoming = needed.enter_context(reading)
            done = replay_log(known, rows, options, steps, reread=whole)
        else:
            alive, at = tables.alive(), intake.at or run.started_at
            require_not_empty(run.cluster_id, intake, alive[0])
            done = replay_listing(known, alive, intake.listing, at, options, steps)
            # A row may tell of an ACL, a resource and a principal.
            incoming = 3 * len(intake.listing.rows)
        tables.write(done, None if incoming is None else tables.most_rows(incoming))
    if intake.imprint and not (wrong or done.findings) and intake.imprint.holds():
        run.settings = replace(run.settings, sources=intake.imprint.digest)
    return enter(run, tables, intake, done, options)


def _clusters(run: Run) -> set[str]:
    """Return the clusters that are known; where what was read of them is lost, by their runs."""
    known = read_clusters(run.store)
    return known or {each.cluster_id for each in run.store.runs if run.rebuilt is not None}


def take_back(tables: ReplayTables, item: Offsets | Origin) -> tuple[int, str]:
    """Forget facts, ranges and rejects; return how many facts, and the note about it.

    Offsets between two facts of a source were read from it too, so they no longer count as read.
    A fact is kept once, for the source that had it first. If another source has it too, replay
    that one again.

    Raises:
        UsageError: no such facts, ranges or rejects exist.
    """
    known, condition = tables.ranges(), is_of(item)
    spans, ends = (
        extent_of(item, known) if isinstance(item, Offsets) else tables.extent_of(item.source)
    )
    mended = mended_offsets(tables.rejects(), condition)
    ranges = readable_again(without_offsets(known, spans, ends), *mended)
    facts = tables.delete("acl_log", condition)
    rejects = tables.delete("acl_reject", (F.col("stage") == "source") & condition)
    if {*ranges} != {*known}:
        tables.write_ranges(ranges)
    elif not facts and not rejects:
        raise nothing_of(item, tables.sources(MOST_NAMED + 1))
    return facts, note_on(item, facts, rejects, spans)
