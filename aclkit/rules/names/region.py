"""What differs between two states, cell by cell → what people read: folded, with its regions. Pure.

Cells of one question gain or lose the same names. They are reported together: for which principals,
from where, for which operations, and which names these are.

A region is a changed pattern, "but not" a few others; where it has to be, one of some others has to
match as well. It is either proven to be exactly the set of names, or marked as not proven: then
only its shortest name is certain.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

from aclkit.model.groups import grouped
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.rules.names.classes import NameClass
from aclkit.rules.names.compare import GAINED, CellChange, Difference
from aclkit.rules.names.cover import SHARED, fewest
from aclkit.rules.names.domain import Domain, domain_of
from aclkit.rules.names.question import Budget, Found, Question
from aclkit.rules.names.rows import EVERYTHING, Symbols, is_one_name, may_share
from aclkit.rules.names.target import Classifier


class Region(NamedTuple):
    """Names of one resource type.

    Attributes:
        pattern: they match it,
        within: and one of these, if there are any,
        but: and none of these.
        shortest: one of the shortest of them.
        is_exact: they are all the names of which this is true.
    """

    pattern: Symbols
    within: tuple[Symbols, ...]
    but: tuple[Symbols, ...]
    shortest: str
    is_exact: bool


def regions_of(change: CellChange, budget: Budget) -> tuple[Region, ...]:
    """Return the regions of a change: together they are all its names.

    There are none where the budget ends before it is known which patterns they begin with.
    """
    return tuple(_Teller(change, budget).regions())


class _Teller:
    """Finds the regions of one change."""

    def __init__(self, change: CellChange, budget: Budget) -> None:
        self.kind, self.asked = change.kind, change.asked
        # With too many groups for a table of all their sets, only the shortest name is known.
        self.aim = change.aim if isinstance(change.aim, Classifier) else None
        self.domain: Domain = domain_of(change.cell.resource_type)
        self.budget = budget

    def regions(self) -> list[Region]:
        if self.aim is None:
            return []
        told: dict[Symbols, Region | str] = {}
        wide: list[Symbols] = []
        for pattern in self._changed():
            if is_one_name(pattern):
                if self._is_new(name := "".join(pattern), wide):
                    told[pattern] = Region(pattern, (), (), name, is_exact=True)
                continue
            found = self._find(_NEW, [pattern], told)
            if found.names:
                told[pattern] = found.names[SHARED]
                wide.append(pattern)
            elif not found.is_complete:
                return []
        return [
            self._region(pattern, each) if isinstance(each, str) else each
            for pattern, each in told.items()
        ]

    def _is_new(self, name: str, wide: Sequence[Symbols]) -> bool:
        """Whether the names of the change hold one, and no wide pattern matches it."""
        if not self.domain.holds(name):
            return False
        is_changed = self._change.classes[self._all.flags_of(name)] == self.kind
        return is_changed and not (wide and Question([wide], self.domain).flags_of(name))

    @cached_property
    def _all(self) -> Question:
        """The patterns of the change, to be asked about single names."""
        return Question(self._groups, self.domain)

    @property
    def _change(self) -> Classifier:
        """Which flags mean what."""
        if self.aim is None:
            raise ValueError("there is no table of the change")
        return self.aim

    @property
    def _groups(self) -> tuple[frozenset[Symbols], ...]:
        return self.asked.groups[: self._change.size]

    def _changed(self) -> list[Symbols]:
        """Return what a region can begin with, the widest first."""
        return sorted(self.asked.begins, key=lambda each: (len(each), each))

    def _region(self, pattern: Symbols, shortest: str) -> Region:
        others = sorted(
            {each for group in self.asked.groups for each in group if may_share(pattern, each)}
            - {pattern}
        )
        but = [each for each in others if self._is_outside(pattern, each)]
        ways: tuple[list[Symbols], ...] = ([], self._winning(), self._reaching(pattern))
        within = next((way for way in ways if self._is_exact(pattern, way, but)), None)
        if within is None or (within and not self._is_within(pattern, within)):
            return Region(pattern, (), (), shortest, is_exact=False)
        if within:
            within = fewest(within, lambda few: self._is_within(pattern, few))
        but = fewest(but, lambda few: self._is_exact(pattern, within, few))
        return Region(pattern, tuple(within), tuple(but), shortest, is_exact=True)

    def _winning(self) -> list[Symbols]:
        """Return the patterns of the ALLOWs that give what is gained, or gave what is lost."""
        return sorted(self.asked.giving(is_gained=self.kind == GAINED))

    def _reaching(self, pattern: Symbols) -> list[Symbols]:
        """Return the other patterns of all ACLs: where one matches, no default allows."""
        return sorted(self.asked.reaching - {pattern})

    def _is_outside(self, pattern: Symbols, other: Symbols) -> bool:
        """Whether a pattern shares names with another, but none of the region's."""
        return not self._may_be(_INSIDE, [pattern], [other]) and self._may_be(
            _COMMON, [pattern], [other]
        )

    def _is_exact(
        self, pattern: Symbols, within: Iterable[Symbols], but: Iterable[Symbols]
    ) -> bool:
        rows = list(within)
        return not self._may_be(_STRANGE, [pattern], but, rows or [EVERYTHING])

    def _is_within(self, pattern: Symbols, within: Iterable[Symbols]) -> bool:
        """Whether the region is within some patterns."""
        return not self._may_be(_NEW, [pattern], within)

    def _may_be(self, aim: int, *groups: Iterable[Symbols]) -> bool:
        """Whether an aim is true of some name, or may be for all that is known."""
        found = self._find(aim, *groups)
        return bool(found.names) or not found.is_complete

    def _find(self, aim: int, *groups: Iterable[Symbols]) -> Found:
        """Look for the shortest name, ``SHARED``, of which an aim is true.

        It is one of the first group's only pattern, so patterns that share none with it are left
        out.
        """
        ((pattern,), *rest) = groups
        asked = [
            [each for each in group if may_share(pattern, each)]
            for group in (*self._groups, (pattern,), *rest)
        ]
        more: list[list[Symbols]] = [[]] * (_MORE - len(groups))
        return self.budget.find([*asked, *more], self.domain, _aim(self._change, self.kind, aim))


_MORE: Final = 3
"""Groups after those of the change: the pattern, what is left out, what it has to be within."""
_NEW, _INSIDE, _COMMON, _STRANGE = range(4)
"""A name of the pattern that is

new: of the region, and not left out; inside: of the region, and left out; common: left out;
strange: not of the region, though within and not left out.
"""


@lru_cache(maxsize=1000)
def _aim(change: Classifier, kind: str, aim: int) -> Classifier:
    def sort(flags: int) -> str | None:
        is_region = change.classes[flags & ((1 << change.size) - 1)] == kind
        is_of_pattern, is_out, is_within = (
            bool(flags >> change.size + at & 1) for at in range(_MORE)
        )
        is_true = {
            _NEW: is_region and not is_out,
            _INSIDE: is_region and is_out,
            _COMMON: is_out,
            _STRANGE: not is_region and not is_out and is_within,
        }[aim]
        return SHARED if is_of_pattern and is_true else None

    return Classifier(change.size + _MORE, sort)


class Party(NamedTuple):
    """Principals, hosts and operations: every combination of them is meant."""

    principals: tuple[NameClass, ...]
    hosts: tuple[NameClass, ...]
    operations: tuple[str, ...]


class RegionChange(NamedTuple):
    """Names of one resource type that several cells gain or lose.

    Attributes:
        kind: gained or lost.
        resource_type: of the names.
        parties: whose names.
        change: one of the cells, with the shortest name.
        cells: how many there are.
        regions: which names; empty where they were not computed.
    """

    kind: str
    resource_type: str
    parties: tuple[Party, ...]
    change: CellChange
    cells: int
    regions: tuple[Region, ...]


MOST_REGIONS: Final = 200
"""For so many questions the gained and lost names are listed; the others are counted."""


def openings(
    difference: Difference, budget: Budget, most: int = MOST_REGIONS
) -> list[RegionChange]:
    """Fold the differences, largest first; compute regions for the first ``most`` of them."""
    ordered = _alike(difference.changes)
    told: dict[tuple[str, str, tuple[Region, ...]], list[CellChange]] = {}
    untold = ordered[most:]
    for changes in ordered[:most]:
        first = changes[0]
        which = regions_of(first, budget)
        if which:
            place = first.kind, first.cell.resource_type, which
            told.setdefault(place, []).extend(changes)
        else:
            untold.append(changes)
    return [
        *(_opening(changes, which) for (_, _, which), changes in told.items()),
        *(_opening(changes, ()) for changes in untold),
    ]


def fold(changes: Iterable[CellChange]) -> list[RegionChange]:
    """Fold some changes, that of most cells first, without their regions."""
    return [_opening(alike, ()) for alike in _alike(changes)]


def _alike(changes: Iterable[CellChange]) -> list[list[CellChange]]:
    """Put the changes of one question together, the most first."""
    groups = grouped(
        ((change.kind, asked.cell.resource_type, asked.groups, change.aim), change)
        for change in changes
        for asked in [change.asked]
    )
    # The order in which they were found is that of names, so equal counts keep it.
    return sorted(groups.values(), key=lambda alike: -len(alike))


def _opening(changes: Sequence[CellChange], regions: tuple[Region, ...]) -> RegionChange:
    first = min(changes, key=lambda change: len(change.name))
    return RegionChange(
        kind=first.kind,
        resource_type=first.cell.resource_type,
        parties=tuple(parties(change.cell[1:] for change in changes)),
        change=first,
        cells=len(changes),
        regions=regions,
    )


def parties(cells: Iterable[tuple[NameClass, NameClass, str]]) -> list[Party]:
    """Put operations together, then hosts, then principals."""
    operations = grouped(((principal, host), operation) for principal, host, operation in cells)
    hosts = grouped(((who, tuple(which)), host) for (who, host), which in operations.items())
    principals = grouped(((tuple(where), which), who) for (who, which), where in hosts.items())
    return [
        Party(tuple(who), where, tuple(sorted(which, key=_ORDER.__getitem__)))
        for (where, which), who in principals.items()
    ]


_ORDER: Final = {
    operation: number
    for number, operation in enumerate(
        dict.fromkeys(each for known in OPERATIONS_OF_TYPE.values() for each in known)
    )
}
"""Operations in the order in which their types name them."""
