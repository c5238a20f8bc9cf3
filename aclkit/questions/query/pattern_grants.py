"""A principal → what ACLs with a pattern allow or deny it, and which known names that is today.

A prefix or a glob also applies to future names, which an answer about known names alone would leave
out. An unknown name that an ACL spells out counts as a pattern too.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Final, NamedTuple

from aclkit.model.acl import ANY_OTHER, Acl, operations_words
from aclkit.model.groups import grouped
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import TYPE_OF_WORD, Resource
from aclkit.model.semantics import Semantics
from aclkit.model.values import dataclass
from aclkit.questions.query.decisions import Decisions
from aclkit.questions.query.group_rows import ALL_HOSTS
from aclkit.rules.decide.rules import ALLOWED, DENIED
from aclkit.rules.names.cover import NONE, SOME, UNKNOWN, Extent, find_extent
from aclkit.rules.names.domain import domain_of
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import Row, Symbols, rows_of
from aclkit.rules.patterns.identity import index_hosts
from aclkit.rules.patterns.match import (
    LITERAL,
    PREFIXED,
    effective_pattern_type,
    matches_every_name,
    pattern_matches,
    principal_matches,
    start_of_names,
)
from aclkit.warehouse.acls_in_force import acls_naming
from aclkit.warehouse.duck import Tables
from aclkit.warehouse.published import run_settings

MOST_NAMES: Final = 10
"""At most this many of the known names that a pattern matches are listed; all are counted."""

_MOST_SHOWN: Final = 2
_OVERRIDE: Final = {SOME: "override", UNKNOWN: "may override"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternGrant:
    """An operation that an ACL allows, or denies, on what its pattern matches.

    Attributes:
        acl: the ACL.
        operation: one that it grants or denies.
        hosts: from where: those with the same decisions, with commas, or ``*``.
        decision: ALLOWED or DENIED.
        extent: on how many of all possible names that match the pattern, see
            ``rules.names.cover``: DENYs of other ACLs may exclude some.
        reaches: on how many known names.
        names: the first of these.
    """

    acl: Acl
    operation: str
    hosts: str
    decision: str
    extent: str
    reaches: int
    names: tuple[str, ...]

    @property
    def resource(self) -> Resource:
        """The resource type, and the text of the pattern."""
        return Resource(self.acl.resource_type, self.acl.resource_name)


def read_pattern_grants(
    tables: Tables,
    found: Decisions,
    principal: str,
    *,
    decision: str | None,
    kind: str | None = None,
    is_one_host: bool = False,
) -> tuple[PatternGrant, ...]:
    """Read what a principal has by patterns, in addition to the known names of an answer.

    Args:
        tables: see ``reader.open_tables``.
        found: the answer about known names.
        principal: the principal in question.
        decision: only this decision; None for both.
        kind: only patterns of this resource type.
        is_one_host: the question is about one host only, which is then named.
    """
    settings, semantics = run_settings(found.decided_by)
    if settings.makes_super(principal) or not found.hosts:
        return ()
    acls = [
        acl
        for acl in acls_naming(tables, found.decided_by, principal)
        if kind in (None, acl.resource_type)
        and principal_matches(acl.principal, principal, semantics)
    ]
    told = pattern_grants(acls, _known(found.names), found.hosts, semantics, decision)
    if is_one_host:
        (host,) = found.hosts
        told = (replace(grant, hosts=host) for grant in told)
    return tuple(told)


def pattern_grants(
    acls: Iterable[Acl],
    known: Mapping[str, Sequence[str]],
    hosts: frozenset[str],
    semantics: Semantics,
    decision: str | None = ALLOWED,
) -> Iterator[PatternGrant]:
    """Yield what ACLs that all match one principal grant by patterns, sorted. Pure.

    An ALLOW that DENYs override on every name is no access, and is left out.

    Args:
        acls: the principal's own, and those for all.
        known: resource type → the known names, sorted.
        hosts: from where it is asked.
        semantics: how ACLs are read.
        decision: only what is decided so; None for both.
    """
    of_type = grouped((acl.resource_type, acl) for acl in acls)
    for kind in sorted(of_type.keys() & OPERATIONS_OF_TYPE.keys()):
        names = [name for name in known.get(kind, ()) if name != ANY_OTHER]
        rows = list(rows_of(of_type[kind], semantics))
        teller = _Teller(kind, rows, names, hosts, semantics)
        for permission, answer in (("ALLOW", ALLOWED), ("DENY", DENIED)):
            if decision in (None, answer):
                yield from teller.grants(permission)


class _Granted(NamedTuple):
    """What hosts share that have the same decisions for an operation on a pattern."""

    acl: Acl
    extent: str
    reached: tuple[str, ...]
    reaches: int


@dataclass(slots=True)
class _Teller:
    """Tells the grants on one resource type."""

    kind: str
    rows: Sequence[Row]
    names: Sequence[str]
    hosts: frozenset[str]
    semantics: Semantics
    budget: Budget = field(default_factory=Budget)
    extents: dict[tuple[object, ...], Extent] = field(default_factory=dict)
    matched: dict[tuple[Symbols, ...], list[str]] = field(default_factory=dict)

    def grants(self, permission: str) -> Iterator[PatternGrant]:
        """Yield the grants of the ACLs of one permission."""
        own = [row for row in self.rows if row.acl.permission_type == permission]
        patterns = grouped((row.patterns, row) for row in own if self._is_told(row.acl))
        classes = self._host_classes()
        for rows in sorted(patterns.values(), key=lambda some: some[0].acl.pattern):
            for operation in OPERATIONS_OF_TYPE[self.kind]:
                answering = [row for row in rows if row.answers(operation)]
                answering.sort(key=lambda row: (row.acl.operation != operation, row.acl.acl_id))
                if answering:
                    yield from self._of_operation(operation, answering, classes)

    def _is_told(self, acl: Acl) -> bool:
        """Whether no known name covers an ACL; ``<any-other>`` covers one for every name."""
        if matches_every_name(acl.pattern_type, acl.resource_name, self.semantics):
            return False
        is_literal = effective_pattern_type(acl.pattern_type, self.semantics) == LITERAL
        return not is_literal or not self._holds(acl.resource_name)

    def _holds(self, name: str) -> bool:
        at = bisect_left(self.names, name)
        return at < len(self.names) and self.names[at] == name

    def _host_classes(self) -> dict[frozenset[str], list[str]]:
        """Put hosts together that the same ACLs match, under the texts of these."""
        index = index_hosts({row.acl.host for row in self.rows}, self.semantics)
        return grouped((frozenset(index.matching(host)), host) for host in sorted(self.hosts))

    def _of_operation(
        self, operation: str, answering: Sequence[Row], classes: Mapping[frozenset[str], list[str]]
    ) -> Iterator[PatternGrant]:
        found: dict[_Granted, list[str]] = {}
        for texts, hosts in classes.items():
            row = next((row for row in answering if row.acl.host in texts), None)
            granted = row and self._granted(row, operation, texts)
            if granted is not None:
                found.setdefault(granted, []).extend(hosts)
        for granted, hosts in found.items():
            yield PatternGrant(
                acl=granted.acl,
                operation=operation,
                hosts=ALL_HOSTS if len(hosts) == len(self.hosts) else ",".join(sorted(hosts)),
                decision=ALLOWED if granted.acl.is_allow else DENIED,
                extent=granted.extent,
                reaches=granted.reaches,
                names=granted.reached,
            )

    def _granted(self, row: Row, operation: str, texts: frozenset[str]) -> _Granted | None:
        denies = [
            other
            for other in self.rows
            if row.acl.is_allow
            and not other.acl.is_allow
            and other.acl.host in texts
            and other.answers(operation)
        ]
        deny = frozenset(each for other in denies for each in other.patterns)
        key = (*row.patterns, deny)
        if key not in self.extents:
            self.extents[key] = find_extent(
                row.patterns, row.patterns, deny, domain_of(self.kind), self.budget
            )
        extent = self.extents[key]
        if extent.word == NONE:
            return None
        if row.patterns not in self.matched:
            self.matched[row.patterns] = list(matching_names(row.acl, self.names, self.semantics))
        reached = [n for n in self.matched[row.patterns] if not self._is_any(denies, n)]
        return _Granted(row.acl, extent.word, tuple(reached[:MOST_NAMES]), len(reached))

    def _is_any(self, rows: Iterable[Row], name: str) -> bool:
        return any(
            pattern_matches(row.acl.pattern_type, row.acl.resource_name, name, self.semantics)
            for row in rows
        )


def matching_names(acl: Acl, names: Sequence[str], semantics: Semantics) -> Iterator[str]:
    """Yield those of some names, sorted, that an ACL's pattern matches."""
    start, _ = start_of_names(acl.pattern_type, acl.resource_name, semantics)
    for at in range(bisect_left(names, start), len(names)):
        name = names[at]
        if not name.startswith(start):
            return
        if pattern_matches(acl.pattern_type, acl.resource_name, name, semantics):
            yield name


class PatternAccess(NamedTuple):
    """The operations that one ACL answers alike for the same hosts.

    Attributes:
        grant: the one of its operations that reaches most names.
        operations: all of them.
        less: which of them others' DENYs override on some names, in words; empty if none.
    """

    grant: PatternGrant
    operations: list[str]
    less: str


def together(grants: Iterable[PatternGrant]) -> Iterator[PatternAccess]:
    """Yield the grants of one ACL, decision and hosts as one.

    An operation of which DENYs take a part stays in its line: who reads the first line of an ALLOW
    ALL would take a missing WRITE for denied.
    """
    for alike in grouped(((g.acl, g.hosts, g.decision), g) for g in grants).values():
        most = max(alike, key=lambda grant: grant.reaches)
        yield PatternAccess(most, [grant.operation for grant in alike], _less_words(alike))


def _less_words(grants: Sequence[PatternGrant]) -> str:
    less = [grant for grant in grants if grant.extent in _OVERRIDE]
    if not less:
        return ""
    verb = _OVERRIDE[UNKNOWN if any(grant.extent == UNKNOWN for grant in less) else SOME]
    done = [grant.operation for grant in less]
    what = "it" if len(less) == len(grants) else operations_words(done, less[0].acl.resource_type)
    return f"; DENYs {verb} {what} on some names"


def kind_word(acl: Acl) -> str:
    """Write of which kind its pattern is."""
    return "prefix" if acl.pattern_type == PREFIXED else acl.pattern_type.lower()


def reach_words(access: PatternAccess) -> str:
    """Write which known names a pattern reaches, and whether DENYs take names away."""
    grant = access.grant
    shown = ", ".join(grant.names[:_MOST_SHOWN])
    more = grant.reaches - min(_MOST_SHOWN, len(grant.names))
    names = f": {shown}{f' and {more:,} more' if more else ''}" if shown else ""
    return f"{grant.reaches:,}{names}{access.less}"


def _known(names: Iterable[str]) -> dict[str, list[str]]:
    """Sort the names of an answer, ``topic:x``, by resource type."""
    split = (name.partition(":") for name in names)
    found = grouped((TYPE_OF_WORD[word], name) for word, colon, name in split if colon)
    return {kind: sorted(each) for kind, each in found.items()}
