"""Which of several matching ACLs decides: a total order that no offset or source can change."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cmp_to_key
from typing import Any, Final

from aclkit.model.acl import Acl
from aclkit.model.enums import AclOperation, AclPermissionType, PatternType, ResourceType
from aclkit.model.operation import BY_ALL, coverage
from aclkit.model.semantics import BROKER, Semantics
from aclkit.patterns.specificity import (
    host_specificity,
    pattern_specificity,
    principal_specificity,
)

SortKey = Callable[[Acl], Any]
"""A key for ``min`` and ``sorted`` over ACLs; keys of one order compare with each other only."""


def specific_key(acl: Acl, operation: str, semantics: Semantics) -> tuple[Any, ...]:
    """Return an ACL's place among those that answer ``operation``: the smallest decides.

    Pattern, principal, host, then operation equal, implied, ALL, then the texts in code-point
    order, then the id (DESIGN.md, deciding ACL ``most-specific``).
    """
    cover = coverage(acl.operation, acl.permission_type, operation)
    return (
        pattern_specificity(acl.pattern_type, acl.resource_name, semantics),
        principal_specificity(acl.principal, semantics),
        host_specificity(acl.host, semantics),
        BY_ALL + 1 if cover is None else cover,
        acl.resource_name,
        acl.principal,
        acl.host,
        acl.operation,
        acl.acl_id,
    )


def compare_standard_acls(left: Acl, right: Acl) -> int:
    """Compare two ACLs as ``StandardAcl.compareTo`` does; the id breaks ties.

    The resource name is compared in descending order, texts by UTF-16 code unit as Java does.
    """
    a, b = _standard_fields(left), _standard_fields(right)
    for index, (x, y) in enumerate(zip(a, b, strict=True)):
        if x != y:
            ascending = -1 if x < y else 1
            return -ascending if index == _NAME_FIELD else ascending
    return 0


_NAME_FIELD: Final = 1

standard_acl_key: Final = cmp_to_key(compare_standard_acls)
"""A sort key that puts ACLs into the order of Kafka's own sorted set."""


def deciding_acl(
    denies: Iterable[Acl],
    allows: Iterable[Acl],
    request: tuple[str, str],
    semantics: Semantics,
    *,
    wildcard_is_last: bool = False,
) -> Acl | None:
    """Name the ACL that decides among those that match, or None when none does.

    Args:
        denies: matching ACLs that are not ALLOW; any of them decides before any ALLOW.
        allows: matching ACLs that are ALLOW.
        request: operation and resource name of the request.
        semantics: says whether the most specific one or the broker's is named.
        wildcard_is_last: a broker meets LITERAL ``*`` after all ALLOWs on longer patterns: so it
            is for names below ``*`` whose second search ends there (``second_search``).
    """
    denies, allows = list(denies), list(allows)
    operation, resource_name = request
    if semantics.deciding_acl != BROKER:
        return min(
            denies or allows, key=lambda acl: specific_key(acl, operation, semantics), default=None
        )
    if denies:
        return min(denies, key=lambda acl: broker_deny_key(acl, resource_name))
    return max(
        allows,
        key=lambda acl: broker_allow_key(acl, wildcard_is_last=wildcard_is_last),
        default=None,
    )


def broker_deny_key(acl: Acl, resource_name: str) -> tuple[Any, ...]:
    """Return a DENY's place in the broker's scan for a resource name: the first one decides.

    The scan starts at the name and meets the wildcard in descending order of names; for a name
    below ``*`` only a second scan finds the wildcard (guide: StandardAuthorizerData).
    """
    return resource_name < "*" and _is_wildcard(acl), standard_acl_key(acl)


def broker_allow_key(acl: Acl, *, wildcard_is_last: bool) -> tuple[Any, ...]:
    """Return an ALLOW's place among those that a broker meets: the last one decides."""
    return wildcard_is_last and (_is_wildcard(acl) or not acl.resource_name), standard_acl_key(acl)


def _is_wildcard(acl: Acl) -> bool:
    return acl.pattern_type == "LITERAL" and acl.resource_name == "*"


def _standard_fields(acl: Acl) -> tuple[Any, ...]:
    return (
        ResourceType.ordinal(acl.resource_type),
        utf16(acl.resource_name),
        PatternType.ordinal(acl.pattern_type),
        AclOperation.ordinal(acl.operation),
        utf16(acl.principal),
        utf16(acl.host),
        AclPermissionType.ordinal(acl.permission_type),
        acl.acl_id,
    )


def utf16(text: str) -> bytes:
    """Return the bytes whose order is that of Java's strings: by UTF-16 code unit."""
    return text.encode("utf-16-be", "surrogatepass")
