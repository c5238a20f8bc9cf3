"""Rows with defaults, so that a test shows only what matters to it."""

from __future__ import annotations

from dataclasses import asdict, astuple
from itertools import count

from aclkit.model.acl import Acl, Request
from aclkit.model.semantics import AskedReading, Semantics

_ids = count(1)


def acl(
    resource_name: str = "orders",
    *,
    resource_type: str = "TOPIC",
    pattern_type: str = "LITERAL",
    principal: str = "User:a",
    host: str = "*",
    operation: str = "READ",
    permission_type: str = "ALLOW",
    acl_id: str | None = None,
) -> Acl:
    """Make an ACL; without ``acl_id`` it gets the next number."""
    return Acl(
        acl_id=f"acl-{next(_ids):06}" if acl_id is None else acl_id,
        resource_type=resource_type,
        resource_name=resource_name,
        pattern_type=pattern_type,
        principal=principal,
        host=host,
        operation=operation,
        permission_type=permission_type,
    )


def exactly(semantics: Semantics) -> AskedReading:
    """Ask for one way of reading ACLs, whatever the cluster has."""
    return AskedReading(preset="kip-1042", own=asdict(semantics))


def history_row(
    row: Acl, number: int, cluster_id: str, removed: int | None = None
) -> tuple[object, ...]:
    """Make a row of ``acl_history``: the ACL came with offset ``number``, and lives or not."""
    return (cluster_id, *astuple(row), number, number, None, "record", removed, None)


def request(
    resource_name: str = "orders",
    *,
    resource_type: str = "TOPIC",
    principal: str = "User:a",
    host: str = "10.0.0.1",
    operation: str = "READ",
) -> Request:
    """Make a request that ``acl()`` allows."""
    return Request(
        principal=principal,
        host=host,
        operation=operation,
        resource_type=resource_type,
        resource_name=resource_name,
    )
