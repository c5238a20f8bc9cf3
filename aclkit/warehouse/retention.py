"""The published runs and a policy → which of them stay, and which table versions they need. Pure.

A run that stays keeps its row of ``job_run`` and its rows of ``finding`` and ``access_change``;
what can still be asked about the tables as it left them depends on its versions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from aclkit.model.groups import grouped
from aclkit.warehouse.job_run import MATERIALIZING, PublishedRun, decided_and_before
from aclkit.warehouse.run import goes_on_from, versions_now


@dataclass(frozen=True, slots=True)
class Policy:
    """What a user wants to stay, beyond what is needed anyway.

    Attributes:
        keep_days: every run that readers saw within so many days.
        keep_runs: so many of the newest runs, however old they are.
    """

    keep_days: float
    keep_runs: int


@dataclass(frozen=True, slots=True)
class Kept:
    """What stays.

    Attributes:
        runs: the published runs, the oldest first.
        versions: table → its versions that are needed.
    """

    runs: tuple[PublishedRun, ...]
    versions: Mapping[str, frozenset[int]]


def keep(
    runs: Sequence[PublishedRun],
    policy: Policy,
    now: datetime,
    pinned: frozenset[str] = frozenset(),
) -> Kept:
    """Choose what stays of all published runs, the oldest first.

    The newest runs by the policy stay as they are. Of those before them only rows stay: of each
    cluster the newest run of each job, the run that decided and the one before it, and where a
    run that stays took its decisions over, the run that made them. They name the versions that
    maintenance has put in the place of theirs, whose own runs go. The runs that a later run opens
    keep their tables: the run that the next one goes on from, and those that ``_deciding`` returns.
    So do the runs whose ids are pinned.
    """
    first = _first_of_window(runs, policy, now)
    older, window = runs[:first], runs[first:]
    next_runs_open = (goes_on_from(runs, cluster_id) for cluster_id in {r.cluster_id for r in runs})
    opened = _deciding(runs) | {run.run_number for run in next_runs_open if run is not None}
    opened |= {run.run_number for run in runs if run.run_id in pinned}
    wanted = opened | {run.run_number for run in {(r.cluster_id, r.job): r for r in runs}.values()}
    staying = [*window, *(run for run in older if run.run_number in wanted)]
    taken_over = (run.decided_in for run in staying if run.job in MATERIALIZING)
    wanted |= {number for number in taken_over if number is not None}
    rest = [
        replace(run, table_versions=versions_now(older, run))
        for run in older
        if run.run_number in wanted
    ]
    readable = (*window, *(run for run in rest if run.run_number in opened))
    versions = grouped(pair for run in readable for pair in run.table_versions.items())
    return Kept((*rest, *window), {table: frozenset(found) for table, found in versions.items()})


def _first_of_window(runs: Sequence[PublishedRun], policy: Policy, now: datetime) -> int:
    """Return the place of the oldest run that the policy keeps.

    Readers saw a run until the next one was published. The order is that of the numbers, and a
    clock may have gone back: the oldest that was seen late enough counts, and all after it. A time
    in the future proves nothing: the run preceding it was seen as long as the one after it.
    """
    newest = max(0, len(runs) - policy.keep_runs)
    since = now - timedelta(days=policy.keep_days)
    ends = [run.ended for run in runs[1 : newest + 1]]
    first = next((place for place, end in enumerate(ends) if since < end <= now), newest)
    while first and ends[first - 1] > now:
        first -= 1
    return first


def _deciding(runs: Sequence[PublishedRun]) -> set[int]:
    """Return of each cluster the run that decided, and the one before it."""
    by_cluster = grouped((run.cluster_id, (run.run_number, run.job, run.counts)) for run in runs)
    found = (decided_and_before(of_cluster) for of_cluster in by_cluster.values())
    return {number for pair in found if pair for number in pair if number is not None}
