"""ACLs → rows of symbols, each with what it answers. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

from aclkit.model.acl import Acl
from aclkit.model.operation import OPERATIONS_OF_TYPE, coverage
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.rules.names.symbols import Symbols, of_host, of_pattern, of_principal
from aclkit.rules.patterns.match import effective_pattern_type

LATER: Final = "(an operation to come)"
"""What a later Kafka may ask for: ALL answers it too, so that only ALL stands in for ALL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """All that decides: the ACLs, the brokers' settings, and how ACLs are read."""

    acls: Collection[Acl]
    settings: BrokerSettings
    semantics: Semantics


class Row(NamedTuple):
    """One ACL as symbols.

    Attributes:
        patterns: it reaches what one of them matches.
        principal: None where the ACL matches no principal.
        host: from where.
        acl: the ACL.
    """

    patterns: tuple[Symbols, ...]
    principal: Symbols | None
    host: Symbols
    acl: Acl

    def answers(self, operation: str) -> bool:
        """Whether the ACL's operation covers a request's."""
        acl = self.acl
        return coverage(acl.operation, acl.permission_type, operation) is not None


def rows_of(acls: Iterable[Acl], semantics: Semantics) -> Iterator[Row]:
    """Write ACLs as symbols."""
    for acl in acls:
        yield Row(
            of_pattern(*acl.pattern, semantics),
            of_principal(acl.principal, semantics),
            of_host(acl.host, semantics),
            acl,
        )


def reads_alike(acl: Acl, *ways: Semantics) -> bool:
    """Whether all ways of reading ACLs take one for the same: what it meets, and how it ranks."""
    kinds = {effective_pattern_type(acl.pattern_type, way) for way in ways}
    return len(kinds) == 1 and len({row for way in ways for row in rows_of((acl,), way)}) == 1


def operations_of(acl: Acl) -> frozenset[str]:
    """Return the operations of its resource type that an ACL answers."""
    return _answered(acl.resource_type, acl.operation, acl.permission_type)


def operations_to_come(acl: Acl) -> frozenset[str]:
    """Return the same, and ``LATER`` where it answers that."""
    return _answered(acl.resource_type, acl.operation, acl.permission_type, LATER)


@cache
def _answered(
    resource_type: str, operation: str, permission_type: str, *more: str
) -> frozenset[str]:
    asked = (*OPERATIONS_OF_TYPE.get(resource_type, ()), *more)
    return frozenset(o for o in asked if coverage(operation, permission_type, o) is not None)
