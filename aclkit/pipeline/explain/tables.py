"""The inventory of a scope → the rows of its tables."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from aclkit.model.acl import ANY_OTHER
from aclkit.model.principal import parse_principal
from aclkit.pipeline.explain.scope import Scope
from aclkit.pipeline.inventory.entry import Entry
from aclkit.pipeline.inventory.identity import match_hosts


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
