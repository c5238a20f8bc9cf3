"""ACLs to create or filters to delete by, and the state before → the changes and the results.

Source: AclControlManager of Kafka 4.4, with its order of checks, its messages and its limits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from aclkit.errors import AclkitError
from aclkit.kafka.acls.creation import CreationRules, refused_host
from aclkit.kafka.authorizer.errors import (
    InvalidRequestError,
    PolicyViolationError,
    UnsupportedVersionError,
)
from aclkit.kafka.authorizer.requests import (
    AclBindingDeleteResult,
    AclCreateResult,
    AclDeleteResult,
)
from aclkit.model.acl import Acl
from aclkit.model.enums import AclOperation, CodedEnum, ResourceType
from aclkit.model.filter import AclBindingFilter
from aclkit.model.principal import split_principal
from aclkit.model.semantics import Semantics
from aclkit.rules.decide.index import AclIndex

MAX_RECORDS: Final = 10_000
"""More records than this no single request may make (MAX_RECORDS_PER_USER_OP)."""


@dataclass(frozen=True, slots=True)
class Creation:
    """What a request to create ACLs comes to: the new ACLs, and a result for each entry."""

    adds: tuple[Acl, ...]
    results: tuple[AclCreateResult, ...]


@dataclass(frozen=True, slots=True)
class Deletion:
    """What a request to delete ACLs comes to: the ACLs that go, and a result for each filter."""

    removes: tuple[Acl, ...]
    results: tuple[AclDeleteResult, ...]


def plan_creation(
    index: AclIndex, acls: Sequence[Acl], new_id: Callable[[], str], rules: CreationRules
) -> Creation:
    """Check each ACL, and give those that are new an id; their own ids do not count.

    What is already there, or stands in the request twice, succeeds without a record.

    Raises:
        PolicyViolationError: more than 10,000 records, so that nothing is created.
    """
    adds: dict[tuple[str, ...], Acl] = {}
    results = []
    for acl in acls:
        error = invalid_acl(acl, index.semantics) or _invalid_host(acl, rules)
        results.append(AclCreateResult(error))
        if error is None and acl.binding not in adds and not index.holds(acl):
            if len(adds) == MAX_RECORDS:
                raise PolicyViolationError("Unable to perform excessively large batch operation.")
            adds[acl.binding] = replace(acl, acl_id=new_id())
    return Creation(tuple(adds.values()), tuple(results))


def plan_deletion(index: AclIndex, filters: Sequence[AclBindingFilter]) -> Deletion:
    """Select by each filter from the state before the request; an ACL goes once.

    Raises:
        InvalidRequestError: more than 10,000 records, so that nothing is deleted.
    """
    removes: dict[str, Acl] = {}
    results = []
    for binding in filters:
        try:
            selected = _select(index, binding)
        except AclkitError as error:
            results.append(AclDeleteResult(exception=error))
            continue
        removes |= {acl.acl_id: acl for acl in selected}
        results.append(AclDeleteResult(tuple(map(AclBindingDeleteResult, selected))))
    if len(removes) > MAX_RECORDS:
        raise InvalidRequestError(
            f"Cannot remove more than {MAX_RECORDS} acls in a single delete operation."
        )
    return Deletion(tuple(removes.values()), tuple(results))


def invalid_acl(acl: Acl, semantics: Semantics) -> InvalidRequestError | None:
    """Return in Kafka's words what is wrong with a new ACL, by the first check that it fails.

    GLOB is a pattern type where it is read as one. Not checked, as in Kafka: whether the
    operation suits the resource type. The host comes last: see ``aclkit.kafka.acls.creation``.
    """
    patterns = ("LITERAL", "PREFIXED", "GLOB") if semantics.glob_patterns else _KAFKAS_PATTERNS
    message = None
    if not _is_concrete(ResourceType, acl.resource_type):
        message = f"Invalid resourceType {_kafkas(acl.resource_type)}"
    elif acl.pattern_type not in patterns:
        message = f"Invalid patternType {_kafkas(acl.pattern_type)}"
    elif not _is_concrete(AclOperation, acl.operation):
        message = f"Invalid operation {_kafkas(acl.operation)}"
    elif acl.permission_type not in ("DENY", "ALLOW"):
        message = f"Invalid permissionType {_kafkas(acl.permission_type)}"
    elif not acl.resource_name:
        message = "Resource name should not be empty"
    elif split_principal(acl.principal) is None:
        message = (
            f"Could not parse principal from `{acl.principal}` (no colon is present separating "
            "the principal type from the principal name)"
        )
    return None if message is None else InvalidRequestError(message)


def _invalid_host(
    acl: Acl, rules: CreationRules
) -> InvalidRequestError | UnsupportedVersionError | None:
    refusal = refused_host(acl.host, rules)
    if refusal is None:
        return None
    made = UnsupportedVersionError if refusal.is_of_version else InvalidRequestError
    return made(refusal.message)


_KAFKAS_PATTERNS: Final = ("LITERAL", "PREFIXED")


def _select(index: AclIndex, binding: AclBindingFilter) -> list[Acl]:
    if binding.pattern.is_unknown:
        raise InvalidRequestError("Unknown patternFilter.")
    if binding.entry.is_unknown:
        raise InvalidRequestError("Unknown entryFilter.")
    return [acl for acl in index.by_id.values() if binding.matches(acl, index.semantics)]


def _is_concrete(enum: type[CodedEnum], name: str) -> bool:
    return enum.is_known(name) and name != "ANY"


def _kafkas(name: str) -> str:
    """Return a name as a broker knows it: a code that no release has is UNKNOWN."""
    return name if name in ("ANY", "MATCH") else "UNKNOWN"
