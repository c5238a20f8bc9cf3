"""Rows of ``acl_log``, ``acl_history`` and ``setting`` → the past of their cluster."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from aclkit.model.facts import LISTING, SNAPSHOT
from aclkit.model.semantics import KAFKA, Semantics
from aclkit.pipeline.replay.ranges import Range
from aclkit.questions.query.lifetimes import LIFETIME_COLUMNS, lifetime_of
from aclkit.questions.query.timeline import draw_timeline, settings_of
from aclkit.questions.usage.clock import to_micros
from aclkit.questions.usage.frames import collect_rows
from aclkit.questions.usage.past import ClusterPast, build_past


def past_of(
    ranges: Sequence[Range],
    facts: DataFrame,
    history: DataFrame,
    settings: DataFrame,
    *,
    head: int,
    semantics: Semantics = KAFKA,
) -> ClusterPast | None:
    """Collect the past of a cluster; None where nothing says what its settings were.

    Args:
        ranges: what has been read.
        facts: its rows of ``acl_log``.
        history: those of ``acl_history``.
        settings: those of ``setting``.
        head: the state is known as of this offset.
        semantics: Kafka's, with ranges or without.
    """
    columns = ("since_time", "super_users", "allow_everyone")
    seen = collect_rows(settings.orderBy("since_time").select(*columns))
    if not seen:
        return None
    timeline = draw_timeline(ranges, map(settings_of, seen), head=head)
    ends = {end for _, end in timeline.jumps}
    times = [
        (offset - (fact == SNAPSHOT), time and to_micros(time))
        for fact, offset, time in collect_rows(
            facts.select("fact", "log_offset", "log_time").distinct()
        )
        if fact != SNAPSHOT or offset in ends
    ]
    lives = history.select(*LIFETIME_COLUMNS).orderBy("effective_offset", "acl_id")
    is_listed = any(item.fact == LISTING for item in ranges)
    told = map(lifetime_of, collect_rows(lives))
    return build_past(told, timeline, times, is_listed=is_listed, semantics=semantics)
