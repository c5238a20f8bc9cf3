"""Requests in the controllers' log × changes of ACLs → who may have made each change. Pure.

A controller writes a line for each CreateAcls and DeleteAcls that it allows, before it appends the
records (``AclApis``, ``AuthHelper.authorizeClusterOperation``). The line does not tell how many
ACLs the request has, and a request may append nothing: the ACL exists already, no ACL matches the
filter, or another controller is active. So requests and records are never paired one by one. Every
request of the right kind within the window is a candidate, and one candidate is certain only if no
line of that window can be missing:

- Only the active controller gets the heartbeats of brokers, every 2 seconds
  (``broker.heartbeat.interval.ms``), and at DEBUG it logs each. A window in which they never
  pause longer than ``PAUSE`` is *covered*.
- Just after an election brokers may send heartbeats to the controller that was active. So the
  epoch of the change must have begun before the window.
- No line in the window that may be such a request could not be read, and no file begins or ends
  there. That a logger lost single lines within a file cannot be seen.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

ADDED: Final = "added"
REMOVED: Final = "removed"

CHANGE_OF: Final[Mapping[str, str]] = {"CreateAcls": ADDED, "DeleteAcls": REMOVED}
"""Request → what it does to ACLs."""

_SECOND: Final = 1_000_000

WITHIN: Final = 8 * _SECOND
"""A controller appends the records of a request within this time, in microseconds."""

LINGER: Final = _SECOND // 4
"""A record can be this much older than its request: a batch has the time at which it was begun, and
collects records for 25 ms (``BatchAccumulator``, ``quorum.append.linger.ms``)."""

PAUSE: Final = 4 * _SECOND
"""While heartbeats pause longer than this, lines of the active controller may be missing.

With ``WITHIN`` it leaves brokers 4 seconds to find a new controller.
"""

MOST_UNEXPLAINED: Final = 0.1
"""If a larger share of the covered changes has no request, the clocks do not fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A request to change ACLs that a controller allowed.

    Attributes:
        first: when the line was written, in microseconds since 1970; see ``clock.Span``.
        last: the same; another time only where a clock was put back.
        change: ADDED or REMOVED.
        principal: who sent it.
        host: from where.
        source: the file with the line.
    """

    first: int
    last: int
    change: str
    principal: str
    host: str
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerLog:
    """What the logs of controllers tell.

    Attributes:
        requests: those that change ACLs.
        heartbeats: when the active controller logged a broker's heartbeat.
        doubts: first and last time at which a line that may be such a request was not read, or
            can be lost because a file begins or ends.
        files: how many files were read.
    """

    requests: Sequence[Sent] = ()
    heartbeats: Sequence[int] = ()
    doubts: Sequence[tuple[int, int]] = ()
    files: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AclChange:
    """An ACL that a record of the metadata log added or removed.

    Attributes:
        acl_id: the ACL.
        change: ADDED or REMOVED.
        log_offset: where it took effect.
        time: of the record, in microseconds since 1970.
        epoch: the leader epoch of the record; None where the source has none.
    """

    acl_id: str
    change: str
    log_offset: int
    time: int
    epoch: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Who may have made a change.

    Attributes:
        change: the change.
        candidates: principals with their hosts, in the order of names.
        is_covered: no line of that time is missing, so one of the candidates made it.
        sources: the files that name them.
    """

    change: AclChange
    candidates: tuple[tuple[str, str], ...] = ()
    is_covered: bool = False
    sources: tuple[str, ...] = ()

    @property
    def is_unexplained(self) -> bool:
        """Whether no principal asked for it although the log is whole, which cannot be."""
        return self.is_covered and not self.candidates


@dataclass(frozen=True, kw_only=True)
class Matcher:
    """Finds who may have made changes.

    Attributes:
        log: what the controllers' logs tell.
        epoch_began: leader epoch → the time of its first known record.
        skew: by how much the clocks may differ, in microseconds.
    """

    log: ControllerLog
    epoch_began: Mapping[int, int]
    skew: int = 0
    _requests: Mapping[str, list[Sent]] = field(init=False)
    _firsts: Mapping[str, list[int]] = field(init=False)
    _beats: list[int] = field(init=False)
    _longest: int = field(init=False)

    def __post_init__(self) -> None:
        """Sort what is looked for by time."""
        ordered = sorted(self.log.requests, key=lambda sent: sent.first)
        by_kind = {
            kind: [sent for sent in ordered if sent.change == kind] for kind in (ADDED, REMOVED)
        }
        firsts = {kind: [sent.first for sent in found] for kind, found in by_kind.items()}
        longest = max((sent.last - sent.first for sent in ordered), default=0)
        object.__setattr__(self, "_requests", by_kind)
        object.__setattr__(self, "_firsts", firsts)
        object.__setattr__(self, "_beats", sorted(self.log.heartbeats))
        object.__setattr__(self, "_longest", longest)

    def match(self, changes: Iterable[AclChange]) -> Iterator[Match]:
        """Yield who may have made each change."""
        for change in changes:
            start = change.time - WITHIN - self.skew
            end = change.time + LINGER + self.skew
            found = self._within(change.change, start, end)
            yield Match(
                change=change,
                candidates=tuple(sorted({(sent.principal, sent.host) for sent in found})),
                is_covered=self._is_stable(change.epoch, start) and self._is_covered(start, end),
                sources=tuple(sorted({sent.source for sent in found})),
            )

    def _within(self, kind: str, start: int, end: int) -> list[Sent]:
        at = bisect_left(self._firsts[kind], start - self._longest)
        stop = bisect_right(self._firsts[kind], end)
        return [sent for sent in self._requests[kind][at:stop] if sent.last >= start]

    def _is_stable(self, epoch: int | None, start: int) -> bool:
        """Whether the controller of an epoch was known to be active before a time."""
        began = None if epoch is None else self.epoch_began.get(epoch)
        return began is not None and began <= start

    def _is_covered(self, start: int, end: int) -> bool:
        """Whether no line between two times is missing or was not read."""
        if any(first <= end and last >= start for first, last in self.log.doubts):
            return False
        at = bisect_right(self._beats, start) - 1
        stop = bisect_left(self._beats, end)
        if at < 0 or stop == len(self._beats):
            return False
        beats = self._beats[at : stop + 1]
        return all(after - before <= PAUSE for before, after in pairwise(beats))


def has_other_clock(matches: Sequence[Match]) -> bool:
    """Whether too many changes have no request: then times or zone of the log do not fit.

    Every change of an ACL was requested, so the log must show the request.
    """
    covered = sum(match.is_covered for match in matches)
    return sum(match.is_unexplained for match in matches) > MOST_UNEXPLAINED * covered
