"""Rows of ``acl_log``, ``acl_history`` and ``setting`` → the past of their cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from aclkit.model.facts import LISTING, SNAPSHOT, WRITTEN
from aclkit.model.semantics import KAFKA, Semantics
from aclkit.pipeline.replay.ranges import Range
from aclkit.questions.query.as_of import Settings, draw_timeline
from aclkit.questions.query.lifetimes import LIFETIME_COLUMNS, lifetime_of
from aclkit.questions.query.run_order import (
    SETTING_COLUMNS,
    has_our_times,
    in_order,
    settings_in_order,
)
from aclkit.questions.usage.clock import to_micros
from aclkit.questions.usage.frames import collect_rows
from aclkit.questions.usage.past import ClusterPast, build_past


def _are_ours() -> Column:
    """Whether a machine that ran aclkit gave facts their times."""
    return (F.col("fact") == LISTING) | (F.col("source") == WRITTEN)


def past_of(
    ranges: Sequence[Range],
    facts: DataFrame,
    history: DataFrame,
    settings: DataFrame,
    *,
    head: int,
    newest: tuple[int, datetime | None] = (0, None),
    semantics: Semantics = KAFKA,
) -> ClusterPast | None:
    """Collect the past of a cluster; None where its settings were never recorded.

    Args:
        ranges: what has been read.
        facts: its rows of ``acl_log``.
        history: those of ``acl_history``.
        settings: those of ``setting``.
        head: the state is known as of this offset.
        newest: the number of the newest run, and when it began.
        semantics: Kafka's, with ranges or without.
    """
    in_order_of_runs = settings.orderBy(F.asc_nulls_first("run_number"), "since_time")
    rows = collect_rows(in_order_of_runs.select(*SETTING_COLUMNS))
    if not rows:
        return None
    timeline = draw_timeline(ranges, head=head)
    ends = {end for _, end in timeline.jumps}
    times = [
        (offset - (fact == SNAPSHOT), time)
        for fact, offset, time in collect_rows(
            facts.select("fact", "log_offset", "log_time").distinct()
        )
        if fact != SNAPSHOT or offset in ends
    ]
    if has_our_times(ranges) and not facts.where(~_are_ours()).limit(1).count():
        timed = sorted((at, time) for at, time in times if time is not None)
        ordered = in_order([time for _, time in timed], newest[1])
        times = [(at, time) for (at, _), time in zip(timed, ordered, strict=True)]

    def last_below(offset: int) -> datetime | None:
        return max((t for at, t in times if t is not None and at < offset), default=None)

    seen = settings_in_order(rows, newest, last_below)
    known = tuple(Settings(offset=0, since=since, broker=broker) for since, broker in seen)
    timeline = replace(timeline, settings=known)
    lives = history.select(*LIFETIME_COLUMNS).orderBy("effective_offset", "acl_id")
    is_listed = any(item.fact == LISTING for item in ranges)
    told = map(lifetime_of, collect_rows(lives))
    micros = [(at, time and to_micros(time)) for at, time in times]
    return build_past(told, timeline, micros, is_listed=is_listed, semantics=semantics)
