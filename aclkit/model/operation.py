"""Operations: which a resource type knows, and which requests an ACL's operation covers.

Sources: Kafka 4.1 AclEntry.supportedOperations (without ALL) and StandardAuthorizerData's
IMPLIES_DESCRIBE and IMPLIES_DESCRIBE_CONFIGS.
"""

from __future__ import annotations

from typing import Final

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
