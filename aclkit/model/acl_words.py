"""An ACL → its one short form for people: in every sentence, table, page and report.

Names stand in it as they are: who prints a sentence makes it visible (``model.visible``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from aclkit.model.acl import Acl
from aclkit.model.operation import OPERATIONS_OF_TYPE, USE_OF_OPERATION, USES
from aclkit.model.resource import CLUSTER_NAME

_WILDCARD: Final = "*"
_MARKS: Final = frozenset("*?")


def acl_words(
    acl: Acl,
    principal: str | None = None,
    resource_type: str | None = None,
    *,
    has_any_host: bool = True,
) -> str:
    """Write an ACL for people.

    Args:
        acl: the ACL.
        principal: whose ACL the reader knows it to be; that principal is left out.
        resource_type: the resource type that the reader knows; it is left out.
        has_any_host: write "from any host" too; a table with a column of hosts leaves it out.

    >>> acl = Acl(acl_id="", resource_type="TOPIC", resource_name="payments.", host="*",
    ...           pattern_type="PREFIXED", principal="User:bob", operation="READ",
    ...           permission_type="ALLOW")
    >>> acl_words(acl)
    'ALLOW READ on topic payments.* (prefix) for User:bob from any host'
    >>> acl_words(acl, "User:bob", "TOPIC")
    'ALLOW READ on payments.* (prefix) from any host'
    """
    whom = "" if acl.principal == principal else f" for {quoted(acl.principal)}"
    text = f"{acl.permission_type} {acl.operation} on {pattern_words(acl, resource_type)}{whom}"
    if acl.host != _WILDCARD:
        return f"{text} from {quoted(acl.host)}"
    return f"{text} from any host" if has_any_host else text


def pattern_words(acl: Acl, resource_type: str | None = None) -> str:
    """Write the resources that an ACL applies to; a type that the reader knows is left out.

    >>> acl = Acl(acl_id="", resource_type="TRANSACTIONAL_ID", resource_name="*", host="*",
    ...           pattern_type="LITERAL", principal="User:bob", operation="WRITE",
    ...           permission_type="ALLOW")
    >>> pattern_words(acl)
    'all transactional ids'
    """
    kind, name = type_words(acl.resource_type), acl.resource_name
    if acl.pattern_type == "LITERAL":
        if name == _WILDCARD:
            return f"all {kind}s"
        if acl.resource_type == "CLUSTER" and name == CLUSTER_NAME:
            return "the cluster"
        # A star of a LITERAL name is a plain letter, and looks like a pattern.
        mark = " (literal)" if _MARKS.intersection(name) else ""
    elif acl.pattern_type == "PREFIXED":
        name, mark = f"{name}*", " (prefix)"
    else:
        mark = f" ({acl.pattern_type.lower()})"
    lead = "" if acl.resource_type == resource_type else f"{kind} "
    return f"{lead}{quoted(name)}{mark}"


def type_words(resource_type: str) -> str:
    """Write a resource type in a sentence: ``transactional id``."""
    return resource_type.lower().replace("_", " ")


def quoted(name: str) -> str:
    """Quote a name that could be taken for other words of a sentence."""
    return name if name and " " not in name else f"'{name}'"


Power = tuple[int, bool]
"""Sorts before what is less powerful: what it is for, and the cluster before all other types."""


def power_of(operations: Iterable[str], resource_type: str) -> Power:
    """Return the power of operations on a resource type: that of the most powerful of them.

    >>> power_of(["READ", "ALTER"], "TOPIC") < power_of(["WRITE"], "TOPIC")
    True
    """
    uses = (USES.index(USE_OF_OPERATION[each]) for each in operations if each in USE_OF_OPERATION)
    return min(uses, default=len(USES)), resource_type != "CLUSTER"


def operations_words(operations: Collection[str], resource_type: str | None) -> str:
    """Write operations in the order of their codes; all that the type has are ``every operation``.

    >>> operations_words(["WRITE", "READ"], "TOPIC")
    'READ, WRITE'
    """
    known = OPERATIONS_OF_TYPE.get(resource_type or "", ())
    if len(operations) > 1 and set(operations) == set(known):
        return "every operation"
    return ", ".join(sorted(operations, key=known.index) if known else operations)
