"""Principals: ``type:name``, split at the first colon and never trimmed."""

from __future__ import annotations

from typing import Final

from aclkit.errors import UsageError
from aclkit.model.visible import visible

WILDCARD_PRINCIPAL: Final = "User:*"
"""Matches every principal of every type (StandardAuthorizerData.WILDCARD_KAFKA_PRINCIPAL)."""

_JAVA_SPACE: Final = "".join(map(chr, range(0x21)))


def java_trim(text: str) -> str:
    """Trim a text as ``String.trim`` does."""
    return text.strip(_JAVA_SPACE)


def split_principal(text: str) -> tuple[str, str] | None:
    """Split a principal into type and name, or return None when it has no colon.

    >>> split_principal("User:CN=a:b"), split_principal("alice")
    (('User', 'CN=a:b'), None)
    """
    principal_type, colon, name = text.partition(":")
    return (principal_type, name) if colon else None


def parse_principal(text: str) -> tuple[str, str]:
    """Split a principal that a person wrote; an empty type or name is kept.

    Source: SecurityUtils.parseKafkaPrincipal.

    Raises:
        UsageError: the text has no colon.
    """
    parts = split_principal(text)
    if parts is None:
        raise UsageError(
            f"{text!r} has no principal type. Did you mean User:{visible(text) or 'alice'}?"
        )
    return parts


def parse_super_users(text: str) -> frozenset[str]:
    """Read ``super.users`` as a broker does: split at ``;``, trimmed, empty parts dropped.

    Raises:
        UsageError: a part has no colon.

    >>> sorted(parse_super_users(" User:admin; User:CN=a,OU=b ;"))
    ['User:CN=a,OU=b', 'User:admin']
    """
    users = frozenset(java_trim(part) for part in text.split(";")) - {""}
    for user in sorted(users):
        parse_principal(user)
    return users
