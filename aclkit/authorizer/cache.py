"""ACLs → an index that finds those that may answer a request, without going through them all.

A cache never changes: whoever has one reads the same state as long as he likes. A change makes
another cache, which shares with it whatever is equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

from aclkit.authorizer.errors import AclIdError
from aclkit.decide.rules import Ruling, decide
from aclkit.decide.second_search import SecondSearch
from aclkit.model.acl import Acl, Request
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.patterns.match import has_wildcard, is_any_host, names_exactly
from aclkit.patterns.trie import PatternTrie

_Pattern = tuple[str, str, str]
"""Resource type, pattern type and resource name."""
_Key = tuple[str | None, str | None]
"""Principal and host that an ACL names exactly; None where it may match several."""
_Acls = Mapping[_Key, tuple[Acl, ...]]


@dataclass(frozen=True, slots=True)
class _OfType:
    """The patterns of one resource type, and the trie that finds them by their place."""

    patterns: tuple[_Pattern, ...]
    trie: PatternTrie


@dataclass(frozen=True, slots=True, kw_only=True)
class AclCache:
    """One state of the ACLs.

    Attributes:
        semantics: how they are read.
        by_id: all of them.
        by_pattern: those of each pattern, by principal and host.
        types: the patterns of each resource type.
        search: how a broker's second search ends, for names below ``*``.
    """

    semantics: Semantics
    by_id: Mapping[str, Acl]
    by_pattern: Mapping[_Pattern, _Acls]
    types: Mapping[str, _OfType]
    search: SecondSearch

    @classmethod
    def of(cls, acls: Iterable[Acl], semantics: Semantics) -> AclCache:
        """Index ACLs; several with the same seven fields may stand under different ids.

        Raises:
            AclIdError: two have the same id.
        """
        empty = cls(
            semantics=semantics, by_id={}, by_pattern={}, types={}, search=SecondSearch.of(())
        )
        return empty.changed(add=acls)

    def changed(self, add: Iterable[Acl] = (), remove: Iterable[str] = ()) -> AclCache:
        """Return the state after ACLs were removed, by id, and others added.

        Raises:
            AclIdError: an id to remove is not there, or one to add is.
        """
        by_id = dict(self.by_id)
        touched: dict[_Pattern, dict[str, Acl]] = {}
        for acl_id in remove:
            if acl_id not in by_id:
                raise AclIdError(f"ID {acl_id} not found in aclsById.")
            gone = by_id.pop(acl_id)
            del self._members(touched, gone)[acl_id]
        for acl in add:
            if acl.acl_id in by_id:
                raise AclIdError(f"An ACL with ID {acl.acl_id} already exists.")
            by_id[acl.acl_id] = acl
            self._members(touched, acl)[acl.acl_id] = acl
        by_pattern = dict(self.by_pattern)
        for pattern, members in touched.items():
            if members:
                by_pattern[pattern] = _by_key(members.values(), self.semantics)
            else:
                by_pattern.pop(pattern, None)
        return self._with(by_id, by_pattern)

    def find(self, request: Request) -> tuple[bool, list[Acl]]:
        """Say whether any ACL reaches the resource, and return those that may answer."""
        of_type = self.types.get(request.resource_type)
        if of_type is None:
            return False, []
        keys = list(product((request.principal, None), (request.host, None)))
        found: list[Acl] = []
        places = of_type.trie.matches(request.resource_name)
        for place in places:
            acls = self.by_pattern[of_type.patterns[place]]
            for key in keys:
                found += acls.get(key, ())
        return bool(places), found

    def decide(self, request: Request, settings: BrokerSettings) -> Ruling:
        """Decide a request by the pure rule, on the ACLs that may answer it.

        Those of others only tell that the default does not hold.
        """
        is_reached, acls = self.find(request)
        return decide(
            acls,
            request,
            replace(settings, allow_everyone=False) if is_reached else settings,
            self.semantics,
            wildcard_is_last=self.search.wildcard_is_last(
                request.resource_type, request.resource_name
            ),
        )

    def holds(self, acl: Acl) -> bool:
        """Say whether an ACL with the same seven fields is there."""
        acls = self.by_pattern.get(_pattern(acl), {})
        return any(
            other.binding == acl.binding for other in acls.get(_key(acl, self.semantics), ())
        )

    def of_type(self, resource_type: str) -> Iterator[Acl]:
        """Yield the ACLs of a resource type."""
        known = self.types.get(resource_type)
        for pattern in known.patterns if known else ():
            yield from _members(self.by_pattern[pattern])

    def _members(self, touched: dict[_Pattern, dict[str, Acl]], acl: Acl) -> dict[str, Acl]:
        """Return the ACLs of a pattern for changing."""
        pattern = _pattern(acl)
        if pattern not in touched:
            members = _members(self.by_pattern.get(pattern, {}))
            touched[pattern] = {member.acl_id: member for member in members}
        return touched[pattern]

    def _with(self, by_id: Mapping[str, Acl], by_pattern: Mapping[_Pattern, _Acls]) -> AclCache:
        """Index the patterns of those types anew in which some came or went."""
        types, search = dict(self.types), self.search
        changed = {pattern[0] for pattern in by_pattern.keys() ^ self.by_pattern.keys()}
        for resource_type in changed:
            patterns = tuple(pattern for pattern in by_pattern if pattern[0] == resource_type)
            rows = ((place, kind, name) for place, (_, kind, name) in enumerate(patterns))
            types[resource_type] = _OfType(patterns, PatternTrie.build(rows, self.semantics))
        if changed:
            search = SecondSearch.of(by_pattern)
        return AclCache(
            semantics=self.semantics,
            by_id=by_id,
            by_pattern=by_pattern,
            types=types,
            search=search,
        )


def _by_key(acls: Iterable[Acl], semantics: Semantics) -> _Acls:
    by_key: dict[_Key, list[Acl]] = {}
    for acl in acls:
        by_key.setdefault(_key(acl, semantics), []).append(acl)
    return {key: tuple(members) for key, members in by_key.items()}


def _members(acls: _Acls) -> Iterator[Acl]:
    for members in acls.values():
        yield from members


def _key(acl: Acl, semantics: Semantics) -> _Key:
    is_shared = is_any_host(acl.host, semantics) or (
        semantics.identity_globs and has_wildcard(acl.host)
    )
    return (
        acl.principal if names_exactly(acl.principal, semantics) else None,
        None if is_shared else acl.host,
    )


def _pattern(acl: Acl) -> _Pattern:
    return acl.resource_type, acl.pattern_type, acl.resource_name
