"""An offset or a time → the state at that moment, on the time line of a cluster's past."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final

import duckdb

from aclkit.errors import UsageError
from aclkit.model.facts import LISTING, SNAPSHOT, WRITTEN, in_utc
from aclkit.model.semantics import BrokerSettings
from aclkit.model.values import dataclass
from aclkit.pipeline.replay.history_plan import note_on_doubt
from aclkit.pipeline.replay.ranges import is_written_here, plan
from aclkit.pipeline.replay.spans import END, RANGE_COLUMNS, Range, ranges_of
from aclkit.questions.query.run_order import has_our_times, in_order, settings_in_order
from aclkit.warehouse.duck import Tables, fetch
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.published import Published, run_settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of the brokers.

    Attributes:
        offset: they hold for the state as of this offset, and every later one.
        since: when a run first saw them; None where no table has it.
        broker: the settings.
        before: when a run last saw the settings before these: they changed at any time after
            that; None where no run is known that did.
    """

    offset: int
    since: datetime | None
    broker: BrokerSettings
    before: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """What is known of a cluster's past.

    Attributes:
        head: the offset as of which the published decisions are.
        newest: the offset up to which the log was read.
        jumps: (from, to) of snapshots that history goes on with: what lies between is unknown.
        holes: (from, to) of offsets that could not be read and that history passes over.
        doubtful: (from, to) of offsets that may not be committed: a newer leader wrote after them,
            and the log between was not read.
        settings: of the brokers, the oldest first; those are taken for the time before them too,
            of which nothing is known.
        ours: (offset, time) of facts whose times are those of machines that ran aclkit, in order.
    """

    head: int
    newest: int
    jumps: tuple[tuple[int, int], ...]
    holes: tuple[tuple[int, int], ...]
    doubtful: tuple[tuple[int, int], ...] = ()
    settings: tuple[Settings, ...] = ()
    ours: tuple[tuple[int, datetime], ...] = ()

    @property
    def first(self) -> int:
        """The state is known from this offset on; 0 is the log's beginning."""
        return next((end for start, end in sorted((*self.jumps, *self.holes)) if start == 0), 0)

    def doubtful_at(self, offset: int) -> tuple[tuple[int, int], ...]:
        """Return the doubtful offsets whose changes the state as of an offset has.

        A snapshot that history goes on with after them has the true state.
        """
        ends = [end for _, end in self.jumps if end <= offset]
        return tuple(
            (start, min(stop, offset))
            for start, stop in self.doubtful
            if start < offset and not any(stop <= end for end in ends)
        )

    def settings_at(self, offset: int) -> Settings:
        """Return the settings as of an offset."""
        seen = [item for item in self.settings if item.offset <= offset]
        return seen[-1] if seen else self.settings[0]

    def settings_by(self, time: datetime) -> Settings:
        """Return the settings that a run had seen by a time."""
        seen = [item for item in self.settings if item.since is not None and item.since <= time]
        return seen[-1] if seen else self.settings[0]


def draw_timeline(ranges: Sequence[Range], *, head: int, newest: int | None = None) -> Timeline:
    """Draw what is known of a cluster's past.

    Args:
        ranges: what has been read.
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
        doubtful=tuple((start, min(stop, end)) for start, stop in way.doubtful if start < end),
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


STATE: Final[Mapping[str, Mapping[str, str]]] = {
    name: {} for name in ("acl_history", "principal", "host", "resource", "broker")
}
"""The tables with the current state, see ``duck.connect``."""

PAST: Final = {**STATE, "log_range": {}, "setting": {}, "acl_log": {}}
"""The tables with past states."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A state of the past that was asked about, or that of the published decisions.

    Attributes:
        offset: the state is as of this offset (exclusive).
        settings: those of that moment.
        is_past: it was asked for by offset or time.
        note: what is uncertain about it.
    """

    offset: int
    settings: BrokerSettings
    is_past: bool = False
    note: str | None = None


def read_timeline(connection: Tables, published: Published, run: PublishedRun) -> Timeline:
    """Read what is known of the past of a run's cluster.

    Args:
        connection: see ``reader.open_tables``.
        published: the warehouse.
        run: the run whose decisions are asked about.
    """
    ranges = ranges_of(fetch(connection, _RANGES, [run.cluster_id]))
    newest = published.last_run(run.cluster_id).head_offset
    newest = END if newest is None else newest
    head = newest if run.head_offset is None else run.head_offset
    timeline = draw_timeline(ranges, head=head, newest=newest)
    newest_run = (published.run.run_number, published.run.started_at)
    if has_our_times(ranges):
        whose = [run.cluster_id, LISTING, WRITTEN]
        timed = [row for row in fetch(connection, _OURS, whose) if row[1] is not None]
        times = in_order([time for _, time in timed], newest_run[1])
        ours = tuple((offset, time) for (offset, _), time in zip(timed, times, strict=True))
        timeline = replace(timeline, ours=ours)
    return replace(timeline, settings=_read_settings(connection, run, timeline, newest_run))


def find_moment(
    connection: Tables, timeline: Timeline, run: PublishedRun, asked: int | datetime | None
) -> Moment:
    """Return the state that is asked about: that of the run's decisions if none is named.

    As of offset N is the state of all records below N; as of a time, as of the first offset with
    a later timestamp (DESIGN.md, replay). Settings are those that a run had seen by then.

    Args:
        connection: see ``reader.open_tables``.
        timeline: the cluster's past.
        run: the run whose decisions are asked about.
        asked: an offset, a time, or neither.

    Raises:
        UsageError: the offset is beyond the log, it lies where nothing is known, or the log has
            no times.
    """
    if asked is None:
        settings, _ = run_settings(run)
        return Moment(
            offset=timeline.head, settings=settings, note=_on_doubt(timeline, timeline.head)
        )
    if isinstance(asked, int):
        _check(timeline, asked)
        then = timeline.settings_at(asked)
        return _moment(asked, then, timeline, is_sure=then.offset <= asked)
    time = in_utc(asked).replace(tzinfo=None)
    offset = _first_after(connection, run, timeline, time)
    if offset is None:
        raise UsageError("The log has no times. Pass an offset instead of a time.")
    _check(timeline, offset)
    then = timeline.settings_by(time)
    is_sure = then.since is None or then.since <= time
    return _moment(offset, then, timeline, is_sure=is_sure)


def times_of(connection: Tables, cluster_id: str, offsets: Sequence[int]) -> dict[int, datetime]:
    """Read the times of records, by offset, where the log has them."""
    rows = fetch(connection, _TIMES, [cluster_id, list(offsets)])
    return {offset: time for offset, time in rows if time is not None}


def note_on_hole(start: int, end: int) -> str:
    """Write what a hole of the log means for the states after it."""
    return f"Offsets {start} to {end - 1} could not be read. Changes there are missing."


def notes_on_moment(moment: Moment, timeline: Timeline) -> tuple[str, ...]:
    """Write what is uncertain about a state of the past, and which changes it lacks."""
    holes = (note_on_hole(*hole) for hole in timeline.holes if hole[1] <= moment.offset)
    return (*filter(None, [moment.note]), *holes)


def _moment(offset: int, then: Settings, timeline: Timeline, *, is_sure: bool) -> Moment:
    notes = (None if is_sure else note_on_settings(timeline), _on_doubt(timeline, offset))
    note = " ".join(filter(None, notes)) or None
    return Moment(offset=offset, settings=then.broker, is_past=True, note=note)


def _on_doubt(timeline: Timeline, offset: int) -> str | None:
    spans = timeline.doubtful_at(offset)
    return note_on_doubt(spans) if spans else None


def _check(timeline: Timeline, offset: int) -> None:
    """Refuse an offset of which no state is known."""
    if not 0 <= offset <= timeline.newest:
        raise UsageError(
            f"Offset {offset} is beyond the log, which was read up to {timeline.newest}. "
            f"Expected 0 to {timeline.newest}."
        )
    for start, end in (*timeline.jumps, *timeline.holes):
        if start < offset < end or (start == 0 and offset < end):
            raise UsageError(
                f"The state as of offset {offset} is unknown: offsets {start} to {end - 1} "
                f"were not read from the log. Expected one of {end} to {timeline.newest}."
            )


def _first_after(
    connection: Tables, run: PublishedRun, timeline: Timeline, time: datetime
) -> int | None:
    """Return the first offset with a later timestamp, or the log's end; None without any times.

    A snapshot that history jumps onto counts as a record at its last offset, as in history.
    """
    if timeline.ours:
        return next((offset for offset, came in timeline.ours if came > time), timeline.newest)
    newest, ends = timeline.newest, [end for _, end in timeline.jumps]
    ((first, times),) = fetch(connection, _AFTER, [time, ends, run.cluster_id, newest])
    if not times:
        return None
    return newest if first is None else int(first)


def _last_below(
    connection: Tables, run: PublishedRun, timeline: Timeline, offset: int
) -> datetime | None:
    """Return the time of the newest record below an offset; None where there is none."""
    if timeline.ours:
        return max((came for at, came in timeline.ours if at < offset), default=None)
    ends = [end for _, end in timeline.jumps]
    ((time,),) = fetch(connection, _BELOW, [ends, run.cluster_id, offset])
    found: datetime | None = time
    return found


def _read_settings(
    connection: Tables,
    run: PublishedRun,
    timeline: Timeline,
    newest: tuple[int, datetime | None],
) -> tuple[Settings, ...]:
    """Read the settings of all times; the first ones also stand for the time before them.

    An older aclkit stored Kafka's defaults for unknown settings. So a setting that is unknown now
    was also unknown when the same settings held.
    """
    rows = fetch(connection, _SETTINGS, [run.cluster_id])
    settings, (now, _) = [], run_settings(run)
    seen = settings_in_order(rows, newest, partial(_last_below, connection, run, timeline))
    for since, broker in seen:
        later = _first_after(connection, run, timeline, since)
        offset = timeline.newest if later is None else later
        unknown = broker.unknown | (now.unknown if broker == now else frozenset())
        known = replace(broker, unknown=unknown)
        settings.append(Settings(offset=offset, since=since, broker=known))
    return tuple(settings or [Settings(offset=0, since=None, broker=now)])


_RANGES: Final = (
    f"SELECT {RANGE_COLUMNS} FROM log_range "  # noqa: S608 -- a constant
    "WHERE cluster_id = ? ORDER BY ALL"
)
_SETTINGS: Final = (
    "SELECT CAST(since_time AS TIMESTAMP), super_users, allow_everyone, run_number, log_offset "
    "FROM setting WHERE cluster_id = ? ORDER BY run_number NULLS FIRST, since_time"
)
_OURS: Final = (
    "SELECT log_offset, CAST(max(log_time) AS TIMESTAMP) FROM acl_log WHERE cluster_id = ? "
    "AND (fact = ? OR source = ?) GROUP BY log_offset ORDER BY log_offset"
)
_PASSED: Final = (
    "FROM (SELECT CAST(log_time AS TIMESTAMP) AS at_time, cluster_id, "
    "CASE WHEN fact NOT IN ('snapshot', 'overwritten') THEN log_offset "
    "WHEN log_offset IN (SELECT unnest(CAST(? AS BIGINT[]))) THEN log_offset - 1 END AS at_offset "
    "FROM acl_log) WHERE cluster_id = ? AND at_offset < ?"
)
_AFTER: Final = f"SELECT min(at_offset) FILTER (WHERE at_time > ?), count(at_time) {_PASSED}"
_BELOW: Final = f"SELECT max(at_time) {_PASSED}"
_TIMES: Final = (
    "SELECT log_offset, CAST(max(log_time) AS TIMESTAMP) FROM acl_log WHERE cluster_id = ? "
    "AND fact NOT IN ('snapshot', 'overwritten') "
    "AND log_offset IN (SELECT unnest(CAST(? AS BIGINT[]))) GROUP BY 1"
)


def is_replicated(connection: duckdb.DuckDBPyConnection, cluster_id: str) -> bool:
    """Whether a cluster was replayed from somewhere, so that only its source changes it."""
    ranges = ranges_of(fetch(connection, _RANGES, [cluster_id]))
    return not is_written_here(
        ranges, lambda: fetch(connection, _WRITTEN_HERE, [cluster_id, WRITTEN])[0][0]
    )


_WRITTEN_HERE = "SELECT count(*) FROM acl_log WHERE cluster_id = ? AND source = ?"
