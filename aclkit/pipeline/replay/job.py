"""One replay of one cluster, whatever the kind of its source: read, compute, write."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from pyspark.sql import functions as F

from aclkit.errors import DataError
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
from aclkit.pipeline.replay.history import notes_on
from aclkit.pipeline.replay.intake import Intake, listing_now
from aclkit.pipeline.replay.listing import replay_listing
from aclkit.pipeline.replay.ranges import readable_again, without_offsets
from aclkit.pipeline.replay.rejects import mended_offsets
from aclkit.pipeline.replay.replay import Replayed, ReplayOptions, replay_log
from aclkit.pipeline.replay.source_rows import news_filter, source_rows
from aclkit.pipeline.replay.tables import ReplayTables, read_clusters
from aclkit.runtime.frame import Steps
from aclkit.runtime.progress import step
from aclkit.warehouse.run import INCOMPLETE, Run

BROKERS_KEPT: Final = "brokers_kept"
"""The count of a run behind which all that was read of its cluster has its records of brokers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayResult:
    """What a replay found.

    Attributes:
        head_offset: the state is known as of this offset (exclusive).
        holes: offsets that could not be read.
        bridged: offsets that a snapshot bridges: only what differs at their end is known.
        alive: ACLs alive at the head.
        facts: facts that were new.
        rejects: rows that could not be used, of this source and of the replay.
        exit_code: 0, or 3 for holes that were not accepted and rejects under ``strict``.
    """

    head_offset: int
    holes: tuple[tuple[int, int], ...]
    bridged: tuple[tuple[int, int], ...]
    alive: int
    facts: int
    rejects: int
    exit_code: int


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
    intake = listing_now(intake, is_held=not run.store.place.is_uri)
    run.cluster_id = resolve_cluster(read_clusters(run.store), intake, cluster)
    tables, before = ReplayTables(run.store, run.cluster_id), run.previous()
    head = before.head_offset if before else None
    has_brokers = run.has_kept(BROKERS_KEPT)
    known = tables.read(head, has_brokers=has_brokers)
    require_same_kind(
        run.cluster_id, known.ranges, intake, tables.count_written, is_forgetting=bool(wrong)
    )
    for item in wrong:
        with step("forgetting"):
            count, note = take_back(tables, item)
        run.counts["facts_forgotten"] = run.counts.get("facts_forgotten", 0) + count
        run.notes.append(note)
    if wrong:
        known = tables.read(None, has_brokers=has_brokers)
    with ExitStack() as needed:
        steps = needed.enter_context(Steps())
        if intake.listing is None:
            is_news = news_filter(known.ranges, head if known.has_brokers else None)
            rows, whole = needed.enter_context(source_rows(run.store.spark, intake, is_news))
            done = replay_log(known, rows, options, steps, reread=whole)
        else:
            alive, at = tables.alive(), intake.at or run.started_at
            require_not_empty(run.cluster_id, intake, alive[0])
            done = replay_listing(known, alive, intake.listing, at, options, steps)
        tables.write(done)
    run.notes += [
        f"{count:,} records were passed over, see acl_reject: {reason}"
        for reason, count in tables.unknown_types()
    ]
    run.settings = intake.settings or run.settings
    return record(run, done, options, *tables.counts())


def record(
    run: Run, done: Replayed, options: ReplayOptions, alive: int, rejects: int
) -> ReplayResult:
    """Tell in the run's row what a replay came to."""
    way = done.plan.itinerary
    run.head_offset, run.high_watermark = way.head, options.high_watermark
    run.status = INCOMPLETE if way.holes else run.status
    run.notes += [*notes_on(done.plan, options.high_watermark), *done.notes]
    run.findings += done.findings
    run.counts |= {"history_written": 1} if done.tables else {}
    run.counts |= {BROKERS_KEPT: 1} if done.has_brokers else {}
    run.counts |= {"facts_added": done.fact_count, "acls_alive": alive, "rejects": rejects}
    if rejects and options.strict:
        run.notes.append(f"{rejects:,} rows could not be used, see acl_reject: refused by --strict")
    is_unusable = (way.holes and not options.accept_holes) or (rejects and options.strict)
    return ReplayResult(
        head_offset=way.head,
        holes=way.holes,
        bridged=way.bridged,
        alive=alive,
        facts=done.fact_count,
        rejects=rejects,
        exit_code=DataError.exit_code if is_unusable else 0,
    )


def take_back(tables: ReplayTables, item: Offsets | Origin) -> tuple[int, str]:
    """Take back facts, ranges and rejects; return how many facts, and what to note of it.

    What lies between two facts of a source was read from it too, so it counts as read no more.
    A fact is kept once, for the source that said it first; who has it from another one replays
    that again.

    Raises:
        UsageError: there is nothing of the kind.
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
