"""The flags of a name → their class, and what can still become of them. Pure.

Of a name a question knows its flags only: one bit for each group of patterns, set where one of them
matches. A target sorts flags into classes, and tells a walk what it need not look at any more.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence, Set
from dataclasses import field
from typing import NamedTuple, Protocol

from aclkit.model.values import dataclass


class Target(Protocol):
    """What a search looks for."""

    def class_of(self, flags: int) -> Hashable | None:
        """Return the class of a name's flags, None where it is not looked for."""

    def ahead(self, flags: int, possible: int, found: Set[Hashable]) -> int | None:
        """Return the groups that can still make a difference.

        Args:
            flags: what is set for good.
            possible: what is set or may come to be set.
            found: classes that need not be found again.

        Returns:
            Groups as bits; None where every class that may come is found already.
        """

    def is_reached(self, found: Set[Hashable]) -> bool:
        """Whether nothing is left to be looked for."""


class _Ahead(NamedTuple):
    classes: frozenset[Hashable]
    groups: int


@dataclass(frozen=True, slots=True, eq=False)
class Classifier:
    """Maps the flags of a few groups to a class by a function; memoised.

    Attributes:
        size: how many groups there are, at most some ten: all sets of them are looked at.
        sort: flags → their class, or None.
    """

    size: int
    sort: Callable[[int], Hashable | None]
    classes: list[Hashable | None] = field(init=False, repr=False)
    wanted: frozenset[Hashable] = field(init=False, repr=False)
    known: dict[tuple[int, int], _Ahead] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        """Sort all there are."""
        classes = [self.sort(flags) for flags in range(1 << self.size)]
        object.__setattr__(self, "classes", classes)
        object.__setattr__(self, "wanted", frozenset(classes) - {None})

    def class_of(self, flags: int) -> Hashable | None:
        """Return the class of flags."""
        return self.classes[flags]

    def ahead(self, flags: int, possible: int, found: Set[Hashable]) -> int | None:
        """Return the groups that can still change a class."""
        key = flags, possible
        known = self.known.get(key)
        if known is None:
            known = self.known[key] = self._look_ahead(flags, possible & ~flags)
        return None if known.classes <= found else known.groups

    def is_reached(self, found: Set[Hashable]) -> bool:
        """Whether each class has been found."""
        return self.wanted <= found

    def _look_ahead(self, flags: int, free: int) -> _Ahead:
        classes = frozenset(self.classes[flags | more] for more in _subsets(free)) - {None}
        groups = 0
        for group in range(self.size) if classes else ():
            bit = 1 << group
            if free & bit and any(
                self.classes[flags | more] != self.classes[flags | more | bit]
                for more in _subsets(free & ~bit)
            ):
                groups |= bit
        return _Ahead(classes, groups)


@dataclass(frozen=True, slots=True)
class Minterms:
    """Each set of groups is a class of its own: the minterms of symbolic automata."""

    def class_of(self, flags: int) -> Hashable | None:
        """Return the flags."""
        return flags

    def ahead(self, flags: int, possible: int, found: Set[Hashable]) -> int | None:
        """Return what is not set for good; once everything is, one name is enough."""
        free = possible & ~flags
        return None if not free and flags in found else free

    def is_reached(self, found: Set[Hashable]) -> bool:
        """Never: the number of sets is not known beforehand."""
        return False


@dataclass(frozen=True, slots=True)
class MoreThan:
    """Looks for a name that more than so many parties may use.

    Attributes:
        limit: how many may.
        parties: of each the bit of its ALLOWs and the bit of its DENYs, which no other one has.
        alike: sets of parties, as the bits of their ALLOWs, that count as one party.
        within: groups of which all have to match as well.
        but: groups of which none may.
    """

    limit: int
    parties: Sequence[tuple[int, int]]
    alike: Sequence[int] = ()
    within: int = 0
    but: int = 0
    allow_of: dict[int, int] = field(init=False, repr=False)
    allows: int = field(init=False, repr=False)
    denies: int = field(init=False, repr=False)
    alone: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Put the bits together: what is asked in each step takes no loop over all parties."""
        allow_of = {deny: allow for allow, deny in self.parties}
        allows = sum(allow for allow, _ in self.parties)
        object.__setattr__(self, "allow_of", allow_of)
        object.__setattr__(self, "allows", allows)
        object.__setattr__(self, "denies", sum(allow_of))
        object.__setattr__(self, "alone", allows & ~sum(self.alike))

    def class_of(self, flags: int) -> Hashable | None:
        """Return whether too many may: True, or None."""
        is_meant = flags & self.within == self.within and not flags & self.but
        return True if is_meant and self._has_too_many(self._may(flags, flags)) else None

    def ahead(self, flags: int, possible: int, found: Set[Hashable]) -> int | None:
        """Return the bits of parties that are not yet denied for good."""
        if found or flags & self.but or self.within & ~possible:
            return None
        may = self._may(possible, flags)
        if not self._has_too_many(may):
            return None
        denies = sum(
            deny for deny in _single_bits(possible & self.denies) if self.allow_of[deny] & may
        )
        return (may | denies | self.within | self.but) & possible & ~flags

    def is_reached(self, found: Set[Hashable]) -> bool:
        """One name is enough."""
        return bool(found)

    def _may(self, possible: int, flags: int) -> int:
        """Return the bits of ALLOWs that may match while their DENYs do not yet."""
        may = possible & self.allows
        for deny in _single_bits(flags & self.denies):
            may &= ~self.allow_of[deny]
        return may

    def _has_too_many(self, may: int) -> bool:
        if may.bit_count() <= self.limit:
            return False
        return (may & self.alone).bit_count() + sum(
            bool(may & party) for party in self.alike
        ) > self.limit


def _single_bits(bits: int) -> Iterator[int]:
    """Yield the bits of a number, each alone."""
    while bits:
        lowest = bits & -bits
        yield lowest
        bits ^= lowest


def _subsets(bits: int) -> Iterator[int]:
    """Yield every set of some bits, none of them last."""
    subset = bits
    while True:
        yield subset
        if not subset:
            return
        subset = (subset - 1) & bits
