"""ACLs → for each of them those whose pattern, principal and host contain its own.

Which patterns, principals and hosts contain which is found once per distinct text. A pattern that
provably covers another matches its text too, read as a name: so that text is looked up in a trie of
all of them, and each hit is proved. After that every ACL is compared with the few ACLs of those
texts only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from aclkit.model.acl import Acl
from aclkit.model.semantics import KIP_1042, Semantics
from aclkit.rules.patterns.contain import host_contains, pattern_contains, principal_contains
from aclkit.rules.patterns.identity import host_pattern, principal_pattern
from aclkit.rules.patterns.match import LITERAL
from aclkit.rules.patterns.trie import PatternIndex, PatternTrie

PatternKey = tuple[str, str, str]
"""Resource type, pattern type, resource name."""
OrderedTexts = dict[str, None]
"""OrderedTexts in code-point order, each looked up at once."""
AclPlaces = Mapping[str, Mapping[str, Mapping[str, Acl]]]
"""Principal → host → operation → the first ACL by id."""


@dataclass(frozen=True, slots=True)
class ContainmentIndex:
    """All ACLs by where they stand, and the wider places to look at from there.

    Attributes:
        places: ALLOW or not, and resource pattern → the ACLs there.
        patterns: a resource pattern → those that contain it, itself included.
        principals: an ACL's principal → those that contain it, itself included.
        hosts: an ACL's host → those that contain it, itself included.
    """

    places: Mapping[tuple[bool, PatternKey], AclPlaces]
    patterns: Mapping[PatternKey, Sequence[PatternKey]]
    principals: Mapping[str, OrderedTexts]
    hosts: Mapping[str, OrderedTexts]

    @classmethod
    def build(cls, rows: Iterable[Acl], semantics: Semantics) -> ContainmentIndex:
        """Index ACLs by permission, pattern, principal and host."""
        acls = sorted(rows, key=lambda acl: acl.acl_id)
        places: dict[tuple[bool, PatternKey], dict[str, dict[str, dict[str, Acl]]]] = {}
        for acl in acls:
            of_pattern = places.setdefault((acl.is_allow, pattern_of(acl)), {})
            of_host = of_pattern.setdefault(acl.principal, {}).setdefault(acl.host, {})
            of_host.setdefault(acl.operation, acl)
        principals = {a.principal: principal_pattern(a.principal, semantics) for a in acls}
        hosts = {acl.host: host_pattern(acl.host, semantics) for acl in acls}
        return cls(
            places,
            _wider_patterns({pattern_of(acl) for acl in acls}, semantics),
            _wider_texts(principals, principal_contains, semantics),
            _wider_texts(hosts, host_contains, semantics),
        )

    def containing(self, acl: Acl, *, allows: bool) -> Iterator[Acl]:
        """Yield the ALLOWs, or the others, that contain an ACL, operations aside.

        Of several that differ by their ids only, the first.
        """
        principals, hosts = self.principals[acl.principal], self.hosts[acl.host]
        for pattern in self.patterns[pattern_of(acl)]:
            of_pattern = self.places.get((allows, pattern), {})
            for principal in common(principals, of_pattern):
                of_principal = of_pattern[principal]
                for host in common(hosts, of_principal):
                    yield from of_principal[host].values()


def pattern_of(acl: Acl) -> PatternKey:
    """Return the resource pattern of an ACL."""
    return acl.resource_type, acl.pattern_type, acl.resource_name


def common(wider: OrderedTexts, present: Mapping[str, object]) -> Iterable[str]:
    """Return the texts that are in both, one by one; only the smaller side is gone through."""
    if len(wider) <= len(present):
        return (text for text in wider if text in present)
    return (text for text in present if text in wider)


def _wider_patterns(
    patterns: Iterable[PatternKey], semantics: Semantics
) -> dict[PatternKey, list[PatternKey]]:
    """Return for each resource pattern those that contain it.

    What matches the one name of a literal contains it; for all others a proof is needed.
    """
    rows = sorted(patterns)
    index = PatternIndex.build(((at, *row) for at, row in enumerate(rows)), semantics)
    wider: dict[PatternKey, list[PatternKey]] = {}
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
) -> dict[str, OrderedTexts]:
    """Return for each principal or host those that contain it.

    Args:
        globs: text → pattern type and pattern that match at least what the text stands for.
        contains: the proof, for what the trie gives.
        semantics: how the texts are read.
    """
    texts = sorted(globs)
    trie = PatternTrie.build(((at, *globs[text]) for at, text in enumerate(texts)), KIP_1042)
    wider: dict[str, OrderedTexts] = {}
    for at, text in enumerate(texts):
        hits = {at, *trie.matches(globs[text][1])}
        found = (texts[hit] for hit in sorted(hits))
        wider[text] = {other: None for other in found if contains(other, text, semantics)}
    return wider
