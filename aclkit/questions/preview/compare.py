"""Two states → the decisions that differ between them, in classes of cells that fare alike. Pure.

Only what a changed ACL may touch is looked at: the principals that it may be for, on the
resources that its pattern reaches; everybody, where a resource gets its first ACL or loses its
last. Cells that the same ACLs match in both states are decided once
(``aclkit.rules.decide.rules`` is the specification).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from aclkit.model.acl import Acl
from aclkit.model.operation import OPERATIONS_OF_TYPE, coverage
from aclkit.model.resource import Resource
from aclkit.model.semantics import BROKER
from aclkit.questions.preview.access_change import AccessChange, Outcome, Outcomes, Part
from aclkit.questions.preview.alike import Group, Hosts, PatternGroups, People, group_acls
from aclkit.questions.preview.state import Asked, Change, State
from aclkit.questions.query.outside import Verdict
from aclkit.rules.decide.broker_rescan import BrokerRescan
from aclkit.rules.decide.order import Order, WildcardLast
from aclkit.rules.decide.rules import conclude
from aclkit.rules.patterns.trie import PatternIndex


def compare(change: Change, asked: Asked) -> Iterator[Part]:
    """Yield what differs, resource by resource in the order asked.

    A decision differs when its result, its rule or its deciding ACL does.
    """
    if not (change.touched or change.changes_settings):
        return
    comparison = _Comparison.of(change, asked)
    for resource in asked.resources:
        outcomes = comparison.decide(resource)
        if outcomes:
            yield Part(resource, outcomes)


class _Place(NamedTuple):
    """All that a resource says about how it is decided, but for the patterns that reach it.

    ``is_open``: no ACL reaches it and the default allows; ``wildcard_last``: what a broker's order
    takes of the name; both before and after.
    """

    resource_type: str
    is_open: tuple[bool, bool]
    wildcard_last: tuple[WildcardLast, WildcardLast]


_Sides = tuple[list[Acl], list[Acl]]
_Rules = dict[tuple[tuple[int, ...], tuple[bool, bool]], Outcome]
"""Groups of ACLs, and who is a super user → what they decide otherwise at a place."""
_OneRule = tuple[_Place, str, tuple[int, ...], tuple[bool, bool]]
"""A place, an operation, the groups with an ACL that covers it, and who is a super user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Comparison:
    change: Change
    patterns: Sequence[PatternGroups]
    groups: Sequence[Group]
    index: PatternIndex
    touching: PatternIndex
    rescans: tuple[BrokerRescan, BrokerRescan]
    people: People
    hosts: Hosts
    known: dict[tuple[_Place, tuple[int, ...]], Outcomes] = field(default_factory=dict)
    rules: dict[_Place, _Rules] = field(default_factory=dict)
    changes: dict[_OneRule, tuple[AccessChange, ...]] = field(default_factory=dict)
    covering: dict[int, Mapping[str, _Sides]] = field(default_factory=dict)
    keys: dict[str, dict[str, tuple[Any, ...]]] = field(default_factory=dict)

    @classmethod
    def of(cls, change: Change, asked: Asked) -> _Comparison:
        """Group and index the ACLs of both states."""
        patterns, groups = group_acls(change)
        rows = [(number, *key) for number, key in enumerate(patterns)]
        grouped = list(patterns.values())
        acls = {**change.before.acls, **change.after.acls}.values()
        return cls(
            change=change,
            patterns=grouped,
            groups=groups,
            index=PatternIndex.build(rows, change.semantics),
            touching=PatternIndex.build(
                (row for row in rows if grouped[row[0]].changed), change.semantics
            ),
            rescans=(_rescan(change.before, change), _rescan(change.after, change)),
            people=People.of(change, asked.principals, acls),
            hosts=Hosts.of(change, asked.hosts, acls),
        )

    def decide(self, resource: Resource) -> Outcomes:
        """Return who fares otherwise on a resource, and how."""
        kind, name = resource.resource_type, resource.resource_name
        before, after = (rescan.wildcard_last(kind, name) for rescan in self.rescans)
        if not (
            self.change.changes_settings or before != after or self.touching.matches(kind, name)
        ):
            return ()
        numbers = tuple(self.index.matches(kind, name))
        place = _Place(kind, self._is_open(numbers), (before, after))
        if (place, numbers) not in self.known:
            self.known[place, numbers] = tuple(self._fates(place, numbers))
        return self.known[place, numbers]

    def _is_open(self, numbers: Sequence[int]) -> tuple[bool, bool]:
        """Whether the default allows everybody, before and after."""
        then, now = (
            state.settings.allow_everyone
            and not any(self.patterns[number].is_there[at] for number in numbers)
            for at, state in enumerate((self.change.before, self.change.after))
        )
        return then, now

    def _fates(
        self, place: _Place, numbers: Sequence[int]
    ) -> Iterator[tuple[tuple[str, ...], Outcome]]:
        """Decide each set of ACLs that some of the principals touched have at a place."""
        patterns = [self.patterns[number] for number in numbers]
        is_wide = self._is_wide(place)
        texts = None if is_wide else frozenset(t for pattern in patterns for t in pattern.changed)
        rules = self.rules.setdefault(place, {})
        for principals, own, is_super in self.people.alike(patterns, texts):
            if (own, is_super) not in rules:
                groups = [self.groups[number] for number in own]
                rules[own, is_super] = Outcome.of(self._decide(place, groups, is_super))
            outcome = rules[own, is_super]
            if outcome.changes:
                yield principals, outcome

    def _is_wide(self, place: _Place) -> bool:
        """Whether a change touches everybody at a place, whatever their ACLs."""
        return (
            self.change.changes_settings
            or place.is_open[0] != place.is_open[1]
            or place.wildcard_last[0] != place.wildcard_last[1]
        )

    def _decide(
        self, place: _Place, groups: Sequence[Group], is_super: tuple[bool, bool]
    ) -> Iterator[AccessChange]:
        """Decide the operations that a change may touch; each once for the ACLs that cover it."""
        is_wide = self._is_wide(place)
        mine = [(group.number, self._by_operation(group)) for group in groups]
        for operation in OPERATIONS_OF_TYPE[place.resource_type]:
            covering = [(number, by[operation]) for number, by in mine if operation in by]
            if not (is_wide or any(before is not after for _, (before, after) in covering)):
                continue
            key = place, operation, tuple(number for number, _ in covering), is_super
            if key not in self.changes:
                sides = [[acl for _, side in covering for acl in side[at]] for at in (0, 1)]
                self.changes[key] = tuple(self._changes(place, operation, sides, is_super))
            yield from self.changes[key]

    def _changes(
        self,
        place: _Place,
        operation: str,
        sides: Sequence[Sequence[Acl]],
        is_super: tuple[bool, bool],
    ) -> Iterator[AccessChange]:
        """Decide an operation by the ACLs that cover it, from each class of hosts, twice."""
        is_wide = self._is_wide(place)
        found: dict[tuple[Verdict, Verdict], list[str]] = {}
        for hosts, texts in self.hosts.alike({acl.host for side in sides for acl in side}):
            hits = [[acl for acl in side if acl.host in texts] for side in sides]
            if not is_wide and hits[0] == hits[1]:
                continue
            then, now = (
                self._verdict(hits[at], operation, place, at, is_super=is_super[at])
                for at in (0, 1)
            )
            if then != now:
                found.setdefault((then, now), []).extend(hosts)
        for (then, now), names in found.items():
            yield AccessChange(operation, tuple(sorted(names)), then, now)

    def _by_operation(self, group: Group) -> Mapping[str, _Sides]:
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
        self, hits: Sequence[Acl], operation: str, place: _Place, at: int, *, is_super: bool
    ) -> Verdict:
        """Decide by the ACLs that match; their keys are worked out once, for an ACL meets many."""
        order = Order(
            operation,
            self.change.semantics,
            place.wildcard_last[at],
            self.keys.setdefault(operation, {}),
        )
        ruling = conclude(hits, order, is_super=is_super, is_open=place.is_open[at])
        return Verdict(ruling.decision, ruling.rule, ruling.acl_id)


def _covering(acls: Iterable[Acl], operation: str) -> list[Acl]:
    return [a for a in acls if coverage(a.operation, a.permission_type, operation) is not None]


def _rescan(state: State, change: Change) -> BrokerRescan:
    """Return a broker's second scan; no other order has one."""
    is_broker = change.semantics.deciding_acl == BROKER
    return BrokerRescan.among(state.acls.values() if is_broker else ())
