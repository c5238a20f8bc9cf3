"""What one materialize is about: the ACLs' texts, what is asked, and how ACLs are read. A value."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aclkit.model.acl import ANY_OTHER
from aclkit.model.principal import parse_principal
from aclkit.model.semantics import BROKER, Semantics
from aclkit.pipeline.inventory.entry import Entry
from aclkit.pipeline.inventory.survey import Inventory, Texts
from aclkit.rules.patterns.identity import index_hosts, index_principals
from aclkit.rules.patterns.match import names_exactly


@dataclass(frozen=True, slots=True)
class PrincipalClasses:
    """Principals that the same non-exact ACL principals match are one class.

    Attributes:
        class_of: principal → class id, a hash of the texts that match it.
        texts_of: class id → those texts.
    """

    class_of: dict[str, str]
    texts_of: dict[str, tuple[str, ...]]


def classify(
    principals: Iterable[str], acl_principals: Iterable[str], semantics: Semantics
) -> PrincipalClasses:
    """Sort principals into classes."""
    shared = (text for text in acl_principals if not names_exactly(text, semantics))
    index = index_principals(shared, semantics)
    class_of: dict[str, str] = {}
    texts_of: dict[str, tuple[str, ...]] = {}
    for principal in principals:
        texts = tuple(index.matching(principal))
        content = "\x00".join(texts).encode("utf-8", "surrogatepass")
        class_id = hashlib.sha256(content).hexdigest()[:16]
        class_of[principal] = class_id
        texts_of[class_id] = texts
    return PrincipalClasses(class_of, texts_of)


def match_hosts(
    acl_hosts: Iterable[str], hosts: Collection[str], semantics: Semantics
) -> list[tuple[str, str]]:
    """Pair each ACL host with every inventory host that it matches.

    An ACL host that matches every host is paired with ``<any-other>`` too, asked about or not.
    """
    index = index_hosts(acl_hosts, semantics)
    asked = {*hosts, ANY_OTHER}
    return sorted((acl_host, host) for host in asked for acl_host in index.matching(host))


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What one materialize is about.

    Attributes:
        cluster_id: the cluster.
        texts: what its ACLs alive are made of.
        inventory: what is asked about.
        semantics: how ACLs are read.
        preset: the one that was taken for that; single settings may win over it.
        super_users: principals that are always allowed, symbols aside: the names that are no one's.
    """

    cluster_id: str
    texts: Texts
    inventory: Inventory
    semantics: Semantics
    super_users: frozenset[str]
    preset: str | None = None

    @property
    def principal_names(self) -> list[str]:
        """The principals asked about, in the order of their numbers."""
        return [entry.name for entry in self.inventory.principals]

    @property
    def host_names(self) -> list[str]:
        """The hosts asked about, in the order of their numbers."""
        return [entry.name for entry in self.inventory.hosts]

    @cached_property
    def classes(self) -> PrincipalClasses:
        """The principals asked about, in classes."""
        return classify(self.principal_names, self.texts.principals, self.semantics)

    @property
    def may_meet_wildcard_last(self) -> bool:
        """Whether a name below ``*`` may let the broker meet LITERAL ``*`` after other ACLs."""
        return self.semantics.deciding_acl == BROKER and any(
            entry.name < "*" for entry in self.inventory.resources
        )

    @property
    def acls(self) -> int:
        """How many ACLs are alive."""
        return sum(self.texts.counts)

    @property
    def pairs(self) -> int:
        """How many (principal, resource) are asked about."""
        return len(self.inventory.principals) * len(self.inventory.resources)


def of_inventory(scope: Scope) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of ``principal``, ``host``, ``resource`` and ``host_match``."""
    inventory, cluster = scope.inventory, scope.cluster_id
    class_of = scope.classes.class_of
    matches = match_hosts(scope.texts.hosts, scope.host_names, scope.semantics)
    universal = {acl_host for acl_host, host in matches if host == ANY_OTHER}
    named = {host for acl_host, host in matches if acl_host not in universal}
    principals = [
        (
            cluster,
            entry.name,
            *parse_principal(entry.name),
            class_of[entry.name],
            entry.name in scope.super_users,
            *_common(entry),
        )
        for entry in inventory.principals
    ]
    hosts = [(cluster, e.name, e.name in named, *_common(e)) for e in inventory.hosts]
    resources = [(cluster, e.resource_type, e.name, *_common(e)) for e in inventory.resources]
    return {
        "principal": principals,
        "host": hosts,
        "resource": resources,
        "host_match": [(cluster, *match) for match in matches],
    }


def digest_of(rows: Mapping[str, Sequence[Sequence[Any]]]) -> str:
    """Return a digest of rows: equal ones need not be written again."""
    return hashlib.sha256(repr(rows).encode("utf-8", "surrogatepass")).hexdigest()


def _common(entry: Entry) -> tuple[bool, str, str | None, dict[str, str]]:
    return entry.is_any_other, entry.origin, entry.witness, dict(entry.attributes)
