"""ACLs → findings on how they are read: what is odd in the record itself, and where presets differ.

Every record that decodes is an ACL and stays one; these findings say what the broker makes of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from aclkit.model.acl import Acl
from aclkit.model.enums import AclOperation
from aclkit.model.findings import INVENTORY, Finding, Kind
from aclkit.model.groups import grouped
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.principal import WILDCARD_PRINCIPAL, split_principal
from aclkit.rules.patterns.match import GLOB, LITERAL, PREFIXED, has_wildcard

DUPLICATE_FIX: Final = (
    "Remove the ACL and add it once: kafka-acls selects by fields, so it cannot remove only one "
    "of them; try it on a test cluster first, because a controller may refuse the second removal."
)
"""AclControlManager.replay fails on the second of two: acl not found in existingAcls."""

DUPLICATE_ACL: Final = Kind(
    id="duplicate-acl",
    severity="low",
    meaning=(
        "The log holds the same ACL under several ids. To remove it once leaves the others, and "
        "brokers and controllers disagree on what they do with such ACLs."
    ),
    fix=DUPLICATE_FIX,
)
UNKNOWN_CODE: Final = Kind(
    id="unknown-code",
    severity="medium",
    meaning=(
        "The ACL holds a code that no release gives an ACL. The broker reads it all the same: an "
        "unknown pattern type is a prefix, an unknown permission denies, an unknown operation or "
        "resource type meets no request."
    ),
    fix="Find out which program wrote it, add what was meant, and remove this ACL.",
)
READS_DIFFERENTLY: Final = Kind(
    id="reads-differently",
    severity="medium",
    depends="medium where decisions differ, info where none does",
    meaning=(
        "KIP-1042 and today's brokers read the ACL differently: a GLOB pattern is a prefix to "
        "Kafka; a principal or host with * or ? is a glob to KIP-1042 and plain text to Kafka; "
        "LITERAL * misses, to Kafka, longer names that begin with a star. That they read it "
        "differently holds for every name; how many decisions differ, for the inventory."
    ),
    fix="write it so that both readings agree, or choose one with --semantics",
    holds_for=INVENTORY,
)

_PATTERN_TYPES: Final = (LITERAL, PREFIXED, GLOB)
_PERMISSIONS: Final = ("ALLOW", "DENY")
_NO_STAR_IN_NAMES: Final = ("TOPIC", "CLUSTER")
"""Types whose resources never have a name that begins with ``*``."""


def find_duplicates(acls: Iterable[Acl]) -> Iterator[Finding]:
    """Yield each binding that stands under several ids; one removal by id leaves the others."""
    by_binding = grouped((acl.binding, acl) for acl in acls)
    for same in by_binding.values():
        if len(same) > 1:
            yield DUPLICATE_ACL.about(
                str(same[0]),
                f"The log holds this ACL {len(same)} times, under different ids.",
                acls=sorted(same, key=lambda acl: acl.acl_id),
            )


def find_unknown_codes(acls: Iterable[Acl]) -> Iterator[Finding]:
    """Yield each ACL with a code that no release gives an ACL, and how the broker treats it."""
    for acl in acls:
        treated = [text for text in _treatments(acl) if text]
        if treated:
            yield UNKNOWN_CODE.about(
                str(acl),
                f"The broker does not know a code of this ACL: {'; and '.join(treated)}.",
                acls=(acl,),
                evidence=treated,
            )


def reads_differently(acls: Iterable[Acl]) -> dict[str, str]:
    """Return id → reason for the ACLs that presets kip-1042 and kafka read differently.

    An ACL that is not among them matches the same requests under both.
    """
    found = ((acl.acl_id, [text for text in _differences(acl) if text]) for acl in acls)
    return {acl_id: "; and ".join(reasons) for acl_id, reasons in found if reasons}


def _treatments(acl: Acl) -> tuple[str | None, ...]:
    """Return how the broker treats each unknown code (StandardAuthorizerData)."""
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
