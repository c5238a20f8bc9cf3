"""An ACL → why no resource, client or operation can ever meet it.

Sources: Topic.validate (names of topics), Resource.CLUSTER_NAME, AclEntry.supportedOperations,
InetAddress.getHostAddress (hosts), KafkaPrincipal (principals).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from aclkit.model.acl import Acl
from aclkit.model.cidr import has_unknown_zone, parse_range
from aclkit.model.host import canonical_host
from aclkit.model.operation import OPERATIONS_OF_TYPE, coverage
from aclkit.model.principal import split_principal
from aclkit.model.resource import CLUSTER_NAME
from aclkit.model.semantics import Semantics
from aclkit.rules.patterns.match import (
    GLOB,
    LITERAL,
    effective_pattern_type,
    host_can_match,
    is_malformed_range,
    pattern_matches,
)

LONGEST_TOPIC_NAME: Final = 249

IS_MALFORMED: Final = "the host is not a valid range"
SLEEPS: Final = "the host is a range, which the brokers do not read"

_ILLEGAL: Final = re.compile(r"[^a-zA-Z0-9._-]")
_NO_TOPIC: Final = ("", ".", "..")


def reasons_never_to_match(acl: Acl, semantics: Semantics) -> Iterator[str]:
    """Yield each reason why no request can meet an ACL."""
    reasons = (
        _resource_type_reason(acl),
        _name_reason(acl, semantics),
        _operation_reason(acl),
        _principal_reason(acl),
        _host_reason(acl, semantics),
    )
    return (reason for reason in reasons if reason)


def can_match(acl: Acl, semantics: Semantics) -> bool:
    """Whether some request could meet an ACL."""
    return next(reasons_never_to_match(acl, semantics), None) is None


def _principal_reason(acl: Acl) -> str | None:
    if split_principal(acl.principal) is not None:
        return None
    return f"principal {acl.principal!r} has no colon between type and name"


def _host_reason(acl: Acl, semantics: Semantics) -> str | None:
    if host_can_match(acl.host, semantics):
        return None
    if is_malformed_range(acl.host, semantics):
        return IS_MALFORMED
    meant = parse_range(acl.host)
    if meant is not None and meant.first > meant.last:
        return f"host {acl.host!r} contains no address, because no range contains 0.0.0.0"
    if meant is not None or has_unknown_zone(acl.host):
        return SLEEPS
    canonical = canonical_host(acl.host)
    if canonical is None:
        return f"host {acl.host!r} is not an IP address, and brokers compare only addresses"
    return f"brokers write host {acl.host!r} as {canonical!r} and compare hosts as text"


def _resource_type_reason(acl: Acl) -> str | None:
    if acl.resource_type in OPERATIONS_OF_TYPE:
        return None
    return f"no request has a resource of the type {acl.resource_type}"


def _operation_reason(acl: Acl) -> str | None:
    operations = OPERATIONS_OF_TYPE.get(acl.resource_type)
    if operations is None or any(
        coverage(acl.operation, acl.permission_type, operation) is not None
        for operation in operations
    ):
        return None
    return f"no request on a {acl.resource_type} has operation {acl.operation}"


def _name_reason(acl: Acl, semantics: Semantics) -> str | None:
    if acl.resource_type == "TOPIC":
        return _topic_reason(acl, semantics)
    if acl.resource_type == "CLUSTER" and not pattern_matches(
        acl.pattern_type, acl.resource_name, CLUSTER_NAME, semantics
    ):
        return f"the pattern does not match {CLUSTER_NAME}, the name of every cluster resource"
    if acl.resource_type == "USER" and acl.pattern_type == LITERAL and _is_no_user(acl):
        return f"USER {acl.resource_name!r} has no colon, and requests name users as User:NAME"
    return None


def _is_no_user(acl: Acl) -> bool:
    return acl.resource_name != "*" and split_principal(acl.resource_name) is None


def _topic_reason(acl: Acl, semantics: Semantics) -> str | None:
    """Return why no topic can have a name that the pattern matches (Topic.validate), or None."""
    name = acl.resource_name
    kind = effective_pattern_type(acl.pattern_type, semantics)
    if kind == LITERAL and name == "*":
        return None
    letters = name.replace("*", "").replace("?", "") if kind == GLOB else name
    illegal = _ILLEGAL.search(letters)
    if illegal:
        return f"topic names cannot contain {illegal.group()!r}{_glob_hint(illegal.group(), kind)}"
    shortest = len(name) - name.count("*") if kind == GLOB else len(name)
    if shortest > LONGEST_TOPIC_NAME:
        return f"topic names have at most {LONGEST_TOPIC_NAME} characters"
    is_one_name = kind == LITERAL or (kind == GLOB and name == letters and name)
    return f"no topic can have the name {name!r}" if is_one_name and name in _NO_TOPIC else None


def _glob_hint(illegal: str, kind: str) -> str:
    return f", which is not a wildcard in a {kind} pattern" if illegal in "*?" else ""
