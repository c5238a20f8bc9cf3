"""An assertion and ACLs → the cells it asks about, for every name there could be. Pure.

A cell is a class of principals that it means, a class of hosts that it means, and an operation of
a resource type. Names that no broker sees yet have no attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.questions.assertions.match import (
    means_host,
    means_principal,
    operations_on,
    symbols_of,
)
from aclkit.questions.assertions.model import What, Who
from aclkit.rules.names.budget import Budget
from aclkit.rules.names.cells import Cell
from aclkit.rules.names.classes import Classes, NameClass, classes_of_hosts, classes_of_principals
from aclkit.rules.names.cover import near_to
from aclkit.rules.names.rows import Row, Rules, rows_of
from aclkit.rules.names.symbols import EVERYTHING, Symbols, start_of


class Region(NamedTuple):
    """Names of a resource type: what is meant, and what is left out of it."""

    resource_type: str
    meant: frozenset[Symbols]
    but: frozenset[Symbols]


class RuledCell(NamedTuple):
    """A cell, and the patterns of the ACLs that decide about its names."""

    cell: Cell
    allow: frozenset[Symbols]
    deny: frozenset[Symbols]


def regions_of(what: What) -> Iterator[Region]:
    """Yield what a duty is about, by resource type; nothing where attributes are asked for."""
    for resource_type in () if what.attributes else OPERATIONS_OF_TYPE:
        if not operations_on(what, resource_type):
            continue
        meant, but = (
            frozenset(symbols_of(p.name) for p in patterns if p.resource_type == resource_type)
            for patterns in (what.names or (), what.but)
        )
        if what.names is None:
            meant = frozenset({EVERYTHING})
        if meant:
            yield Region(resource_type, meant, but)


@dataclass(slots=True)
class Asked:
    """One resource type of a duty: its names, and all ACLs that can have to do with them.

    Attributes:
        what: the duty.
        region: its names.
        rows: the ACLs that answer one of its operations, by principal.
        anybody: the patterns of all ACLs near the region, for any principal and any operation.
        is_open: resources to which no ACL applies are allowed.
        supers: the super users.
        hosts: ACL hosts → their classes.
    """

    what: What
    region: Region
    rows: Mapping[Symbols, Sequence[Row]]
    anybody: frozenset[Symbols]
    is_open: bool
    supers: frozenset[str]
    budget: Budget
    hosts: dict[frozenset[Symbols], Classes] = field(default_factory=dict)

    @classmethod
    def of(cls, what: What, region: Region, rules: Rules, budget: Budget) -> Asked:
        """Pick the ACLs: those of other types, far names and other operations cannot matter."""
        is_near = near_to({start_of(each) for each in region.meant})
        operations = operations_on(what, region.resource_type)
        rows: dict[Symbols, list[Row]] = {}
        anybody: set[Symbols] = set()
        acls = (acl for acl in rules.acls if acl.resource_type == region.resource_type)
        for row in rows_of(acls, rules.semantics):
            near = tuple(each for each in row.patterns if is_near(start_of(each)))
            anybody.update(near)
            if near and row.principal is not None and any(map(row.answers, operations)):
                rows.setdefault(row.principal, []).append(row._replace(patterns=near))
        return cls(
            what=what,
            region=region,
            rows=rows,
            anybody=frozenset(anybody),
            is_open=rules.settings.allow_everyone,
            supers=rules.settings.super_users,
            budget=budget,
        )

    def cells(self, principal: NameClass) -> Iterator[RuledCell]:
        """Yield the cells of a class of principals, in the order of hosts and operations."""
        is_super = principal.name in self.supers
        texts = () if is_super else sorted(principal.patterns)
        mine = [row for text in texts for row in self.rows.get(text, ())]
        for host in self.hosts_of(mine).members:
            if not means_host(self.what, host.name):
                continue
            here = [row for row in mine if row.host in host.patterns]
            for operation in operations_on(self.what, self.region.resource_type):
                answering = [row for row in here if row.answers(operation)]
                allow, deny = (
                    frozenset(p for r in answering if r.acl.is_allow is side for p in r.patterns)
                    for side in (True, False)
                )
                if is_super:
                    allow = frozenset({EVERYTHING})
                cell = Cell(self.region.resource_type, principal, host, operation)
                yield RuledCell(cell, allow, deny)

    def hosts_of(self, rows: Iterable[Row]) -> Classes:
        """Return the classes of hosts that ACLs and the duty tell apart."""
        texts = frozenset(row.host for row in rows)
        if texts not in self.hosts:
            asked = {symbols_of(pattern) for pattern in self.what.hosts or ()}
            self.hosts[texts] = classes_of_hosts(texts | asked, self.budget)
        return self.hosts[texts]


def principals_meant(
    who: Who, asked: Iterable[Asked], supers: frozenset[str], budget: Budget
) -> tuple[Classes, tuple[Symbols, ...]]:
    """Return the classes of principals that are meant, and what tells them apart."""
    named = {tuple(name) for name in supers}
    said = {symbols_of(pattern) for pattern in (*(who.names or ()), *who.but)}
    texts = named.union(said, *(each.rows for each in asked))
    found = classes_of_principals(texts, budget)
    meant = (
        each
        for each in found.members
        if means_principal(who, each.name, is_super_user=each.name in supers)
    )
    return found._replace(members=tuple(meant)), tuple(sorted(texts))
