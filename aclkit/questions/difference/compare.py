"""Two states → the decisions that differ between them, in classes of equal cells. Pure.

Only what a changed ACL may affect is compared: the principals that it may be for, on the
resources that its pattern matches; every principal, where a resource gets its first ACL or loses
its last. Cells that the same ACLs match in both states are decided once
(``aclkit.rules.decide.rules`` is the specification).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from aclkit.model.acl import Acl
from aclkit.model.operation import OPERATIONS_OF_TYPE, coverage
from aclkit.model.resource import Resource
from aclkit.model.semantics import BROKER, Semantics
from aclkit.questions.difference.access_change import (
    ChangesByPrincipals,
    DecisionChange,
    PrincipalChanges,
    ResourceChanges,
)
from aclkit.questions.difference.change import Change
from aclkit.questions.difference.equivalence_classes import (
    AclGroup,
    Hosts,
    PatternGroups,
    People,
    ReadPattern,
    group_acls,
)
from aclkit.questions.query.decide_unlisted import Verdict
from aclkit.questions.state import Inventory
from aclkit.rules.decide.order import BrokerRescan, Order, WildcardLast
from aclkit.rules.decide.rules import conclude
from aclkit.rules.patterns.trie import PatternIndex


def compare(change: Change, asked: Inventory) -> Iterator[ResourceChanges]:
    """Yield what differs, resource by resource in the order asked.

    A decision differs when its result, its rule or its deciding ACL does.
    """
    if not (change.affected or change.second or change.changes_everything):
        return
    comparison = _Comparison.of(change, asked)
    for resource in asked.resources:
        outcomes = comparison.decide(resource)
        if outcomes:
            yield ResourceChanges(resource, outcomes)


class _ResourceKind(NamedTuple):
    """All properties of a resource that decide, except the patterns that apply to it.

    ``is_open``: no ACL applies to it and the default allows; ``wildcard_last``: what a broker's
    order takes from the name; both before and after.
    """

    resource_type: str
    is_open: tuple[bool, bool]
    wildcard_last: tuple[WildcardLast, WildcardLast]


_Sides = tuple[list[Acl], list[Acl]]
_Rules = dict[tuple[tuple[int, ...], tuple[bool, bool]], PrincipalChanges]
"""Groups of ACLs, and who is a super user → what they decide otherwise on a kind of resource."""
_OneRule = tuple[_ResourceKind, str, tuple[int, ...], tuple[bool, bool]]
"""A kind of resource, an operation, the groups that cover it, and who is a super user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Comparison:
    change: Change
    patterns: Sequence[PatternGroups]
    groups: Sequence[AclGroup]
    index: Sequence[PatternIndex]
    affected: Sequence[PatternIndex]
    rescans: tuple[BrokerRescan, BrokerRescan]
    people: People
    hosts: Hosts
    known: dict[tuple[_ResourceKind, tuple[int, ...]], ChangesByPrincipals] = field(
        default_factory=dict
    )
    rules: dict[_ResourceKind, _Rules] = field(default_factory=dict)
    changes: dict[_OneRule, tuple[DecisionChange, ...]] = field(default_factory=dict)
    covering: dict[int, Mapping[str, _Sides]] = field(default_factory=dict)
    keys: dict[tuple[str, Semantics], dict[str, tuple[Any, ...]]] = field(default_factory=dict)

    @classmethod
    def of(cls, change: Change, asked: Inventory) -> _Comparison:
        """Group and index the ACLs of both states."""
        patterns, groups = group_acls(change)
        numbered = dict(enumerate(patterns))
        grouped = list(patterns.values())
        changed = {n: pattern for n, pattern in numbered.items() if grouped[n].changed}
        return cls(
            change=change,
            patterns=grouped,
            groups=groups,
            index=_indexes(change, numbered),
            affected=_indexes(change, changed),
            rescans=(_rescan(change, 0), _rescan(change, 1)),
            people=People.of(change, asked.principals),
            hosts=Hosts.of(change, asked.hosts),
        )

    def decide(self, resource: Resource) -> ChangesByPrincipals:
        """Return for which principals a resource is decided differently, and how."""
        before, after = (rescan.wildcard_last(*resource) for rescan in self.rescans)
        is_affected = self.change.changes_everything or before != after
        if not (is_affected or any(index.matches(*resource) for index in self.affected)):
            return ()
        numbers = tuple(n for index in self.index for n in index.matches(*resource))
        kind = _ResourceKind(resource.resource_type, self._is_open(numbers), (before, after))
        if (kind, numbers) not in self.known:
            self.known[kind, numbers] = tuple(self._compare(kind, numbers))
        return self.known[kind, numbers]

    def _is_open(self, numbers: Sequence[int]) -> tuple[bool, bool]:
        """Whether the default allows every principal, before and after."""
        then, now = (
            state.settings.allow_everyone
            and not any(self.patterns[number].is_there[at] for number in numbers)
            for at, state in enumerate((self.change.before, self.change.after))
        )
        return then, now

    def _compare(
        self, kind: _ResourceKind, numbers: Sequence[int]
    ) -> Iterator[tuple[tuple[str, ...], PrincipalChanges]]:
        """Decide each set of ACLs that some principals have on a kind of resource."""
        patterns = [self.patterns[number] for number in numbers]
        is_wide = self._is_wide(kind)
        texts = None if is_wide else frozenset(t for pattern in patterns for t in pattern.changed)
        rules = self.rules.setdefault(kind, {})
        for principals, own, is_super in self.people.alike(patterns, texts):
            if (own, is_super) not in rules:
                groups = [self.groups[number] for number in own]
                rules[own, is_super] = PrincipalChanges.of(self._decide(kind, groups, is_super))
            outcome = rules[own, is_super]
            if outcome.changes:
                yield principals, outcome

    def _is_wide(self, kind: _ResourceKind) -> bool:
        """Whether a change affects every principal, whatever its ACLs."""
        return (
            self.change.changes_everything
            or kind.is_open[0] != kind.is_open[1]
            or kind.wildcard_last[0] != kind.wildcard_last[1]
        )

    def _decide(
        self, kind: _ResourceKind, groups: Sequence[AclGroup], is_super: tuple[bool, bool]
    ) -> Iterator[DecisionChange]:
        """Decide the operations that a change may affect; each once for the ACLs that cover it."""
        is_wide = self._is_wide(kind)
        mine = [(group.number, self._by_operation(group)) for group in groups]
        for operation in OPERATIONS_OF_TYPE[kind.resource_type]:
            covering = [(number, by[operation]) for number, by in mine if operation in by]
            if not (is_wide or any(before is not after for _, (before, after) in covering)):
                continue
            key = kind, operation, tuple(number for number, _ in covering), is_super
            if key not in self.changes:
                sides = [[acl for _, side in covering for acl in side[at]] for at in (0, 1)]
                self.changes[key] = tuple(self._changes(kind, operation, sides, is_super))
            yield from self.changes[key]

    def _changes(
        self,
        kind: _ResourceKind,
        operation: str,
        sides: Sequence[Sequence[Acl]],
        is_super: tuple[bool, bool],
    ) -> Iterator[DecisionChange]:
        """Decide an operation by the ACLs that cover it, from each class of hosts, twice."""
        is_wide = self._is_wide(kind)
        found: dict[tuple[Verdict, Verdict], list[str]] = {}
        host_of, second = self.change.host_of, self.change.second
        named = [[(acl, host_of(acl, at)) for acl in side] for at, side in enumerate(sides)]
        for hosts, texts in self.hosts.alike({text for side in named for _, text in side}):
            hits = [[acl for acl, text in side if text in texts] for side in named]
            if not is_wide and hits[0] == hits[1] and second.isdisjoint(a.acl_id for a in hits[0]):
                continue
            then, now = (
                self._verdict(hits[at], operation, kind, at, is_super=is_super[at]) for at in (0, 1)
            )
            if then != now:
                found.setdefault((then, now), []).extend(hosts)
        for (then, now), names in found.items():
            yield DecisionChange(operation, tuple(sorted(names)), then, now)

    def _by_operation(self, group: AclGroup) -> Mapping[str, _Sides]:
        """Return a group's ACLs by the operations that they cover, before and after.

        Both sides are one list where they agree.
        """
        if group.number not in self.covering:
            found: dict[str, _Sides] = {}
            for operation in OPERATIONS_OF_TYPE[group.resource_type]:
                before, after = (_covering(acls, operation) for acls in (group.before, group.after))
                if before or after:
                    found[operation] = before, before if before == after else after
            self.covering[group.number] = found
        return self.covering[group.number]

    def _verdict(
        self, hits: Sequence[Acl], operation: str, kind: _ResourceKind, at: int, *, is_super: bool
    ) -> Verdict:
        """Decide by the ACLs that match; their keys are worked out once, for an ACL meets many."""
        how = self.change.readings[at]
        known = self.keys.setdefault((operation, how), {})
        order = Order(operation, how, kind.wildcard_last[at], known)
        is_open = kind.is_open[at]
        return Verdict.of(conclude(hits, order, is_super=is_super, is_open=is_open))


def _indexes(change: Change, patterns: Mapping[int, ReadPattern]) -> list[PatternIndex]:
    """Index numbered patterns, those of each reading apart."""
    return [
        PatternIndex.build(
            ((n, *pattern) for n, (way, pattern) in patterns.items() if way == at), semantics
        )
        for at, (_, semantics, _) in enumerate(change.ways)
    ]


def _covering(acls: Iterable[Acl], operation: str) -> list[Acl]:
    return [a for a in acls if coverage(a.operation, a.permission_type, operation) is not None]


def _rescan(change: Change, at: int) -> BrokerRescan:
    """Return a broker's second scan; no other order has one."""
    state, is_broker = (change.before, change.after)[at], change.readings[at].deciding_acl == BROKER
    return BrokerRescan.among(state.acls.values() if is_broker else ())
