"""ACLs → findings on how they are read: what is odd in the record itself, and where presets differ.

Every record that decodes is an ACL and stays one; these findings say what the broker makes of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from aclkit.audit.never_matches import (
    effect_of_dead,
    host_reason,
    principal_reason,
    severity_of_dead,
)
from aclkit.findings import Finding
from aclkit.model.acl import Acl
from aclkit.model.enums import AclOperation
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.principal import WILDCARD_PRINCIPAL, split_principal
from aclkit.model.semantics import Semantics
from aclkit.patterns.match import GLOB, LITERAL, PREFIXED, has_wildcard

MALFORMED_PRINCIPAL: Final = "malformed-principal"
DUPLICATE_ACL: Final = "duplicate-acl"
UNKNOWN_CODE: Final = "unknown-code"
HOST_NEVER_MATCHES: Final = "host-never-matches"

DUPLICATE_FIX: Final = (
    "Remove the ACL and add it once: kafka-acls selects by fields, so it cannot remove only one "
    "of them; try it on a test cluster first, because a controller may refuse the second removal."
)
"""AclControlManager.replay fails on the second of two: acl not found in existingAcls."""

_PATTERN_TYPES: Final = (LITERAL, PREFIXED, GLOB)
_PERMISSIONS: Final = ("ALLOW", "DENY")
_NO_STAR_IN_NAMES: Final = ("TOPIC", "CLUSTER")
"""Types whose resources never have a name that begins with ``*``."""


def find_malformed_principals(acls: Iterable[Acl]) -> Iterator[Finding]:
    """Yield each ACL whose principal has no colon: it matches nobody, and is an ACL all the same.

    Kafka refuses them since 4.0, and keeps those that are there (AclControlManager).
    """
    return _dead(MALFORMED_PRINCIPAL, ((acl, principal_reason(acl)) for acl in acls))


def find_hosts_never_matching(acls: Iterable[Acl], semantics: Semantics) -> Iterator[Finding]:
    """Yield each ACL whose host is not written as a broker writes any host."""
    return _dead(HOST_NEVER_MATCHES, ((acl, host_reason(acl, semantics)) for acl in acls))


def find_duplicates(acls: Iterable[Acl]) -> Iterator[Finding]:
    """Yield each binding that stands under several ids; one removal by id leaves the others."""
    ids: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    subjects: dict[tuple[str, ...], str] = {}
    for acl in acls:
        ids[acl.binding].append(acl.acl_id)
        subjects.setdefault(acl.binding, str(acl))
    for binding, same in ids.items():
        if len(same) > 1:
            yield Finding(
                finding=DUPLICATE_ACL,
                severity="low",
                subject=subjects[binding],
                message=f"The log holds this ACL {len(same)} times, under different ids.",
                fix=DUPLICATE_FIX,
                acl_ids=tuple(sorted(same)),
            )


def find_unknown_codes(acls: Iterable[Acl]) -> Iterator[Finding]:
    """Yield each ACL with a code that no release gives an ACL, and how the broker treats it."""
    for acl in acls:
        treated = [text for text in _treatments(acl) if text]
        if treated:
            yield Finding(
                finding=UNKNOWN_CODE,
                severity="medium",
                subject=str(acl),
                message=f"The broker does not know a code of this ACL: {'; and '.join(treated)}.",
                fix="Find out which program wrote it, add what was meant, and remove this ACL.",
                acl_ids=(acl.acl_id,),
            )


def reads_differently(acls: Iterable[Acl]) -> dict[str, str]:
    """Return id → reason for the ACLs that presets kip-1042 and kafka read differently.

    An ACL that is not among them matches the same requests under both.
    """
    found = ((acl.acl_id, [text for text in _differences(acl) if text]) for acl in acls)
    return {acl_id: "; and ".join(reasons) for acl_id, reasons in found if reasons}


def _dead(kind: str, judged: Iterable[tuple[Acl, str | None]]) -> Iterator[Finding]:
    for acl, reason in judged:
        if reason:
            yield Finding(
                finding=kind,
                severity=severity_of_dead(acl),
                subject=str(acl),
                message=f"{effect_of_dead(acl)}: {reason}.",
                fix="Add it in a form that can match, then remove this ACL.",
                acl_ids=(acl.acl_id,),
            )


def _treatments(acl: Acl) -> tuple[str | None, ...]:
    """Say how the broker treats each unknown code (StandardAuthorizerData)."""
    return (
        None
        if acl.resource_type in OPERATIONS_OF_TYPE
        else f"resource type {acl.resource_type} is that of no request",
        None
        if acl.pattern_type in _PATTERN_TYPES
        else f"pattern type {acl.pattern_type} acts as PREFIXED",
        None
        if AclOperation.is_known(acl.operation) and acl.operation != "ANY"
        else f"operation {acl.operation} is that of no request",
        None
        if acl.permission_type in _PERMISSIONS
        else f"permission {acl.permission_type} acts as DENY",
    )


def _differences(acl: Acl) -> tuple[str | None, ...]:
    return _pattern_difference(acl), _principal_difference(acl), _host_difference(acl)


def _pattern_difference(acl: Acl) -> str | None:
    # An empty GLOB and an empty prefix both are every name.
    if acl.pattern_type == GLOB and acl.resource_name:
        return f"GLOB {acl.resource_name!r} is a glob to KIP-1042 and a mere prefix to Kafka"
    has_star_names = acl.resource_type in OPERATIONS_OF_TYPE.keys() - set(_NO_STAR_IN_NAMES)
    if has_star_names and (acl.pattern_type, acl.resource_name) == (LITERAL, "*"):
        return "LITERAL '*' misses, to Kafka, longer names that begin with '*'"
    return None


def _principal_difference(acl: Acl) -> str | None:
    parts = split_principal(acl.principal)
    if acl.principal == WILDCARD_PRINCIPAL or parts is None or not any(map(has_wildcard, parts)):
        return None
    return f"principal {acl.principal!r} is a glob to KIP-1042 and one exact principal to Kafka"


def _host_difference(acl: Acl) -> str | None:
    if acl.host == "*" or not has_wildcard(acl.host):
        return None
    return f"host {acl.host!r} is a glob to KIP-1042 and matches no address to Kafka"
