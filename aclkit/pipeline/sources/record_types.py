"""An apiKey or a name of a record type that aclkit does not know → the message about it."""

from __future__ import annotations

from typing import Final

from aclkit.model import facts as rows

ACL_KEYS: Final = frozenset({18, 19})
TRANSACTIONS: Final = {23: rows.BEGIN_TXN, 24: rows.END_TXN, 25: rows.ABORT_TXN}

UNKNOWN_TYPE: Final = "unknown record type"
"""How the reason of such a reject begins."""


def unknown_type(key_or_name: object) -> str:
    """Return the reason why a record of an unknown type is a reject."""
    return f"{UNKNOWN_TYPE} {key_or_name}: Kafka up to 4.4 has no such type"


def may_lose_acl(key: int) -> bool:
    """Whether a record of this key that cannot be read may have stated something about ACLs."""
    return key in ACL_KEYS or key in TRANSACTIONS
