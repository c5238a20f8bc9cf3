"""What Kafka says to a request, and an ACL as Kafka sees it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aclkit.model.acl import Acl
from aclkit.model.enums import AclOperation, AclPermissionType, CodedEnum, PatternType, ResourceType

Binding = tuple[str, ...]
"""The seven fields of an ACL."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: ALLOWED or DENIED, the rule's name, and the ACL if one decided.

    Where Kafka gave none, ``decision`` is None and ``rule`` says what it did instead.
    """

    decision: str | None
    rule: str
    acl: Acl | None = None


def kafka_binding(acl: Acl) -> Binding:
    """Return an ACL's seven fields as a broker holds them: unknown codes are all alike.

    Two ACLs with the same fields are one to it, whatever their ids.
    """
    return (
        _name(ResourceType, acl.resource_type),
        acl.resource_name,
        # Code 5 is KIP-1042's own; no release knows it.
        "UNKNOWN" if acl.pattern_type == "GLOB" else _name(PatternType, acl.pattern_type),
        acl.principal,
        acl.host,
        _name(AclOperation, acl.operation),
        _name(AclPermissionType, acl.permission_type),
    )


def distinct(acls: Iterable[Acl]) -> list[Acl]:
    """Return the ACLs that a broker can tell apart, each the first of its kind."""
    kinds: dict[Binding, Acl] = {}
    for acl in acls:
        kinds.setdefault(kafka_binding(acl), acl)
    return list(kinds.values())


def _name(enum: type[CodedEnum], name: str) -> str:
    return name if enum.is_known(name) else "UNKNOWN"
