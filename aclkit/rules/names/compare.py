"""Two states of ACLs and settings → where they decide otherwise, for every name. Pure.

Each cell that a change can affect is asked about, equal questions once. A question's groups are the
patterns of the ALLOWs and of the DENYs that answer the cell. Where a default allows, those of all
ACLs are a group too. Each is kept apart for both states, the first alone and the second alone.

Decisions only: that another ACL decides the same is no difference here.

Of two ways of reading the same ACLs, the effect of an ACL is derived from the difference that all
of them make together, because all are read anew together. An ALLOW grants the gained names that it
matches only in the second way; a DENY denies the lost ones. For names that they match only in the
first way it is the other way round.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Final, NamedTuple

from aclkit.model.acl import Acl
from aclkit.model.groups import grouped
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import Semantics
from aclkit.rules.names.cells import (
    AFTER,
    BEFORE,
    Asked,
    AskedCell,
    Cell,
    CellsOfType,
    Defaults,
    Patterns,
)
from aclkit.rules.names.cover import SHARED
from aclkit.rules.names.domain import domain_of
from aclkit.rules.names.question import Budget, Found
from aclkit.rules.names.rows import Row, Rules, Symbols, reads_alike, rows_of
from aclkit.rules.names.target import Classifier, Target
from aclkit.rules.patterns.match import host_can_match

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
    """Names that a cell gains or loses.

    Attributes:
        asked: the question about the cell.
        kind: gained or lost.
        name: the shortest of the names.
        aim: which flags of a name mean what; of which names it is true can be computed where it is
            a ``Classifier``.
    """

    asked: Asked
    kind: str
    name: str
    aim: Target

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
            found = known.get(key) or _find_changes(each, budget)
            known[key] = found
            changes += (
                CellChange(each, str(kind), name, changes_between(each.defaults))
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


def _find_changes(asked: AskedCell, budget: Budget) -> Found:
    aim = changes_between(asked.defaults)
    domain = domain_of(asked.cell.resource_type)
    return budget.find(asked.patterns.groups[: aim.size], domain, aim)


WAKES: Final = "wakes"
SLEEPS: Final = "falls asleep"
OTHERWISE: Final = "is read otherwise"


@dataclass(slots=True)
class SemanticsChange:
    """An ACL that two ways of reading take otherwise.

    Attributes:
        acl: the ACL.
        becomes: it wakes, it falls asleep, or it is read otherwise.
        changes: what is gained and lost by it, of each cell with a shortest name.
        is_known: whether that is all.
    """

    acl: Acl
    becomes: str
    changes: list[CellChange] = field(default_factory=list)
    is_known: bool = True

    def of_kind(self, kind: str) -> list[CellChange]:
        """Return what is gained by it, or what is lost."""
        return [change for change in self.changes if change.kind == kind]


def find_semantics_changes(
    difference: Difference, before: Rules, after: Rules, budget: Budget
) -> list[SemanticsChange]:
    """List, for each ACL of both states, what the second way of reading it changes.

    Args:
        difference: of the two states.
        before: the first.
        after: the second, with the same ACLs under the same ids.
        budget: the search limit.
    """
    ways = before.semantics, after.semantics
    both = {acl.acl_id for acl in before.acls}
    acls = (acl for acl in after.acls if acl.acl_id in both and not reads_alike(acl, *ways))
    teller = _Teller([_Line.of(acl, *ways) for acl in sorted(acls, key=_id)], budget)
    for change in difference.changes:
        teller.tell(change)
    has_default = before.settings.allow_everyone or after.settings.allow_everyone
    for cell in (unknown.cell for unknown in difference.unknown):
        others = teller.reaching_otherwise(cell) if has_default else ()
        for line in (*(line for line, _ in teller.concerned(cell)), *others):
            line.found.is_known = False
    for line in teller.lines:
        line.found.is_known &= difference.is_complete
    return [line.found for line in teller.lines]


class _Line(NamedTuple):
    """An ACL as each of the two ways reads it, and what was found of it."""

    rows: tuple[Row, Row]
    found: SemanticsChange

    @classmethod
    def of(cls, acl: Acl, *ways: Semantics) -> _Line:
        then, now = (next(rows_of((acl,), way)) for way in ways)
        could, can = (
            row.principal is not None and host_can_match(acl.host, way)
            for row, way in zip((then, now), ways, strict=True)
        )
        becomes = OTHERWISE if could == can else WAKES if can else SLEEPS
        return cls((then, now), SemanticsChange(acl, becomes))

    def matching(self, cell: Cell) -> _Matching:
        """Return the names of a cell that it answers."""
        then, now = (
            row.patterns
            if row.principal in cell.principal.patterns
            and row.host in cell.host.patterns
            and row.answers(cell.operation)
            else ()
            for row in self.rows
        )
        return then, now

    @property
    def reaching(self) -> _Matching:
        """The names that it reaches, for any principal."""
        return self.rows[0].patterns, self.rows[1].patterns


_Matching = tuple[tuple[Symbols, ...], tuple[Symbols, ...]]
"""The patterns with which an ACL has names, before and after."""


class _Teller:
    """Finds out which of the ACLs cause a change."""

    def __init__(self, lines: Sequence[_Line], budget: Budget) -> None:
        self.lines, self.budget = lines, budget
        self.known: dict[tuple[object, ...], Found] = {}
        self.placed: dict[tuple[str, Symbols | None, Symbols], dict[str, _Line]] = {}
        for line in lines:
            for row in line.rows:
                place = row.acl.resource_type, row.principal, row.host
                self.placed.setdefault(place, {})[row.acl.acl_id] = line
        otherwise = (line for line in lines if line.reaching[0] != line.reaching[1])
        self.reaching = grouped((line.found.acl.resource_type, line) for line in otherwise)

    def concerned(self, cell: Cell) -> Iterator[tuple[_Line, _Matching]]:
        """Yield the ACLs that answer a cell in either way, and which names of it."""
        found: dict[str, _Line] = {}
        for place in product((cell.resource_type,), cell.principal.patterns, cell.host.patterns):
            found |= self.placed.get(place, {})
        for _, line in sorted(found.items()):
            if any(matching := line.matching(cell)):
                yield line, matching

    def reaching_otherwise(self, cell: Cell) -> list[_Line]:
        """Return the ACLs that reach other names than before, so that a default may decide them."""
        return self.reaching.get(cell.resource_type, [])

    def tell(self, change: CellChange) -> None:
        """Note a change for each ACL that causes it."""
        is_gained, asked = change.kind == GAINED, _of_states(change)
        told: set[str] = set()
        for line, matching in self.concerned(asked.cell):
            comes = line.found.acl.is_allow == is_gained
            if self._note(line, change, matching if comes else matching[::-1], by_default=False):
                told.add(line.found.acl.acl_id)
        for line in self.reaching_otherwise(asked.cell) if any(asked.defaults.is_open) else ():
            if line.found.acl.acl_id not in told:
                reaching = line.reaching[::-1] if is_gained else line.reaching
                self._note(line, change, reaching, by_default=True)

    def _note(
        self, line: _Line, change: CellChange, matching: _Matching, *, by_default: bool
    ) -> bool:
        """Note a change where an ACL has a name of it in the second state but not in the first."""
        found = self._find(change, matching, by_default=by_default)
        if found.names:
            name = found.names[SHARED]
            line.found.changes.append(change if name == change.name else change._replace(name=name))
        line.found.is_known &= found.is_complete or bool(found.names)
        return bool(found.names)

    def _find(self, change: CellChange, matching: _Matching, *, by_default: bool) -> Found:
        without, within = matching
        if set(within) <= set(without):
            return _NOTHING
        asked = _of_states(change)
        key = asked.patterns, asked.defaults, change.kind, matching, by_default
        if key not in self.known:
            aim = _aim(asked.defaults, change.kind, by_default=by_default)
            groups = [*asked.patterns.groups[: aim.size - 2], without, within]
            domain = domain_of(asked.cell.resource_type)
            self.known[key] = self.budget.find(groups, domain, aim)
        return self.known[key]


def _of_states(change: CellChange) -> AskedCell:
    """Return the cell of two states that a change is about: only such are read in two ways."""
    if not isinstance(change.asked, AskedCell):
        raise TypeError("a change on the way has one reading only")
    return change.asked


_NOTHING: Final = Found({}, is_complete=True, states=0)


@cache
def _aim(defaults: Defaults, kind: str, *, by_default: bool) -> Classifier:
    """Return the aim that looks for a name of a change in the second of two more groups alone.

    By a default a name is lost, or gained, that no ALLOW gives in the state where it is allowed.
    """
    change = changes_between(defaults)
    allowed_in = AFTER if kind == GAINED else BEFORE

    def sort(flags: int) -> str | None:
        is_of_kind = change.classes[flags & ((1 << change.size) - 1)] == kind
        is_given = bool(flags & (1 | 1 << allowed_in))
        is_there = flags >> change.size == 0b10
        return SHARED if is_of_kind and is_there and not (by_default and is_given) else None

    return Classifier(change.size + 2, sort)


def _id(acl: Acl) -> str:
    return acl.acl_id
