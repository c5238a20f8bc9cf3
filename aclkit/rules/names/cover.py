"""Patterns and a domain → do some cover another, do two share a name; are all allowed. Pure.

Unlike containment of one pattern in one other, this sees what several cover together only, and it
knows which names are possible: ``?*`` covers every topic, because no topic's name is empty.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from typing import Final, NamedTuple, TypeVar

from aclkit.rules.names.domain import Domain
from aclkit.rules.names.question import Budget, Found
from aclkit.rules.names.rows import EVERYTHING, RUN, Symbols, range_of
from aclkit.rules.names.target import Classifier

LEFT: Final = "left"
SHARED: Final = "shared"
_T = TypeVar("_T")
_MOST_TRIED: Final = 60
"""So many patterns or ACLs are tried one by one for whether it can be done without them."""

_SHARED: Final = Classifier(2, lambda flags: SHARED if flags == 0b11 else None)


def covers(
    wide: Iterable[Symbols], narrow: Iterable[Symbols], domain: Domain, budget: Budget
) -> bool | None:
    """Whether the wide patterns together match all that the narrow ones match.

    None where the budget ended before it was known.
    """
    rows = set(wide)
    left = [symbols for symbols in narrow if not is_plainly_covered(rows, symbols)]
    if not left:
        return True
    found = find_left(rows, left, domain, budget)
    if found.names:
        return False
    return True if found.is_complete else None


def find_left(
    wide: Iterable[Symbols], narrow: Iterable[Symbols], domain: Domain, budget: Budget
) -> Found:
    """Look for the shortest name, ``LEFT``, that the narrow patterns match and no wide one."""
    return find_witness_outside([narrow], wide, domain, budget)


def find_witness_outside(
    within: Sequence[Iterable[Symbols]], wide: Iterable[Symbols], domain: Domain, budget: Budget
) -> Found:
    """Look for the shortest name, ``LEFT``, that each of some groups matches and no wide one."""
    return budget.find([*within, wide], domain, _beside(len(within)))


def find_shared(
    one: Iterable[Symbols], other: Iterable[Symbols], domain: Domain, budget: Budget
) -> Found:
    """Look for the shortest name, ``SHARED``, that patterns of both sides match."""
    return budget.find([one, other], domain, _SHARED)


def is_plainly_covered(wide: set[Symbols], narrow: Symbols) -> bool:
    """Whether a pattern is among some, or begins as a prefix among them does: the usual cases.

    >>> is_plainly_covered({("a", RUN)}, ("a", "b", RUN))
    True
    """
    if narrow in wide or EVERYTHING in wide:
        return True
    if inner := range_of(narrow):
        return any(each.contains(inner) for each in map(range_of, wide) if each)
    return any((*narrow[:end], RUN) in wide for end in _plain_ends(narrow))


@cache
def _beside(size: int) -> Classifier:
    return Classifier(size + 1, lambda flags: LEFT if flags == (1 << size) - 1 else None)


def _plain_ends(symbols: Symbols) -> Iterable[int]:
    """Yield the lengths of the beginnings of a pattern that are letters only."""
    for end, symbol in enumerate(symbols):
        if len(symbol) > 1:
            return
        yield end + 1


def fewest(items: Sequence[_T], is_enough: Callable[[list[_T]], bool]) -> list[_T]:
    """Drop one after another what is not needed."""
    kept = list(items)
    for each in items if len(items) <= _MOST_TRIED else ():
        fewer = [other for other in kept if other != each]
        if is_enough(fewer):
            kept = fewer
    return kept


def near_to(starts: Collection[str]) -> Callable[[str], bool]:
    """Tell the starts that can share a name with one of some: one begins the other."""
    ordered, ends = sorted(starts), set(starts)

    def is_near(start: str) -> bool:
        at = bisect_left(ordered, start)
        if at < len(ordered) and ordered[at].startswith(start):
            return True
        return any(start[:end] in ends for end in range(len(start)))

    return cache(is_near)


ALL: Final = "all"
SOME: Final = "some"
NONE: Final = "none"
UNKNOWN: Final = "unknown"


class Extent(NamedTuple):
    """How many of some names are allowed, proven for every one of them.

    Attributes:
        word: ``ALL``, ``SOME``, ``NONE``; ``UNKNOWN`` where the budget ended first.
        allowed: the shortest name that is allowed, None where none was found.
        denied: the shortest that is denied, in the same way.
    """

    word: str
    allowed: str | None = None
    denied: str | None = None


def find_extent(
    within: Iterable[Symbols],
    allow: Iterable[Symbols],
    deny: Iterable[Symbols],
    domain: Domain,
    budget: Budget,
    *,
    but: Iterable[Symbols] = (),
    anybody: Iterable[Symbols] | None = None,
) -> Extent:
    """Ask of how many names that match a pattern a request is allowed.

    Args:
        within: a name matches one of these,
        allow: of the ALLOWs that answer the request,
        deny: of the DENYs that do.
        domain: the names there are.
        budget: what may be spent.
        but: a name matches none of these.
        anybody: of all ACLs, where what none of them reaches is allowed.
    """
    groups = [within, but, allow, deny, () if anybody is None else anybody]
    found = budget.find(groups, domain, _sides(is_open=anybody is not None))
    allowed, denied = found.names.get(ALL), found.names.get(NONE)
    if allowed is not None and denied is not None:
        return Extent(SOME, allowed, denied)
    if not found.is_complete:
        return Extent(UNKNOWN, allowed, denied)
    return Extent(NONE if allowed is None else ALL, allowed, denied)


@cache
def _sides(*, is_open: bool) -> Classifier:
    def sort(flags: int) -> str | None:
        is_within, is_out, is_allow, is_deny, is_reached = (bool(flags >> at & 1) for at in _GROUPS)
        if not is_within or is_out:
            return None
        return ALL if not is_deny and (is_allow or (is_open and not is_reached)) else NONE

    return Classifier(len(_GROUPS), sort)


_GROUPS: Final = range(5)
