"""One replay of one cluster, whatever the kind of its source: read, compute, write.

Where nothing can have changed, that is reported as a replay by Spark would report it, without
Spark: the sources have the imprint (``imprint``) that the cluster's newest replay kept, the tables
are as that one left them, and the way through the log ends where it ended. A replay keeps no
imprint if its log contradicts itself: every run must report that. Doubtful cases are replayed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack, suppress
from dataclasses import astuple, dataclass, replace
from typing import Any, Final, Generic

from aclkit.model.facts import COMMITTED
from aclkit.pipeline.replay.asking import Frame, TooManyRowsError
from aclkit.pipeline.replay.brokers import are_kept_alike, brokers_in, fold_brokers
from aclkit.pipeline.replay.cluster import require_not_empty, require_same_kind, resolve_cluster
from aclkit.pipeline.replay.conditions import OfASource, Offsets, Origin
from aclkit.pipeline.replay.engine import Engine
from aclkit.pipeline.replay.engines import fits, replaying
from aclkit.pipeline.replay.forget import MOST_NAMED, extent_of, note_on, nothing_of
from aclkit.pipeline.replay.intake import Intake, listing_now
from aclkit.pipeline.replay.known import Known, Replayed, ReplayOptions
from aclkit.pipeline.replay.known_tables import KnownTables, read_clusters
from aclkit.pipeline.replay.lineage import trace
from aclkit.pipeline.replay.listing import notes_on_listing, replay_listing
from aclkit.pipeline.replay.ranges import plan, readable_again, without_offsets
from aclkit.pipeline.replay.record import BROKERS_KEPT, ReplayResult, enter
from aclkit.pipeline.replay.replay import replay_log
from aclkit.pipeline.replay.spans import Range
from aclkit.pipeline.replay.tables import ReplayTables
from aclkit.pipeline.sources.files import is_packed
from aclkit.pipeline.sources.items import WorkItem
from aclkit.pipeline.sources.metadata_log import listing_again
from aclkit.runtime.progress import step
from aclkit.runtime.read_progress import followed, size_of
from aclkit.runtime.uri import shown
from aclkit.warehouse.job_run import REPLAYING
from aclkit.warehouse.run import Run


def replay(
    run: Run,
    intake: Intake,
    cluster: str | None,
    options: ReplayOptions,
    wrong: Sequence[Offsets | Origin] = (),
) -> ReplayResult:
    """Take back what was read wrongly, and replay sources into the run's tables.

    Sources with the content that the previous replay read are not read: ``replay_unchanged``.

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


@dataclass(frozen=True, slots=True)
class SourceRows(Generic[Frame]):
    """What was read of sources.

    Attributes:
        rows: of all of them.
        whole: the sources that were read, each as a whole.
        intake: the listing that was read: a later one where a file had gone from the first.
    """

    rows: Frame
    whole: Collection[str]
    intake: Intake


def source_rows(
    engine: Engine[Frame], intake: Intake, is_news: Callable[[WorkItem], bool]
) -> SourceRows[Frame]:
    """Read items once and for all.

    Snapshots that tell nothing new are left out. Where a file has gone since it was listed, all
    is listed and read again, and nothing that was taken from the listing before counts.

    Args:
        engine: reads them.
        intake: the items, as they were listed before the run began.
        is_news: whether an item may hold anything that is not known.

    Raises:
        UsageError: a source cannot be used.
        DataError: likewise.
        SurroundingsError: a source cannot be read, or goes as fast as it is listed.
        TooManyRowsError: see ``Engine.read``.
    """
    attempts = 0

    def read() -> SourceRows[Frame]:
        nonlocal attempts
        attempts += 1
        asked = intake if attempts == 1 else intake.listed_again()
        chosen = [item for item in asked.items if is_news(item)]
        with followed(map(_size_of, chosen)) as board:
            rows = engine.read(chosen, board)
            engine.raise_failures(rows)
        return SourceRows(rows, frozenset(shown(item.path) for item in chosen), asked)

    with step("Reading the source"):
        return listing_again(read)


def _size_of(item: WorkItem) -> int | None:
    return None if is_packed(item.path) else size_of(item.path)


def news_filter(
    ranges: Sequence[Range], head: int | None, *, has_brokers: bool
) -> Callable[[WorkItem], bool]:
    """Return a test whether an item may hold anything that is not known.

    An older snapshot in a folder holds nothing new if the way through the known log covers it, as
    far as history has been computed, and what it proves is known. This does not count if an aclkit
    that skipped brokers read that log.
    """
    way = plan(ranges)
    proven = {r.epoch: range(r.from_offset, r.to_offset) for r in ranges if r.fact == COMMITTED}

    def is_news(item: WorkItem) -> bool:
        end = item.only_below
        is_known = has_brokers and end is not None and end <= (head or 0) and way.knows(end)
        if is_known and end is not None and item.epoch is not None:
            is_known = end - 1 in proven.get(item.epoch, ())
        return not is_known

    return is_news


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
