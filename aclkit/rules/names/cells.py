"""Two states of ACLs and settings → the cells that a change can affect, with their patterns. Pure.

A cell is a class of principals, a class of hosts and an operation of a resource type. What is left
to ask about it are names of resources, and of its ACLs nothing counts any more but their patterns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple, Protocol

from aclkit.model.acl import Acl, Request
from aclkit.model.groups import grouped
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import Resource
from aclkit.model.semantics import Semantics
from aclkit.rules.names.classes import Classes, NameClass, classes_of_hosts, classes_of_principals
from aclkit.rules.names.cover import covers, is_plainly_covered, near_to
from aclkit.rules.names.domain import domain_of
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import (
    EVERYTHING,
    Row,
    Rules,
    Symbols,
    reads_alike,
    rows_of,
    start_of,
    start_of_pattern,
)

BOTH, BEFORE, AFTER = 0, 1, 2
"""In which state something is."""

ByState = tuple[frozenset[Symbols], frozenset[Symbols], frozenset[Symbols]]
"""Patterns of both states, of the first alone, of the second alone."""


class Cell(NamedTuple):
    """Requests of principals and hosts that are decided alike and differ in the resource's name."""

    resource_type: str
    principal: NameClass
    host: NameClass
    operation: str

    def about(self, name: str) -> Request:
        """Ask about one name."""
        resource = Resource(self.resource_type, name)
        return Request.of(self.principal.name, self.host.name, self.operation, resource)


class Defaults(NamedTuple):
    """What decides in addition to ACLs, before and after.

    Attributes:
        is_super: the principals are super users.
        is_open: what no ACL reaches is allowed.
    """

    is_super: tuple[bool, bool]
    is_open: tuple[bool, bool]

    @property
    def changes(self) -> bool:
        """Whether the two states differ in this."""
        return self.is_super[0] != self.is_super[1] or self.is_open[0] != self.is_open[1]


class Patterns(NamedTuple):
    """The patterns of a cell.

    Attributes:
        allow: of ALLOWs that answer the cell.
        deny: of DENYs that do.
        anybody: of all ACLs of the type; empty where no default allows, or none comes or goes.
    """

    allow: ByState
    deny: ByState
    anybody: ByState

    @property
    def groups(self) -> tuple[frozenset[Symbols], ...]:
        """All of them, in the order of a question's groups."""
        return (*self.allow, *self.deny, *self.anybody)

    @property
    def changed(self) -> frozenset[Symbols]:
        """What is in one state only."""
        return frozenset[Symbols]().union(*(each for side in self for each in side[BEFORE:]))

    def near_to_changed(self) -> Patterns:
        """Leave out what shares no name with a changed pattern."""
        near = near_to({start_of(each) for each in self.changed})

        def keep(side: ByState) -> ByState:
            both, before, after = (frozenset(p for p in of if near(start_of(p))) for of in side)
            return both, before, after

        return Patterns(keep(self.allow), keep(self.deny), keep(self.anybody))


class Asked(Protocol):
    """What is asked about the names of a cell, and what tells which names the answer is about."""

    @property
    def cell(self) -> Cell:
        """The cell."""

    @property
    def groups(self) -> tuple[frozenset[Symbols], ...]:
        """The patterns, in the order of the question's groups."""

    @property
    def begins(self) -> frozenset[Symbols]:
        """The patterns with which its names can begin."""

    def giving(self, *, is_gained: bool) -> frozenset[Symbols]:
        """Return the patterns of the ALLOWs that give what is gained, or gave what is lost."""

    @property
    def reaching(self) -> frozenset[Symbols]:
        """The patterns of all ACLs: where one matches, no default allows."""


class AskedCell(NamedTuple):
    """A cell of two states, and all that decides about its names; see ``Asked``."""

    cell: Cell
    patterns: Patterns
    defaults: Defaults

    @property
    def groups(self) -> tuple[frozenset[Symbols], ...]:
        """The patterns."""
        return self.patterns.groups

    @property
    def begins(self) -> frozenset[Symbols]:
        """What is in one state only; anything where super users or the default differ."""
        return frozenset({EVERYTHING}) if self.defaults.changes else self.patterns.changed

    def giving(self, *, is_gained: bool) -> frozenset[Symbols]:
        """Return the patterns of the ALLOWs of one state."""
        return self.patterns.allow[BOTH] | self.patterns.allow[AFTER if is_gained else BEFORE]

    @property
    def reaching(self) -> frozenset[Symbols]:
        """The patterns of all ACLs, where a default counts."""
        return frozenset[Symbols]().union(*self.patterns.anybody)


class Placed(NamedTuple):
    """An ACL, and in which state it is."""

    row: Row
    state: int


_NONE: Final[ByState] = (frozenset(), frozenset(), frozenset())
_CLOSED: Final = (False, False)


class CellsOfType:
    """The cells of one resource type.

    Attributes:
        resource_type: the type.
        rows: the ACLs that a change can have to do with, by principal.
        principals: the classes to ask about.
        anybody: the patterns of all ACLs, where a default allows and one of them comes or goes.
        is_open: what no ACL reaches is allowed, before and after.
        supers: the super users, before and after.
        budget: see ``classes``.
        is_complete: no class of principals or hosts is missing.
        hosts: ACL hosts → their classes.
        near: patterns of cells → those of them that count; None where nothing can differ.
    """

    def __init__(self, resource_type: str, before: Rules, after: Rules, budget: Budget) -> None:
        """Pick the ACLs of a type, and the classes of principals to ask about.

        Where the settings are the same, patterns that share no name with a changed one do not
        count. All principals are asked about where a name gets its first ACL or loses its last,
        and that default allows; otherwise those of changed ACLs.
        """
        supers = before.settings.super_users, after.settings.super_users
        is_open = before.settings.allow_everyone, after.settings.allow_everyone
        parts = _parts(resource_type, before, after)
        anybody = _by_state(_placed(parts)) if any(is_open) else _NONE
        is_wide = is_open[0] != is_open[1] or not _reach_alike(resource_type, anybody, budget)
        # Otherwise a changed ACL's names are reached in both states, and no default decides them.
        counts_default = is_wide or supers[0] != supers[1]
        if supers[0] == supers[1] and is_open[0] == is_open[1]:
            parts = _near_to_changed(parts)
        rows = grouped(
            (p, each) for each in _placed(parts) if (p := each.row.principal) is not None
        )
        changed = {tuple(name) for name in supers[0] ^ supers[1]}
        changed |= {p for p, placed in rows.items() if any(each.state != BOTH for each in placed)}
        principals = Classes((), is_complete=True)
        if is_wide or changed:
            named = {tuple(name) for name in supers[0] | supers[1]}
            principals = classes_of_principals({*rows, *named}, budget)
        affected = (p for p in principals.members if is_wide or p.patterns & changed)
        self.resource_type, self.rows = resource_type, rows
        self.supers, self.budget = supers, budget
        self.principals = tuple(affected)
        self.anybody = anybody if counts_default else _NONE
        self.is_open = is_open if counts_default else _CLOSED
        self.is_complete = principals.is_complete
        self.hosts: dict[frozenset[Symbols], Classes] = {}
        self.near: dict[Patterns, Patterns | None] = {}

    def cells(self) -> Iterator[AskedCell]:
        """Yield each cell that a change can affect, with its patterns."""
        for cell, placed, defaults in self.placed():
            patterns = self._patterns(placed, defaults)
            if patterns is not None:
                yield AskedCell(cell, patterns, defaults)

    def placed(self) -> Iterator[tuple[Cell, list[Placed], Defaults]]:
        """Yield each cell of the principals, with the ACLs that answer it."""
        for principal in self.principals:
            before, after = (principal.name in names for names in self.supers)
            if not (before and after):
                defaults = Defaults((before, after), self.is_open)
                for cell, placed in self._of_principal(principal):
                    yield cell, placed, defaults

    def _of_principal(self, principal: NameClass) -> Iterator[tuple[Cell, list[Placed]]]:
        own = (each for text in principal.patterns for each in self.rows.get(text, ()))
        mine = grouped((each.row.host, each) for each in own)
        for host in self._hosts_of(frozenset(mine)):
            here = [each for text in host.patterns for each in mine.get(text, ())]
            for operation in OPERATIONS_OF_TYPE[self.resource_type]:
                cell = Cell(self.resource_type, principal, host, operation)
                yield cell, [each for each in here if each.row.answers(operation)]

    def _hosts_of(self, texts: frozenset[Symbols]) -> tuple[NameClass, ...]:
        if texts not in self.hosts:
            self.hosts[texts] = classes_of_hosts(texts, self.budget)
            self.is_complete &= self.hosts[texts].is_complete
        return self.hosts[texts].members

    def _patterns(self, placed: Sequence[Placed], defaults: Defaults) -> Patterns | None:
        """Return what a cell is asked about; None where nothing can differ."""
        allow, deny = (
            _by_state(each for each in placed if each.row.acl.is_allow is is_allow)
            for is_allow in (True, False)
        )
        patterns = Patterns(allow, deny, self.anybody)
        if defaults.changes:
            return patterns
        if patterns not in self.near:
            self.near[patterns] = patterns.near_to_changed() if patterns.changed else None
        return self.near[patterns]


_Part = tuple[Semantics, Sequence[Acl]]
"""ACLs, and how they are read."""


def _parts(resource_type: str, before: Rules, after: Rules) -> tuple[_Part, _Part, _Part]:
    """Return the ACLs of a type by state, those of both states once."""
    then, now = (
        {acl.binding: acl for acl in rules.acls if acl.resource_type == resource_type}
        for rules in (before, after)
    )
    both = {*then.keys() & now.keys()}
    if before.semantics != after.semantics:
        ways = before.semantics, after.semantics
        both = {binding for binding in both if reads_alike(then[binding], *ways)}
    return (
        (before.semantics, [acl for binding, acl in then.items() if binding in both]),
        (before.semantics, [acl for binding, acl in then.items() if binding not in both]),
        (after.semantics, [acl for binding, acl in now.items() if binding not in both]),
    )


def _near_to_changed(parts: tuple[_Part, _Part, _Part]) -> tuple[_Part, _Part, _Part]:
    """Leave out what is in both states and shares no name with what is not."""
    (semantics, both), gone, come = parts
    near = near_to({_start(acl, how) for how, acls in (gone, come) for acl in acls})
    return (semantics, [acl for acl in both if near(_start(acl, semantics))]), gone, come


def _reach_alike(resource_type: str, anybody: ByState, budget: Budget) -> bool:
    """Whether the ACLs of both states are known to reach the same names, each side together.

    Then a default that allows decides the same names in both, for every principal.
    """
    both, before, after = anybody
    for own, other in ((before, both | after), (after, both | before)):
        rows = set(other)
        left = [each for each in own if not is_plainly_covered(rows, each)]
        near = near_to({start_of(each) for each in left})
        wide = (each for each in other if near(start_of(each)))
        if left and not covers(wide, left, domain_of(resource_type), budget):
            return False
    return True


def _start(acl: Acl, semantics: Semantics) -> str:
    return start_of_pattern(acl.pattern_type, acl.resource_name, semantics)


def _placed(parts: Sequence[_Part]) -> Iterator[Placed]:
    for state, (semantics, acls) in enumerate(parts):
        yield from (Placed(row, state) for row in rows_of(acls, semantics))


def _by_state(placed: Iterable[Placed]) -> ByState:
    """Sort patterns by state; one that an ACL has before and another after is in both."""
    found: tuple[set[Symbols], set[Symbols], set[Symbols]] = (set(), set(), set())
    for row, state in placed:
        found[state].update(row.patterns)
    both = found[BOTH] | (found[BEFORE] & found[AFTER])
    return frozenset(both), frozenset(found[BEFORE] - both), frozenset(found[AFTER] - both)
