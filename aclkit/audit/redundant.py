"""ACLs → ``redundant-acl``: which ones another ACL of the same permission contains entirely.

Which patterns, principals and hosts contain which is found once per distinct text. A pattern that
provably covers another matches its text too, read as a name: so that text is looked up in a trie of
all of them, and each hit is proved. After that every ACL is compared with the few ACLs of those
texts only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aclkit.audit.readings import DUPLICATE_FIX
from aclkit.findings import Finding
from aclkit.model.acl import Acl
from aclkit.model.semantics import KIP_1042, Semantics
from aclkit.patterns.contain import (
    acl_contains,
    host_contains,
    operation_contains,
    pattern_contains,
    principal_contains,
)
from aclkit.patterns.identity import host_pattern, principal_pattern
from aclkit.patterns.match import LITERAL
from aclkit.patterns.trie import PatternIndex, PatternTrie

REDUNDANT_ACL: Final = "redundant-acl"

_Pattern = tuple[str, str, str]
_Texts = dict[str, None]
"""Texts in code-point order, each looked up at once."""


def find_redundant(acls: Iterable[Acl], semantics: Semantics) -> Iterator[Finding]:
    """Yield each ACL that another one contains, so that no decision needs it.

    Of ACLs that contain each other the first by id stays. The ACL that is named stays as well,
    so that all that is reported can be removed, alone or together.
    """
    rows = sorted(acls, key=lambda acl: acl.acl_id)
    containers = _containers(rows, semantics)
    for acl in rows:
        if acl.acl_id in containers:
            yield _finding(acl, _kept(acl, containers))


def _kept(acl: Acl, containers: dict[str, Acl]) -> Acl:
    """Follow the containers to the ACL that stays, and shorten the way for those that follow."""
    way = []
    while acl.acl_id in containers:
        way.append(acl.acl_id)
        acl = containers[acl.acl_id]
    containers.update(dict.fromkeys(way, acl))
    return acl


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
        places: ALLOW or not, and resource pattern → principal → host → operation → first ACL by id.
        patterns: a resource pattern → those that contain it, itself included.
        principals: an ACL's principal → those that contain it, itself included.
        hosts: an ACL's host → those that contain it, itself included.
    """

    places: Mapping[tuple[bool, _Pattern], Mapping[str, Mapping[str, Mapping[str, Acl]]]]
    patterns: Mapping[_Pattern, Sequence[_Pattern]]
    principals: Mapping[str, _Texts]
    hosts: Mapping[str, _Texts]

    @classmethod
    def build(cls, rows: Sequence[Acl], semantics: Semantics) -> _Shelf:
        places: dict[tuple[bool, _Pattern], dict[str, dict[str, dict[str, Acl]]]] = {}
        for acl in rows:
            of_pattern = places.setdefault((acl.is_allow, _pattern(acl)), {})
            of_host = of_pattern.setdefault(acl.principal, {}).setdefault(acl.host, {})
            of_host.setdefault(acl.operation, acl)
        principals = {a.principal: principal_pattern(a.principal, semantics) for a in rows}
        hosts = {acl.host: host_pattern(acl.host, semantics) for acl in rows}
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
        principals, hosts = self.principals[acl.principal], self.hosts[acl.host]
        for pattern in self.patterns[_pattern(acl)]:
            of_pattern = self.places.get((acl.is_allow, pattern), {})
            for principal in _common(principals, of_pattern):
                of_principal = of_pattern[principal]
                for host in _common(hosts, of_principal):
                    yield from of_principal[host].values()


def _common(wider: _Texts, present: Mapping[str, object]) -> Iterable[str]:
    """Return the texts that are in both, in order; only the smaller side is gone through."""
    if len(wider) <= len(present):
        return (text for text in wider if text in present)
    return sorted(text for text in present if text in wider)


def _is_ahead(container: Acl, acl: Acl, semantics: Semantics) -> bool:
    if container.acl_id == acl.acl_id or not operation_contains(container, acl):
        return False
    return container.acl_id < acl.acl_id or not acl_contains(acl, container, semantics)


def _pattern(acl: Acl) -> _Pattern:
    return acl.resource_type, acl.pattern_type, acl.resource_name


def _wider_patterns(
    patterns: Iterable[_Pattern], semantics: Semantics
) -> dict[_Pattern, list[_Pattern]]:
    """Return for each resource pattern those that contain it.

    What matches the one name of a literal contains it; for all others a proof is needed.
    """
    rows = sorted(patterns)
    index = PatternIndex.build(((at, *row) for at, row in enumerate(rows)), semantics)
    wider: dict[_Pattern, list[_Pattern]] = {}
    for at, narrow in enumerate(rows):
        resource_type, kind, name = narrow
        hits = sorted({at, *index.matches(resource_type, name)})
        found = [rows[hit] for hit in hits]
        if kind != LITERAL or name == "*":
            found = [w for w in found if pattern_contains(w[1], w[2], kind, name, semantics)]
        wider[narrow] = found
    return wider


def _wider_texts(
    globs: Mapping[str, tuple[str, str]],
    contains: Callable[[str, str, Semantics], bool],
    semantics: Semantics,
) -> dict[str, _Texts]:
    """Return for each principal or host those that contain it.

    Args:
        globs: text → pattern type and pattern that match at least what the text stands for.
        contains: the proof, for what the trie gives.
        semantics: how the texts are read.
    """
    texts = sorted(globs)
    trie = PatternTrie.build(((at, *globs[text]) for at, text in enumerate(texts)), KIP_1042)
    wider: dict[str, _Texts] = {}
    for at, text in enumerate(texts):
        hits = {at, *trie.matches(globs[text][1])}
        found = (texts[hit] for hit in sorted(hits))
        wider[text] = {other: None for other in found if contains(other, text, semantics)}
    return wider
