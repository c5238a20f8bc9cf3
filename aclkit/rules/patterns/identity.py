"""The principals or hosts that ACLs name, indexed once → which of them match one that asks.

``principal_matches`` and ``host_matches`` are the specification: the index finds a few texts that
may match, and they say which of them do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from aclkit.model.glob import is_universal
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
)
from aclkit.rules.patterns.trie import PatternTrie


@dataclass(frozen=True, slots=True)
class IdentityIndex:
    """Texts of one kind; made by ``index_principals`` and ``index_hosts``."""

    texts: list[str]
    trie: PatternTrie
    matches: Callable[[str, str, Semantics], bool]
    semantics: Semantics

    def matching(self, name: str) -> list[str]:
        """Return the texts that match a principal or host, in code-point order."""
        candidates = (self.texts[number] for number in self.trie.matches(name))
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
    return _index(texts, host_pattern, host_matches, semantics)


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
    """Return pattern type and pattern of all the texts that an ACL's host may match."""
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
