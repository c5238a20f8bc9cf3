"""The tables of a run's cluster → its past."""

from __future__ import annotations

from aclkit.errors import UsageError
from aclkit.model.facts import LISTING, SNAPSHOT
from aclkit.model.semantics import BrokerSettings
from aclkit.pipeline.replay import tables
from aclkit.pipeline.replay.ranges import plan
from aclkit.questions.query.as_of import Settings, Timeline
from aclkit.questions.query.lifetimes import LIFETIME_COLUMNS, Lifetime, lifetime_of
from aclkit.questions.usage.clock import to_micros
from aclkit.questions.usage.frames import collect_rows
from aclkit.questions.usage.past import Past, build_past
from aclkit.warehouse.run import Run


def read_past(run: Run) -> Past:
    """Read the past of a run's cluster.

    Raises:
        UsageError: no table says what super.users and allow.everyone were.
    """
    ranges = tables.read_ranges(run.store, run.cluster_id)
    way = plan(ranges, accept_holes=True)
    head = run.head_offset
    snapshots = [
        stretch
        for stretch in way.stretches
        if stretch.fact == SNAPSHOT and stretch.to_offset <= head
    ]
    timeline = Timeline(
        head=head,
        newest=max(head, way.head),
        jumps=tuple((stretch.from_offset, stretch.to_offset) for stretch in snapshots),
        holes=tuple(hole for hole in way.holes if hole[1] <= head),
        settings=_read_settings(run),
    )
    ends = {stretch.to_offset for stretch in snapshots}
    facts = run.store.cluster_rows("acl_log", run.cluster_id)
    rows = collect_rows(facts.select("fact", "log_offset", "log_time").distinct())
    times = [
        (offset - (fact == SNAPSHOT), time and to_micros(time))
        for fact, offset, time in rows
        if fact != SNAPSHOT or offset in ends
    ]
    is_listed = any(item.fact == LISTING for item in ranges)
    return build_past(_read_lives(run), timeline, times, is_listed=is_listed)


def _read_lives(run: Run) -> list[Lifetime]:
    history = run.store.cluster_rows("acl_history", run.cluster_id)
    lives = history.select(*LIFETIME_COLUMNS).orderBy("effective_offset", "acl_id")
    return list(map(lifetime_of, collect_rows(lives)))


def _read_settings(run: Run) -> tuple[Settings, ...]:
    rows = run.store.cluster_rows("setting", run.cluster_id).orderBy("since_time")
    found = collect_rows(rows.select("since_time", "super_users", "allow_everyone"))
    if not found:
        raise UsageError(
            f"super.users and allow.everyone of cluster {run.cluster_id!r} are not known yet; "
            f"next: aclkit --warehouse {run.store.warehouse} materialize --super-users … "
            "(or --server-properties FILE)"
        )
    return tuple(
        Settings(
            offset=0,
            since=since,
            broker=BrokerSettings(
                super_users=frozenset(users or ()), allow_everyone=bool(allow_everyone)
            ),
        )
        for since, users, allow_everyone in found
    )
