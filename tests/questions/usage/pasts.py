"""Pasts without Spark: of steps that a test names, and of a metadata log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from aclkit.model.acl import Acl
from aclkit.model.facts import ADD_ACL, FACT, REMOVE_ACL
from aclkit.model.semantics import KAFKA, BrokerSettings, Semantics
from aclkit.pipeline.sources.segment import read_segment
from aclkit.questions.query.as_of import Settings, Timeline
from aclkit.questions.query.lifetimes import Lifetime
from aclkit.questions.usage.clock import to_datetime, to_micros
from aclkit.questions.usage.past import ClusterPast, build_past

SECURE = Path(__file__).parents[2] / "data" / "secure"
SEGMENT = SECURE / "__cluster_metadata-0" / "00000000000000000000.log"
LOG = SECURE / "kafka-authorizer.log"
SUPER_USERS = BrokerSettings(super_users=frozenset({"User:ANONYMOUS", "User:admin"}))
NOBODY = BrokerSettings()


@dataclass(frozen=True)
class Step:
    """A record: an ACL that comes, or the id of one that goes."""

    offset: int
    time: int
    came: Acl | None = None
    went: str | None = None


def past_of(
    steps: Sequence[Step],
    *settings: tuple[int | None, BrokerSettings] | tuple[int | None, BrokerSettings, int],
    jumps: tuple[tuple[int, int], ...] = (),
    is_listed: bool = False,
    newest: int | None = None,
    semantics: Semantics = KAFKA,
) -> ClusterPast:
    """Make a past; settings are (since, what, when the ones before were seen last) in micros."""
    head = max((step.offset for step in steps), default=0) + 1
    told = settings or ((None, NOBODY),)
    timeline = Timeline(
        head=head,
        newest=newest or head,
        jumps=jumps,
        holes=(),
        settings=tuple(
            Settings(offset=0, since=_at(since), broker=broker, before=_at(*before))
            for since, broker, *before in told
        ),
    )
    times = [(step.offset, step.time) for step in steps]
    return build_past(lives_of(steps), timeline, times, is_listed=is_listed, semantics=semantics)


def _at(micros: int | None = None) -> datetime | None:
    return None if micros is None else to_datetime(micros).replace(tzinfo=None)


def lives_of(steps: Iterable[Step]) -> list[Lifetime]:
    """Fold steps into lifetimes."""
    lives: dict[str, Lifetime] = {}
    for step in steps:
        at = to_datetime(step.time).replace(tzinfo=None)
        if step.came is not None:
            lives[step.came.acl_id] = Lifetime(
                acl=step.came,
                added_offset=step.offset,
                effective_offset=step.offset,
                added_at=at,
                added_by="record",
                removed_offset=None,
                removed_at=None,
            )
        if step.went is not None:
            gone = lives[step.went]
            lives[step.went] = replace(gone, removed_offset=step.offset, removed_at=at)
    return list(lives.values())


def secure_past() -> ClusterPast:
    """The past of the real broker whose authorizer log is in the test data."""
    steps = []
    for row in read_segment(SEGMENT.read_bytes(), "log"):
        if row.kind != FACT or row.log_offset is None or row.log_time is None:
            continue
        step = Step(row.log_offset, to_micros(row.log_time))
        if row.record_type == ADD_ACL:
            fields = {name: getattr(row, name) for name in Acl.__slots__}
            step = replace(step, came=Acl(**fields))
        elif row.record_type == REMOVE_ACL:
            step = replace(step, went=row.acl_id)
        steps.append(step)
    return past_of(steps, (None, SUPER_USERS))
