"""Two states → the decisions that differ between them, in classes of cells that fare alike. Pure.

Only what a changed ACL may touch is looked at: the principals that it may be for, on the
resources that its pattern reaches; everybody, where a resource gets its first ACL or loses its
last. Cells that the same ACLs match in both states are decided once (``aclkit.decide.rules`` is
the specification).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from aclkit.decide.order import deciding_acl, specific_key
from aclkit.decide.rules import (
    ALLOWED,
    DEFAULT_ALLOW,
    DEFAULT_DENY,
    DENIED,
    MATCHING_ACL,
    SUPER_USER,
)
from aclkit.decide.second_search import SecondSearch
from aclkit.model.acl import Acl
from aclkit.model.operation import OPERATIONS_OF_TYPE, coverage
from aclkit.model.resource import Resource
from aclkit.model.semantics import BROKER
from aclkit.patterns.trie import PatternIndex
from aclkit.preview.alike import Group, Hosts, PatternGroups, People, group_acls
from aclkit.preview.shift import Fates, Outcome, Part, Shift
from aclkit.preview.state import Asked, Change, State
from aclkit.query.outside import Verdict


def compare(change: Change, asked: Asked) -> Iterator[Part]:
    """Yield what differs, resource by resource in the order asked.

    A decision differs when its result, its rule or its deciding ACL does.
    """
    if not (change.touched or change.changes_settings):
        return
    comparison = _Comparison.of(change, asked)
    for resource in asked.resources:
        fates = comparison.decide(resource)
        if fates:
            yield Part(resource, fates)


class _Place(NamedTuple):
    """All that a resource says about how it is decided, but for the patterns that reach it.

    ``is_open``: no ACL reaches it and the default allows; before and after. ``is_low`` and
    ``is_last`` are what the broker's order of ACLs takes of the name.
    """

    resource_type: str
    is_open: tuple[bool, bool]
    is_low: bool
    is_last: tuple[bool, bool]


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
    searches: tuple[SecondSearch, SecondSearch]
    people: People
    hosts: Hosts
    known: dict[tuple[_Place, tuple[int, ...]], Fates] = field(default_factory=dict)
    rules: dict[_Place, _Rules] = field(default_factory=dict)
    shifts: dict[_OneRule, tuple[Shift, ...]] = field(default_factory=dict)
    covering: dict[int, Mapping[str, _Sides]] = field(default_factory=dict)
    keys: dict[tuple[str, str], tuple[Any, ...]] = field(default_factory=dict)

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
            searches=(_search(change.before), _search(change.after)),
            people=People.of(change, asked.principals, acls),
            hosts=Hosts.of(change, asked.hosts, acls),
        )

    def decide(self, resource: Resource) -> Fates:
        """Return who fares otherwise on a resource, and how."""
        kind, name = resource.resource_type, resource.resource_name
        is_low = name < "*"
        is_last = (False, False)
        if is_low and self.change.semantics.deciding_acl == BROKER:
            before, after = (search.wildcard_is_last(kind, name) for search in self.searches)
            is_last = before, after
        if not (
            self.change.changes_settings
            or is_last[0] != is_last[1]
            or self.touching.matches(kind, name)
        ):
            return ()
        numbers = tuple(self.index.matches(kind, name))
        place = _Place(kind, self._is_open(numbers), is_low, is_last)
        if (place, numbers) not in self.known:
            self.known[place, numbers] = tuple(self._fates(place, numbers))
        return self.known[place, numbers]

    def _is_open(self, numbers: Sequence[int]) -> tuple[bool, bool]:
        """Say whether the default allows everybody, before and after."""
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
            if outcome.shifts:
                yield principals, outcome

    def _is_wide(self, place: _Place) -> bool:
        """Say whether a change touches everybody at a place, whatever their ACLs."""
        return (
            self.change.changes_settings
            or place.is_open[0] != place.is_open[1]
            or place.is_last[0] != place.is_last[1]
        )

    def _decide(
        self, place: _Place, groups: Sequence[Group], is_super: tuple[bool, bool]
    ) -> Iterator[Shift]:
        """Decide the operations that a change may touch; each once for the ACLs that cover it."""
        is_wide = self._is_wide(place)
        mine = [(group.number, self._by_operation(group)) for group in groups]
        for operation in OPERATIONS_OF_TYPE[place.resource_type]:
            covering = [(number, by[operation]) for number, by in mine if operation in by]
            if not (is_wide or any(before is not after for _, (before, after) in covering)):
                continue
            key = place, operation, tuple(number for number, _ in covering), is_super
            if key not in self.shifts:
                sides = [[acl for _, side in covering for acl in side[at]] for at in (0, 1)]
                self.shifts[key] = tuple(self._shifts(place, operation, sides, is_super))
            yield from self.shifts[key]

    def _shifts(
        self,
        place: _Place,
        operation: str,
        sides: Sequence[Sequence[Acl]],
        is_super: tuple[bool, bool],
    ) -> Iterator[Shift]:
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
            yield Shift(operation, tuple(sorted(names)), then, now)

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
        """Apply the rule to the ACLs that match: ``aclkit.decide.rules.decide``, steps 1 to 5."""
        if is_super:
            return Verdict(ALLOWED, SUPER_USER, None)
        if not hits:
            if place.is_open[at]:
                return Verdict(ALLOWED, DEFAULT_ALLOW, None)
            return Verdict(DENIED, DEFAULT_DENY, None)
        acl = hits[0] if len(hits) == 1 else self._decider(hits, operation, place, at)
        return Verdict(ALLOWED if acl.is_allow else DENIED, MATCHING_ACL, acl.acl_id)

    def _decider(self, hits: Sequence[Acl], operation: str, place: _Place, at: int) -> Acl:
        """Name the deciding one of several ACLs: ``aclkit.decide.order.deciding_acl``."""
        denies = [hit for hit in hits if not hit.is_allow]
        if self.change.semantics.deciding_acl != BROKER:
            return min(denies or hits, key=lambda acl: self._key(acl, operation))
        name = _LOW if place.is_low else _HIGH
        allows = [hit for hit in hits if hit.is_allow]
        best = deciding_acl(
            denies,
            allows,
            (operation, name),
            self.change.semantics,
            wildcard_is_last=place.is_last[at],
        )
        return best or hits[0]

    def _key(self, acl: Acl, operation: str) -> tuple[Any, ...]:
        """Return ``specific_key``, worked out once: an ACL meets many others."""
        key = acl.acl_id, operation
        if key not in self.keys:
            self.keys[key] = specific_key(acl, operation, self.change.semantics)
        return self.keys[key]


_LOW, _HIGH = "!", "a"
"""Names below and above the wildcard: the broker's order asks no more of a name."""


def _covering(acls: Iterable[Acl], operation: str) -> list[Acl]:
    return [a for a in acls if coverage(a.operation, a.permission_type, operation) is not None]


def _search(state: State) -> SecondSearch:
    return SecondSearch.of(
        (acl.resource_type, acl.pattern_type, acl.resource_name) for acl in state.acls.values()
    )
