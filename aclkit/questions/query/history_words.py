"""The history of an access → plain English. Names stand in it as they are, as in ``words``."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from aclkit.model.acl import ANY_OTHER, acl_words
from aclkit.model.broker_settings import caveats_on_denial
from aclkit.model.confluent import caveats_on_roles
from aclkit.pipeline.replay.history_plan import note_on_doubt
from aclkit.questions.query.as_of import Timeline, note_on_hole, note_on_settings
from aclkit.questions.query.history import (
    ADDED,
    LOG_START,
    REMOVED,
    SEARCH,
    SETTINGS,
    History,
    Interval,
)
from aclkit.questions.query.words import BY_HOST, decision_words
from aclkit.rules.decide.rules import ALLOWED


def history_sentence(history: History) -> str:
    """Write in one sentence since when an access is as it is, and through what."""
    newest, since = history.intervals[-1], history.since
    decision = decision_words(history.request, newest.ruling, is_any_host=not history.has_hosts)
    text = f"{decision}, {_beginning(since)}"
    if newest is not since:
        what = "ACL" if newest.ruling.acl else f"rule {newest.ruling.rule}"
        text += f"; by the present {what} {_beginning(newest)}"
    return text + "."


def _gaps(timeline: Timeline) -> Iterator[str]:
    """Yield which offsets a history does not know, or not for sure."""
    if timeline.first:
        yield f"The state before offset {timeline.first - 1} is unknown."
    for start, end in timeline.jumps:
        if 0 < start < timeline.head:
            yield (
                f"Offsets {start} to {end - 1} were not read; a snapshot has the state after "
                "them. Changes in between are shown as if they had happened there."
            )
    for start, end in timeline.holes:
        if 0 < start < timeline.head:
            yield note_on_hole(start, end)
    if timeline.doubtful:
        yield note_on_doubt(timeline.doubtful)


def history_notes(history: History) -> Iterator[str]:
    """Yield what is not known about a history."""
    timeline = history.timeline
    yield from _gaps(timeline)
    if note := note_on_settings(timeline):
        yield note
    if history.intervals[-1].ruling.decision != ALLOWED:
        yield from caveats_on_denial(
            timeline.settings[-1].broker,
            history.request.principal,
            is_unreached=history.is_unreached,
        )
        if history.intervals[-1].ruling.acl is None:
            yield from caveats_on_roles([history.request.principal], history.run.cluster_id)
    if history.has_hosts and history.request.host == ANY_OTHER:
        yield BY_HOST


def _beginning(interval: Interval) -> str:
    """Write when an interval began, and through what."""
    when = _when(interval.from_offset, interval.from_time)
    if interval.cause == LOG_START and not interval.is_exact:
        return f"since the log begins ({when}); what was before is unknown"
    if not interval.is_exact:
        return f"since {when} or earlier (a snapshot has it; when it began is unknown)"
    if interval.cause == LOG_START:
        return "since the beginning of the log"
    if interval.cause == SETTINGS:
        return f"since the brokers' settings changed ({when})"
    if interval.cause == SEARCH:
        return f"since another ACL moved the end of the broker's search ({when})"
    verb = {ADDED: "added", REMOVED: "removed"}[interval.cause]
    first, *others = map(acl_words, interval.acls)
    if not others:
        return f"since {first} was {verb} ({when})"
    second = others[0] if len(others) == 1 else f"{len(others):,} more"
    return f"since {first} and {second} were {verb} ({when})"


def _when(offset: int | None, time: datetime | None) -> str:
    parts = [] if time is None else [f"{time:%Y-%m-%d %H:%M:%S} UTC"]
    if offset is not None:
        parts.append(f"offset {offset}")
    return ", ".join(parts) or "at an unknown time"
