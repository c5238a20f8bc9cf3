"""What one materialize is about: the ACLs' texts, what is asked, and how ACLs are read. A value."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aclkit.model.acl import ANY_OTHER
from aclkit.model.principal import parse_principal
from aclkit.model.semantics import BROKER, Semantics
from aclkit.pipeline.inventory.entry import Entry
from aclkit.pipeline.inventory.identity import PrincipalClasses, classify, match_hosts
from aclkit.pipeline.inventory.survey import Inventory, Texts


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
