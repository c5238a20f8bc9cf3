"""Rows of ``acl_log``, ``acl_history`` and ``setting`` → the past of their cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from aclkit.model.facts import LISTING, SNAPSHOT, WRITTEN
from aclkit.model.semantics import KAFKA, Semantics
from aclkit.pipeline.replay.spans import Range
from aclkit.questions.query.as_of import Settings, draw_timeline
from aclkit.questions.query.lifetimes import lifetime_of, lifetime_sql
from aclkit.questions.query.run_order import (
    has_our_times,
    in_order,
    last_seen_before,
    settings_in_order,
)
from aclkit.questions.usage.clock import to_micros
from aclkit.questions.usage.past import ClusterPast, build_past
from aclkit.warehouse.reader import Reader

PAST_TABLES: Final = ("acl_log", "acl_history", "setting")
"""The tables that a past is made of."""


def past_of(
    ranges: Sequence[Range],
    read: Reader,
    *,
    head: int,
    newest: tuple[int, datetime | None] = (0, None),
    deciding: Callable[[], Sequence[tuple[int, datetime]]] = tuple,
    semantics: Semantics = KAFKA,
) -> ClusterPast | None:
    """Collect the past of a cluster; None where its settings were never recorded.

    Args:
        ranges: what has been read.
        read: knows ``PAST_TABLES``, the cluster's rows.
        head: the state is known as of this offset.
        newest: the number of the newest run, and when it began.
        deciding: returns number and beginning of the cluster's runs that saw settings, in order.
        semantics: Kafka's, with ranges or without.
    """
    rows = read.rows(_SETTINGS)
    if not rows:
        return None
    timeline = draw_timeline(ranges, head=head)
    ends = {end for _, end in timeline.jumps}
    times = [
        (offset - (fact == SNAPSHOT), time)
        for fact, offset, time in read.rows(_TIMES)
        if fact != SNAPSHOT or offset in ends
    ]
    if has_our_times(ranges) and not read.rows(_OTHERS, LISTING, WRITTEN):
        timed = sorted((at, time) for at, time in times if time is not None)
        ordered = in_order([time for _, time in timed], newest[1])
        times = [(at, time) for (at, _), time in zip(timed, ordered, strict=True)]

    def last_below(offset: int) -> datetime | None:
        return max((t for at, t in times if t is not None and at < offset), default=None)

    seen = settings_in_order(rows, newest, last_below)
    runs = deciding() if len(rows) > 1 else ()
    known = tuple(
        Settings(offset=0, since=since, broker=broker, before=last_seen_before(row[3], runs))
        for row, (since, broker) in zip(rows, seen, strict=True)
    )
    timeline = replace(timeline, settings=known)
    is_listed = any(item.fact == LISTING for item in ranges)
    lives = map(lifetime_of, read.rows(_LIVES))
    micros = [(at, time and to_micros(time)) for at, time in times]
    return build_past(lives, timeline, micros, is_listed=is_listed, semantics=semantics)


_SETTINGS: Final = (
    "SELECT CAST(since_time AS TIMESTAMP), super_users, allow_everyone, run_number, log_offset "
    "FROM setting ORDER BY run_number NULLS FIRST, since_time"
)
_TIMES: Final = (
    "SELECT DISTINCT fact, log_offset, CAST(log_time AS TIMESTAMP) FROM acl_log "
    "WHERE fact <> 'overwritten'"
)
_OTHERS: Final = "SELECT 1 FROM acl_log WHERE NOT (fact = ? OR source = ?) LIMIT 1"
_LIVES: Final = lifetime_sql("FROM acl_history ORDER BY effective_offset, acl_id")
