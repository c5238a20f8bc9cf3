"""What is known of a cluster × the rows of a log or a listing → what to write. IO has no part."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Generic

from aclkit.model.brokers import Brokers
from aclkit.model.findings import LOG_DIVERGED, SNAPSHOT_CONTRADICTS_LOG, Finding
from aclkit.model.phrases import number_of
from aclkit.pipeline.replay.asking import Frame
from aclkit.pipeline.replay.brokers import (
    BrokerFact,
    are_kept_alike,
    brokers_in,
    fold_brokers,
    notes_on_brokers,
)
from aclkit.pipeline.replay.conditions import Condition, OfSnapshots
from aclkit.pipeline.replay.engine import Engine
from aclkit.pipeline.replay.history_plan import HistoryPlan, describe_spans
from aclkit.pipeline.replay.known import KnownLog, Replayed, ReplayOptions
from aclkit.pipeline.replay.lineage import trace
from aclkit.pipeline.replay.ranges import (
    MergedRanges,
    merge_ranges,
    newly_overwritten,
    read_well,
    readable_again,
    spare_snapshots,
    without_snapshots,
)
from aclkit.pipeline.replay.spans import Range
from aclkit.pipeline.replay.transactions import Marker, Span
from aclkit.runtime.progress import step


def replay_log(
    engine: Engine[Frame],
    known: KnownLog[Frame],
    rows: Frame,
    options: ReplayOptions,
    *,
    reread: Collection[str] = (),
) -> Replayed[Frame]:
    """Merge a log's source rows into the facts and compute history again.

    Args:
        engine: has the frames.
        known: what is known.
        rows: source rows.
        options: the options of the replay.
        reread: the sources that were read whole: a reject known from before that did not occur
            again is no longer in them.

    Raises:
        DataError: the source contradicts what was read before.
    """
    with step("Comparing with known records"):
        incoming = engine.incoming_rejects(rows)
        came = engine.incoming_ranges(rows)
        covered = read_well(known.ranges, came)
        rejected = engine.stand_now(known.rejects, incoming, reread, covered)
        before = readable_again(known.ranges, rejected.gone, rejected.left)
        taken = _take_in(engine, known, rows, came, before)
    plan = options.plan(taken.merged.ranges, taken.markers)
    is_same = not (taken.count or taken.is_corrected or rejected.has_changed) and (
        {*known.ranges} == {*without_snapshots(taken.merged.ranges, taken.spare)}
    )
    present = engine.union(taken.kept, taken.fresh)
    tables = tables_anew(engine, known, present, rejected.standing, plan, is_same=is_same)
    history = tables.get("acl_history", known.history)
    checked = _check_snapshots(engine, taken, history, plan, is_new="acl_history" in tables)
    ranges = without_snapshots(taken.merged.ranges, checked.dropped)
    brokers, has_brokers = _brokers(engine, known, taken, plan, options)
    return Replayed(
        plan=plan,
        fact_count=taken.count,
        corrected=taken.kept if taken.is_corrected else None,
        removed=_removed(checked),
        moved=engine.moved_records(taken.kept, plan.spans) if plan.spans else None,
        added=_added(engine, taken, checked, plan.spans),
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
        findings=[
            *_diverged(taken.overwritten),
            *(_contradiction(*it) for it in checked.wrong.items()),
        ],
    )


def tables_anew(
    engine: Engine[Frame],
    known: KnownLog[Frame],
    facts_now: Frame,
    rejected: Frame,
    plan: HistoryPlan,
    *,
    is_same: bool,
) -> Mapping[str, Frame]:
    """Compute a cluster's history from its facts, unless it is as before.

    Args:
        engine: has the frames.
        known: what was known.
        facts_now: all present facts.
        rejected: the unusable rows of the sources, known before or not.
        plan: the way that history takes.
        is_same: all of these are the same as in the previous run.
    """
    if is_same and known.head == plan.itinerary.head:
        return {}
    with step("Computing history"):
        return engine.history(facts_now, rejected, plan)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taken(Generic[Frame]):
    """What is known and what comes, put together.

    Attributes:
        merged: the ranges of both.
        spare: end offsets of snapshots that come and that the log explains: they are no facts.
        overwritten: offsets whose records turn out not to be in the log.
        shifted: how many known facts have the times of the source now.
        is_corrected: whether any known fact is another now.
        kept: the known facts.
        came: facts that come, known ones and those of spare snapshots among them.
        fresh: those that are new.
        count: how many.
        markers: the transaction records of all.
        incoming: the ranges that come.
        broker_facts: the records of brokers of all.
    """

    merged: MergedRanges
    spare: Collection[int]
    overwritten: Sequence[tuple[int, int]]
    shifted: int
    is_corrected: bool
    kept: Frame
    came: Frame
    fresh: Frame
    count: int
    markers: Sequence[Marker]
    incoming: Sequence[Range]
    broker_facts: Sequence[BrokerFact]


def _take_in(
    engine: Engine[Frame],
    known: KnownLog[Frame],
    rows: Frame,
    incoming: Sequence[Range],
    before: Sequence[Range],
) -> _Taken[Frame]:
    """Find the facts that are new, but for those of spare snapshots."""
    merged = merge_ranges(before, incoming)
    lineage, was = merged.lineage, trace(known.ranges)
    spare = spare_snapshots(merged.ranges, before)
    # Once something was forgotten, facts are still called what they were before.
    has_moved = known.head is None or {*lineage.split(known.ranges)[1]} != {
        *was.split(known.ranges)[1]
    }
    kept = engine.told_apart(known.facts, lineage.cuts) if has_moved else known.facts
    came = engine.incoming_facts(rows)
    if lineage.cuts:
        came = engine.told_apart(came, lineage.cuts)
    compared = engine.compare(kept, engine.without(came, OfSnapshots(spare)))
    read_before, read_now = (lineage.split(each)[0] for each in (before, incoming))
    engine.refuse_conflicts(compared, read_before, read_now)
    counted = engine.count_facts(compared)
    brokers = known.broker_facts
    if counted.shifted:
        kept = engine.with_times(kept, compared)
        brokers = engine.broker_facts(kept)
    return _Taken(
        merged=merged,
        spare=spare,
        overwritten=newly_overwritten(known.ranges, incoming, lineage),
        shifted=counted.shifted,
        is_corrected=bool(counted.shifted or has_moved),
        kept=kept,
        came=came,
        fresh=engine.new_facts(compared),
        count=counted.fresh,
        markers=[*known.markers_in(lineage), *counted.markers],
        incoming=incoming,
        broker_facts=brokers_in([*brokers, *counted.brokers], lineage),
    )


def _notes_on_times(count: int) -> Iterator[str]:
    if count:
        yield (
            f"Corrected the time of {number_of(count, 'fact')} from the source: an older aclkit "
            "had shifted it by the time zone of its machine."
        )


def _brokers(
    engine: Engine[Frame],
    known: KnownLog[Frame],
    taken: _Taken[Frame],
    plan: HistoryPlan,
    options: ReplayOptions,
) -> tuple[Brokers, bool]:
    """Return who is registered, and whether all was read by an aclkit that keeps such records.

    Where an older one passed over them, what comes now tells it as well if it alone leads to the
    same head: from the log's beginning, or from a snapshot, which lists all brokers. Otherwise
    nothing is known, for of those who registered before and never again there is no trace.
    """
    if known.has_brokers:
        return fold_brokers(taken.broker_facts, plan), True
    lineage = taken.merged.lineage
    own = options.plan(lineage.split(taken.incoming)[0], taken.markers)
    way, whole = own.itinerary, plan.itinerary
    if way.head == whole.head and way.holes == whole.holes:
        came = brokers_in(engine.broker_facts(taken.came), lineage)
        return fold_brokers(came, own), way.stretches == whole.stretches
    is_as_before = known.head == whole.head and not taken.overwritten
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
    engine: Engine[Frame],
    taken: _Taken[Frame],
    history: Frame,
    plan: HistoryPlan,
    *,
    is_new: bool,
) -> _Checked:
    """Check the snapshots that the log explains: only those that contradict it are kept.

    The others have nothing that the log does not have, and a broker makes new ones every hour.
    Their facts are not kept, nor are those of one that bridged a gap which has been read meanwhile.

    Args:
        engine: has the frames.
        taken: the facts.
        history: rows of ``acl_history``.
        plan: the way through the log.
        is_new: history differs from before, so known snapshots are checked again.
    """
    checks, spare = {*plan.itinerary.checks}, {*taken.spare}
    asked = checks if is_new else checks & spare
    explained = asked & {*plan.itinerary.explained}
    wrong: Mapping[int, Sequence[str]] = {}
    if asked:
        with step("Checking snapshots against the log"):
            came = engine.only(taken.came, OfSnapshots(spare))
            listed = engine.union(taken.kept, taken.fresh, came)
            wrong = engine.contradictions(listed, history, sorted(asked))
    return _Checked(
        wrong=wrong,
        explained=explained - spare - wrong.keys(),
        dropped=(explained | spare) - wrong.keys(),
    )


def _removed(checked: _Checked) -> tuple[Condition, ...]:
    """Return which facts go: those of snapshots that the log explains."""
    return (OfSnapshots(checked.explained),) if checked.explained else ()


def _added(
    engine: Engine[Frame], taken: _Taken[Frame], checked: _Checked, spans: Sequence[Span]
) -> Frame | None:
    """Return the facts that come, those of snapshots that contradict the log among them."""
    kept = {*taken.spare} & checked.wrong.keys()
    added = []
    if taken.count:
        added.append(engine.with_txn_offset(taken.fresh, spans) if spans else taken.fresh)
    if kept:
        added.append(engine.once(engine.only(taken.came, OfSnapshots(kept))))
    return engine.union(*added) if added else None


def _contradiction(end_offset: int, acl_ids: Sequence[str]) -> Finding:
    """Return the finding that a snapshot and the log before it disagree."""
    found = SNAPSHOT_CONTRADICTS_LOG.about(
        f"snapshot at offset {end_offset}",
        f"The snapshot at offset {end_offset} and the log before it disagree on "
        f"{number_of(len(acl_ids), 'ACL')}. aclkit uses the log.",
    )
    return replace(found, acl_ids=tuple(acl_ids[:_MOST_NAMED]))


_MOST_NAMED: Final = 100


def _diverged(overwritten: Sequence[tuple[int, int]]) -> Iterator[Finding]:
    """Yield a finding on records that turn out not to be in the log: they were never committed."""
    if not overwritten:
        return
    where = describe_spans(overwritten)
    yield LOG_DIVERGED.about(
        f"offsets {where}",
        f"Offsets {where} were read with a leader epoch that the log does not have there. The "
        "records read with it were never committed, so aclkit does not use them.",
        fix=f"{LOG_DIVERGED.fix} If the other epoch does not belong to this log, pass --forget "
        f"{overwritten[0][0]}- to aclkit replay.",
    )
