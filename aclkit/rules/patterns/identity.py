"""The principals or hosts that ACLs name, indexed once → which of them match one that asks.

``principal_matches`` and ``host_matches`` are the specification: the index finds a few texts that
may match, and these functions decide which of them do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from aclkit.model.cidr import Range
from aclkit.model.glob import is_universal
from aclkit.model.groups import grouped
from aclkit.model.principal import WILDCARD_PRINCIPAL, split_principal
from aclkit.model.semantics import KIP_1042, Semantics
from aclkit.rules.patterns.match import (
    GLOB,
    LITERAL,
    has_wildcard,
    host_matches,
    is_any_host,
    names_exactly,
    principal_matches,
    range_of_host,
)
from aclkit.rules.patterns.ranges import ranges_holding
from aclkit.rules.patterns.trie import PatternTrie


@dataclass(frozen=True, slots=True)
class IdentityIndex:
    """Texts of one kind; made by ``index_principals`` and ``index_hosts``.

    Attributes:
        texts: all of them, in order.
        trie: finds by its place what may match a name as a text or a glob.
        matches: the specification.
        semantics: how they are read.
        ranges: the places of the hosts that are a range.
        masks: of these ranges, see ``ranges_holding``.
    """

    texts: list[str]
    trie: PatternTrie
    matches: Callable[[str, str, Semantics], bool]
    semantics: Semantics
    ranges: Mapping[Range, Sequence[int]] = field(default_factory=dict)
    masks: frozenset[tuple[int, int]] = frozenset()

    def matching(self, name: str) -> list[str]:
        """Return the texts that match a principal or host, in code-point order."""
        places: Iterable[int] = self.trie.matches(name)
        if self.masks:
            holding = ranges_holding(name, self.masks)
            places = sorted({*places, *(n for each in holding for n in self.ranges.get(each, ()))})
        candidates = (self.texts[number] for number in places)
        return [text for text in candidates if self.matches(text, name, self.semantics)]


def index_principals(texts: Iterable[str], semantics: Semantics) -> IdentityIndex:
    """Index ACL principals.

    >>> index_principals(["User:*", "User:a", "U*:b?"], KIP_1042).matching("User:a")
    ['User:*', 'User:a']
    """
    return _index(texts, principal_pattern, principal_matches, semantics)


def index_hosts(texts: Iterable[str], semantics: Semantics) -> IdentityIndex:
    """Index ACL hosts.

    >>> index_hosts(["*", "10.*", "10.0.0.1"], KIP_1042).matching("10.0.0.2")
    ['*', '10.*']
    """
    index = _index(texts, host_pattern, host_matches, semantics)
    meant = ((range_of_host(text, semantics), at) for at, text in enumerate(index.texts))
    ranges = grouped((found, number) for found, number in meant if found)
    masks = frozenset((each.bits, each.mask) for each in ranges)
    return replace(index, ranges=ranges, masks=masks)


def principal_pattern(principal: str, semantics: Semantics) -> tuple[str, str]:
    """Return pattern type and pattern of all the texts that an ACL's principal may match."""
    parts = split_principal(principal)
    if principal == WILDCARD_PRINCIPAL or (
        semantics.identity_globs and parts and all(map(is_universal, parts))
    ):
        return GLOB, "*"
    if parts is None or names_exactly(principal, semantics):
        return LITERAL, principal
    return GLOB, f"{parts[0] or '*'}:{parts[1] or '*'}"


def host_pattern(host: str, semantics: Semantics) -> tuple[str, str]:
    """Return pattern type and pattern of all that an ACL's host may match but by a range."""
    is_glob = semantics.identity_globs and has_wildcard(host)
    return (GLOB, host) if is_glob or is_any_host(host, semantics) else (LITERAL, host)


def _index(
    texts: Iterable[str],
    pattern_of: Callable[[str, Semantics], tuple[str, str]],
    matches: Callable[[str, str, Semantics], bool],
    semantics: Semantics,
) -> IdentityIndex:
    rows = sorted(set(texts))
    patterns = ((number, *pattern_of(text, semantics)) for number, text in enumerate(rows))
    return IdentityIndex(rows, PatternTrie.build(patterns, KIP_1042), matches, semantics)
