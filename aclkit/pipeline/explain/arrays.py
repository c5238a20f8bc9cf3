"""Numbers in columns: rows that are lists laid end to end, and keys that are equal. Pure, numpy.

*Lists laid end to end* are two columns of starts and counts, and one of all their elements.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_BITS_OF_A_NUMBER: Final = 62
EMPTY: Final[Numbers] = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Lists:
    """Where the elements of each list are: ``starts[i]`` up to ``starts[i] + counts[i]``."""

    starts: Numbers
    counts: Numbers

    @classmethod
    def of(cls, owners: Numbers, size: int) -> Lists:
        """Return the lists of elements that lie by their owners, numbers below a size."""
        counts = np.bincount(owners, minlength=size).astype(np.int64)
        return cls(np.cumsum(counts) - counts, counts)

    def owners(self) -> Numbers:
        """Return whose each element is, where the lists lie one behind the other."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    def elements(self, which: Numbers) -> tuple[Numbers, Numbers]:
        """Return the elements of some lists: whose each is, a place in ``which``, and its place.

        >>> rows, at = Lists.of(np.array([0, 0, 2]), 3).elements(np.array([2, 0]))
        >>> rows.tolist(), at.tolist()
        ([0, 1, 1], [2, 0, 1])
        """
        counts = self.counts[which]
        ends = np.cumsum(counts)
        rows = np.repeat(np.arange(len(which)), counts)
        at = np.arange(len(rows)) - np.repeat(ends - counts - self.starts[which], counts)
        return rows, at


def first_places(*keys: Numbers) -> Numbers:
    """Return the place of the first of each run of equal keys; they lie sorted.

    >>> first_places(np.array([4, 4, 7])).tolist()
    [0, 2]
    """
    is_first = np.ones(len(keys[0]), bool)
    if len(is_first) > 1:
        is_first[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
    return np.flatnonzero(is_first)


def runs_of(*keys: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return the first place of each run of equal keys, its length, and the run of each row.

    They lie sorted.
    """
    first = first_places(*keys)
    counts = np.diff(np.append(first, len(keys[0])))
    return first, counts, np.repeat(np.arange(len(first)), counts)


def ranges_of(sizes: Numbers, most: int) -> Iterator[slice]:
    """Cut rows of some sizes into ranges of about so much at most, and of one row at least.

    >>> list(ranges_of(np.array([1, 1, 5, 1]), 2))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    ends = np.cumsum(sizes)
    start = 0
    while start < len(sizes):
        before = ends[start - 1] if start else 0
        end = max(start + 1, int(np.searchsorted(ends, before + most, "right")))
        yield slice(start, end)
        start = end


def packed(columns: Sequence[Numbers]) -> list[Numbers]:
    """Put columns of small numbers, the most significant first, into as few as hold them.

    They sort like the columns.

    >>> [column.tolist() for column in packed([np.array([1, 0]), np.array([2, 3])])]
    [[6, 3]]
    """
    found: list[Numbers] = []
    used = _BITS_OF_A_NUMBER
    for column in columns:
        bits = max(1, int(column.max(initial=0)).bit_length())
        if used + bits > _BITS_OF_A_NUMBER:
            found.append(column.astype(np.int64))
            used = bits
        else:
            found[-1] = (found[-1] << bits) | column
            used += bits
    return found


def order_of(columns: Sequence[Numbers]) -> Numbers:
    """Return the order that sorts rows by columns of small numbers; equal rows stay as they lie."""
    keys = packed(columns)
    return np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])


def inverse_of(order: Numbers) -> Numbers:
    """Return the place of each row in an order."""
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return places


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """128 bits for each of some things or sets of them; a set's is the exclusive or of its own.

    The bits are drawn from the system for each decision, so no one can write ACLs that give two
    sets the same fingerprint; by chance two of a billion sets have the same with 2 to the -69.
    """

    high: Numbers
    low: Numbers

    @classmethod
    def draw(cls, size: int) -> Fingerprints:
        """Draw fingerprints of so many things."""
        bits = np.frombuffer(secrets.token_bytes(16 * size), np.int64)
        return cls(bits[:size].copy(), bits[size:].copy())

    @classmethod
    def none(cls, size: int) -> Fingerprints:
        """Return those of so many sets without elements."""
        return cls(np.zeros(size, np.int64), np.zeros(size, np.int64))

    def __len__(self) -> int:
        """How many there are."""
        return len(self.high)

    def take(self, at: Numbers | Flags) -> Fingerprints:
        """Return some of them."""
        return Fingerprints(self.high[at], self.low[at])

    def of_runs(self, first: Numbers) -> Fingerprints:
        """Return those of the sets of which these are the elements, laid end to end, none empty."""
        if not len(first):
            return Fingerprints.none(0)
        high, low = (np.bitwise_xor.reduceat(bits, first) for bits in (self.high, self.low))
        return Fingerprints(high, low)

    def joined(self, other: Fingerprints) -> Fingerprints:
        """Return those of the unions, pair by pair, of sets that share no element."""
        return Fingerprints(self.high ^ other.high, self.low ^ other.low)

    def joined_at(self, at: Numbers, other: Fingerprints) -> Fingerprints:
        """Return these, those at some places joined with others."""
        high, low = self.high.copy(), self.low.copy()
        high[at] ^= other.high
        low[at] ^= other.low
        return Fingerprints(high, low)

    def numbered(self) -> tuple[Numbers, Numbers]:
        """Number the different ones; return the number of each, and the place of each's first."""
        order = np.argsort(self.high, kind="stable")
        high, low = self.high[order], self.low[order]
        if bool(((high[1:] == high[:-1]) & (low[1:] != low[:-1])).any()):
            order = np.lexsort((self.low, self.high))
            high, low = self.high[order], self.low[order]
        first = first_places(high, low)
        numbers = np.empty(len(order), np.int64)
        is_first = np.zeros(len(order), np.int64)
        is_first[first] = 1
        numbers[order] = np.cumsum(is_first) - 1
        return numbers, order[first]


def concat_fingerprints(parts: Sequence[Fingerprints]) -> Fingerprints:
    """Lay fingerprints end to end."""
    high, low = (np.concatenate([getattr(p, name) for p in parts]) for name in ("high", "low"))
    return Fingerprints(high, low)
