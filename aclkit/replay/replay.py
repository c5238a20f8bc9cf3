"""Source rows of a log → facts, history and lifetimes of its cluster: one replay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from aclkit.errors import DataError
from aclkit.fail_points import fail_point
from aclkit.findings import Finding
from aclkit.progress import step
from aclkit.publish import INCOMPLETE, Run
from aclkit.replay import fold, intake, tables
from aclkit.replay.ranges import MergedRanges, Range, merge_ranges, withdraw
from aclkit.replay.timeline import Timeline, draw_timeline
from aclkit.replay.transactions import OPEN
from aclkit.sources.rows import ADD_ACL, SNAPSHOT


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
        alive: ACLs alive at the head.
        facts: facts that were new.
        rejects: rows that could not be used, of this source and of the replay.
        exit_code: 0, or 3 for holes that were not accepted and rejects under ``strict``.
    """

    head_offset: int
    holes: tuple[tuple[int, int], ...]
    alive: int
    facts: int
    rejects: int
    exit_code: int


def replay_log(run: Run, rows: DataFrame, options: ReplayOptions) -> ReplayResult:
    """Merge a log's source rows into the facts and compute history again.

    Raises:
        DataError: the source contradicts what was read before; nothing is published then.
    """
    with step("reading the source"):
        rows = rows.persist()
        tables.raise_failures(rows)
        incoming_ranges = tables.collect_ranges(rows)
    known_ranges = tables.read_ranges(run.store, run.cluster_id)
    merged = merge_ranges(known_ranges, incoming_ranges)
    with step("comparing with what is known"):
        added = _take_in(run, rows, merged, known_ranges, incoming_ranges)
        rejected = _new_rejects(run, rows).persist()
        refused = rejected.count()
    fail_point("after-facts")
    changed = bool(added or refused) or set(known_ranges) != set(merged.ranges)
    timeline = write_history(run, merged.ranges, rejected, options, changed=changed)
    rows.unpersist()
    rejected.unpersist()
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
    """Compute a cluster's history from its facts, and write it unless it is as before."""
    timeline = draw_timeline(
        ranges,
        tables.read_markers(run),
        high_watermark=options.high_watermark,
        accept_holes=options.accept_holes,
    )
    _note_timeline(run, timeline, options)
    before = run.previous()
    if changed or before is None or before["head_offset"] != run.head_offset:
        with step("computing history"):
            _write_lifetimes(run, timeline, rejected)
        run.counts["history_written"] = 1
    return timeline


def _take_in(
    run: Run,
    rows: DataFrame,
    merged: MergedRanges,
    known_ranges: Sequence[Range],
    incoming_ranges: Sequence[Range],
) -> int:
    """Add the facts that are new; return how many."""
    store = run.store
    stands = intake.not_withdrawn(merged.cuts)
    known = store.cluster_rows("acl_log", run.cluster_id)
    compared = intake.compare(
        known.where(stands), intake.incoming_facts(rows, run.cluster_id).where(stands)
    ).persist()
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
    if set(known_ranges) != set(merged.ranges):
        tables.write_ranges(run, merged.ranges)
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
        Finding(
            finding="log-diverged",
            severity="medium",
            subject=f"offsets {where}",
            message=(
                f"offsets {where} were read with a lower epoch before: that tail was never "
                "committed, and what it held is withdrawn"
            ),
            fix="give --high-watermark when the log is copied from a follower",
        )
    )


def _new_rejects(run: Run, rows: DataFrame) -> DataFrame:
    known = run.store.cluster_rows("acl_reject", run.cluster_id)
    return intake.incoming_rejects(rows, run.cluster_id).subtract(known)


def _note_timeline(run: Run, timeline: Timeline, options: ReplayOptions) -> None:
    """Tell in the run's row how far history goes and what it had to leave out."""
    run.head_offset = timeline.itinerary.head
    run.high_watermark = options.high_watermark
    if options.high_watermark is None:
        run.notes.append("no high watermark was given: every complete batch counts as committed")
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


def _write_lifetimes(run: Run, timeline: Timeline, rejected: DataFrame) -> None:
    store, cluster_id = run.store, run.cluster_id
    facts = store.cluster_rows("acl_log", cluster_id).persist()
    legs = tables.legs_frame(store, cluster_id, timeline)
    spans = tables.spans_frame(store, cluster_id, timeline)
    if timeline.spans:
        tables.mend_txn_offsets(run, spans)
    effects = fold.with_effect(facts, legs, spans).persist()
    store.replace_cluster("acl_history", fold.fold_acls(effects, legs), cluster_id)
    store.replace_cluster("resource_lifetime", fold.fold_resources(effects, legs), cluster_id)
    store.replace_cluster("principal_lifetime", fold.fold_users(effects, legs), cluster_id)
    from_sources = store.cluster_rows("acl_reject", cluster_id).where("stage = 'source'")
    rejects = (
        from_sources.unionByName(rejected)
        .unionByName(fold.reject_acls(effects, legs))
        .unionByName(tables.faults_frame(store, cluster_id, timeline))
    )
    store.replace_cluster("acl_reject", rejects, cluster_id)
    _check_snapshots(run, facts, timeline)
    effects.unpersist()
    facts.unpersist()


def _check_snapshots(run: Run, facts: DataFrame, timeline: Timeline) -> None:
    """Hold each snapshot within the gapless log against the state that the log gives there."""
    history = run.store.cluster_rows("acl_history", run.cluster_id)
    for end_offset in timeline.itinerary.checks:
        listed = facts.where(
            (F.col("fact") == SNAPSHOT)
            & (F.col("log_offset") == end_offset)
            & (F.col("record_type") == ADD_ACL)
        )
        by_log = fold.alive_as_of(history, end_offset)
        fields = ("acl_id", *fold.BINDING)
        differing = (
            listed.select(*fields)
            .exceptAll(by_log.select(*fields))
            .unionAll(by_log.select(*fields).exceptAll(listed.select(*fields)))
            .select("acl_id")
            .distinct()
            .limit(100)
            .collect()
        )
        if differing:
            run.findings.append(_contradiction(end_offset, [row["acl_id"] for row in differing]))


def _contradiction(end_offset: int, acl_ids: Sequence[str]) -> Finding:
    return Finding(
        finding="snapshot-contradicts-log",
        severity="high",
        subject=f"snapshot at offset {end_offset}",
        message=(
            f"the snapshot at offset {end_offset} and the log before it disagree on "
            f"{len(acl_ids)} ACLs; the log is believed"
        ),
        fix="compare the controllers' snapshots of this offset; one of them is wrong",
        acl_ids=tuple(sorted(acl_ids)),
    )


def result_of(run: Run, timeline: Timeline, added: int, options: ReplayOptions) -> ReplayResult:
    """Sum up a replay, in the run's row too."""
    history = run.store.cluster_rows("acl_history", run.cluster_id)
    alive = history.where(F.col("removed_offset").isNull()).count()
    rejects = run.store.cluster_rows("acl_reject", run.cluster_id).count()
    run.counts |= {"acls_alive": alive, "rejects": rejects}
    holes = timeline.itinerary.holes
    is_unusable = bool(holes and not options.accept_holes) or bool(rejects and options.strict)
    return ReplayResult(
        head_offset=timeline.itinerary.head,
        holes=holes,
        alive=alive,
        facts=added,
        rejects=rejects,
        exit_code=DataError.exit_code if is_unusable else 0,
    )
