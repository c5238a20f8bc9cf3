"""Kafka's answer to a request, and an ACL as Kafka sees it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aclkit.kafka.acls.text import as_broker_sees
from aclkit.model.acl import Acl

Binding = tuple[str, ...]
"""The seven fields of an ACL."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: ALLOWED or DENIED, the rule's name, and the ACL if one decided.

    Where Kafka gave none, ``decision`` is None and ``rule`` states what it did instead.
    """

    decision: str | None
    rule: str
    acl: Acl | None = None


def kafka_binding(acl: Acl) -> Binding:
    """Return an ACL's seven fields as a broker holds them: unknown codes are all alike.

    Two ACLs with the same fields are one to it, whatever their ids.
    """
    return as_broker_sees(acl).binding


def distinct(acls: Iterable[Acl]) -> list[Acl]:
    """Return the ACLs that a broker can tell apart, each the first of its kind."""
    kinds: dict[Binding, Acl] = {}
    for acl in acls:
        kinds.setdefault(kafka_binding(acl), acl)
    return list(kinds.values())
