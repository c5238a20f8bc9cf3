"""An assertion → the names that it is about, and the cells, for every name there could be. Pure.

``<any-other>`` stands for all names that nothing names. A pattern selects it only where it selects
every name, and excludes it only where it excludes every name. A cell is a class of principals that
an assertion means, a class of hosts that it means, and an operation of a resource type. Names that
no broker sees yet have no attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Final, NamedTuple

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL
from aclkit.model.cidr import is_any_other
from aclkit.model.glob import glob_matches
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import Resource
from aclkit.model.semantics import KIP_1042
from aclkit.questions.assertions.model import Attributes, Pattern, ResourcePattern, What, Who
from aclkit.rules.names.cells import Cell
from aclkit.rules.names.classes import Classes, NameClass, classes_of_hosts, classes_of_principals
from aclkit.rules.names.cover import covers, near_to
from aclkit.rules.names.domain import PRINCIPALS
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import (
    EVERYTHING,
    RUN,
    Row,
    Rules,
    Symbols,
    of_pattern,
    rows_of,
    start_of,
)
from aclkit.rules.patterns.match import GLOB, LITERAL, PREFIXED

_NOTHING: Final[Mapping[str, str]] = {}
_EMPTY_GLOB: Final = Pattern(GLOB, "")
_ANY_USER: Final = (*ANY_OTHER_PRINCIPAL.removesuffix(ANY_OTHER), RUN)


def symbols_of(pattern: Pattern) -> Symbols:
    """Write a pattern as symbols; an empty glob is the empty name, unlike that of an ACL."""
    if pattern.pattern_type == LITERAL or pattern == _EMPTY_GLOB:
        return tuple(pattern.text)
    (symbols,) = of_pattern("TOPIC", pattern.pattern_type, pattern.text, KIP_1042)
    return symbols


def matches(pattern: Pattern, name: str) -> bool:
    """Whether a pattern means a name.

    >>> matches(Pattern("GLOB", "User:s*"), "User:svc-a"), matches(Pattern("LITERAL", "a*"), "ab")
    (True, False)
    >>> matches(Pattern("GLOB", "User:*"), "User:<any-other>")
    True
    """
    if name == ANY_OTHER:
        return symbols_of(pattern) == EVERYTHING
    if name == ANY_OTHER_PRINCIPAL:
        return _means_every_user(pattern)
    if pattern.pattern_type == LITERAL:
        return pattern.text == name
    if pattern.pattern_type == PREFIXED:
        return name.startswith(pattern.text)
    return glob_matches(pattern.text, name)


def means_principal(
    who: Who, principal: str, *, is_super_user: bool, attributes: Mapping[str, str] = _NOTHING
) -> bool:
    """Whether an assertion is about a principal; an unknown principal has no attributes."""
    if is_super_user and not who.super_users:
        return False
    is_named = (
        _any_of(who.names, principal)
        and not _any_of(who.but, principal)
        and has_attributes(who.attributes, attributes)
    )
    return is_named != who.is_inverted


def means_resource(
    what: What, resource: Resource, attributes: Mapping[str, str] = _NOTHING
) -> bool:
    """Whether an assertion is about a resource."""
    return (
        (what.names is None or _reaches(what.names, resource))
        and not _reaches(what.but, resource)
        and has_attributes(what.attributes, attributes)
        and bool(operations_on(what, resource.resource_type))
    )


def means_host(what: What, host: str) -> bool:
    """Whether an assertion is about a host."""
    return _any_of(what.hosts, ANY_OTHER if is_any_other(host) else host)


def principals_said(who: Who) -> Iterator[str]:
    """Yield the principals that an assertion spells out, each once.

    ``only`` is about all other principals, and about those that its exceptions leave out.
    """
    return _said(who.but if who.is_inverted else who.names or ())


def hosts_said(what: What) -> Iterator[str]:
    """Yield the hosts that an assertion spells out, each once."""
    return _said(what.hosts or ())


def resources_said(what: What) -> Iterator[Resource]:
    """Yield the resources that an assertion spells out, each once."""
    said = (p for p in what.names or () if p.name.pattern_type == LITERAL)
    return iter(dict.fromkeys(Resource(p.resource_type, p.name.text) for p in said))


def operations_on(what: What, resource_type: str) -> tuple[str, ...]:
    """Return the operations on a resource type that an assertion is about."""
    known = OPERATIONS_OF_TYPE[resource_type]
    return tuple(name for name in known if what.operations is None or name in what.operations)


def has_attributes(wanted: Attributes, attributes: Mapping[str, str]) -> bool:
    """Whether each attribute that is asked for has a value that is asked for."""
    return all(
        key in attributes and _any_of(patterns, attributes[key]) for key, patterns in wanted.items()
    )


def _said(patterns: Iterable[Pattern]) -> Iterator[str]:
    return iter(dict.fromkeys(p.text for p in patterns if p.pattern_type == LITERAL))


@cache
def _means_every_user(pattern: Pattern) -> bool:
    return covers([symbols_of(pattern)], [_ANY_USER], PRINCIPALS, Budget()) is True


def _any_of(patterns: Iterable[Pattern] | None, name: str) -> bool:
    return patterns is None or any(matches(pattern, name) for pattern in patterns)


def _reaches(patterns: Iterable[ResourcePattern], resource: Resource) -> bool:
    return any(
        pattern.resource_type == resource.resource_type
        and matches(pattern.name, resource.resource_name)
        for pattern in patterns
    )


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

    def __init__(self, what: What, region: Region, rules: Rules, budget: Budget) -> None:
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
        self.what, self.region, self.rows, self.budget = what, region, rows, budget
        self.anybody = frozenset(anybody)
        self.is_open = rules.settings.allow_everyone
        self.supers = rules.settings.super_users
        self.hosts: dict[frozenset[Symbols], Classes] = {}

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
