"""Two states of ACLs and settings → where they decide otherwise, for every name. Pure.

Each cell that a change can affect is asked about, equal questions once. A question's groups are the
patterns of the ALLOWs and of the DENYs that answer the cell. Where a default allows, those of all
ACLs are a group too. Each is kept apart for both states, the first alone and the second alone.

Decisions only: that another ACL decides the same is no difference here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.rules.names.cells import AFTER, BEFORE, AskedCell, Cell, CellsOfType, Defaults, Patterns
from aclkit.rules.names.domain import domain_of
from aclkit.rules.names.question import Budget, Found
from aclkit.rules.names.rows import Rules, Symbols
from aclkit.rules.names.target import Classifier

GAINED: Final = "gained"
LOST: Final = "lost"

EQUIVALENT: Final = "equivalent"
MORE: Final = "more"
LESS: Final = "less"
INCOMPARABLE: Final = "incomparable"
AT_LEAST_MORE: Final = "at least more"
AT_LEAST_LESS: Final = "at least less"
UNKNOWN: Final = "unknown"


class CellChange(NamedTuple):
    """Names that a cell gains or loses: ``name`` is the shortest of them."""

    asked: AskedCell
    kind: str
    name: str

    @property
    def cell(self) -> Cell:
        """Whose names they are."""
        return self.asked.cell


class UnknownCell(NamedTuple):
    """A cell whose question the budget ended; ``patterns`` are those that make it hard."""

    cell: Cell
    patterns: tuple[Symbols, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What differs between two states.

    Attributes:
        changes: the cells that gain or lose names.
        unknown: the cells that the budget left open.
        is_complete: all classes of principals and hosts were found.
    """

    changes: tuple[CellChange, ...]
    unknown: tuple[UnknownCell, ...]
    is_complete: bool

    def of_kind(self, kind: str) -> tuple[CellChange, ...]:
        """Return the cells that gain, or those that lose."""
        return tuple(change for change in self.changes if change.kind == kind)

    @property
    def is_known(self) -> bool:
        """Whether nothing is left open."""
        return self.is_complete and not self.unknown

    @property
    def verdict(self) -> str:
        """Compare what is allowed after with what was allowed before."""
        kinds = {change.kind for change in self.changes}
        if len(kinds) == 2:
            return INCOMPARABLE
        if not kinds:
            return EQUIVALENT if self.is_known else UNKNOWN
        if GAINED in kinds:
            return MORE if self.is_known else AT_LEAST_MORE
        return LESS if self.is_known else AT_LEAST_LESS


def compare(before: Rules, after: Rules, budget: Budget) -> Difference:
    """Find every cell that gains or loses a name."""
    changes: list[CellChange] = []
    unknown: list[UnknownCell] = []
    is_complete = True
    for resource_type in OPERATIONS_OF_TYPE:
        asked = CellsOfType(resource_type, before, after, budget)
        known: dict[tuple[Patterns, Defaults], Found] = {}
        for each in asked.cells():
            key = each.patterns, each.defaults
            found = known.get(key) or _find(each, budget)
            known[key] = found
            changes += (
                CellChange(each, str(kind), name)
                for kind, name in sorted(found.names.items(), key=str)
            )
            if not found.is_complete:
                unknown.append(UnknownCell(each.cell, hardest(each.patterns.groups)))
        is_complete &= asked.is_complete
    return Difference(changes=tuple(changes), unknown=tuple(unknown), is_complete=is_complete)


def is_allowed(flags: int, state: int, defaults: Defaults) -> bool:
    """Whether a state allows a name with some flags: those of ``Patterns.groups``."""
    at = state - 1
    if defaults.is_super[at]:
        return True
    mine = 1 | 1 << state
    if flags >> 3 & mine:
        return False
    return bool(flags & mine) or (defaults.is_open[at] and not flags >> 6 & mine)


@cache
def changes_between(defaults: Defaults) -> Classifier:
    """Return the aim that looks for names gained and lost."""

    def sort(flags: int) -> str | None:
        then, now = (is_allowed(flags, state, defaults) for state in (BEFORE, AFTER))
        return None if then == now else GAINED if now else LOST

    return Classifier(9 if any(defaults.is_open) else 6, sort)


def hardest(groups: Iterable[Iterable[Symbols]]) -> tuple[Symbols, ...]:
    """Return the patterns that make a question hard: those with wildcards inside, by length."""
    globs = {each for group in groups for each in group if any(len(s) > 1 for s in each[:-1])}
    return tuple(sorted(globs, key=lambda each: (-len(each), each)))


def _find(asked: AskedCell, budget: Budget) -> Found:
    aim = changes_between(asked.defaults)
    domain = domain_of(asked.cell.resource_type)
    return budget.find(asked.patterns.groups[: aim.size], domain, aim)
