"""What is known of a cluster × the rows of a log or a listing → what to write. IO has no part."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from aclkit.model.brokers import Brokers
from aclkit.model.counting import number_of
from aclkit.model.facts import RECORD, SNAPSHOT
from aclkit.model.findings import Finding
from aclkit.model.log_findings import LOG_DIVERGED
from aclkit.pipeline.replay import facts
from aclkit.pipeline.replay.brokers import (
    BrokerFact,
    are_kept_alike,
    fold_brokers,
    notes_on_brokers,
)
from aclkit.pipeline.replay.checks import contradiction, contradictions
from aclkit.pipeline.replay.history import compute_history, spans_frame
from aclkit.pipeline.replay.history_plan import HistoryPlan, describe_spans, plan_history
from aclkit.pipeline.replay.known import KnownLog, Replayed, ReplayOptions
from aclkit.pipeline.replay.ranges import (
    MergedRanges,
    Range,
    merge_ranges,
    read_well,
    readable_again,
    spare_snapshots,
    withdraw,
    without_snapshots,
)
from aclkit.pipeline.replay.rejects import stand_now
from aclkit.pipeline.replay.transactions import Marker
from aclkit.runtime.frame import Steps
from aclkit.runtime.progress import step


def replay_log(
    known: KnownLog,
    rows: DataFrame,
    options: ReplayOptions,
    steps: Steps,
    *,
    reread: Collection[str] = (),
) -> Replayed:
    """Merge a log's source rows into the facts and compute history again.

    Args:
        known: what is known.
        rows: source rows.
        options: the options of the replay.
        steps: intermediate frames; they are needed until everything is written.
        reread: the sources that were read whole: a reject known from before that did not occur
            again is no longer in them.

    Raises:
        DataError: the source contradicts what was read before.
    """
    with step("Comparing with known records"):
        incoming = facts.incoming_rejects(rows, known.cluster_id)
        came = facts.incoming_ranges(rows)
        rejected = stand_now(known.rejects, incoming, reread, read_well(known.ranges, came))
        before = readable_again(known.ranges, rejected.gone, rejected.left)
        taken = _take_in(known, rows, came, before, steps)
    plan = plan_history(
        taken.merged.ranges,
        taken.markers,
        high_watermark=options.high_watermark,
        accept_holes=options.accept_holes,
    )
    is_same = not (taken.count or taken.shifted or rejected.has_changed) and (
        {*known.ranges} == {*without_snapshots(taken.merged.ranges, taken.spare)}
    )
    tables = tables_anew(known, taken.facts, rejected.standing, plan, steps, is_same=is_same)
    history = tables.get("acl_history", known.history)
    checked = _check_snapshots(taken, history, plan, is_new="acl_history" in tables)
    ranges = without_snapshots(taken.merged.ranges, checked.dropped)
    spans = spans_frame(rows.sparkSession, known.cluster_id, plan) if plan.spans else None
    brokers, has_brokers = _brokers(known, taken, plan, options)
    return Replayed(
        plan=plan,
        fact_count=taken.count,
        corrected=taken.corrected if taken.shifted else None,
        removed=_removed(taken, checked),
        moved=None if spans is None else facts.moved_records(taken.kept, spans),
        added=_added(taken, checked, spans),
        tables=tables,
        ranges=None if {*known.ranges} == {*ranges} else ranges,
        brokers=None if are_kept_alike(brokers, known.brokers) else brokers,
        has_brokers=has_brokers,
        notes=(
            *_notes_on_times(taken.shifted),
            *notes_on_brokers(
                known.brokers, brokers, is_first=not known.ranges, is_cut=not has_brokers
            ),
        ),
        findings=[*_diverged(taken.merged), *(contradiction(*it) for it in checked.wrong.items())],
    )


def tables_anew(
    known: KnownLog,
    facts_now: DataFrame,
    rejected: DataFrame,
    plan: HistoryPlan,
    steps: Steps,
    *,
    is_same: bool,
) -> Mapping[str, DataFrame]:
    """Compute a cluster's history from its facts, unless it is as before.

    Args:
        known: what was known.
        facts_now: all present facts.
        rejected: the unusable rows of the sources, known before or not.
        plan: the way that history takes.
        steps: intermediate frames.
        is_same: all of these are the same as in the previous run.
    """
    if is_same and known.head == plan.itinerary.head:
        return {}
    with step("Computing history"):
        return compute_history(facts_now, rejected, plan, known.cluster_id, steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taken:
    """What is known and what comes, put together.

    Attributes:
        merged: the ranges of both.
        spare: end offsets of snapshots that come and that the log explains: they are no facts.
        corrected: known facts, with the times of the source where they had been shifted.
        shifted: how many had been.
        kept: those that stand.
        came: facts that come, known ones and those of spare snapshots among them.
        fresh: those that are new.
        count: how many.
        markers: the transaction records of all.
        incoming: the ranges that come.
        broker_facts: the records of brokers of all.
    """

    merged: MergedRanges
    spare: Collection[int]
    corrected: DataFrame
    shifted: int
    kept: DataFrame
    came: DataFrame
    fresh: DataFrame
    count: int
    markers: Sequence[Marker]
    incoming: Sequence[Range]
    broker_facts: Sequence[BrokerFact]

    @property
    def facts(self) -> DataFrame:
        """All facts there are now."""
        return self.kept.unionByName(self.fresh)


def _take_in(
    known: KnownLog,
    rows: DataFrame,
    incoming: Sequence[Range],
    before: Sequence[Range],
    steps: Steps,
) -> _Taken:
    """Find the facts that are new, but for those of spare snapshots."""
    merged = merge_ranges(before, incoming)
    spare = spare_snapshots(merged.ranges, before)
    stands = facts.not_withdrawn(merged.cuts)
    kept = known.facts.where(stands)
    came = facts.incoming_facts(rows, known.cluster_id)
    compared = facts.compare(kept, came.where(stands & ~_of_snapshots(spare)))
    compared = steps.checkpoint(compared)
    facts.refuse_conflicts(
        compared, withdraw(before, merged.cuts)[0], withdraw(incoming, merged.cuts)[0]
    )
    counted = facts.count_facts(compared)
    corrected, brokers = known.facts, known.broker_facts
    if counted.shifted:
        corrected = steps.checkpoint(facts.with_times(known.facts, compared))
        brokers = facts.broker_facts(corrected)
    standing = (m for m, epoch in known.markers if m.log_offset < merged.cut_of(epoch))
    return _Taken(
        merged=merged,
        spare=spare,
        corrected=corrected,
        shifted=counted.shifted,
        kept=corrected.where(stands),
        came=came,
        fresh=facts.new_facts(compared),
        count=counted.fresh,
        markers=[*standing, *counted.markers],
        incoming=incoming,
        broker_facts=[*_standing(brokers, merged), *counted.brokers],
    )


def _notes_on_times(count: int) -> Iterator[str]:
    if count:
        yield (
            f"Corrected the time of {number_of(count, 'fact')} from the source: an older aclkit "
            "had shifted it by the time zone of its machine."
        )


def _standing(brokers: Iterable[BrokerFact], merged: MergedRanges) -> Iterator[BrokerFact]:
    return (b for b in brokers if b.fact != RECORD or b.log_offset < merged.cut_of(b.epoch))


def _brokers(
    known: KnownLog, taken: _Taken, plan: HistoryPlan, options: ReplayOptions
) -> tuple[Brokers, bool]:
    """Return who is registered, and whether all was read by an aclkit that keeps such records.

    Where an older one passed over them, what comes now tells it as well if it alone leads to the
    same head: from the log's beginning, or from a snapshot, which lists all brokers. Otherwise
    nothing is known, for of those who registered before and never again there is no trace.
    """
    if known.has_brokers:
        return fold_brokers(taken.broker_facts, plan), True
    own = plan_history(
        withdraw(taken.incoming, taken.merged.cuts)[0],
        taken.markers,
        high_watermark=options.high_watermark,
        accept_holes=options.accept_holes,
    )
    way, whole = own.itinerary, plan.itinerary
    if way.head == whole.head and way.holes == whole.holes:
        came = _standing(facts.broker_facts(taken.came), taken.merged)
        return fold_brokers(came, own), way.stretches == whole.stretches
    is_as_before = known.head == whole.head and not taken.merged.diverged
    return known.brokers if is_as_before else Brokers(), False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Checked:
    """Snapshots that were compared with the log.

    Attributes:
        wrong: end offset → the ACLs on which it and the log differ.
        explained: end offsets of known ones that the log explains.
        dropped: end offsets of all that are not kept.
    """

    wrong: Mapping[int, Sequence[str]]
    explained: Collection[int]
    dropped: Collection[int]


def _check_snapshots(
    taken: _Taken, history: DataFrame, plan: HistoryPlan, *, is_new: bool
) -> _Checked:
    """Check the snapshots that the log explains: only those that contradict it are kept.

    The others have nothing that the log does not have, and a broker makes new ones every hour.
    Their facts are not kept, nor are those of one that bridged a gap which has been read meanwhile.

    Args:
        taken: the facts.
        history: rows of ``acl_history``.
        plan: the way through the log.
        is_new: history differs from before, so known snapshots are checked again.
    """
    checks, spare = {*plan.itinerary.checks}, {*taken.spare}
    asked = checks if is_new else checks & spare
    wrong: Mapping[int, Sequence[str]] = {}
    if asked:
        with step("Checking snapshots against the log"):
            listed = taken.facts.unionByName(taken.came.where(_of_snapshots(spare)))
            wrong = contradictions(listed, history, sorted(asked))
    return _Checked(
        wrong=wrong,
        explained=asked - spare - wrong.keys(),
        dropped=(asked | spare) - wrong.keys(),
    )


def _removed(taken: _Taken, checked: _Checked) -> Column | None:
    """Return which facts go: those that a higher epoch has overwritten, and what is explained."""
    gone = [~facts.not_withdrawn(taken.merged.cuts)] if taken.merged.diverged else []
    gone += [_of_snapshots(checked.explained)] if checked.explained else []
    return reduce(or_, gone) if gone else None


def _added(taken: _Taken, checked: _Checked, spans: DataFrame | None) -> DataFrame | None:
    """Return the facts that come, those of snapshots that contradict the log among them."""
    fresh = taken.fresh if spans is None else facts.with_txn_offset(taken.fresh, spans)
    kept = {*taken.spare} & checked.wrong.keys()
    added = [fresh] if taken.count else []
    added += [facts.once(taken.came.where(_of_snapshots(kept)))] if kept else []
    return reduce(DataFrame.unionByName, added) if added else None


def _of_snapshots(end_offsets: Iterable[int]) -> Column:
    return (F.col("fact") == SNAPSHOT) & F.col("log_offset").isin(list(end_offsets))


def _diverged(merged: MergedRanges) -> Iterator[Finding]:
    """Yield a finding on facts that a higher epoch has overwritten: they were never committed."""
    if not merged.diverged:
        return
    where = describe_spans(merged.diverged)
    yield LOG_DIVERGED.about(
        f"offsets {where}",
        f"Offsets {where} were read again with a higher leader epoch. The records read there "
        "before were never committed, so aclkit withdrew them.",
        fix=f"{LOG_DIVERGED.fix} If the higher epoch does not belong to this log, pass --forget "
        f"{merged.diverged[0][0]}- to aclkit replay.",
    )
