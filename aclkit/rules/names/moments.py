"""ACLs, and workers that change some of them → where access is otherwise on the way. Pure.

Two questions are asked of each cell: which names are decided otherwise for a time, and which at
another end than the one that is meant. A cell is cut by the principals and hosts of every ACL that
is there at any moment. Of a name counts which of the changed ACLs match it, so each of these is a
group of the question. Those that every way treats alike are one group: one step of their own does
not depend on the others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

from aclkit.model.acl import Acl
from aclkit.model.groups import grouped
from aclkit.rules.names.cells import BOTH, Cell, CellsOfType, Placed
from aclkit.rules.names.compare import (
    GAINED,
    LOST,
    UNKNOWN,
    CellChange,
    Difference,
    UnknownCell,
    hardest,
)
from aclkit.rules.names.cover import near_to
from aclkit.rules.names.domain import domain_of
from aclkit.rules.names.orders import ALLOWS, DENIES, REACHES, Item, Ways, Worker
from aclkit.rules.names.question import Budget, Found
from aclkit.rules.names.rows import Rules, Symbols, may_share, rows_of, start_of
from aclkit.rules.names.target import Classifier, Target

Binding = tuple[str, ...]
"""The seven fields of an ACL."""

FOR_A_TIME: Final = "for a time"
AT_AN_END: Final = "at another end"

_STAYING: Final = 3
"""Groups before those of changed ACLs: ALLOWs, DENYs and all ACLs that nothing changes."""
_MOST_IN_A_TABLE: Final = 9
"""Up to so many groups all sets of them are looked at beforehand."""


class Doing(NamedTuple):
    """What one worker does.

    Attributes:
        steps: creations (True) and deletions of ACLs, in their order; at most two.
        is_sure: it is done in any case; otherwise all of it, or nothing.
        condition: of unsure doings with the same one all are done, or none.
    """

    steps: tuple[tuple[bool, Acl], ...]
    is_sure: bool = True
    condition: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """Where access is otherwise than before.

    Attributes:
        passing: for a time, and at the end of the same way not.
        ends: at some end, and at the meant one not.
    """

    passing: Difference
    ends: Difference


class MomentCell(NamedTuple):
    """A cell, and what decides about its names at any moment; see ``cells.Asked``.

    Attributes:
        cell: the cell.
        groups: the patterns: of ALLOWs, of DENYs and of all ACLs that stay, then of each item.
        ways: what becomes of the items.
    """

    cell: Cell
    groups: tuple[frozenset[Symbols], ...]
    ways: Ways

    @property
    def begins(self) -> frozenset[Symbols]:
        """The patterns of what changes."""
        return frozenset[Symbols]().union(*self.groups[_STAYING:])

    def giving(self, *, is_gained: bool) -> frozenset[Symbols]:
        """Return the patterns of all ALLOWs."""
        items = zip(self.ways.items, self.groups[_STAYING:], strict=True)
        own = (group for item, group in items if item.role == ALLOWS)
        return self.groups[0].union(*own)

    @property
    def reaching(self) -> frozenset[Symbols]:
        """The patterns of all ACLs."""
        return self.groups[2] | self.begins


def find_moments(before: Rules, after: Rules, doings: Iterable[Doing], budget: Budget) -> Moments:
    """Return where access is otherwise on the way, or at another end than the meant one.

    Args:
        before: the state before.
        after: the meant end.
        doings: what leads from the one to the other; ACLs that differ and that nothing changes
            come or go by themselves.
        budget: the search limit.
    """
    there = {acl.binding: acl for acl in before.acls}
    meant = {acl.binding: acl for acl in after.acls}
    doings = [*doings]
    touched = {acl.binding for each in doings for _, acl in each.steps}
    doings += [
        Doing(((binding in meant, {**there, **meant}[binding]),))
        for binding in sorted(there.keys() ^ meant.keys())
        if binding not in touched
    ]
    changed = _changed(doings, there.keys())
    staying = [acl for binding, acl in there.items() if binding not in changed]
    bare = Rules(acls=staying, settings=before.settings, semantics=after.semantics)
    full = Rules(
        acls=[*staying, *changed.values()], settings=before.settings, semantics=after.semantics
    )
    found = {FOR_A_TIME: _Sought(), AT_AN_END: _Sought()}
    for kind, acls in grouped((acl.resource_type, acl) for acl in changed.values()).items():
        cells = CellsOfType(kind, bare, full, budget)
        plan = _Plan(acls, doings, there.keys(), meant.keys(), full, cells)
        for asked in plan.cells():
            for when, sought in found.items():
                sought.ask(asked, when, budget)
        for sought in found.values():
            sought.is_complete &= cells.is_complete
    return Moments(passing=found[FOR_A_TIME].difference, ends=found[AT_AN_END].difference)


def nearest_end(doings: Iterable[Doing], sought: Mapping[Binding, bool]) -> dict[Binding, bool]:
    """Return which ACLs exist at an end that some order has, as near as can be to one sought.

    The operations are placed from the last one back: one that leaves its ACL as sought, or that a
    later one undoes. Where none is left but such as do not, that ACL is there, or not, instead.

    Args:
        doings: all that is done.
        sought: ACLs by their seven fields, and whether they shall exist; of others any end will do.
    """
    left = [[(is_new, acl.binding) for is_new, acl in each.steps] for each in doings]
    found: dict[Binding, bool] = {}
    ready = deque(steps for steps in left if steps)
    waiting: dict[Binding, list[list[tuple[bool, Binding]]]] = {}
    while ready or waiting:
        is_forced = not ready
        if is_forced:
            ready.extend(waiting.pop(next(iter(waiting))))
        steps = ready.popleft()
        while steps:
            is_new, binding = steps[-1]
            if not is_forced and binding not in found and sought.get(binding, is_new) != is_new:
                waiting.setdefault(binding, []).append(steps)
                break
            steps.pop()
            is_forced = False
            found.setdefault(binding, is_new)
            ready.extend(waiting.pop(binding, ()))
    return {binding: found.get(binding, is_there) for binding, is_there in sought.items()}


def _changed(doings: Iterable[Doing], there: Set[Binding]) -> dict[Binding, Acl]:
    """Return the ACLs whose presence can change: what exists is deleted, or another one comes."""
    return {
        acl.binding: acl
        for each in doings
        for is_creation, acl in each.steps
        if is_creation is not (acl.binding in there)
    }


@dataclass(slots=True)
class _Sought:
    """What is found of one kind."""

    changes: list[CellChange] = field(default_factory=list)
    unknown: list[UnknownCell] = field(default_factory=list)
    is_complete: bool = True
    known: dict[tuple[Hashable, ...], Found] = field(default_factory=dict)

    def ask(self, asked: MomentCell, when: str, budget: Budget) -> None:
        """Ask about one cell; equal questions once."""
        aim = _aim(asked.ways, when)
        if isinstance(aim, Classifier) and not aim.wanted:
            return
        key = asked.groups, id(aim)
        if key not in self.known:
            domain = domain_of(asked.cell.resource_type)
            self.known[key] = budget.find(asked.groups, domain, aim)
        found = self.known[key]
        self.changes += (
            CellChange(asked, str(kind), name, aim)
            for kind, name in sorted(found.names.items(), key=str)
            if kind != UNKNOWN
        )
        if UNKNOWN in found.names or not found.is_complete:
            self.unknown.append(UnknownCell(asked.cell, hardest(asked.groups)))

    @property
    def difference(self) -> Difference:
        """All that was found."""
        return Difference(
            changes=tuple(self.changes),
            unknown=tuple(self.unknown),
            is_complete=self.is_complete,
        )


class _Plan:
    """The changed ACLs of one resource type, and what changes them."""

    def __init__(
        self,
        acls: Iterable[Acl],
        doings: Iterable[Doing],
        there: Set[Binding],
        meant: Set[Binding],
        rules: Rules,
        cells: CellsOfType,
    ) -> None:
        self.of_type = cells
        self.there, self.meant = there, meant
        self.patterns = {row.acl.binding: row.patterns for row in rows_of(acls, rules.semantics)}
        self.doings: list[tuple[tuple[tuple[bool, Binding], ...], bool, str]] = []
        for each in doings:
            steps = tuple((is_new, acl.binding) for is_new, acl in each.steps)
            if any(binding in self.patterns for _, binding in steps):
                self.doings.append((steps, each.is_sure, each.condition))
        self.touching = grouped(
            (binding, number)
            for number, (steps, *_) in enumerate(self.doings)
            for _, binding in steps
        )
        self.known: dict[frozenset[tuple[Binding, int]], _Grouped] = {}

    @cached_property
    def is_open(self) -> bool:
        """Whether what no ACL reaches is open, where that can make a difference."""
        return self.of_type.is_open[0]

    def cells(self) -> Iterator[MomentCell]:
        """Yield each cell that has to do with a changed ACL."""
        for cell, placed, _ in self.of_type.placed():
            roles = {each.row.acl.binding: _role(each) for each in placed if each.state != BOTH}
            if roles or self.is_open:
                found = self._grouped(roles)
                yield MomentCell(cell, found.with_staying(placed, self._reached), found.ways)

    @property
    def _reached(self) -> frozenset[Symbols]:
        return self.of_type.anybody[BOTH]

    def _grouped(self, own: Mapping[Binding, int]) -> _Grouped:
        key = frozenset(own.items())
        if key not in self.known:
            roles = {**dict.fromkeys(self.patterns, REACHES), **own} if self.is_open else own
            self.known[key] = _Grouping(self, roles).result()
        return self.known[key]


def _role(placed: Placed) -> int:
    return ALLOWS if placed.row.acl.is_allow else DENIES


class _Grouped(NamedTuple):
    """The items of a cell, their patterns, and what counts as if it stayed, by role."""

    ways: Ways
    patterns: tuple[frozenset[Symbols], ...]
    kept: tuple[frozenset[Symbols], frozenset[Symbols], frozenset[Symbols]]

    def with_staying(
        self, placed: Iterable[Placed], reached: frozenset[Symbols]
    ) -> tuple[frozenset[Symbols], ...]:
        """Return the groups of a question: the patterns that share a name with an item's."""
        near = near_to({start_of(each) for group in self.patterns for each in group})
        staying: tuple[set[Symbols], set[Symbols]] = (set(self.kept[0]), set(self.kept[1]))
        for each in placed:
            if each.state == BOTH:
                staying[_role(each)].update(p for p in each.row.patterns if near(start_of(p)))
        everybody = frozenset(p for p in reached if near(start_of(p))) | self.kept[REACHES]
        return frozenset(staying[0]), frozenset(staying[1]), everybody, *self.patterns


class _Grouping:
    """Sorts the changed ACLs of a cell into items."""

    def __init__(self, plan: _Plan, roles: Mapping[Binding, int]) -> None:
        self.plan, self.roles = plan, roles
        self.items: dict[Hashable, int] = {}
        self.about: list[Item] = []
        self.patterns: list[set[Symbols]] = []
        self.kept: tuple[set[Symbols], ...] = (set(), set(), set())

    def result(self) -> _Grouped:
        """Return the items."""
        numbers = {number for each in self.roles for number in self.plan.touching[each]}
        workers = dict.fromkeys(
            worker for number in sorted(numbers) for worker in self._workers(number)
        )
        allows, denies, reaches = map(frozenset, self.kept)
        ways = Ways(tuple(self.about), tuple(workers), self.plan.is_open)
        return _Grouped(ways, tuple(map(frozenset, self.patterns)), (allows, denies, reaches))

    def _workers(self, number: int) -> Iterator[Worker]:
        """Yield what a doing does with the items; two workers where its steps do not meet."""
        doing, is_sure, condition = self.plan.doings[number]
        mine = [step for step in doing if step[1] in self.roles]
        if len(mine) > 1 and is_sure and all(self._is_alone(each) for _, each in mine):
            (is_new, first), (_, second) = mine
            if is_new and self._is_kept(first, second):
                self.kept[self.roles[second]].update(self.plan.patterns[second])
                mine = mine[:1]
            elif not is_new or not self._may_both_be_missed(first, second):
                yield Worker((self._step(mine[0], is_alone=True),))
                mine = mine[1:]
        is_alone = len(mine) == 1 and self._is_alone(mine[0][1])
        unsure = None if is_sure else condition
        steps = (self._step(each, is_alone=is_alone, unsure=unsure) for each in mine)
        yield Worker(tuple(steps), is_sure, condition)

    def _step(
        self, step: tuple[bool, Binding], *, is_alone: bool, unsure: str | None = None
    ) -> tuple[bool, int]:
        """Return a step by the number of its item; what stands alone shares one with its like."""
        is_new, binding = step
        item = Item(self.roles[binding], binding in self.plan.there, binding in self.plan.meant)
        key = (item, is_new, unsure) if is_alone else binding
        number = self.items.setdefault(key, len(self.items))
        if number == len(self.about):
            self.about.append(item)
            self.patterns.append(set())
        self.patterns[number].update(self.plan.patterns[binding])
        return is_new, number

    def _is_alone(self, binding: Binding) -> bool:
        """Whether one step of one worker is all that is done with an ACL."""
        return len(self.plan.touching[binding]) == 1

    def _is_kept(self, new: Binding, old: Binding) -> bool:
        """Whether one ACL is there before the other goes, and reaches all that it does."""
        return self.roles[new] == self.roles[old] and set(self.plan.patterns[old]) <= set(
            self.plan.patterns[new]
        )

    def _may_both_be_missed(self, new: Binding, old: Binding) -> bool:
        """Whether it counts that one ACL is there when the other one goes.

        Only where both would have to be off at once: they have one role, or a resource without any
        ACL is open.
        """
        return (self.plan.is_open or self.roles[new] == self.roles[old]) and any(
            may_share(one, other)
            for one in self.plan.patterns[new]
            for other in self.plan.patterns[old]
        )


@lru_cache(maxsize=1000)
def _aim(ways: Ways, when: str) -> Target:
    """Return what sorts the flags of a name into gained, lost and unknown."""

    def sort(flags: int) -> str | None:
        is_given, is_denied, is_reached = (bool(flags >> at & 1) for at in range(_STAYING))
        matched = flags >> _STAYING
        if is_denied or not matched:
            return None
        found = ways.outlook(matched, is_given=is_given, is_reached=is_given or is_reached)
        differs = found.is_passing if when == FOR_A_TIME else found.may_differ
        if not differs:
            return UNKNOWN if differs is None else None
        return LOST if found.is_allowed else GAINED

    size = _STAYING + len(ways.items)
    return Classifier(size, sort) if size <= _MOST_IN_A_TABLE else _Lazy(sort)


@dataclass(frozen=True, slots=True, eq=False)
class _Lazy:
    """Sorts the flags of more groups than a table can hold; see ``target.Target``."""

    sort: Callable[[int], str | None]

    def class_of(self, flags: int) -> Hashable | None:
        """Return the class of flags."""
        return self.sort(flags)

    def ahead(self, flags: int, possible: int, found: Set[Hashable]) -> int | None:
        """Return what is not set for good; None where all that is sought is found."""
        if self.is_reached(found):
            return None
        free = possible & ~flags
        return free if free or self.sort(flags) not in {None, *found} else None

    def is_reached(self, found: Set[Hashable]) -> bool:
        """Whether both kinds were found."""
        return {GAINED, LOST} <= found
