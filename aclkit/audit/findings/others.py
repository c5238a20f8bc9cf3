"""ACLs → what others leave of one: the shortest name that shows it, or the ACLs that leave nothing.

Asked is a class of principals, a class of hosts and an operation. A name of the ACL is proposed,
all others that match it are looked up, and these together leave another name or none. So only ACLs
that matter get into a question, and mostly none is asked: the first name is left already, or one
ACL plainly covers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Final, NamedTuple

from aclkit.audit.findings.never_matches import can_match
from aclkit.model.acl import Acl, Request
from aclkit.model.operation import OPERATIONS_OF_TYPE, coverage
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.rules.names.budget import Budget
from aclkit.rules.names.classes import NameClass
from aclkit.rules.names.cover import LEFT, covers, find_beside, is_plainly_covered
from aclkit.rules.names.domain import domain_of
from aclkit.rules.names.least import LeastClasses, least_hosts, least_principals
from aclkit.rules.names.question import Found
from aclkit.rules.names.rows import Row, rows_of
from aclkit.rules.names.symbols import Symbols, is_plain, start_of_pattern
from aclkit.rules.patterns.match import pattern_matches

Patterns = tuple[Symbols, ...]
Within = tuple[Patterns, ...]
"""A name matches one of the first patterns, one of the second, and so on."""
Counts = Callable[[Row], bool]
"""Which of the others count."""

_ROUNDS: Final = 8
"""So many names are proposed before all the others that are near get into the question."""


class Who(NamedTuple):
    """A class of principals and one of hosts."""

    principal: NameClass
    host: NameClass


class Left(NamedTuple):
    """What others leave of an ACL.

    Attributes:
        name: the shortest name left; None where there is none, or the budget ended.
        by: the others that leave nothing; or those that the budget could not tell about.
        is_known: the budget did not end.
    """

    name: str | None
    by: tuple[Row, ...] = ()
    is_known: bool = True

    @property
    def is_nothing(self) -> bool:
        """Whether nothing is left."""
        return self.name is None and self.is_known


@dataclass(slots=True)
class Starts:
    """ACLs by the letters that their names begin with."""

    rows: dict[str, list[Row]] = field(default_factory=dict)
    lengths: set[int] = field(default_factory=set)
    ordered: list[str] = field(default_factory=list)

    def add(self, start: str, row: Row) -> None:
        """Take one more."""
        self.rows.setdefault(start, []).append(row)
        self.lengths.add(len(start))

    def beginning(self, name: str) -> Iterator[Row]:
        """Yield those whose start begins a name."""
        for length in sorted(self.lengths):
            if length <= len(name):
                yield from self.rows.get(name[:length], ())

    def near(self, start: str) -> Iterator[Row]:
        """Yield those that can share a name with what begins so."""
        yield from self.beginning(start)
        if len(self.ordered) < len(self.rows):
            self.ordered = sorted(self.rows)
        for at in range(bisect_right(self.ordered, start), len(self.ordered)):
            if not self.ordered[at].startswith(start):
                return
            yield from self.rows[self.ordered[at]]


_Place = tuple[str, bool, Symbols, Symbols]
"""Resource type, whether it is an ALLOW, principal, host."""


class Others:
    """All ACLs that some request can meet, ready to be asked what they leave of one."""

    def __init__(
        self, acls: Iterable[Acl], settings: BrokerSettings, semantics: Semantics, budget: Budget
    ) -> None:
        """Index ACLs. A budget that ends leaves something unknown, and never a guess."""
        able = (acl for acl in acls if can_match(acl, semantics))
        found = sorted(rows_of(able, semantics), key=lambda row: row.acl.acl_id)
        self.semantics, self.budget = semantics, budget
        self.rows = {row.acl.acl_id: row for row in found}
        self._places: dict[_Place, Starts] = {}
        for row in found:
            self._places.setdefault(_place(row), Starts()).add(self.start_of(row), row)
        self.principals = {
            kind: least_principals(_some(each[2] for each in rows), budget, settings.super_users)
            for kind, rows in self._by_type().items()
        }
        self.hosts: dict[str, LeastClasses] = {
            kind: least_hosts((each[3] for each in rows), budget)
            for kind, rows in self._by_type().items()
        }
        self.is_covered = cache(self._is_covered)
        self._left_by = cache(self._find_left)

    def who(self, *rows: Row) -> tuple[list[Who], bool]:
        """Return the least classes of what ACLs answer all, and whether these are all."""
        kind, named = rows[0].acl.resource_type, [row.principal for row in rows if row.principal]
        principals = self.principals[kind].within(*named)
        hosts = self.hosts[kind].within(*(row.host for row in rows))
        found = [Who(*each) for each in product(principals.members, hosts.members)]
        return found, principals.is_complete and hosts.is_complete

    def at(self, who: Who, name: str, resource_type: str, *, allows: bool) -> list[Row]:
        """Return the ACLs that reach a name for a class, operations aside, in order of ids."""
        return sorted(
            (
                row
                for starts in self._of(who, resource_type, allows=allows)
                for row in starts.beginning(name)
                if self.reaches(row, name)
            ),
            key=_acl_id,
        )

    def reaches(self, row: Row, name: str) -> bool:
        """Whether an ACL's pattern matches a name."""
        return pattern_matches(*row.acl.pattern[1:], name, self.semantics)

    def containing(self, row: Row) -> tuple[list[Row], bool]:
        """Return the other ACLs of the same permission that answer all that one answers.

        In order of ids; and whether these are all.
        """
        acl, name = row.acl, self.left_by((), (row,)).names.get(LEFT)
        if row.principal is None or name is None:
            return [], True
        principals, are_all = self.principals[acl.resource_type].containing(row.principal)
        hosts, are_all_hosts = self.hosts[acl.resource_type].containing(row.host)
        wide = Who(NameClass("", principals), NameClass("", hosts))
        answered = operations_of(acl)
        found = {
            other.acl.acl_id: self.is_covered(acl.resource_type, other.patterns, row.patterns)
            for other in self.at(wide, name, acl.resource_type, allows=acl.is_allow)
            if other.acl.acl_id != acl.acl_id and answered <= operations_of(other.acl)
        }
        rows = [self.rows[acl_id] for acl_id, is_covered in found.items() if is_covered]
        return rows, are_all and are_all_hosts and None not in found.values()

    def contains(self, wide: Acl, narrow: Acl) -> bool:
        """Whether an ACL is known to answer all that another of its permission answers."""
        rows, _ = self.containing(self.rows[narrow.acl_id])
        return any(row.acl.acl_id == wide.acl_id for row in rows)

    def near(self, row: Row, who: Who, *, allows: bool) -> Iterator[Row]:
        """Yield the ACLs for a class that can share a name with one."""
        for starts in self._of(who, row.acl.resource_type, allows=allows):
            yield from starts.near(self.start_of(row))

    def left_by(self, chosen: Iterable[Row], rows: tuple[Row, ...]) -> Found:
        """Look for the shortest name that some others leave of what ACLs answer all."""
        wide = frozenset(each for other in chosen for each in other.patterns)
        within = tuple(row.patterns for row in rows)
        return self._left_by(rows[0].acl.resource_type, wide, within)

    def _of(self, who: Who, resource_type: str, *, allows: bool) -> Iterator[Starts]:
        for principal, host in product(who.principal.patterns, who.host.patterns):
            starts = self._places.get((resource_type, allows, principal, host))
            if starts is not None:
                yield starts

    def _by_type(self) -> dict[str, list[_Place]]:
        found: dict[str, list[_Place]] = {}
        for place in self._places:
            found.setdefault(place[0], []).append(place)
        return found

    def start_of(self, row: Row) -> str:
        """Return the letters with which all names begin that an ACL's pattern matches."""
        return start_of_pattern(*row.acl.pattern[1:], self.semantics)

    def _is_covered(self, resource_type: str, wide: Patterns, narrow: Patterns) -> bool | None:
        return covers(wide, narrow, domain_of(resource_type), self.budget)

    def _find_left(self, resource_type: str, wide: frozenset[Symbols], within: Within) -> Found:
        domain, (narrow, *more) = domain_of(resource_type), within
        if not (wide or more) and len(narrow) == 1 and is_plain(narrow[0]):
            name = "".join(narrow[0])
            return Found({LEFT: name} if domain.holds(name) else {}, is_complete=True, states=0)
        return find_beside(within, wide, domain, self.budget)


class View:
    """What an ACL, or several of them all, answer for a class; and the others there."""

    def __init__(
        self,
        others: Others,
        rows: tuple[Row, ...],
        who: Who,
        *,
        allows: tuple[bool, ...] = (False,),
    ) -> None:
        """Take the ACLs; ``allows`` says whether others are DENYs, ALLOWs or both."""
        self.rows, self.who = rows, who
        self._others, self._allows = others, allows
        self._ids = {row.acl.acl_id for row in rows}
        self._at = cache(self._find_at)

    def left(self, operation: str, counts: Counts = lambda _: True) -> Left:
        """Return what others leave for an operation."""
        others = self._others
        found = others.left_by((), self.rows)
        chosen: dict[str, Row] = {}
        for turn in range(_ROUNDS + 1):
            if LEFT not in found.names:
                break
            name = found.names[LEFT]
            rows = self._at(name) if turn < _ROUNDS else self._near()
            hits = [each for each in rows if each.answers(operation) and counts(each)]
            alone = next((each for each in hits if self._plainly_covers(each)), None)
            if alone is not None:
                return Left(None, (alone,))
            fresh = {each.acl.acl_id: each for each in hits if each.acl.acl_id not in chosen}
            if not fresh:
                return Left(name)
            chosen |= fresh
            found = others.left_by(chosen.values(), self.rows)
        if LEFT in found.names:
            return Left(found.names[LEFT])
        return Left(None, tuple(chosen.values()), found.is_complete)

    def request(self, operation: str, name: str) -> Request:
        """Return the request of the class about a name."""
        return Request(
            principal=self.who.principal.name,
            host=self.who.host.name,
            operation=operation,
            resource_type=self.rows[0].acl.resource_type,
            resource_name=name,
        )

    def _find_at(self, name: str) -> list[Row]:
        kind = self.rows[0].acl.resource_type
        found = (self._others.at(self.who, name, kind, allows=each) for each in self._allows)
        return [row for rows in found for row in rows if row.acl.acl_id not in self._ids]

    def _near(self) -> list[Row]:
        near = self._others.near
        found = (near(self.rows[0], self.who, allows=each) for each in self._allows)
        rows = (row for some in found for row in some if row.acl.acl_id not in self._ids)
        return sorted(rows, key=_acl_id)

    def _plainly_covers(self, other: Row) -> bool:
        wide = set(other.patterns)
        return any(
            all(is_plainly_covered(wide, each) or self._is_reached(other, each) for each in narrow)
            for narrow in (row.patterns for row in self.rows)
        )

    def _is_reached(self, other: Row, narrow: Symbols) -> bool:
        return is_plain(narrow) and self._others.reaches(other, "".join(narrow))


@cache
def _answered(resource_type: str, operation: str, permission_type: str) -> frozenset[str]:
    known = OPERATIONS_OF_TYPE.get(resource_type, ())
    return frozenset(o for o in known if coverage(operation, permission_type, o) is not None)


def operations_of(acl: Acl) -> frozenset[str]:
    """Return the operations of its resource type that an ACL answers."""
    return _answered(acl.resource_type, acl.operation, acl.permission_type)


def _place(row: Row) -> _Place:
    return row.acl.resource_type, row.acl.is_allow, row.principal or (), row.host


def _some(texts: Iterable[Symbols]) -> list[Symbols]:
    return [each for each in texts if each]


def _acl_id(row: Row) -> str:
    return row.acl.acl_id
