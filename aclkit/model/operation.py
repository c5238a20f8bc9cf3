"""Operations: which a resource type knows, and which requests an ACL's operation covers.

Sources: Kafka 4.1 AclEntry.supportedOperations (without ALL) and StandardAuthorizerData's
IMPLIES_DESCRIBE and IMPLIES_DESCRIBE_CONFIGS.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final, NamedTuple

from aclkit.errors import UsageError
from aclkit.model.enums import AclOperation
from aclkit.model.phrases import most_like

_CONFIGS: Final = ("DESCRIBE_CONFIGS", "ALTER_CONFIGS")

OPERATIONS_OF_TYPE: Final[dict[str, tuple[str, ...]]] = {
    "TOPIC": ("READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", *_CONFIGS),
    "GROUP": ("READ", "DELETE", "DESCRIBE", *_CONFIGS),
    "CLUSTER": ("CREATE", "ALTER", "DESCRIBE", "CLUSTER_ACTION", *_CONFIGS, "IDEMPOTENT_WRITE"),
    "TRANSACTIONAL_ID": ("WRITE", "DESCRIBE", "TWO_PHASE_COMMIT"),
    "DELEGATION_TOKEN": ("DESCRIBE",),
    "USER": ("CREATE_TOKENS", "DESCRIBE_TOKENS"),
}
"""The operations that a request on each resource type can have, in code order."""

ANY_OPERATION: Final = "ANY"
"""Stands in a question for all operations that the type knows."""

IMPLIED_BY_ALLOW: Final[dict[str, str]] = {
    "READ": "DESCRIBE",
    "WRITE": "DESCRIBE",
    "DELETE": "DESCRIBE",
    "ALTER": "DESCRIBE",
    "ALTER_CONFIGS": "DESCRIBE_CONFIGS",
}
"""An ALLOW on the key also answers the value; a DENY implies nothing."""

USES: Final = ("administer", "write", "read")
"""What operations are for, the gravest first."""

USE_OF_OPERATION: Final[dict[str, str]] = {
    **dict.fromkeys(
        ("CREATE", "DELETE", "ALTER", "ALTER_CONFIGS", "CLUSTER_ACTION", "CREATE_TOKENS"),
        "administer",
    ),
    **dict.fromkeys(("WRITE", "IDEMPOTENT_WRITE", "TWO_PHASE_COMMIT"), "write"),
    **dict.fromkeys(("READ", "DESCRIBE", "DESCRIBE_CONFIGS", "DESCRIBE_TOKENS"), "read"),
}
"""The one of ``USES`` that each operation is for."""

EQUAL, IMPLIED, BY_ALL = 0, 1, 2
"""How an ACL's operation covers a request's, the most specific first."""


def coverage(acl_operation: str, permission_type: str, operation: str) -> int | None:
    """Return how an ACL's operation covers a request's: EQUAL, IMPLIED, BY_ALL, or None.

    >>> coverage("READ", "ALLOW", "DESCRIBE"), coverage("READ", "DENY", "DESCRIBE")
    (1, None)
    """
    if acl_operation == operation:
        return EQUAL
    if permission_type == "ALLOW" and IMPLIED_BY_ALLOW.get(acl_operation) == operation:
        return IMPLIED
    return BY_ALL if acl_operation == "ALL" else None


class Cover(NamedTuple):
    """An operation and a permission of ACLs on a type, and an operation asked that they answer."""

    resource_type: str
    operation: str
    permission_type: str
    asked: str


def every_cover() -> Iterator[Cover]:
    """Yield what every operation and permission of ACLs answers."""
    for resource_type, known in OPERATIONS_OF_TYPE.items():
        for operation, permission, asked in product(
            AclOperation.__members__, ("ALLOW", "DENY"), known
        ):
            if coverage(operation, permission, asked) is not None:
                yield Cover(resource_type, operation, permission, asked)


def parse_operation(text: str, resource_type: str) -> tuple[str, ...]:
    """Return the operations that a person names for a resource type.

    Raises:
        UsageError: the type does not know the operation.

    >>> parse_operation("describe-configs", "GROUP"), parse_operation("any", "DELEGATION_TOKEN")
    (('DESCRIBE_CONFIGS',), ('DESCRIBE',))
    """
    known = OPERATIONS_OF_TYPE[resource_type]
    name = text.upper().replace("-", "_")
    if name == ANY_OPERATION:
        return known
    if name not in known:
        likely = _likely_operation(name, known)
        is_other = name in AclOperation.__members__ and name not in _OTHER_WORDS
        wrong = "Operation" if is_other else "Unknown operation"
        wrong += f" {text!r}{' does not apply' if is_other else ''}."
        meant = f" Did you mean {likely}?" if likely else ""
        have = f"{_HAVE[resource_type]}: {', '.join(known)}, or {ANY_OPERATION}."
        raise UsageError(f"{wrong}{meant} {have}")
    return (name,)


def _likely_operation(name: str, known: Sequence[str]) -> str | None:
    """Return the operation that was most likely meant.

    >>> known = OPERATIONS_OF_TYPE["TOPIC"]
    >>> [_likely_operation(name, known) for name in ("REED", "CONSUME", "ALL", "FLY")]
    ['READ', 'READ', 'ANY', None]
    """
    if name in _OTHER_WORDS:
        return _OTHER_WORDS[name] if _OTHER_WORDS[name] in (*known, ANY_OPERATION) else None
    if name in AclOperation.__members__:
        return None
    return most_like(name, [*known, ANY_OPERATION])


_HAVE: Final = {
    "TOPIC": "Topics have", "GROUP": "Groups have", "CLUSTER": "The cluster has",
    "TRANSACTIONAL_ID": "Transactional ids have", "DELEGATION_TOKEN": "Delegation tokens have",
    "USER": "Users have",
}  # fmt: skip
_OTHER_WORDS: Final = {
    "ALL": ANY_OPERATION, "*": ANY_OPERATION, "ANYTHING": ANY_OPERATION,
    "CONSUME": "READ", "SUBSCRIBE": "READ", "FETCH": "READ", "GET": "READ",
    "PRODUCE": "WRITE", "PUBLISH": "WRITE", "SEND": "WRITE", "PUT": "WRITE",
    "LIST": "DESCRIBE", "SHOW": "DESCRIBE", "DROP": "DELETE", "REMOVE": "DELETE",
}  # fmt: skip
"""What others call them."""
