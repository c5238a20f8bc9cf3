"""The symbols of two patterns → a pattern within both, if some name matches both. Pure.

Symbols are those of ``aclkit.rules.patterns.cover``: letters, ``ANY_ONE`` and ``ANY_RUN``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from aclkit.rules.patterns.cover import ANY_ONE, ANY_RUN

Symbols = Sequence[str]


def overlap(left: Symbols, right: Symbols) -> tuple[str, ...] | None:
    """Return symbols all of whose names both patterns match; None where no name does.

    Of several ways to lay two globs over each other one is taken, the one that leaves most open:
    what is returned need not be all that they share.

    >>> from aclkit.rules.patterns.contain import glob_symbols as of
    >>> fill(overlap(of("a*"), of("*b")), run="+", one="1"), overlap(of("a?"), of("b*"))
    ('a+b', None)
    """
    reach = _reachable(left, right)
    if not reach[0] & 1:
        return None
    at, found = (0, 0), list[str]()
    while at != (len(left), len(right)):
        steps = _steps(left, right, *at)
        symbol, at = next((symbol, (i, j)) for symbol, (i, j) in steps if reach[i] >> j & 1)
        # Two runs in a row are one.
        if symbol is not None and not (symbol == ANY_RUN and found[-1:] == [ANY_RUN]):
            found.append(symbol)
    return tuple(found)


def may_overlap(left: Symbols, right: Symbols) -> bool:
    """Whether the letters before the first wildcards allow a name that both match."""
    for one, other in zip(left, right, strict=False):
        if ANY_RUN in (one, other):
            return True
        if one != other and ANY_ONE not in (one, other):
            return False
    return len(left) == len(right) or ANY_RUN in (left[len(right) :] or right[len(left) :])[:1]


def is_name(symbols: Symbols) -> bool:
    """Whether a pattern matches one name only."""
    return ANY_RUN not in symbols and ANY_ONE not in symbols


def literal_start(symbols: Symbols) -> str:
    """Return the letters before a pattern's first wildcard."""
    return "".join(takewhile(lambda symbol: symbol not in (ANY_RUN, ANY_ONE), symbols))


def fill(symbols: Symbols, *, run: str, one: str) -> str:
    """Write a name that a pattern matches, with texts in the place of its wildcards."""
    written = {ANY_RUN: run, ANY_ONE: one}
    return "".join(written.get(symbol, symbol) for symbol in symbols)


def _reachable(left: Symbols, right: Symbols) -> list[int]:
    """Return for each pair of places whether some text matches what is left of both patterns.

    A number for each place of the left pattern; its bits are the places of the right one. They are
    found a whole row at a time: strangers' globs are long and have many stars.
    """
    runs = _places(right, (ANY_RUN,))
    others = ((1 << len(right)) - 1) & ~runs
    agreeing = {ANY_ONE: others}
    rows = [_through_runs(1 << len(right), runs)]
    for symbol in reversed(left):
        below = rows[-1]
        if symbol == ANY_RUN:
            rows.append((1 << below.bit_length()) - 1)
            continue
        if symbol not in agreeing:
            agreeing[symbol] = _places(right, (symbol, ANY_ONE))
        rows.append(_through_runs(below >> 1 & agreeing[symbol] | below & runs, runs))
    return rows[::-1]


def _places(symbols: Symbols, wanted: Sequence[str]) -> int:
    return sum(1 << at for at, symbol in enumerate(symbols) if symbol in wanted)


def _through_runs(places: int, runs: int) -> int:
    """Add the places from which runs that end lead to one of these."""
    while more := places >> 1 & runs & ~places:
        places |= more
    return places


def _steps(
    left: Symbols, right: Symbols, at_left: int, at_right: int
) -> list[tuple[str | None, tuple[int, int]]]:
    """Return the ways on from a pair of places: the symbol written, and where it leads.

    A run takes over the other pattern's next symbol, whatever that is, or ends.
    """
    one = left[at_left] if at_left < len(left) else None
    other = right[at_right] if at_right < len(right) else None
    steps: list[tuple[str | None, tuple[int, int]]] = []
    if one == ANY_RUN and other is not None:
        steps.append((other, (at_left, at_right + 1)))
    if other == ANY_RUN and one is not None:
        steps.append((one, (at_left + 1, at_right)))
    if one == ANY_RUN:
        steps.append((None, (at_left + 1, at_right)))
    if other == ANY_RUN:
        steps.append((None, (at_left, at_right + 1)))
    if None not in (one, other) and ANY_RUN not in (one, other) and _agree(one, other):
        steps.append((other if one == ANY_ONE else one, (at_left + 1, at_right + 1)))
    return steps


def _agree(one: str | None, other: str | None) -> bool:
    return one == other or ANY_ONE in (one, other)
