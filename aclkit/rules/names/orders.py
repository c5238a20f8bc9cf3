"""Operations on a few ACLs, in any order → what a request can meet on the way and at the end. Pure.

Several workers change ACLs at once. Each does its own operations in their order, and what one does
has no order with what another one does. So there are many ways to the end, and at each moment of
each way some of the ACLs are there. Every way is gone, as far as two of them differ: a moment is
how far each worker is, which ACLs are there, and which decisions were seen so far.

An ACL counts by its role for the request only: it allows it, it denies it, or it only reaches the
resource, which matters where a resource without ACLs is open to everyone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, NamedTuple

ALLOWS: Final = 0
DENIES: Final = 1
REACHES: Final = 2
"""The roles of an ACL."""

MOST_MOMENTS: Final = 20_000
"""So many moments of one request are looked at; with more of them the outlook is unknown."""


class Item(NamedTuple):
    """An ACL as a request sees it.

    Attributes:
        role: one of the roles above.
        is_there: whether it exists before.
        is_meant: whether it exists at the end that is shown as the effect of the change.
    """

    role: int
    is_there: bool
    is_meant: bool


class Worker(NamedTuple):
    """What one resource of a plan, or one reconciliation, does.

    Attributes:
        steps: creations (True) and deletions of items, by their number, in their order.
        is_sure: it is done in any case; otherwise all of it, or nothing.
        condition: of unsure workers with the same one all do their work, or none.
    """

    steps: tuple[tuple[bool, int], ...]
    is_sure: bool = True
    condition: str = ""


class Outlook(NamedTuple):
    """What becomes of a request; each field is False, True, or None where it is unknown.

    Attributes:
        is_allowed: before.
        may_differ: at some end it is decided otherwise than before, and at the meant end it is not.
        is_passing: on some way it is decided otherwise than before for a time, and at the way's end
            as before.
    """

    is_allowed: bool
    may_differ: bool | None
    is_passing: bool | None


@dataclass(frozen=True)
class Ways:
    """All ways of some workers.

    Attributes:
        items: the ACLs.
        workers: what changes them.
        is_open: a resource that no ACL reaches is open to everyone.
    """

    items: tuple[Item, ...]
    workers: tuple[Worker, ...]
    is_open: bool

    def outlook(self, matched: int, *, is_given: bool, is_reached: bool) -> Outlook:
        """Return what becomes of a request.

        Args:
            matched: the items that match it, as bits.
            is_given: an ACL that nothing changes allows it.
            is_reached: an ACL that nothing changes reaches the resource.
        """
        kept = tuple(
            worker._replace(steps=steps)
            for worker in self.workers
            if (steps := tuple(step for step in worker.steps if matched >> step[1] & 1))
        )
        return _outlook(self.items, kept, matched, is_given, self.is_open and not is_reached)


class _Moment(NamedTuple):
    """How far each worker is, which items are there, and whether the other decision was seen."""

    done: tuple[int, ...]
    there: int
    was_otherwise: bool


@lru_cache(maxsize=100_000)
def _outlook(
    items: tuple[Item, ...],
    workers: tuple[Worker, ...],
    matched: int,
    is_given: bool,  # noqa: FBT001 -- a cache keeps what is passed by position
    is_open: bool,  # noqa: FBT001 -- as above
) -> Outlook:
    @cache
    def allows(there: int) -> bool:
        roles = {items[at].role for at in _bits(there)}
        if DENIES in roles:
            return False
        return is_given or ALLOWS in roles or (is_open and not roles)

    there, meant = (sum(1 << at for at in _bits(matched) if items[at][which]) for which in (1, 2))
    before = allows(there)
    is_meant = allows(meant) is before
    may_differ = is_passing = False
    todo = [_Moment((0,) * len(workers), there, was_otherwise=False)]
    seen = set(todo)
    while todo:
        moment = todo.pop()
        is_allowed = allows(moment.there)
        if _is_end(moment.done, workers):
            may_differ |= is_allowed is not before and is_meant
            is_passing |= is_allowed is before and moment.was_otherwise
        if len(seen) > MOST_MOMENTS:
            return Outlook(before, may_differ or None, is_passing or None)
        for done, after in _next(moment, workers):
            is_otherwise = moment.was_otherwise or allows(after) is not before
            found = _Moment(done, after, is_otherwise)
            if found not in seen:
                seen.add(found)
                todo.append(found)
    return Outlook(before, may_differ, is_passing)


def _is_end(done: tuple[int, ...], workers: tuple[Worker, ...]) -> bool:
    seen = dict[str, bool]()
    for at, worker in zip(done, workers, strict=True):
        is_done = at == len(worker.steps)
        if not is_done and (at or worker.is_sure):
            return False
        if worker.condition and seen.setdefault(worker.condition, is_done) is not is_done:
            return False
    return True


def _next(moment: _Moment, workers: tuple[Worker, ...]) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield how far the workers are after one more step, and what is there then."""
    for number, worker in enumerate(workers):
        at = moment.done[number]
        if at < len(worker.steps):
            is_creation, item = worker.steps[at]
            bit = 1 << item
            there = moment.there | bit if is_creation else moment.there & ~bit
            yield (*moment.done[:number], at + 1, *moment.done[number + 1 :]), there


def _bits(number: int) -> Iterator[int]:
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest
