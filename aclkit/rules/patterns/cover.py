"""Two patterns as symbols → does the wide one match every name that the narrow one matches?

Exact, both ways, and without stepping back. A name that stands for all others: put for every
"any one" of the narrow pattern a letter that the wide one does not hold, and for every "any run"
that letter as often as it hurts most. If the wide pattern matches such a name it does so by
wildcards, and they match whatever else could stand there. (The same thought makes containment of
XPath without branches easy: Miklau and Suciu, Containment and Equivalence for a Fragment of XPath.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

from aclkit.model.places import first_place, places_of

ANY_RUN: Final = "any run"
ANY_ONE: Final = "any one"
"""Symbols of a pattern; every other symbol is one letter, so none can be mistaken for these."""

_Symbols = Sequence[str]


def covers(wide: _Symbols, narrow: _Symbols) -> bool:
    """Whether the wide pattern matches all that the narrow one matches.

    The wide pattern's head has to be the narrow one's beginning and its tail the end, for long
    runs leave nothing else. In between each of its pieces is taken where it is found first:

    - A piece that begins and ends with a letter can be found within one block of the narrow
      pattern only, because runs between blocks may be long; and there it is always found.
    - A row of "any one" takes as many letters, and worst is where all runs are empty.

    How many of the narrow pattern's symbols are used up, runs aside, is all that matters then:
    what is left after more of them is harder to match.

    >>> covers([ANY_ONE, ANY_RUN], [ANY_RUN, "a"]), covers([ANY_RUN, "a"], [ANY_ONE])
    (True, False)
    """
    if ANY_RUN not in wide:
        return len(wide) == len(narrow) and all(map(_covers_symbol, wide, narrow))
    pieces, blocks = _split(wide), _split(narrow)
    head, (rows, tail, _) = _trim_end(pieces[0]), _trim(pieces[-1], is_last=True)
    if not (_stands_at(head, blocks[0], 0) and _ends_with(blocks[-1], tail)):
        return False
    flat = [symbol for block in blocks for symbol in block]
    places = places_of(flat, {*wide} - {ANY_ONE, ANY_RUN})
    # Here: where a letter stands right behind the one before it, with no run between.
    places[ANY_RUN] = ~sum(1 << start for start in accumulate(map(len, blocks[:-1])))
    at = len(pieces[0])
    for piece in pieces[1:-1]:
        before, letters, after = _trim(piece)
        found = first_place(_row(letters), places, at + before, len(flat) + 1)
        if found < 0:
            return False
        at = found + len(letters) + after
    return at + rows + len(tail) <= len(flat)


def _split(symbols: _Symbols) -> list[list[str]]:
    """Split at the runs; the first part begins the pattern and the last one ends it."""
    parts: list[list[str]] = [[]]
    for symbol in symbols:
        if symbol == ANY_RUN:
            parts.append([])
        else:
            parts[-1].append(symbol)
    return parts


def _trim_end(piece: _Symbols) -> _Symbols:
    """Take "any one" from the end of a piece: before a run it is a row of its own."""
    length = len(piece)
    while length and piece[length - 1] == ANY_ONE:
        length -= 1
    return piece[:length]


def _trim(piece: _Symbols, *, is_last: bool = False) -> tuple[int, _Symbols, int]:
    """Return the row of "any one" that begins a piece, its letters, and the row that ends it.

    Where the piece ends the pattern, no run follows, and what ends it stays where it is.
    """
    letters = piece if is_last else _trim_end(piece)
    before = next((at for at, symbol in enumerate(letters) if symbol != ANY_ONE), len(letters))
    return before, letters[before:], len(piece) - len(letters)


def _row(piece: _Symbols) -> Iterator[tuple[int, str]]:
    """Yield what has to stand at which distance for a piece to stand within one block."""
    for distance, symbol in enumerate(piece):
        if symbol != ANY_ONE:
            yield distance, symbol
        if distance:
            yield distance, ANY_RUN


def _stands_at(piece: _Symbols, symbols: _Symbols, at: int) -> bool:
    there = symbols[at : at + len(piece)]
    return len(there) == len(piece) and all(map(_covers_symbol, piece, there))


def _ends_with(symbols: _Symbols, piece: _Symbols) -> bool:
    return len(piece) <= len(symbols) and _stands_at(piece, symbols, len(symbols) - len(piece))


def _covers_symbol(wide: str, narrow: str) -> bool:
    return narrow != ANY_RUN and wide in (ANY_ONE, narrow)
