"""ACLs → findings on how they are read: what is odd in the record itself, and where presets differ.

Every record that decodes is an ACL and stays one; these findings show how the broker reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from aclkit.model.acl import Acl, acl_words
from aclkit.model.enums import AclOperation
from aclkit.model.findings import INVENTORY, Finding, Kind
from aclkit.model.groups import grouped
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.principal import WILDCARD_PRINCIPAL, split_principal
from aclkit.rules.patterns.match import GLOB, LITERAL, PREFIXED, has_wildcard

DUPLICATE_FIX: Final = (
    "Remove the ACL, then add it once. kafka-acls selects ACLs by their fields, so it cannot "
    "remove only one copy. Try it on a test cluster first: a controller can reject the second "
    "removal."
)
"""AclControlManager.replay fails on the second of two: acl not found in existingAcls."""

DUPLICATE_ACL: Final = Kind(
    id="duplicate-acl",
    severity="low",
    summary="ACLs that the log holds several times",
    meaning=(
        "The log holds the same ACL under several ids. Removing one copy leaves the others in "
        "force. Brokers and controllers handle such ACLs differently."
    ),
    fix=DUPLICATE_FIX,
)
UNKNOWN_CODE: Final = Kind(
    id="unknown-code",
    severity="medium",
    summary="ACLs with a code that Kafka does not define",
    meaning=(
        "The ACL contains a code that no Kafka release uses in an ACL. Brokers still read the ACL. "
        "They treat an unknown pattern type as a prefix and an unknown permission as DENY. An "
        "unknown operation or resource type matches no request."
    ),
    fix="Find the program that wrote the ACL. Add the intended ACL, then remove the one found.",
)
READS_DIFFERENTLY: Final = Kind(
    id="reads-differently",
    severity="medium",
    summary="ACLs that Kafka and KIP-1042 read differently",
    depends="medium where decisions differ, info otherwise",
    meaning=(
        "KIP-1042 and today's brokers read the ACL differently. Kafka reads a GLOB pattern as a "
        "prefix. It reads a principal or host with * or ? as plain text, and KIP-1042 reads it as "
        "a glob. Kafka's LITERAL * does not match longer names that start with a star. The message "
        "counts decisions on known names only."
    ),
    fix="Write the ACL so that both read it the same way, or choose one with --semantics.",
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
                f"The log holds {len(same):,} copies of {acl_words(same[0])}, under different ids.",
                acls=sorted(same, key=lambda acl: acl.acl_id),
            )


def find_unknown_codes(acls: Iterable[Acl]) -> Iterator[Finding]:
    """Yield each ACL with a code that no release gives an ACL, and how the broker treats it."""
    for acl in acls:
        treated = [text for text in _treatments(acl) if text]
        if treated:
            yield UNKNOWN_CODE.about(
                acl,
                f"{acl_words(acl)} has a code that Kafka does not define: {'; '.join(treated)}.",
                evidence=treated,
            )


def reads_differently(acls: Iterable[Acl]) -> dict[str, str]:
    """Return id → reason for the ACLs that presets kip-1042 and kafka read differently.

    An ACL that is not among them matches the same requests under both.
    """
    found = ((acl.acl_id, [text for text in _differences(acl) if text]) for acl in acls)
    return {acl_id: "; ".join(reasons) for acl_id, reasons in found if reasons}


def _treatments(acl: Acl) -> tuple[str | None, ...]:
    """Return how the broker treats each unknown code (StandardAuthorizerData)."""
    return (
        None
        if acl.resource_type in OPERATIONS_OF_TYPE
        else f"resource type {acl.resource_type} matches no request",
        None
        if acl.pattern_type in _PATTERN_TYPES
        else f"pattern type {acl.pattern_type} acts as PREFIXED",
        None
        if AclOperation.is_known(acl.operation) and acl.operation != "ANY"
        else f"operation {acl.operation} matches no request",
        None
        if acl.permission_type in _PERMISSIONS
        else f"permission {acl.permission_type} acts as DENY",
    )


def _differences(acl: Acl) -> tuple[str | None, ...]:
    return _pattern_difference(acl), _principal_difference(acl), _host_difference(acl)


def _pattern_difference(acl: Acl) -> str | None:
    # An empty GLOB and an empty prefix both are every name.
    if acl.pattern_type == GLOB and acl.resource_name:
        return f"KIP-1042 reads GLOB {acl.resource_name!r} as a glob, Kafka as a prefix"
    has_star_names = acl.resource_type in OPERATIONS_OF_TYPE.keys() - set(_NO_STAR_IN_NAMES)
    if has_star_names and (acl.pattern_type, acl.resource_name) == (LITERAL, "*"):
        return "Kafka's LITERAL '*' does not match longer names that start with '*'"
    return None


def _principal_difference(acl: Acl) -> str | None:
    parts = split_principal(acl.principal)
    if acl.principal == WILDCARD_PRINCIPAL or parts is None or not any(map(has_wildcard, parts)):
        return None
    return f"KIP-1042 reads principal {acl.principal!r} as a glob, Kafka as one principal"


def _host_difference(acl: Acl) -> str | None:
    if acl.host == "*" or not has_wildcard(acl.host):
        return None
    return f"KIP-1042 reads host {acl.host!r} as a glob, and no address matches it in Kafka"
