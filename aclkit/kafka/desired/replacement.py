"""A resource that is deleted and created again → what is off in between. Pure.

Every field of an ACL forces replacement: the old ACL is deleted first, and then the new one is
created. What both of them cover is off in between, although a plan shows only old and new.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from aclkit.kafka.desired.model import ResourceChange
from aclkit.model.acl import Acl


def off_between(changes: Iterable[ResourceChange]) -> Iterator[tuple[Acl, Acl]]:
    """Yield each new ACL that replaces an old one, and what both cover."""
    for change in changes:
        if change.deletes and change.creates and not change.is_create_first:
            shared = common_part(change.deletes.acl, change.creates.acl)
            if shared is not None:
                yield change.creates.acl, shared


def common_part(one: Acl, other: Acl) -> Acl | None:
    """Return the ACL for what two ACLs of one permission both cover, None if there is none.

    Each field is the narrower of the two; where neither is, nothing is shared.

    >>> wide = Acl(acl_id="", resource_type="TOPIC", pattern_type="PREFIXED", resource_name="pay",
    ...            principal="User:a", host="*", operation="ALL", permission_type="ALLOW")
    >>> narrow = replace(wide, pattern_type="LITERAL", resource_name="pay.eu", operation="READ")
    >>> common_part(wide, replace(narrow, host="10.0.0.1")) == replace(narrow, host="10.0.0.1")
    True
    >>> common_part(wide, replace(narrow, principal="User:b")) is None
    True
    """
    if (one.resource_type, one.permission_type) != (other.resource_type, other.permission_type):
        return None
    pattern = _narrower_pattern(one, other)
    principal = _narrower(one.principal, other.principal, "User:*")
    host = _narrower(one.host, other.host, "*")
    operation = _narrower(one.operation, other.operation, "ALL")
    if pattern is None or principal is None or host is None or operation is None:
        return None
    return replace(
        other,
        pattern_type=pattern[0],
        resource_name=pattern[1],
        principal=principal,
        host=host,
        operation=operation,
    )


def _narrower(one: str, other: str, every: str) -> str | None:
    if one in (other, every):
        return other
    return one if other == every else None


def _narrower_pattern(one: Acl, other: Acl) -> tuple[str, str] | None:
    for wide, narrow in ((one, other), (other, one)):
        if wide.pattern == narrow.pattern or _covers(wide, narrow):
            return narrow.pattern_type, narrow.resource_name
    return None


def _covers(wide: Acl, narrow: Acl) -> bool:
    if wide.pattern_type == "PREFIXED":
        return narrow.resource_name.startswith(wide.resource_name)
    return wide.pattern_type == "LITERAL" and wide.resource_name == "*"
