"""Source rows of a log → facts, history and lifetimes of its cluster: one replay."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from aclkit.errors import DataError
from aclkit.model.facts import SNAPSHOT
from aclkit.model.log_findings import LOG_DIVERGED
from aclkit.pipeline.replay import fold, intake, rejects, tables
from aclkit.pipeline.replay.checks import contradiction, contradictions
from aclkit.pipeline.replay.ranges import (
    MergedRanges,
    Range,
    merge_ranges,
    readable_again,
    spare_snapshots,
    withdraw,
    without_snapshots,
)
from aclkit.pipeline.replay.timeline import Timeline, draw_timeline
from aclkit.pipeline.replay.transactions import OPEN
from aclkit.runtime.fail_points import fail_point
from aclkit.runtime.progress import step
from aclkit.warehouse.run import INCOMPLETE, Run

_WRITTEN: Final = "history_written"
"""The count of a run that says whether history was computed in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """What the user says about a replay.

    Attributes:
        high_watermark: rows at or above this offset have no effect yet.
        accept_holes: go on behind offsets that could not be read.
        strict: any rejected row makes the replay end with exit code 3.
    """

    high_watermark: int | None = None
    accept_holes: bool = False
    strict: bool = False


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


def replay_log(
    run: Run,
    rows: DataFrame,
    options: ReplayOptions,
    *,
    reread: Collection[str] = (),
    has_forgotten: bool = False,
) -> ReplayResult:
    """Merge a log's source rows into the facts and compute history again.

    Args:
        run: the run.
        rows: source rows.
        options: what the user says.
        reread: the sources that were read whole: what was rejected of them before, and is not
            now, is in them no more.
        has_forgotten: facts were taken away in this run before.

    Raises:
        DataError: the source contradicts what was read before; nothing is published then.
    """
    incoming = tables.collect_ranges(rows)
    published = tables.read_ranges(run.store, run.cluster_id)
    with step("comparing with what is known"):
        rejected = rejects.stand_now(run, rows, reread)
        known = readable_again(published, rejected.gone, rejected.left)
        merged = merge_ranges(known, incoming)
        spare = spare_snapshots(merged.ranges, known)
        added = _take_in(run, rows, merged, known, incoming, spare)
    fail_point("after-facts")
    changed = bool(
        has_forgotten
        or added
        or rejected.has_changed
        or set(published) != set(without_snapshots(merged.ranges, spare))
    )
    timeline = write_history(run, merged.ranges, rejected.standing, options, changed=changed)
    kept = without_snapshots(merged.ranges, _drop_explained(run, rows, timeline, spare))
    if set(published) != set(kept):
        tables.write_ranges(run, kept)
    run.counts["facts_added"] = added
    return result_of(run, timeline, added, options)


def write_history(
    run: Run,
    ranges: Sequence[Range],
    rejected: DataFrame,
    options: ReplayOptions,
    *,
    changed: bool,
) -> Timeline:
    """Compute a cluster's history from its facts, and write it unless it is as before.

    Args:
        run: the run.
        ranges: what was read.
        rejected: what could not be used of the sources, known before or not.
        options: what the user says.
        changed: any of these, or the facts, are not those of the run before.
    """
    timeline = draw_timeline(
        ranges,
        tables.read_markers(run),
        high_watermark=options.high_watermark,
        accept_holes=options.accept_holes,
    )
    _note_timeline(run, timeline, options)
    before = run.previous()
    if changed or before is None or before.head_offset != run.head_offset:
        with step("computing history"):
            _write_lifetimes(run, timeline, rejected)
        run.counts[_WRITTEN] = 1
    return timeline


def _take_in(
    run: Run,
    rows: DataFrame,
    merged: MergedRanges,
    known_ranges: Sequence[Range],
    incoming_ranges: Sequence[Range],
    spare: Collection[int],
) -> int:
    """Add the facts that are new, but for those of spare snapshots; return how many."""
    store = run.store
    stands = intake.not_withdrawn(merged.cuts)
    known = store.cluster_rows("acl_log", run.cluster_id)
    came = intake.incoming_facts(rows, run.cluster_id).where(stands)
    is_spare = (F.col("fact") == SNAPSHOT) & F.col("log_offset").isin(list(spare))
    compared = intake.compare(known.where(stands), came.where(~is_spare)).persist()
    intake.refuse_conflicts(
        compared,
        withdraw(known_ranges, merged.cuts)[0],
        withdraw(incoming_ranges, merged.cuts)[0],
    )
    _withdraw_facts(run, merged, known.where(~stands))
    fresh = intake.new_facts(compared)
    added = fresh.count()
    if added:
        store.append("acl_log", fresh)
    compared.unpersist()
    return added


def _withdraw_facts(run: Run, merged: MergedRanges, withdrawn: DataFrame) -> None:
    """Delete facts that a higher epoch has overwritten: they were never committed."""
    if not merged.diverged:
        return
    if not withdrawn.isEmpty():
        stands = intake.not_withdrawn(merged.cuts)
        run.store.table("acl_log").delete((F.col("cluster_id") == run.cluster_id) & ~stands)
        run.store.note_write("acl_log")
    where = tables.describe_spans(merged.diverged)
    run.findings.append(
        LOG_DIVERGED.about(
            f"offsets {where}",
            f"offsets {where} were read with a lower epoch before: that tail was never "
            "committed, and what it held is withdrawn",
            fix=f"{LOG_DIVERGED.fix} Where the higher epoch never was the log's, take it back with "
            f"--forget {merged.diverged[0][0]}-",
        )
    )


def _note_timeline(run: Run, timeline: Timeline, options: ReplayOptions) -> None:
    """Tell in the run's row how far history goes and what it had to leave out."""
    run.head_offset = timeline.itinerary.head
    run.high_watermark = options.high_watermark
    if options.high_watermark is None:
        run.notes.append("no high watermark was given: every complete batch counts as committed")
    run.notes.extend(map(_about_bridge, timeline.itinerary.bridged))
    if timeline.itinerary.holes:
        where = tables.describe_spans(timeline.itinerary.holes)
        run.status = INCOMPLETE
        run.notes.append(f"offsets {where} could not be read")
    waiting = [span for span in timeline.spans if span.outcome == OPEN]
    if waiting:
        run.notes.append(
            f"the transaction that began at offset {waiting[-1].begin} has not ended: "
            "what it holds has no effect yet"
        )


def _about_bridge(bridge: tuple[int, int]) -> str:
    """Say what is not known where history goes on with a snapshot."""
    start, end = bridge
    if start == 0:
        return f"history begins with the snapshot at offset {end}: what was before is not known"
    where = tables.describe_spans([bridge])
    return (
        f"offsets {where} are bridged by the snapshot at offset {end}: only what differs between "
        "their beginning and their end is known"
    )


def _write_lifetimes(run: Run, timeline: Timeline, rejected: DataFrame) -> None:
    store, cluster_id = run.store, run.cluster_id
    facts = store.cluster_rows("acl_log", cluster_id).persist()
    stretches = tables.stretches_frame(store, cluster_id, timeline)
    spans = tables.spans_frame(store, cluster_id, timeline)
    if timeline.spans:
        tables.mend_txn_offsets(run, spans)
    effects = fold.with_effect(facts, stretches, spans).persist()
    store.replace_cluster("acl_history", fold.fold_acls(effects, stretches), cluster_id)
    store.replace_cluster("resource_lifetime", fold.fold_resources(effects, stretches), cluster_id)
    store.replace_cluster("principal_lifetime", fold.fold_users(effects, stretches), cluster_id)
    all_rejected = rejected.unionByName(fold.reject_acls(effects, stretches)).unionByName(
        tables.faults_frame(store, cluster_id, timeline)
    )
    store.replace_cluster("acl_reject", all_rejected, cluster_id)
    effects.unpersist()
    facts.unpersist()


def _drop_explained(
    run: Run, rows: DataFrame, timeline: Timeline, spare: Collection[int]
) -> set[int]:
    """Check the snapshots that the log explains, and keep only those that contradict it.

    The others say nothing that the log does not, and a broker makes new ones every hour: their
    facts are not kept, nor those of one that bridged a gap which has been read meanwhile.

    Args:
        run: the run; history has been written.
        rows: source rows.
        timeline: the way through the log.
        spare: end offsets of snapshots that are no facts yet.

    Returns:
        End offsets of the snapshots that are not kept.
    """
    store, cluster_id = run.store, run.cluster_id
    known = set(timeline.itinerary.checks) - set(spare) if run.counts.get(_WRITTEN) else set()
    checked = sorted(known | (set(timeline.itinerary.checks) & set(spare)))
    if not checked:
        return set(spare)
    came = intake.incoming_facts(rows, cluster_id).where(
        (F.col("fact") == SNAPSHOT) & F.col("log_offset").isin(list(spare))
    )
    with step("checking snapshots against the log"):
        facts = store.cluster_rows("acl_log", cluster_id).unionByName(came)
        history = store.cluster_rows("acl_history", cluster_id)
        wrong = contradictions(facts, history, checked)
    run.findings.extend(contradiction(*found) for found in wrong.items())
    if kept := sorted(set(wrong) & set(spare)):
        strays = came.where(F.col("log_offset").isin(kept))
        store.append("acl_log", intake.new_facts(intake.compare(strays.limit(0), strays)))
    if explained := sorted(known - set(wrong)):
        tables.delete_snapshots(run, explained)
    return (set(spare) | known) - set(wrong)


def result_of(run: Run, timeline: Timeline, added: int, options: ReplayOptions) -> ReplayResult:
    """Sum up a replay, in the run's row too."""
    history = run.store.cluster_rows("acl_history", run.cluster_id)
    alive = history.where(F.col("removed_offset").isNull()).count()
    refused = run.store.cluster_rows("acl_reject", run.cluster_id).count()
    run.counts |= {"acls_alive": alive, "rejects": refused}
    holes = timeline.itinerary.holes
    is_unusable = bool(holes and not options.accept_holes) or bool(refused and options.strict)
    return ReplayResult(
        head_offset=timeline.itinerary.head,
        holes=holes,
        bridged=timeline.itinerary.bridged,
        alive=alive,
        facts=added,
        rejects=refused,
        exit_code=DataError.exit_code if is_unusable else 0,
    )
