"""One replay of one cluster, whatever the kind of its source: read, compute, write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import astuple, replace
from typing import Any

from aclkit.pipeline.replay.asking import TooManyRowsError
from aclkit.pipeline.replay.cluster import require_not_empty, require_same_kind, resolve_cluster
from aclkit.pipeline.replay.conditions import OfASource, Offsets, Origin
from aclkit.pipeline.replay.engines import fits, replaying
from aclkit.pipeline.replay.forget import MOST_NAMED, extent_of, note_on, nothing_of
from aclkit.pipeline.replay.intake import Intake, listing_now
from aclkit.pipeline.replay.known import ReplayOptions
from aclkit.pipeline.replay.known_tables import KnownTables, read_clusters
from aclkit.pipeline.replay.listing import replay_listing
from aclkit.pipeline.replay.ranges import readable_again, without_offsets
from aclkit.pipeline.replay.record import BROKERS_KEPT, ReplayResult, enter
from aclkit.pipeline.replay.replay import replay_log
from aclkit.pipeline.replay.source_rows import SourceRows, news_filter, source_rows
from aclkit.pipeline.replay.tables import ReplayTables
from aclkit.pipeline.replay.unchanged import replay_unchanged
from aclkit.pipeline.sources.items import WorkItem
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

    Sources with the content that the previous replay read are not read again; see ``unchanged``.

    Raises:
        UsageError: there is nothing of the kind to take back.
        DataError: another cluster's source, a log for a cluster that follows listings or the
            other way round, or content that contradicts what was read before.
    """
    intake = listing_now(intake)
    if run.rebuilt is None and not wrong:
        unchanged = replay_unchanged(run, intake, cluster, options)
        if unchanged is not None:
            return unchanged
    run.cluster_id = resolve_cluster(_clusters(run), intake, cluster)
    small, before = KnownTables(run.store, run.cluster_id), run.previous()
    head = before.head_offset if before else None
    has_brokers = run.has_kept(BROKERS_KEPT)
    known = small.known(head, has_brokers=has_brokers)
    require_same_kind(
        run.cluster_id, known.ranges, intake, small.count_written, is_forgetting=bool(wrong)
    )
    if wrong:
        _take_all_back(run, small, wrong, options)
        known = small.known(None, has_brokers=has_brokers)
    is_again = False
    with ExitStack() as needed:
        if intake.listing is None:
            is_news = news_filter(known.ranges, head, has_brokers=known.has_brokers)
            tables, read = _read(needed, small, intake, is_news, options)
            is_again, intake = read.intake is not intake, read.intake
            done = replay_log(
                tables.engine, tables.whole(known), read.rows, options, reread=read.whole
            )
        else:
            is_here = fits(small, options.decide_with, rows=len(intake.listing.rows))
            tables = needed.enter_context(replaying(small, is_here=is_here))
            alive, at = small.alive(), intake.at or run.started_at
            require_not_empty(run.cluster_id, intake, alive[0])
            done = replay_listing(
                tables.engine, tables.whole(known), alive, intake.listing, at, options
            )
        tables.write(done)
    if intake.imprint and not (wrong or done.findings) and intake.imprint.holds():
        run.settings = replace(run.settings, sources=intake.imprint.digest)
    return replace(enter(run, small, intake, done, options), is_listed_again=is_again)


def _read(
    needed: ExitStack,
    small: KnownTables,
    intake: Intake,
    is_news: Callable[[WorkItem], bool],
    options: ReplayOptions,
) -> tuple[ReplayTables[Any], SourceRows[Any]]:
    """Choose the engine, and let it read the sources.

    The end of a log was read already, and is no source that was read whole.
    """
    if intake.tail is not None:
        is_here = fits(small, options.decide_with, rows=len(intake.tail))
        tables = needed.enter_context(replaying(small, is_here=is_here))
        rows = tables.engine.source_rows([*map(astuple, intake.tail)])
        return tables, SourceRows(rows, (), intake)
    if fits(small, options.decide_with, filter(is_news, intake.items)):
        tables = needed.enter_context(replaying(small, is_here=True))
        with suppress(TooManyRowsError):
            return tables, source_rows(tables.engine, intake, is_news)
    tables = needed.enter_context(replaying(small, is_here=False))
    return tables, source_rows(tables.engine, intake, is_news)


def _clusters(run: Run) -> set[str]:
    """Return the clusters that are known; where what was read of them is lost, by their runs."""
    known = read_clusters(run.store)
    return known or {each.cluster_id for each in run.store.runs if run.rebuilt is not None}


def _take_all_back(
    run: Run, small: KnownTables, wrong: Sequence[Offsets | Origin], options: ReplayOptions
) -> None:
    """Forget what was read wrongly, and note it."""
    with replaying(small, is_here=fits(small, options.decide_with)) as tables:
        for item in wrong:
            with step("Forgetting"):
                count, note = take_back(tables, item)
            run.counts["facts_forgotten"] = run.counts.get("facts_forgotten", 0) + count
            run.notes.append(note)


def take_back(tables: ReplayTables[Any], item: Offsets | Origin) -> tuple[int, str]:
    """Forget facts, ranges and rejects; return how many facts, and the note about it.

    Offsets between two facts of a source were read from it too, so they no longer count as read.
    A fact is kept once, for the source that had it first. If another source has it too, replay
    that one again.

    Raises:
        UsageError: no such facts, ranges or rejects exist.
    """
    known, engine = tables.ranges(), tables.engine
    spans, ends = (
        extent_of(item, known) if isinstance(item, Offsets) else tables.extent_of(item.source)
    )
    rejected = tables.rows.read("acl_reject")
    gone = engine.only(rejected, OfASource(item))
    left = engine.without(engine.only(rejected, OfASource()), item)
    ranges = readable_again(
        without_offsets(known, spans, ends), engine.offsets(gone), engine.offsets(left)
    )
    facts = tables.rows.delete("acl_log", item)
    rejects = tables.rows.delete("acl_reject", OfASource(item))
    if {*ranges} != {*known}:
        tables.write_ranges(ranges)
    elif not facts and not rejects:
        raise nothing_of(item, tables.sources(MOST_NAMED + 1))
    return facts, note_on(item, facts, rejects, spans)
