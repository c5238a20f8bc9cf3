"""ACLs that come and go → those that meet another one: for a class, at a name, or at all. Pure."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product
from typing import Final, NamedTuple

from aclkit.model.semantics import Semantics
from aclkit.rules.names.classes import NameClass, minimal_hosts, minimal_principals
from aclkit.rules.names.cover import LEFT, covers, find_witness_outside
from aclkit.rules.names.domain import domain_of
from aclkit.rules.names.question import Budget, Found
from aclkit.rules.names.rows import Row, Symbols, is_plain, operations_of, start_of_pattern
from aclkit.rules.patterns.match import pattern_matches


class PrefixIndex:
    """ACLs by the beginning of the names that their patterns match."""

    def __init__(self) -> None:
        """Create an empty index."""
        self._rows: dict[str, dict[Row, None]] = {}
        self._starts: list[str] = []
        self._lengths: list[int] = []

    def add(self, start: str, row: Row) -> None:
        """Add an ACL whose names begin with some letters."""
        if start not in self._rows:
            insort(self._starts, start)
            if len(start) not in self._lengths:
                insort(self._lengths, len(start))
        self._rows.setdefault(start, {})[row] = None

    def remove(self, start: str, row: Row) -> None:
        """Remove an ACL."""
        del self._rows[start][row]

    def beginning(self, name: str) -> Iterator[Row]:
        """Yield those whose letters begin a name."""
        for length in self._lengths:
            if length > len(name):
                return
            yield from self._rows.get(name[:length], ())

    def near(self, start: str) -> Iterator[Row]:
        """Yield those that can share a name with what begins so."""
        yield from self.beginning(start)
        for at in range(bisect_right(self._starts, start), len(self._starts)):
            if not self._starts[at].startswith(start):
                return
            yield from self._rows[self._starts[at]]


Patterns = tuple[Symbols, ...]
Within = tuple[Patterns, ...]
"""A name matches one of the first patterns, one of the second, and so on."""
_Place = tuple[str, bool, Symbols, Symbols]
"""Resource type, whether it is an ALLOW, principal, host."""

_FEW: Final = 50
"""Up to so many principals and hosts are gone through one by one."""


class Who(NamedTuple):
    """A class of principals and one of hosts."""

    principal: NameClass
    host: NameClass


class OverlapIndex:
    """Finds the ACLs whose requests overlap those of a given one."""

    def __init__(
        self,
        rows: Iterable[Row],
        semantics: Semantics,
        budget: Budget,
        super_users: Iterable[str] = (),
    ) -> None:
        """Index ACLs. A budget that ends leaves something unknown, and never a guess."""
        self.budget, self.super_users = budget, frozenset(super_users)
        self._semantics = semantics
        self._of_type: dict[str, PrefixIndex] = {}
        self._places: dict[_Place, PrefixIndex] = {}
        for row in rows:
            self.add(row)
        texts: dict[str, tuple[set[Symbols], set[Symbols]]] = {}
        for kind, _, principal, host in self._places:
            principals, hosts = texts.setdefault(kind, (set(), set()))
            principals.update({principal} - {()})
            hosts.add(host)
        self.principals = {
            kind: minimal_principals(each, budget, self.super_users)
            for kind, (each, _) in texts.items()
        }
        self.hosts = {kind: minimal_hosts(each, budget) for kind, (_, each) in texts.items()}
        self.is_covered = cache(self._is_covered)
        self._left_by = cache(self._find_left)

    def add(self, row: Row) -> None:
        """Let an ACL count; its principal and host are among those there were."""
        for shelf in (
            self._of_type.setdefault(row.acl.resource_type, PrefixIndex()),
            self._places.setdefault(_place(row), PrefixIndex()),
        ):
            shelf.add(self._start_of(row), row)

    def remove(self, row: Row) -> None:
        """Let an ACL count no more."""
        for shelf in (self._of_type[row.acl.resource_type], self._places[_place(row)]):
            shelf.remove(self._start_of(row), row)

    def who(self, *rows: Row) -> tuple[list[Who], bool]:
        """Return the least classes of what ACLs answer all, and whether these are all."""
        kind, named = rows[0].acl.resource_type, [row.principal for row in rows if row.principal]
        if not named:
            return [], True
        principals = self.principals[kind].within(*named)
        hosts = self.hosts[kind].within(*(row.host for row in rows))
        found = [Who(*each) for each in product(principals.members, hosts.members)]
        return found, principals.is_complete and hosts.is_complete

    def at(self, who: Who, name: str, resource_type: str, *, allows: bool) -> list[Row]:
        """Return the ACLs that reach a name for a class, operations aside, in order of ids."""
        return sorted(
            (
                row
                for shelf in self._of(who, resource_type, allows=allows)
                for row in shelf.beginning(name)
                if self.reaches(row, name)
            ),
            key=by_id,
        )

    def reaches(self, row: Row, name: str) -> bool:
        """Whether an ACL's pattern matches a name."""
        return pattern_matches(*row.acl.pattern[1:], name, self._semantics)

    def near(self, row: Row) -> Iterator[Row]:
        """Yield the other ACLs that can share a name with one, whomever they are for."""
        near = self._of_type[row.acl.resource_type].near(self._start_of(row))
        return (other for other in near if other != row)

    def near_for(self, row: Row, who: Who, *, allows: bool) -> Iterator[Row]:
        """Yield the ACLs for a class that can share a name with one."""
        for shelf in self._of(who, row.acl.resource_type, allows=allows):
            yield from shelf.near(self._start_of(row))

    def meeting(self, row: Row, *, allows: bool) -> Iterator[Row]:
        """Yield the ACLs that can share a request with one, found by what is rarer."""
        kind, start = row.acl.resource_type, self._start_of(row)
        principals = self.principals[kind].meeting(row.principal) if row.principal else ()
        hosts = self.hosts[kind].meeting(row.host)
        if len(principals) * len(hosts) <= _FEW:
            for place in product((kind,), (allows,), principals, hosts):
                if place in self._places:
                    yield from self._places[place].near(start)
            return
        wanted = set(principals), set(hosts)
        for other in self._of_type[kind].near(start):
            if (
                other.acl.is_allow is allows
                and other.principal in wanted[0]
                and other.host in wanted[1]
            ):
                yield other

    def containing(self, row: Row) -> tuple[list[Row], bool]:
        """Return the other ACLs of the same permission that answer all that one answers.

        In order of ids; and whether these are all.
        """
        kind, name = row.acl.resource_type, self.left_by((), (row,)).names.get(LEFT)
        if row.principal is None or name is None:
            return [], True
        principals, are_all = self.principals[kind].containing(row.principal)
        hosts, are_all_hosts = self.hosts[kind].containing(row.host)
        wide = Who(NameClass("", principals), NameClass("", hosts))
        answered = operations_of(row.acl)
        found = [
            (other, self.is_covered(kind, other.patterns, row.patterns))
            for other in self.at(wide, name, kind, allows=row.acl.is_allow)
            if other != row and answered <= operations_of(other.acl)
        ]
        are_all &= are_all_hosts and all(is_covered is not None for _, is_covered in found)
        return [other for other, is_covered in found if is_covered], are_all

    def left_by(self, chosen: Iterable[Row], rows: tuple[Row, ...]) -> Found:
        """Look for the shortest name that some others leave of what ACLs answer all."""
        wide = frozenset(each for other in chosen for each in other.patterns)
        within = tuple(row.patterns for row in rows)
        return self._left_by(rows[0].acl.resource_type, wide, within)

    def _of(self, who: Who, resource_type: str, *, allows: bool) -> Iterator[PrefixIndex]:
        for principal, host in product(who.principal.patterns, who.host.patterns):
            shelf = self._places.get((resource_type, allows, principal, host))
            if shelf is not None:
                yield shelf

    def _start_of(self, row: Row) -> str:
        """Return the letters with which all names begin that an ACL's pattern matches."""
        return start_of_pattern(*row.acl.pattern[1:], self._semantics)

    def _is_covered(self, resource_type: str, wide: Patterns, narrow: Patterns) -> bool | None:
        return covers(wide, narrow, domain_of(resource_type), self.budget)

    def _find_left(self, resource_type: str, wide: frozenset[Symbols], within: Within) -> Found:
        domain, (narrow, *more) = domain_of(resource_type), within
        if not (wide or more) and len(narrow) == 1 and is_plain(narrow[0]):
            name = "".join(narrow[0])
            return Found({LEFT: name} if domain.holds(name) else {}, is_complete=True, states=0)
        return find_witness_outside(within, wide, domain, self.budget)


def by_id(row: Row) -> str:
    """Sort ACLs by their ids."""
    return row.acl.acl_id


def _place(row: Row) -> _Place:
    return row.acl.resource_type, row.acl.is_allow, row.principal or (), row.host
