"""All ACLs → an index that finds the few that concern a request, and decides by them.

An index never changes: its holder reads the same state for as long as it keeps the index. A change
makes another index, which shares all equal parts with the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import chain, product
from typing import Final

from aclkit.errors import DataError
from aclkit.model.acl import Acl, Request
from aclkit.model.cidr import Range
from aclkit.model.groups import grouped
from aclkit.model.semantics import KIP_1042, BrokerSettings, Semantics
from aclkit.model.values import dataclass
from aclkit.rules.decide.order import BrokerRescan, Order
from aclkit.rules.decide.rules import Ruling, answers, conclude
from aclkit.rules.patterns.identity import ranges_holding
from aclkit.rules.patterns.match import (
    has_wildcard,
    is_any_host,
    names_exactly,
    range_of_host,
)
from aclkit.rules.patterns.trie import PatternTrie

_Pattern = tuple[str, str, str]
"""Resource type, pattern type and resource name."""
_Key = tuple[str | None, str | Range | None]
"""Principal and host that an ACL names exactly, or its range; None where it may match several."""
_Acls = Mapping[_Key, tuple[Acl, ...]]

_MOST_FOUND = 10_000
"""So many resources are remembered."""


class AclIdError(DataError):
    """An id that is already there is added, or one that is not there is removed."""


@dataclass(frozen=True, slots=True)
class _OfType:
    """The patterns of one resource type, and the trie that finds them by their place."""

    patterns: tuple[_Pattern, ...]
    trie: PatternTrie


_NO_PATTERNS: Final = _OfType((), PatternTrie.build((), KIP_1042))


@dataclass(frozen=True, slots=True, kw_only=True)
class AclIndex:
    """One state of the ACLs.

    Attributes:
        semantics: how they are read.
        by_id: all of them.
        by_pattern: those of each pattern, by principal and host.
        types: the patterns of each resource type.
        rescan: how a broker's second scan ends, for names below ``*``.
        masks: of all ranges that were ever among their hosts, see ``ranges_holding``.
        found: what was found for resources that were asked about before.
    """

    semantics: Semantics
    by_id: Mapping[str, Acl]
    by_pattern: Mapping[_Pattern, _Acls]
    types: Mapping[str, _OfType]
    rescan: BrokerRescan
    masks: frozenset[tuple[int, int]] = field(default=frozenset(), compare=False)
    found: dict[tuple[str, str], Sequence[_Acls]] = field(
        default_factory=dict, compare=False, repr=False
    )

    @classmethod
    def of(cls, acls: Iterable[Acl], semantics: Semantics) -> AclIndex:
        """Index ACLs; several with the same seven fields may stand under different ids.

        Raises:
            AclIdError: two have the same id.
        """
        empty = cls(
            semantics=semantics, by_id={}, by_pattern={}, types={}, rescan=BrokerRescan.of(())
        )
        return empty.changed(add=acls)

    def changed(self, add: Iterable[Acl] = (), remove: Iterable[str] = ()) -> AclIndex:
        """Return the state after ACLs were removed, by id, and others added.

        Raises:
            AclIdError: an id to remove is not there, or one to add is.
        """
        by_id = dict(self.by_id)
        affected: dict[_Pattern, dict[str, Acl]] = {}
        for acl_id in remove:
            if acl_id not in by_id:
                raise AclIdError(f"ID {acl_id} not found in aclsById.")
            gone = by_id.pop(acl_id)
            del self._members(affected, gone)[acl_id]
        for acl in add:
            if acl.acl_id in by_id:
                raise AclIdError(f"An ACL with ID {acl.acl_id} already exists.")
            by_id[acl.acl_id] = acl
            self._members(affected, acl)[acl.acl_id] = acl
        by_pattern = dict(self.by_pattern)
        for pattern, members in affected.items():
            if members:
                by_pattern[pattern] = _by_key(members.values(), self.semantics)
            else:
                by_pattern.pop(pattern, None)
        masks = {(h.bits, h.mask) for _, h in _keys(by_pattern, affected) if isinstance(h, Range)}
        return replace(self._with(by_id, by_pattern), masks=self.masks | masks)

    def patterns(self, resource_type: str, resource_name: str) -> list[_Pattern]:
        """Return the patterns that match a resource: keys of ``by_pattern``."""
        of_type = self.types.get(resource_type, _NO_PATTERNS)
        return [of_type.patterns[place] for place in of_type.trie.matches(resource_name)]

    def reaching(self, resource_type: str, resource_name: str) -> list[Acl]:
        """Return the ACLs of any principal that reach a resource."""
        places = self._matching(resource_type, resource_name)
        return [acl for acls in places for members in acls.values() for acl in members]

    def find(self, request: Request) -> tuple[bool, list[Acl]]:
        """Return whether any ACL reaches the resource, and those that match the request."""
        hosts = (request.host, *ranges_holding(request.host, self.masks), None)
        keys = list(product((request.principal, None), hosts))
        places = self._matching(*request.resource)
        found = (acl for acls in places for key in keys for acl in acls.get(key, ()))
        return bool(places), [acl for acl in found if answers(acl, request, self.semantics)]

    def decide(self, request: Request, settings: BrokerSettings) -> Ruling:
        """Decide a request as ``rules.decide`` does with all ACLs."""
        is_reached, hits = self.find(request)
        last = self.rescan.wildcard_last(*request.resource)
        return conclude(
            hits,
            Order(request.operation, self.semantics, last),
            is_super=settings.makes_super(request.principal),
            is_open=settings.allow_everyone and not is_reached,
        )

    def holds(self, acl: Acl) -> bool:
        """Whether an ACL with the same seven fields is there."""
        alike = self.by_pattern.get(acl.pattern, {}).get(_key(acl, self.semantics), ())
        return any(other.binding == acl.binding for other in alike)

    def of_type(self, resource_type: str) -> Iterator[Acl]:
        """Yield the ACLs of a resource type."""
        for pattern in self.types.get(resource_type, _NO_PATTERNS).patterns:
            yield from chain.from_iterable(self.by_pattern[pattern].values())

    def _matching(self, resource_type: str, resource_name: str) -> Sequence[_Acls]:
        """Return the ACLs of each pattern that matches a resource; many requests share one."""
        key = resource_type, resource_name
        found = self.found.get(key)
        if found is None:
            found = [self.by_pattern[each] for each in self.patterns(*key)]
            if len(self.found) >= _MOST_FOUND:
                self.found.clear()
            self.found[key] = found
        return found

    def _members(self, affected: dict[_Pattern, dict[str, Acl]], acl: Acl) -> dict[str, Acl]:
        """Return the ACLs of a pattern for changing."""
        pattern = acl.pattern
        if pattern not in affected:
            members = chain.from_iterable(self.by_pattern.get(pattern, {}).values())
            affected[pattern] = {member.acl_id: member for member in members}
        return affected[pattern]

    def _with(self, by_id: Mapping[str, Acl], by_pattern: Mapping[_Pattern, _Acls]) -> AclIndex:
        """Index the patterns of those types anew in which some came or went."""
        types, rescan = dict(self.types), self.rescan
        changed = {pattern[0] for pattern in by_pattern.keys() ^ self.by_pattern.keys()}
        for resource_type in changed:
            patterns = tuple(pattern for pattern in by_pattern if pattern[0] == resource_type)
            rows = ((place, kind, name) for place, (_, kind, name) in enumerate(patterns))
            types[resource_type] = _OfType(patterns, PatternTrie.build(rows, self.semantics))
        if changed:
            rescan = BrokerRescan.of(by_pattern)
        # What was found before is not true of another state.
        return replace(
            self, by_id=by_id, by_pattern=by_pattern, types=types, rescan=rescan, found={}
        )


def _by_key(acls: Iterable[Acl], semantics: Semantics) -> _Acls:
    by_key = grouped((_key(acl, semantics), acl) for acl in acls)
    return {key: tuple(members) for key, members in by_key.items()}


def _keys(by_pattern: Mapping[_Pattern, _Acls], patterns: Iterable[_Pattern]) -> Iterator[_Key]:
    for pattern in patterns:
        yield from by_pattern.get(pattern, ())


def _key(acl: Acl, semantics: Semantics) -> _Key:
    is_shared = is_any_host(acl.host, semantics) or (
        semantics.identity_globs and has_wildcard(acl.host)
    )
    return (
        acl.principal if names_exactly(acl.principal, semantics) else None,
        None if is_shared else range_of_host(acl.host, semantics) or acl.host,
    )
