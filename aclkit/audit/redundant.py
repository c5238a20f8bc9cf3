"""ACLs → ``redundant-acl``: which ones another ACL of the same permission contains entirely.

Which patterns, principals and hosts contain which is found once per distinct text: a name that
the narrow one matches is looked up in a trie of all of them, and each hit is proved. After that
every ACL is compared with the few ACLs of those texts only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aclkit.audit.readings import DUPLICATE_FIX
from aclkit.findings import Finding
from aclkit.model.acl import Acl
from aclkit.model.principal import WILDCARD_PRINCIPAL, split_principal
from aclkit.model.semantics import KIP_1042, Semantics
from aclkit.patterns.contain import (
    acl_contains,
    host_contains,
    operation_contains,
    pattern_contains,
    principal_contains,
)
from aclkit.patterns.match import (
    GLOB,
    LITERAL,
    PREFIXED,
    effective_pattern_type,
    has_wildcard,
    is_any_host,
    names_exactly,
)
from aclkit.patterns.trie import PatternIndex, PatternTrie

REDUNDANT_ACL: Final = "redundant-acl"

_Pattern = tuple[str, str, str]
_Place = tuple[str, bool, str, str, str, str]


def find_redundant(acls: Iterable[Acl], semantics: Semantics) -> Iterator[Finding]:
    """Yield each ACL that another one contains, so that no decision needs it.

    Of ACLs that contain each other the first by id stays. The ACL that is named stays as well,
    so that all that is reported can be removed, alone or together.
    """
    rows = sorted(acls, key=lambda acl: acl.acl_id)
    containers = _containers(rows, semantics)
    for acl in rows:
        if acl.acl_id in containers:
            kept = containers[acl.acl_id]
            while kept.acl_id in containers:
                kept = containers[kept.acl_id]
            yield _finding(acl, kept)


def _finding(acl: Acl, kept: Acl) -> Finding:
    return Finding(
        finding=REDUNDANT_ACL,
        severity="low",
        subject=str(acl),
        message=f"The ACL {kept} already answers every request that this one answers, so without "
        "this one no decision changes; this holds for every possible name.",
        fix=DUPLICATE_FIX if acl.binding == kept.binding else "Remove this ACL, keep the other.",
        acl_ids=(acl.acl_id, kept.acl_id),
    )


def _containers(rows: Sequence[Acl], semantics: Semantics) -> dict[str, Acl]:
    """Return id of a redundant ACL → an ACL ahead of it, which may be redundant itself.

    "Ahead" is a strict order, because containment is transitive: whoever follows it ends at an
    ACL that is not redundant.
    """
    shelf = _Shelf.build(rows, semantics)
    found = ((acl, shelf.first_ahead(acl, semantics)) for acl in rows)
    return {acl.acl_id: container for acl, container in found if container is not None}


@dataclass(frozen=True, slots=True)
class _Shelf:
    """All ACLs by where they stand, and the wider places to look at from there.

    Attributes:
        places: permission class and all fields but the operation → operation → first ACL by id.
        patterns: a resource pattern → those that contain it, itself included.
        principals: an ACL's principal → those that contain it, itself included.
        hosts: an ACL's host → those that contain it, itself included.
    """

    places: Mapping[_Place, Mapping[str, Acl]]
    patterns: Mapping[_Pattern, Sequence[_Pattern]]
    principals: Mapping[str, Sequence[str]]
    hosts: Mapping[str, Sequence[str]]

    @classmethod
    def build(cls, rows: Sequence[Acl], semantics: Semantics) -> _Shelf:
        places: defaultdict[_Place, dict[str, Acl]] = defaultdict(dict)
        for acl in rows:
            places[_place(acl, _pattern(acl), acl.principal, acl.host)].setdefault(
                acl.operation, acl
            )
        principals = {acl.principal: _principal_glob(acl.principal, semantics) for acl in rows}
        hosts = {acl.host: _host_glob(acl.host, semantics) for acl in rows}
        return cls(
            places,
            _wider_patterns({_pattern(acl) for acl in rows}, semantics),
            _wider_texts(principals, principal_contains, semantics),
            _wider_texts(hosts, host_contains, semantics),
        )

    def first_ahead(self, acl: Acl, semantics: Semantics) -> Acl | None:
        """Return an ACL that contains this one and is not merely its equal with a later id."""
        return next((c for c in self._wider(acl) if _is_ahead(c, acl, semantics)), None)

    def _wider(self, acl: Acl) -> Iterator[Acl]:
        """Yield the ACLs whose pattern, principal and host contain this one's."""
        for pattern in self.patterns[_pattern(acl)]:
            for principal in self.principals[acl.principal]:
                for host in self.hosts[acl.host]:
                    yield from self.places.get(_place(acl, pattern, principal, host), {}).values()


def _is_ahead(container: Acl, acl: Acl, semantics: Semantics) -> bool:
    if container.acl_id == acl.acl_id or not operation_contains(container, acl):
        return False
    return container.acl_id < acl.acl_id or not acl_contains(acl, container, semantics)


def _pattern(acl: Acl) -> _Pattern:
    return acl.resource_type, acl.pattern_type, acl.resource_name


def _place(acl: Acl, pattern: _Pattern, principal: str, host: str) -> _Place:
    resource_type, pattern_type, name = pattern
    return resource_type, acl.is_allow, pattern_type, name, principal, host


def _wider_patterns(
    patterns: Iterable[_Pattern], semantics: Semantics
) -> dict[_Pattern, list[_Pattern]]:
    """Return for each resource pattern those that contain it."""
    rows = sorted(patterns)
    index = PatternIndex.build(((at, *row) for at, row in enumerate(rows)), semantics)
    wider: dict[_Pattern, list[_Pattern]] = {}
    for at, narrow in enumerate(rows):
        resource_type, kind, name = narrow
        hits = {at, *index.matches(resource_type, _pattern_witness(kind, name, semantics))}
        wider[narrow] = [
            rows[hit]
            for hit in sorted(hits)
            if pattern_contains(rows[hit][1], rows[hit][2], kind, name, semantics)
        ]
    return wider


def _pattern_witness(pattern_type: str, name: str, semantics: Semantics) -> str:
    """Return a name that the pattern matches."""
    kind = effective_pattern_type(pattern_type, semantics)
    return name if kind == PREFIXED or (kind == LITERAL and name != "*") else _witness(name)


def _witness(glob: str) -> str:
    return glob.replace("*", "")


def _wider_texts(
    globs: Mapping[str, tuple[str, str]],
    contains: Callable[[str, str, Semantics], bool],
    semantics: Semantics,
) -> dict[str, list[str]]:
    """Return for each principal or host those that contain it.

    Args:
        globs: text → pattern type and pattern that match at least what the text stands for.
        contains: the proof, for what the trie gives.
        semantics: how the texts are read.
    """
    texts = sorted(globs)
    trie = PatternTrie.build(((at, *globs[text]) for at, text in enumerate(texts)), KIP_1042)
    wider: dict[str, list[str]] = {}
    for at, text in enumerate(texts):
        kind, pattern = globs[text]
        hits = {at, *trie.matches(_witness(pattern) if kind == GLOB else pattern)}
        wider[text] = [texts[hit] for hit in sorted(hits) if contains(texts[hit], text, semantics)]
    return wider


def _principal_glob(principal: str, semantics: Semantics) -> tuple[str, str]:
    parts = split_principal(principal)
    if principal_contains(principal, WILDCARD_PRINCIPAL, semantics):
        return GLOB, "*"
    if parts is None or names_exactly(principal, semantics):
        return LITERAL, principal
    return GLOB, f"{parts[0] or '*'}:{parts[1] or '*'}"


def _host_glob(host: str, semantics: Semantics) -> tuple[str, str]:
    is_glob = semantics.identity_globs and has_wildcard(host)
    return (GLOB, host) if is_glob or is_any_host(host, semantics) else (LITERAL, host)
