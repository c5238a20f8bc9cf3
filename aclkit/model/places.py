"""A row of symbols → the first place of a longer row where it stands. In bits, for hostile texts.

A symbol of the longer row has a number whose bits are the places at which it stands. Shifted by
its place in the short row and anded, such numbers leave the places where all of it stands: the
product of both lengths, divided by 64, is the work, whatever the texts are. 32 KiB in 32 KiB take
some hundredths of a second, where stepping from place to place takes minutes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence


def places_of(symbols: Sequence[str], wanted: Collection[str]) -> dict[str, int]:
    """Return for each wanted symbol the bits of the places at which it stands."""
    found = dict.fromkeys(wanted, 0)
    for at, symbol in enumerate(symbols):
        if symbol in found:
            found[symbol] |= 1 << at
    return found


def first_place(
    row: Iterable[tuple[int, str]], places: Mapping[str, int], start: int, end: int
) -> int:
    """Return the first place from ``start`` on and before ``end`` where a row stands, or -1.

    Args:
        row: the row's symbols, each with its distance from the row's first place.
        places: of every symbol of the row, see ``places_of``.
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
