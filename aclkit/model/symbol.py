"""A name → whether it is a symbol of "any other", which no principal, host or resource can have.

In answers ``<any-other>``, ``User:<any-other>`` and ``<any-other in RANGE>`` stand for names that
nothing names. Where a person gives such a name as a real one, it is refused. Where a cluster has
it, the ACL or super user stays and matches a client of this very name alone: never what the symbol
stands for.
"""

from __future__ import annotations

from typing import Final

from aclkit.errors import UsageError
from aclkit.model.acl import ANY_OTHER, Request
from aclkit.model.cidr import is_any_other
from aclkit.model.principal import split_principal

PRINCIPALS: Final = "principals"
HOSTS: Final = "hosts"
RESOURCES: Final = "resources"


def is_symbol(kind: str, name: str) -> bool:
    """Whether a name is a symbol among principals, hosts or resources.

    >>> is_symbol(PRINCIPALS, "Group:<any-other>"), is_symbol(RESOURCES, "User:<any-other>")
    (True, False)
    """
    if kind == HOSTS:
        return is_any_other(name)
    if kind == PRINCIPALS:
        parts = split_principal(name)
        return parts is not None and parts[1] == ANY_OTHER
    return name == ANY_OTHER


def symbol_in(request: Request) -> str | None:
    """Return the first name of a real client's request that is a symbol: it cannot be decided."""
    asked = (
        (PRINCIPALS, request.principal),
        (HOSTS, request.host),
        (RESOURCES, request.resource_name),
    )
    return next((name for kind, name in asked if is_symbol(kind, name)), None)


def refuse_symbol(kind: str, name: str) -> None:
    """Refuse a name that a person gives.

    Raises:
        UsageError: it is a symbol.
    """
    if is_symbol(kind, name):
        raise UsageError(
            f"{name} stands for any other name and cannot be a real name. {_EVERY[kind]}"
        )


_EVERY: Final = {
    PRINCIPALS: "In an ACL, User:* is every principal.",
    HOSTS: "In an ACL, * is every host.",
    RESOURCES: "In an ACL, * is every name.",
}
