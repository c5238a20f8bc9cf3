"""ACLs that Redpanda's authorizer reads → whose members are unknown, and what that means. Pure.

Source: Redpanda's documentation of ``rpk security acl`` and of its roles (25.2, 26.1). An ACL can
name a role or a group, whose members are in no ACL. No live Redpanda was tried.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from aclkit.model.semantics import OWN, REDPANDA, Semantics

_ROLE: Final = "RedpandaRole:"
_OF_MEMBERS: Final = (_ROLE, "Group:")

MEMBERS_UNKNOWN: Final = (
    "Redpanda decides, and the members of roles and groups are not known here, so such an ACL "
    "can grant access."
)
OF_LISTS: Final = (
    "Redpanda decides: a member of a role or group can also do what its ACLs allow, and not what "
    "they deny. Members are not known here."
)


def authorizer_of(principals: Iterable[str], listed_from: str | None = None) -> str:
    """Return whose authorizer decides, where no option sets it.

    Args:
        principals: those of ACLs; only Redpanda has roles.
        listed_from: ``REDPANDA`` where its own tool listed the ACLs.

    >>> authorizer_of(["User:a", "RedpandaRole:ops"]), authorizer_of(["Group:ops"])
    ('redpanda', 'kafka')
    """
    is_redpanda = listed_from == REDPANDA or any(each.startswith(_ROLE) for each in principals)
    return REDPANDA if is_redpanda else OWN


def has_unknown_members(principal: str, semantics: Semantics) -> bool:
    """Whether an ACL's principal is a role or a group of Redpanda.

    To Kafka's own authorizer ``Group:ops`` is one principal, which no client has.
    """
    return semantics.authorizer == REDPANDA and principal.startswith(_OF_MEMBERS)
