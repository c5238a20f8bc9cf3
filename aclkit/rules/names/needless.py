"""An ACL and the others of its type → those that decide all of its names in its place. Pure.

An ALLOW may go where ALLOWs and DENYs of its cell match all its names, a DENY where DENYs do. More
ACLs cover more, so this is asked in the least classes only: of principals and hosts that no ACL
speaks of but those that cannot help to. Whether a DENY is idle is asked in all of them: it may be
idle for everybody but one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from aclkit.model.operation import OPERATIONS_OF_TYPE, coverage
from aclkit.model.semantics import Semantics
from aclkit.rules.names.aim import Sort
from aclkit.rules.names.budget import Budget
from aclkit.rules.names.cells import Cell
from aclkit.rules.names.classes import Classes, NameClass, classes_of_hosts, classes_of_principals
from aclkit.rules.names.cover import covers, is_plainly_covered
from aclkit.rules.names.domain import domain_of
from aclkit.rules.names.question import Question
from aclkit.rules.names.rows import Row
from aclkit.rules.names.shelf import Shelf
from aclkit.rules.names.symbols import Symbols

LATER: Final = "(an operation to come)"
"""What a later Kafka may ask for: ALL answers it too, so that only ALL stands in for ALL."""

_MOST_TRIED: Final = 60
"""Of so many ACLs that cover one together, each is tried for whether it can be done without."""


class Cover(NamedTuple):
    """What stands in for an ACL.

    Attributes:
        is_covered: None where the budget ended before it was known.
        by: the ACLs that do; none where the ACL answers no request that there could be.
        cell: one in which names are left, or are not known to be none.
    """

    is_covered: bool | None
    by: tuple[Row, ...]
    cell: Cell | None = None


class Others:
    """The ACLs of one resource type, some of which may go and others come."""

    def __init__(
        self,
        resource_type: str,
        rows: Iterable[Row],
        semantics: Semantics,
        budget: Budget,
        super_users: Iterable[str] = (),
    ) -> None:
        """Sort the ACLs by principal, and the principals into classes."""
        self._type, self._semantics, self._budget = resource_type, semantics, budget
        self._domain = domain_of(resource_type)
        self._all = Shelf(semantics)
        self._of_principal: dict[Symbols, Shelf] = {}
        self._supers = frozenset(super_users)
        for row in rows:
            self.add(row)
        texts = {*self._of_principal, *map(tuple, self._supers)}
        self._principals = classes_of_principals(texts, budget)
        self._of_text: dict[Symbols, list[NameClass]] = {}
        for each in self._principals.members:
            for text in each.patterns:
                self._of_text.setdefault(text, []).append(each)
        self._least: dict[Symbols, list[NameClass]] = {}
        self._hosts: dict[frozenset[Symbols], Classes] = {}

    def add(self, row: Row) -> None:
        """Let an ACL stand in for others; its principal is one of those there were."""
        self._all.add(row)
        if row.principal is not None:
            self._of_principal.setdefault(row.principal, Shelf(self._semantics)).add(row)

    def remove(self, row: Row) -> None:
        """Let an ACL stand in for others no more."""
        self._all.remove(row)
        if row.principal is not None:
            self._of_principal[row.principal].remove(row)

    def near(self, row: Row) -> Iterator[Row]:
        """Yield the others that can share a name with an ACL."""
        return self._all.near(row)

    def find_cover(self, row: Row, *, by_allows: bool, by_denies: bool) -> Cover:
        """Look for ACLs that decide all names of another as it does, for whomever it speaks of.

        It may be one of these ACLs or not, but its principal is in one of them.
        """
        if row.principal is None:
            return Cover(is_covered=True, by=())
        if not self._principals.is_complete:
            return Cover(None, ())
        by: dict[Row, None] = {}
        for principal in self._least_of(row.principal):
            near = [
                other
                for other in self._of_class(principal, row)
                if (by_allows if other.acl.is_allow else by_denies)
            ]
            hosts = self._hosts_of([row, *near])
            for host in _least([each for each in hosts.members if row.host in each.patterns]):
                here = [other for other in near if other.host in host.patterns]
                covered, operation = self._cover_in_cell(row, here, by)
                if not covered:
                    cell = Cell(self._type, principal, host, operation)
                    return Cover(covered, (), cell)
            if not hosts.is_complete:
                return Cover(None, ())
        return Cover(is_covered=True, by=tuple(by))

    def decided_like(self, row: Row) -> Callable[[str], bool]:
        """Tell the names on which an ACL would change nothing, wherever it speaks of them.

        Where classes are missing, no name is told.
        """
        asked: dict[frozenset[Symbols], Question] = {}
        is_known = self._principals.is_complete and row.principal is not None
        for principal in self._least_of(row.principal or ()):
            rows = [each for text in sorted(principal.patterns) for each in self._shelved(text)]
            hosts = self._hosts_of([row, *rows])
            is_known &= hosts.is_complete
            for host in _least([each for each in hosts.members if row.host in each.patterns]):
                for operation in self._answered_by(row):
                    ways = frozenset(
                        pattern
                        for each in rows
                        if each.host in host.patterns and operation in self._answered_by(each)
                        for pattern in each.patterns
                    )
                    if operation != LATER and ways not in asked:
                        asked[ways] = Question([ways], self._domain)
        return cache(lambda name: is_known and all(q.flags_of(name) for q in asked.values()))

    def is_reached_by_others(self, row: Row) -> bool | None:
        """Whether each name of an ACL is in another one: else a default may come to decide."""
        others = {pattern for other in self._all.near(row) for pattern in other.patterns}
        return covers(others, row.patterns, self._domain, self._budget)

    def is_idle(self, row: Row) -> bool | None:
        """Whether a DENY takes nothing away: no ALLOW is left but for it, for nobody."""
        if row.principal is None:
            return True
        is_known = self._principals.is_complete
        for principal in self._of_text.get(row.principal, ()):
            if principal.name in self._supers:
                continue
            near = list(self._of_class(principal, row))
            hosts = self._hosts_of([row, *near])
            is_known &= hosts.is_complete
            for host in hosts.members:
                if row.host not in host.patterns:
                    continue
                idle = self._is_idle_here(row, [o for o in near if o.host in host.patterns])
                if idle is False:
                    return False
                is_known &= idle is not None
        return True if is_known else None

    def _cover_in_cell(
        self, row: Row, here: Sequence[Row], by: dict[Row, None]
    ) -> tuple[bool | None, str]:
        """Say whether some cover an ACL, operation by operation; those that do go into ``by``."""
        asked: set[tuple[int, ...]] = set()
        for operation in self._answered_by(row):
            others = [other for other in here if operation in self._answered_by(other)]
            key = tuple(map(id, others))
            if key not in asked:
                asked.add(key)
                covered = self._cover_of_operation(row, others, by)
                if not covered:
                    return covered, operation
        return True, ""

    def _cover_of_operation(
        self, row: Row, others: Sequence[Row], by: dict[Row, None]
    ) -> bool | None:
        ways = {pattern for other in others for pattern in other.patterns}
        if all(is_plainly_covered(ways, pattern) for pattern in row.patterns):
            alone = [o for o in others if all(_plainly(o, pattern) for pattern in row.patterns)]
            if alone:
                is_allow = row.acl.is_allow
                first = min(alone, key=lambda o: (o not in by, o.acl.is_allow != is_allow))
                by[first] = None
                return True
        covered = covers(ways, row.patterns, self._domain, self._budget)
        if covered:
            by.update(dict.fromkeys(self._fewest(row, others, by)))
        return covered

    def _fewest(self, row: Row, others: Sequence[Row], by: dict[Row, None]) -> list[Row]:
        """Drop one after another what is not needed, what is named already last."""
        kept = sorted(others, key=lambda other: (other in by, other.acl.binding))
        for each in tuple(kept) if len(kept) <= _MOST_TRIED else ():
            fewer = {pattern for other in kept if other is not each for pattern in other.patterns}
            if covers(fewer, row.patterns, self._domain, self._budget):
                kept.remove(each)
        return kept

    def _is_idle_here(self, row: Row, here: Sequence[Row]) -> bool | None:
        is_known = True
        for operation in self._answered_by(row):
            allow, deny = (
                {
                    pattern
                    for other in here
                    if other.acl.is_allow is is_allow and operation in self._answered_by(other)
                    for pattern in other.patterns
                }
                for is_allow in (True, False)
            )
            if allow:
                found = self._budget.find([row.patterns, allow, deny], self._domain, _TAKEN)
                if found.names:
                    return False
                is_known &= found.is_complete
        return True if is_known else None

    def _answered_by(self, row: Row) -> dict[str, None]:
        return _answered(self._type, row.acl.operation, row.acl.permission_type)

    def _shelved(self, text: Symbols) -> Iterable[Row]:
        return self._of_principal.get(text, ())

    def _of_class(self, principal: NameClass, row: Row) -> Iterator[Row]:
        """Yield the others of a class that can share a name with an ACL."""
        for text in sorted(principal.patterns):
            if text in self._of_principal:
                yield from self._of_principal[text].near(row)

    def _least_of(self, text: Symbols) -> list[NameClass]:
        if text not in self._least:
            self._least[text] = _least(self._of_text.get(text, ()))
        return self._least[text]

    def _hosts_of(self, rows: Iterable[Row]) -> Classes:
        texts = frozenset(row.host for row in rows)
        if texts not in self._hosts:
            self._hosts[texts] = classes_of_hosts(texts, self._budget)
        return self._hosts[texts]


def answers_anything(row: Row) -> bool:
    """Whether an ACL answers an operation that its resource type is known to have."""
    return bool(_answered(row.acl.resource_type, row.acl.operation, row.acl.permission_type))


def answers_together(rows: Iterable[Row]) -> bool:
    """Whether ACLs of one type answer all operations that it is known to have, none by ALL."""
    types = {row.acl.resource_type for row in rows}
    answered = {
        operation
        for row in rows
        for operation in _answered(
            row.acl.resource_type, row.acl.operation, row.acl.permission_type
        )
    }
    return LATER not in answered and answered.issuperset(
        operation for each in types for operation in OPERATIONS_OF_TYPE[each]
    )


_TAKEN: Final = Sort(3, lambda flags: "taken" if flags == 0b011 else None)


@cache
def _answered(resource_type: str, operation: str, permission_type: str) -> dict[str, None]:
    """Return the operations that an ACL answers, the one to come first: few ACLs do."""
    asked = (LATER, *OPERATIONS_OF_TYPE.get(resource_type, ()))
    return {each: None for each in asked if coverage(operation, permission_type, each) is not None}


def _least(classes: Iterable[NameClass]) -> list[NameClass]:
    """Return the classes that hold the texts of no other one."""
    least: list[NameClass] = []
    for each in sorted(classes, key=lambda one: (len(one.patterns), one.name)):
        if not any(other.patterns <= each.patterns for other in least):
            least.append(each)
    return least


def _plainly(other: Row, pattern: Symbols) -> bool:
    return is_plainly_covered(set(other.patterns), pattern)
