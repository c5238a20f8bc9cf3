"""What the User Operator of Strimzi removes in addition to what its KafkaUsers say. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from aclkit.kafka.desired.model import Owner
from aclkit.model.acl import Acl

_IGNORED: Final = ("*", "ANONYMOUS")
"""SimpleAclOperator.IGNORED_USERS: an operator removes no ACL of these."""


def operator_removes(owners: Iterable[Owner], acls: Iterable[Acl]) -> list[Acl]:
    """Return the ACLs that the User Operator removes because no KafkaUser owns their principal.

    It looks for a KafkaUser of each user that has an ACL, whoever made it, and of one without it
    removes the ACLs of ``User:NAME`` and ``User:CN=NAME``. It ignores ``User:*`` and
    ``User:ANONYMOUS``, other types of principals, and whole distinguished names such as
    ``CN=a,O=b``, of which it reads the common name only. Source: SimpleAclOperator.getAllUsers.

    Args:
        owners: the KafkaUsers of the operator's cluster, those that are paused included.
        acls: those of the cluster.
    """
    owned = {principal for owner in owners for principal in owner.principals}
    return [acl for acl in acls if acl.principal not in owned and _is_users(acl.principal)]


def _is_users(principal: str) -> bool:
    """Whether a principal is one that a KafkaUser could own, but for the ignored ones."""
    kind, _, name = principal.partition(":")
    common = name.removeprefix("CN=")
    is_whole_name = "CN=" in common or (common != name and _SPECIAL.search(common) is not None)
    return kind == "User" and common not in _IGNORED and not is_whole_name


_SPECIAL: Final = re.compile(r'[,+"\\<>;]|^[ #]| $')
"""Letters of a distinguished name with several parts or with escapes."""
