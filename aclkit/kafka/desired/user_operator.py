"""What the User Operator of Strimzi does in addition to what single KafkaUsers say. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from aclkit.kafka.acls.exports import is_common
from aclkit.kafka.desired.model import Owner, Part, Place, Problem
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


def operator_cannot_read(acls: Iterable[Acl]) -> list[Acl]:
    """Return the ACLs of users at which the operator's cache stops, and with it all its work.

    These are such as Strimzi has no word for: resources DELEGATION_TOKEN and USER, operations of
    tokens and of two-phase commits. Source: AclCache and SimpleAclRule.fromAclBinding.
    """
    return [acl for acl in acls if acl.principal.startswith("User:") and not is_common(acl)]


def users_twice(parts: Iterable[Part]) -> list[Problem]:
    """Return a problem for each KafkaUser that several files have for one cluster.

    A document without the label of a cluster may be for each, as patches of Kustomize are. Inside
    one file its reader finds the users that occur twice.
    """
    known: dict[tuple[str, ...], dict[str | None, Place]] = {}
    problems = []
    for part in parts:
        owners = [*part.owners, *part.untouched]
        for owner in owners:
            places = known.get(owner.principals, {})
            clusters = places if owner.cluster is None else (owner.cluster, None)
            first = next((places[each] for each in clusters if each in places), None)
            if first is not None:
                name = owner.principals[0].removeprefix("User:")
                text = f"The KafkaUser '{name}' is in {first} too. Remove one of them"
                problems.append(Problem(owner.place, text))
        for owner in owners:
            known.setdefault(owner.principals, {}).setdefault(owner.cluster, owner.place)
    return problems


def _is_users(principal: str) -> bool:
    """Whether a principal is one that a KafkaUser could own, but for the ignored ones."""
    kind, _, name = principal.partition(":")
    common = name.removeprefix("CN=")
    is_whole_name = "CN=" in common or (common != name and _SPECIAL.search(common) is not None)
    return kind == "User" and common not in _IGNORED and not is_whole_name


_SPECIAL: Final = re.compile(r'[,+"\\<>;]|^[ #]| $')
"""Letters of a distinguished name with several parts or with escapes."""
