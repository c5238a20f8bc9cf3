"""One request → the intervals in which it was decided alike, and what began each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from itertools import takewhile
from typing import Final

from aclkit.model.acl import Acl, Request
from aclkit.model.facts import SNAPSHOT
from aclkit.model.resource import Resource
from aclkit.model.semantics import Semantics
from aclkit.model.values import dataclass
from aclkit.questions.query.as_of import Settings, Timeline, read_timeline, times_of
from aclkit.questions.query.lifetimes import (
    ChangedBy,
    ChangeKey,
    Lifetime,
    broker_rescan,
    lifetimes_below_star,
    lifetimes_reaching,
    read_changed_by,
)
from aclkit.questions.query.names import Unknown, unknown_names
from aclkit.questions.query.why import read_question
from aclkit.rules.decide.rules import Ruling, answers, decide
from aclkit.rules.patterns.match import is_any_host
from aclkit.warehouse.duck import Tables
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.published import Published, unread_parts

LOG_START: Final = "log start"
ADDED: Final = "ACL added"
REMOVED: Final = "ACL removed"
SETTINGS: Final = "settings"
SEARCH: Final = "broker's search"
"""What begins an interval. The last one: an ACL that does not reach the resource moved the end of
the broker's search, so that it names another ACL."""


_CHANGES: Final = {ADDED: "added", REMOVED: "removed"}
"""Cause → the change of ``acl_change_by``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """States that follow each other and give one ruling.

    Attributes:
        as_of: the first of them; it goes on to the next interval's.
        ruling: decision, rule and deciding ACL.
        cause: what began it.
        acls: the ACLs whose coming or going did.
        from_offset: offset of the record that did; None where no record did.
        from_time: when.
        is_exact: whether that is its true beginning. Of what a snapshot shows it is not known: it
            was at that offset or earlier.
        by: who may have made the change, as far as the controllers' logs were read: one for each
            answer that its ACLs have.
    """

    as_of: int
    ruling: Ruling
    cause: str
    acls: tuple[Acl, ...] = ()
    from_offset: int | None = None
    from_time: datetime | None = None
    is_exact: bool = True
    by: tuple[ChangedBy, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The past of one access.

    Attributes:
        request: the question; its host is "any other" where none was named.
        intervals: the oldest first; the last one still holds.
        timeline: what is known of the timeline.
        has_hosts: some ACL that took part names hosts, so hosts may have different decisions.
        is_unreached: no ACL applies to the resource now, for any principal.
        run: the run whose decisions are published.
        unknown: the names of the question that are not known.
    """

    request: Request
    intervals: tuple[Interval, ...]
    timeline: Timeline
    has_hosts: bool
    is_unreached: bool
    run: PublishedRun
    unknown: tuple[Unknown, ...] = ()

    @property
    def since(self) -> Interval:
        """The interval since which the decision has been what it is."""
        newest = self.intervals[-1].ruling.decision
        backwards = reversed(self.intervals)
        return [*takewhile(lambda each: each.ruling.decision == newest, backwards)][-1]


def read_history(
    connection: Tables,
    published: Published,
    cluster_id: str,
    principal: str,
    operation: str,
    resource: Resource,
    *,
    host: str | None = None,
) -> History:
    """Return since when an access is as it is, and what it was before.

    The arguments and errors are those of ``explain_why``.
    """
    asked = principal, operation, resource, host
    request, run, semantics = read_question(published, cluster_id, *asked)
    timeline = read_timeline(connection, published, run)
    lives = lifetimes_reaching(connection, cluster_id, resource, semantics)
    below = lifetimes_below_star(connection, cluster_id, resource, semantics)
    intervals = list(fold_access(request, lives, below, timeline, semantics))
    offsets = [found.from_offset for found in intervals if found.from_offset is not None]
    times = times_of(connection, cluster_id, offsets)
    changed_by = read_changed_by(connection, cluster_id, offsets)
    return History(
        request=request,
        intervals=tuple(
            replace(
                found,
                from_time=times.get(found.from_offset or -1, found.from_time),
                by=_by(found, changed_by),
            )
            for found in intervals
        ),
        timeline=timeline,
        has_hosts=any(_names_hosts(life, request, semantics) for life in lives),
        is_unreached=not any(life.is_alive(timeline.head) for life in lives),
        run=run,
        unknown=unknown_names(
            connection,
            cluster_id,
            principal=principal,
            host=request.host,
            resource=resource,
            unread=unread_parts(published, run),
        ),
    )


def _by(interval: Interval, changed_by: Mapping[ChangeKey, ChangedBy]) -> tuple[ChangedBy, ...]:
    """Return who may have made the change that began an interval."""
    change = _CHANGES.get(interval.cause)
    if change is None or interval.from_offset is None:
        return ()
    keys = (ChangeKey(acl.acl_id, change, interval.from_offset) for acl in interval.acls)
    return tuple(dict.fromkeys(changed_by[key] for key in keys if key in changed_by))


def fold_access(
    request: Request,
    lives: Sequence[Lifetime],
    below: Sequence[Lifetime],
    timeline: Timeline,
    semantics: Semantics,
) -> Iterator[Interval]:
    """Decide a request whenever something that matters to it changes; yield where it differs.

    What matters are the ACLs that answer it, whether others reach the resource, the settings,
    and for the deciding ACL of a broker what its second scan meets. Pure.

    Args:
        request: the question.
        lives: lifetimes of the ACLs that reach the resource.
        below: see ``lifetimes_below_star``.
        timeline: what is known, and up to where.
        semantics: how ACLs are read.
    """
    state = _AclsAlive()
    changes = _changes(lives, below, timeline)
    newest: Ruling | None = None
    for as_of in sorted(changes):
        change = changes[as_of]
        before = state.others > 0
        mine = state.take(change, request, semantics)
        is_same = before == (state.others > 0) and not (mine or change.is_other)
        if is_same and newest is not None:
            continue
        ruling = decide(
            state.acls(),
            request,
            timeline.settings_at(as_of).broker,
            semantics,
            wildcard_is_last=broker_rescan(below, as_of).wildcard_is_last(*request.resource),
        )
        if ruling != newest:
            yield _interval(as_of, ruling, newest, change, timeline)
            newest = ruling


@dataclass(slots=True)
class _Step:
    """What differs between two states that follow each other."""

    came: list[Lifetime] = field(default_factory=list)
    went: list[Lifetime] = field(default_factory=list)
    setting: Settings | None = None
    is_other: bool = False


@dataclass(slots=True)
class _AclsAlive:
    """The ACLs alive that answer the request, and how many others reach the resource."""

    mine: dict[tuple[str, int], Acl] = field(default_factory=dict)
    others: int = 0
    other: Acl | None = None

    def take(self, change: _Step, request: Request, semantics: Semantics) -> bool:
        """Go on by a step; return whether ACLs that answer the request are among it."""
        is_mine = False
        for lives, step in ((change.went, -1), (change.came, 1)):
            for life in lives:
                key = life.acl.acl_id, life.effective_offset
                if not answers(life.acl, request, semantics):
                    self.others += step
                    self.other = life.acl
                    continue
                is_mine = True
                if step > 0:
                    self.mine[key] = life.acl
                else:
                    self.mine.pop(key)
        return is_mine

    def acls(self) -> list[Acl]:
        """Return the ACLs that matter: of those that do not answer, one speaks for all."""
        others = [self.other] if self.others and self.other else []
        return [*self.mine.values(), *others]


def _changes(
    lives: Sequence[Lifetime], below: Sequence[Lifetime], timeline: Timeline
) -> Mapping[int, _Step]:
    """Return what changes at which state; what was before the first known one, with that."""
    changes: dict[int, _Step] = {timeline.first: _Step()}

    def at(offset: int) -> _Step:
        return changes.setdefault(max(offset, timeline.first), _Step())

    for life in lives:
        gone = None if life.removed_offset is None else life.removed_offset + 1
        came = max(life.effective_offset + 1, timeline.first)
        if came > timeline.head or (gone is not None and gone <= came):
            continue
        at(came).came.append(life)
        if gone is not None and gone <= timeline.head:
            at(gone).went.append(life)
    for life in below:
        for offset in (life.effective_offset, life.removed_offset):
            if offset is not None and offset < timeline.head:
                at(offset + 1).is_other = True
    for setting in timeline.settings[1:]:
        if setting.offset <= timeline.head:
            change = at(setting.offset)
            change.setting, change.is_other = setting, True
    return changes


def _interval(
    as_of: int, ruling: Ruling, before: Ruling | None, change: _Step, timeline: Timeline
) -> Interval:
    """Return an interval, with what began it."""
    is_jump = any(to == as_of for _, to in timeline.jumps)
    cause, lives = _cause(ruling, before, change)
    if before is None and not timeline.first:
        return Interval(as_of=as_of, ruling=ruling, cause=LOG_START)
    if cause == SETTINGS and change.setting is not None and before is not None:
        since = change.setting.since
        return Interval(as_of=as_of, ruling=ruling, cause=SETTINGS, from_time=since)
    times = [life.removed_at if cause == REMOVED else life.added_at for life in lives]
    return Interval(
        as_of=as_of,
        ruling=ruling,
        cause=SNAPSHOT if is_jump else LOG_START if before is None else cause,
        acls=tuple(life.acl for life in lives),
        from_offset=as_of - 1,
        from_time=max((time for time in times if time is not None), default=None),
        is_exact=not is_jump and before is not None,
    )


def _cause(ruling: Ruling, before: Ruling | None, change: _Step) -> tuple[str, list[Lifetime]]:
    """Return what of a change made the difference: first what decides now, or did before."""
    came = [life for life in change.came if life.acl == ruling.acl]
    went = [life for life in change.went if before is not None and life.acl == before.acl]
    if came:
        return ADDED, came
    if went:
        return REMOVED, went
    if change.setting is not None:
        return SETTINGS, []
    if change.came:
        return ADDED, change.came
    return (REMOVED, change.went) if change.went else (SEARCH, [])


def _names_hosts(life: Lifetime, request: Request, semantics: Semantics) -> bool:
    """Whether an ACL would answer the request, but for some hosts only."""
    anywhere = replace(life.acl, host="*")
    return not is_any_host(life.acl.host, semantics) and answers(anywhere, request, semantics)
