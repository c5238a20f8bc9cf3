"""Ranges that were read, and settings that runs saw → the time line of a cluster's past. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from aclkit.model.facts import SNAPSHOT
from aclkit.model.semantics import BrokerSettings
from aclkit.pipeline.replay.ranges import Range, plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of the brokers.

    Attributes:
        offset: they hold for the state as of this offset, and every later one.
        since: when a run first saw them; None where no table has it.
        broker: the settings.
    """

    offset: int
    since: datetime | None
    broker: BrokerSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """What is known of a cluster's past.

    Attributes:
        head: the offset as of which the published decisions are.
        newest: the offset up to which the log was read.
        jumps: (from, to) of snapshots that history goes on with: what lies between is unknown.
        holes: (from, to) of offsets that could not be read and that history passes over.
        settings: of the brokers, the oldest first; those are taken for the time before them too,
            of which nothing is known.
        ours: (offset, time) of facts whose times are those of machines that ran aclkit, in order.
    """

    head: int
    newest: int
    jumps: tuple[tuple[int, int], ...]
    holes: tuple[tuple[int, int], ...]
    settings: tuple[Settings, ...]
    ours: tuple[tuple[int, datetime], ...] = ()

    @property
    def first(self) -> int:
        """The state is known from this offset on; 0 is the log's beginning."""
        return next((end for start, end in sorted((*self.jumps, *self.holes)) if start == 0), 0)

    def settings_at(self, offset: int) -> Settings:
        """Return the settings as of an offset."""
        seen = [item for item in self.settings if item.offset <= offset]
        return seen[-1] if seen else self.settings[0]

    def settings_by(self, time: datetime) -> Settings:
        """Return the settings that a run had seen by a time."""
        seen = [item for item in self.settings if item.since is not None and item.since <= time]
        return seen[-1] if seen else self.settings[0]


def draw_timeline(
    ranges: Sequence[Range], settings: Iterable[Settings], *, head: int, newest: int | None = None
) -> Timeline:
    """Draw what is known of a cluster's past.

    Args:
        ranges: what has been read.
        settings: of the brokers, the oldest first.
        head: the offset as of which the decisions that are asked about are.
        newest: the offset up to which history goes; None where that is the head, whatever more
            was read of the log.
    """
    way = plan(ranges, accept_holes=True)
    end = head if newest is None else newest
    snapshots = (stretch for stretch in way.stretches if stretch.fact == SNAPSHOT)
    return Timeline(
        head=head,
        newest=max(head, way.head) if newest is None else newest,
        jumps=tuple((s.from_offset, s.to_offset) for s in snapshots if s.to_offset <= end),
        holes=tuple(hole for hole in way.holes if hole[1] <= end),
        settings=tuple(settings),
    )


def note_on_settings(timeline: Timeline) -> str | None:
    """Write since when the settings are known; None where no table has it."""
    since = timeline.settings[0].since
    if since is None:
        return None
    return (
        f"Broker settings are known only since {since:%Y-%m-%d %H:%M:%S} UTC; earlier times "
        "assume the same."
    )
