"""A glob and a text → does the glob match all of it? KIP-1042's two wildcards, nothing else.

No regular expression is ever built from a glob: globs come from strangers. Nor does one take
longer than another of its length: a long segment is looked for in bits. A letter has a number whose
bits are the places of the name at which it stands. Shifted by its place in the segment and anded,
such numbers leave the places where all of it stands: the product of both lengths, divided by 64, is
the work, whatever the texts are. 32 KiB in 32 KiB take some hundredths of a second, where stepping
from place to place takes minutes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

_FEW: Final = 2_000
"""Up to so many comparisons, stepping from place to place is the quicker way."""


def glob_matches(glob: str, name: str) -> bool:
    """Whether a glob matches the whole name.

    ``*`` is zero or more characters, ``?`` exactly one code point; nothing else is special,
    there is no escape and case matters (KIP-1042). Between its stars a glob is a row of segments;
    each is taken where it is found first, because a later place could match nothing that the
    first cannot.

    >>> glob_matches("He*m*m*", "Hermesmoon"), glob_matches("a?", "a")
    (True, False)
    """
    first, *others = glob.split("*")
    if not others:
        return len(glob) == len(name) and _stands_at(glob, name, 0)
    *middle, last = others
    at, end = len(first), len(name) - len(last)
    if at > end or not (_stands_at(first, name, 0) and _stands_at(last, name, end)):
        return False
    places: dict[str, int] | None = None
    for segment in middle:
        if "?" not in segment:
            at = name.find(segment, at, end)
        elif len(segment) * (end - at) <= _FEW:
            at = _step(segment, name, at, end)
        else:
            if places is None:
                places = _places_of(name, set(glob) - {"*", "?"})
            row = ((n, letter) for n, letter in enumerate(segment) if letter != "?")
            at = _first_place(row, places, at, end - len(segment) + 1)
        if at < 0:
            return False
        at += len(segment)
    return True


def is_universal(glob: str) -> bool:
    """Whether a glob matches every name: the empty glob and runs of stars (KIP-1042)."""
    return glob.count("*") == len(glob)


def _step(segment: str, name: str, start: int, end: int) -> int:
    """Return where a segment stands first in a part of a name, or -1."""
    places = range(start, end - len(segment) + 1)
    return next((place for place in places if _stands_at(segment, name, place)), -1)


def _stands_at(segment: str, name: str, at: int) -> bool:
    """Whether a segment, not longer than what is left of the name, stands at a place of it."""
    for letters in segment.split("?"):
        if not name.startswith(letters, at):
            return False
        at += len(letters) + 1
    return True


def _places_of(symbols: Sequence[str], wanted: Collection[str]) -> dict[str, int]:
    """Return for each wanted symbol the bits of the places at which it stands."""
    found = dict.fromkeys(wanted, 0)
    for at, symbol in enumerate(symbols):
        if symbol in found:
            found[symbol] |= 1 << at
    return found


def _first_place(
    row: Iterable[tuple[int, str]], places: Mapping[str, int], start: int, end: int
) -> int:
    """Return the first place from ``start`` on and before ``end`` where a row stands, or -1.

    Args:
        row: the row's symbols, each with its distance from the row's first place.
        places: of every symbol of the row, see ``_places_of``.
        start: the first place that is looked at.
        end: the first place at which the row may no longer begin.
    """
    left = -1
    for distance, symbol in row:
        left &= places[symbol] >> start + distance
        if not left:
            return -1
    place = start + (left & -left).bit_length() - 1
    return place if place < end else -1
