"""What differs between two states, cell by cell → what people read: folded, with its regions. Pure.

Cells of one question gain or lose the same names. They are reported together: for which principals,
from where, for which operations, and which names these are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from aclkit.model.groups import grouped
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.rules.names.budget import Budget
from aclkit.rules.names.classes import NameClass
from aclkit.rules.names.compare import CellChange, Difference
from aclkit.rules.names.region import Region, regions_of


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


def openings(difference: Difference, budget: Budget, most: int) -> list[RegionChange]:
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
        ((change.kind, asked.cell.resource_type, asked.patterns, asked.defaults), change)
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
        parties=tuple(parties(_cell_of(change) for change in changes)),
        change=first,
        cells=len(changes),
        regions=regions,
    )


def _cell_of(change: CellChange) -> tuple[NameClass, NameClass, str]:
    cell = change.cell
    return cell.principal, cell.host, cell.operation


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
