"""A cluster's past, and one request → the rulings on it, each with the time since which it holds.

Always under ``kafka``, with ranges or without (the same for all times, see ``note_on_ranges``):
it is a broker's log that is compared. As of a time is the state of all records before the first
one with a later timestamp (DESIGN.md, replay); a broker has it a little later. Settings change at
an unknown time between the run that saw the old ones last and the run that saw the new ones first.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Final

from aclkit.kafka.authorizer.audit import Wording, rule_text
from aclkit.model.acl import ANY_OTHER, Request
from aclkit.model.cidr import Range, any_other_in, parse_range
from aclkit.model.facts import LISTING, SNAPSHOT, WRITTEN
from aclkit.model.semantics import KAFKA, BrokerSettings, Semantics
from aclkit.pipeline.replay import spans
from aclkit.questions.query.as_of import Settings, Timeline, draw_timeline
from aclkit.questions.query.history import fold_access
from aclkit.questions.query.lifetimes import Lifetime, lifetime_of, lifetime_sql
from aclkit.questions.query.run_order import (
    has_our_times,
    in_order,
    last_seen_before,
    settings_in_order,
)
from aclkit.questions.usage.clock import Span, to_micros
from aclkit.rules.decide.rules import Ruling, answers
from aclkit.rules.patterns.identity import ranges_holding
from aclkit.rules.patterns.match import range_of_host
from aclkit.rules.patterns.trie import PatternIndex
from aclkit.warehouse.reader import Reader

BEGINNING: Final = -(2**62)
END: Final = 2**62
"""Before and after all times, in microseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterPast:
    """All that is known of a cluster's past.

    Attributes:
        lives: the lifetimes of all ACLs.
        index: which of them apply to a resource, under ``kafka``.
        below: those that a broker's second scan may meet, by resource type.
        timeline: settings and head.
        reached: offset → since when the state contains its record: the earliest and the latest
            possible time.
        unknown: times whose state is unknown.
        read_at: when the sources were read, in microseconds: nothing later is known.
        hosts: those that some ACL names; other hosts in the same ranges have the same decisions.
        semantics: how ACLs are read.
        ranges: those among the hosts.
        masks: of these ranges, see ``ranges_holding``.
    """

    lives: tuple[Lifetime, ...]
    index: PatternIndex
    below: Mapping[str, tuple[Lifetime, ...]]
    timeline: Timeline
    reached: Mapping[int, Span]
    unknown: tuple[Span, ...]
    hosts: frozenset[str]
    semantics: Semantics = KAFKA
    read_at: int = END
    ranges: frozenset[Range] = frozenset()
    masks: frozenset[tuple[int, int]] = frozenset()

    def representative(self, request: Request) -> Request:
        """Return a request with the same decision, the same for all hosts that are decided alike.

        So the many hosts of clients do not each need a decision of their own.
        """
        if request.host in self.hosts:
            return request
        holding = self.ranges.intersection(ranges_holding(request.host, self.masks))
        narrowest = max(holding, key=lambda each: each.mask, default=None)
        host = ANY_OTHER if narrowest is None else any_other_in(narrowest)
        return replace(request, host=host)

    def reaching(self, request: Request) -> list[Lifetime]:
        """Return the lifetimes of the ACLs that reach a request's resource."""
        found = self.index.matches(request.resource_type, request.resource_name)
        return [self.lives[at] for at in found]

    def granting(self, request: Request, time: int) -> list[Lifetime]:
        """Return the grants, of those alive at the head, that could allow a request at a time."""
        return [
            life
            for life in self.reaching(request)
            if life.acl.is_allow
            and life.is_alive(self.timeline.head)
            and self.reached[life.effective_offset][1] <= time
            and answers(life.acl, request, self.semantics)
        ]

    def is_unknown(self, span: Span) -> bool:
        """Whether the state at some time of a span is not known."""
        return any(start < span[1] and span[0] < end for start, end in self.unknown)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldRuling:
    """A ruling that held for a while.

    Attributes:
        ruling: decision, rule and deciding ACL.
        since: when it came: the earliest and the latest time that it may have.
        texts: the rule as the brokers of all releases write it.
        runs: the two between which settings of the brokers changed, where it is uncertain for
            this reason when the ruling came.
    """

    ruling: Ruling
    since: Span
    texts: tuple[str, ...]
    runs: Span | None = None


@dataclass(frozen=True, slots=True)
class Rulings:
    """The rulings on one request: under each settings of the brokers those of all their time."""

    periods: tuple[Period, ...]

    @property
    def earliest(self) -> Iterator[int]:
        """The times from which on a ruling may hold."""
        for each in self.periods:
            yield each.came[0]
            yield from each.earliest

    @property
    def latest(self) -> Iterator[int]:
        """The times after which a ruling no longer holds, or surely holds."""
        for each in self.periods:
            yield each.end
            yield from each.latest

    def within(self, span: Span) -> tuple[HeldRuling, ...]:
        """Return those that held, or may have, at some time of a span, its ends included."""
        found: list[HeldRuling] = []
        for period in self.periods:
            if period.came[0] <= span[1] and span[0] <= period.end:
                known = {held.ruling for held in found}
                found += [held for held in period.within(span) if held.ruling not in known]
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Period:
    """The rulings on one request under some settings, the oldest first.

    Attributes:
        came: the earliest and the latest time at which the settings may have come.
        end: when they were gone at the latest.
        held: the first one holds since the beginning.
        earliest: when each came at the earliest, as if these settings always were in force.
        latest: and at the latest.
    """

    came: Span
    end: int
    held: tuple[HeldRuling, ...]
    earliest: tuple[int, ...]
    latest: tuple[int, ...]

    def within(self, span: Span) -> tuple[HeldRuling, ...]:
        """Return those that held, or may have, if these settings were in force then."""
        first = max(0, bisect_left(self.latest, span[0]) - 1)
        return self.held[first : bisect_right(self.earliest, span[1])]


def build_past(
    lives: Iterable[Lifetime],
    timeline: Timeline,
    times: Iterable[tuple[int, int | None]],
    *,
    is_listed: bool = False,
    semantics: Semantics = KAFKA,
) -> ClusterPast:
    """Make a past out of what the tables hold.

    Args:
        lives: the lifetimes of all ACLs of a cluster.
        timeline: see there.
        times: (offset, microseconds) of all records; of a snapshot that history goes on with, at
            its last offset.
        is_listed: the cluster follows listings: what differs between two of them came at any
            time between.
        semantics: Kafka's, with ranges or without.
    """
    lives = tuple(lives)
    patterns = (
        (at, life.acl.resource_type, life.acl.pattern_type, life.acl.resource_name)
        for at, life in enumerate(lives)
    )
    below: dict[str, list[Lifetime]] = {}
    for life in lives:
        acl = life.acl
        if acl.resource_name < "*" or (acl.pattern_type, acl.resource_name) == ("PREFIXED", "*"):
            below.setdefault(acl.resource_type, []).append(life)
    passed = _Passed(times, is_listed=is_listed)
    wanted = {life.effective_offset for life in lives} | {life.removed_offset for life in lives}
    wanted.add(timeline.first - 1)
    hosts = frozenset(life.acl.host for life in lives)
    meant = (range_of_host(host, semantics) for host in hosts)
    ranges = frozenset(each for each in meant if each is not None)
    return ClusterPast(
        lives=lives,
        index=PatternIndex.build(patterns, semantics),
        below={kind: tuple(some) for kind, some in below.items()},
        timeline=timeline,
        reached={offset: passed.span(offset) for offset in wanted if offset is not None},
        unknown=tuple(_unknown(timeline, passed, is_listed=is_listed)),
        hosts=hosts,
        semantics=semantics,
        ranges=ranges,
        masks=frozenset((each.bits, each.mask) for each in ranges),
    )


def rulings_of(past: ClusterPast, request: Request) -> Rulings:
    """Decide a request at all times.

    While it is unknown which of two settings were in force, the rulings under both may hold.
    """
    lives = past.reaching(request)
    below = past.below.get(request.resource_type, ()) if request.resource_name < "*" else ()
    periods = []
    for came, end, settings in _periods(past.timeline.settings):
        then = replace(past.timeline, settings=(Settings(offset=0, since=None, broker=settings),))
        found = _fold(past, request, lives, below, then)
        held = tuple(_held(ruling, since, came) for ruling, since in found)
        earliest, latest = zip(*(since for _, since in found), strict=True)
        periods.append(Period(came, end, held, earliest, latest))
    return Rulings(tuple(periods))


def note_on_ranges(past: ClusterPast) -> str | None:
    """Write how hosts that are ranges are judged; None where no ACL names one.

    The past versions of brokers, and so whether ranges decided, are not tracked: the reading of
    the newest decisions stands for the whole past.
    """
    named = sum(parse_range(host) is not None for host in past.hosts)
    if not named:
        return None
    hosts = (
        "One host of ACLs that is a range" if named == 1 else (f"{named:,} hosts that are ranges")
    )
    read, others = (
        ("ranges", "older than Kafka 4.4")
        if past.semantics.cidr_hosts
        else ("text", "of Kafka 4.4 or newer")
    )
    return (
        f"{hosts}: read as {read} for the whole past, as in the newest decisions. Where an ACL "
        f"with such a host matters, lines of brokers {others} may be mismatches only for this "
        "reason."
    )


def rule_texts(ruling: Ruling) -> tuple[str, ...]:
    """Return a rule as the brokers of all releases write it, the newest last."""
    return tuple(rule_text(ruling, each, knows_globs=False) for each in Wording)


def _fold(
    past: ClusterPast,
    request: Request,
    lives: Sequence[Lifetime],
    below: Sequence[Lifetime],
    timeline: Timeline,
) -> list[tuple[Ruling, Span]]:
    """Decide a request at all times, under the settings of the timeline."""
    found = list(fold_access(request, lives, below, timeline, past.semantics))
    times = [past.reached.get(each.as_of - 1, (BEGINNING, BEGINNING)) for each in found]
    times[0] = (BEGINNING, BEGINNING)
    return [(each.ruling, since) for each, since in zip(found, times, strict=True)]


def _held(ruling: Ruling, since: Span, came: Span) -> HeldRuling:
    """Return a ruling with its times cut to those of the settings under which it holds."""
    return HeldRuling(
        ruling=ruling,
        since=(max(since[0], came[0]), max(since[1], came[1])),
        texts=rule_texts(ruling),
        runs=came if since[1] < came[1] and came[0] < came[1] else None,
    )


def _periods(settings: Sequence[Settings]) -> Iterator[tuple[Span, int, BrokerSettings]]:
    """Yield settings with when they came, and when they were gone at the latest.

    A run that sees other settings than the run before sees that they changed, and not when. Of
    the time before the first run nothing is known; the first settings are taken for it too.
    """
    spans = [(BEGINNING, BEGINNING)]
    for old, new in pairwise(settings):
        first, latest = (max(spans[-1][1], _micros(each.since)) for each in (old, new))
        seen = first if new.before is None else max(first, to_micros(new.before))
        spans.append((min(seen, latest), latest))
    ends = [*(latest for _, latest in spans[1:]), END]
    for span, end, each in zip(spans, ends, settings, strict=True):
        yield span, end, each.broker


def _micros(time: datetime | None) -> int:
    return BEGINNING if time is None else to_micros(time)


class _Passed:
    """When a log had passed its offsets: timestamps may go back where controllers change."""

    def __init__(self, times: Iterable[tuple[int, int | None]], *, is_listed: bool) -> None:
        self._offsets: list[int] = []
        self._times: list[int] = []
        self._is_listed = is_listed
        for offset, time in sorted((at, time) for at, time in times if time is not None):
            newest = self._times[-1] if self._times else BEGINNING
            self._offsets.append(offset)
            self._times.append(max(time, newest))

    def span(self, offset: int) -> Span:
        """Return when the state came to hold an offset: the earliest and the latest time."""
        latest = self._at(bisect_right(self._offsets, offset) - 1)
        before = self._at(bisect_left(self._offsets, offset) - 1)
        return (before if self._is_listed else latest), latest

    def next_after(self, offset: int) -> int:
        """Return the time of the first record at or after an offset."""
        at = bisect_left(self._offsets, offset)
        return self._times[at] if at < len(self._times) else END

    def _at(self, place: int) -> int:
        return self._times[place] if place >= 0 else BEGINNING


def _unknown(timeline: Timeline, passed: _Passed, *, is_listed: bool) -> Iterator[Span]:
    """Yield the times of which no state is known."""
    for start, end in (*timeline.jumps, *timeline.holes, *timeline.doubtful):
        came = passed.span(start - 1)[1] if start else BEGINNING
        yield came, passed.next_after(end - 1)
    if is_listed or passed.next_after(0) == END:
        yield BEGINNING, passed.next_after(0)
    if timeline.newest > timeline.head:
        yield passed.span(timeline.head - 1)[1], END


PAST_TABLES: Final = ("acl_log", "acl_history", "setting")
"""The tables that a past is made of."""


def past_of(
    ranges: Sequence[spans.Range],
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
