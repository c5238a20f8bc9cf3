"""Parts of a live cluster that could not be read → what answers lack, and the right to read. Pure.

Source: kafka.server.KafkaApis of Kafka 4.1 and 4.4 for the right that each request takes. Other
brokers may ask for other rights, or not know the request.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from aclkit.model.acl import Acl
from aclkit.model.phrases import capitalized, listed
from aclkit.model.resource import CLUSTER_NAME, WORD_OF_TYPE
from aclkit.model.values import dataclass

ACLS: Final = "ACLs"
TOPICS: Final = "topics"
USERS: Final = "SCRAM users"
GROUPS: Final = "groups"
TRANSACTIONAL_IDS: Final = "transactional ids"
TOKENS: Final = "delegation tokens"
SETTINGS: Final = "broker settings"
"""The parts of what a live cluster reports; without its ACLs nothing else is read."""

RIGHT, HIDDEN, NOT_OFFERED, FAILED = "right", "hidden", "not offered", "failed"
"""Why a part was not read whole: without a right the broker refuses, or silently leaves names out;
it does not know the request; or another reason.
"""

ANY_USER: Final = "User:NAME"
"""Stands in a command for the principal that aclkit logs in as."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A part of a live cluster of which something could not be read.

    Attributes:
        part: one of the parts above.
        cause: ``RIGHT``, ``NOT_OFFERED`` or ``FAILED``.
        reason: the same in words, with the broker's error.
        has_some: some of it was read.
    """

    part: str
    cause: str
    reason: str
    has_some: bool = False


def unread_note(unread: Unread, principal: str = ANY_USER) -> str:
    """Write what was not read and why, the right that is missing, and what answers lack.

    >>> print(unread_note(Unread(part=GROUPS, cause=RIGHT, reason="error 31")))
    groups: not read (error 31). Missing right: DESCRIBE on the cluster for User:NAME. Lists leave \
out groups that no ACL names, and group:<any-other> stands for them. What was known before stays.
    """
    how = "read only in part" if unread.has_some else "not read"
    right = ""
    if unread.cause == RIGHT:
        right = f" Missing right: {right_words(unread.part)} for {principal}."
    stays = "" if unread.part == SETTINGS else " What was known before stays."
    return f"{unread.part}: {how} ({unread.reason}).{right} {COSTS[unread.part]}{stays}"


def right_words(part: str) -> str:
    """Write the right that a part takes.

    >>> right_words(SETTINGS), right_words(TRANSACTIONAL_IDS)
    ('DESCRIBE_CONFIGS on the cluster', 'DESCRIBE on all transactional ids')
    """
    operation, resource_type = RIGHTS[part]
    if resource_type == "CLUSTER":
        return f"{operation} on the cluster"
    return f"{operation} on all {WORD_OF_TYPE[resource_type].replace('-', ' ')}s"


def right_acl(part: str, principal: str = ANY_USER) -> Acl:
    """Return the ACL that grants the right; it has no id."""
    operation, resource_type = RIGHTS[part]
    return Acl(
        acl_id="",
        resource_type=resource_type,
        resource_name=CLUSTER_NAME if resource_type == "CLUSTER" else "*",
        pattern_type="LITERAL",
        principal=principal,
        host="*",
        operation=operation,
        permission_type="ALLOW",
    )


RIGHTS: Final[Mapping[str, tuple[str, str]]] = {
    ACLS: ("DESCRIBE", "CLUSTER"),
    TOPICS: ("DESCRIBE", "CLUSTER"),
    USERS: ("DESCRIBE", "CLUSTER"),
    GROUPS: ("DESCRIBE", "CLUSTER"),
    TRANSACTIONAL_IDS: ("DESCRIBE", "TRANSACTIONAL_ID"),
    TOKENS: ("DESCRIBE", "DELEGATION_TOKEN"),
    SETTINGS: ("DESCRIBE_CONFIGS", "CLUSTER"),
}
"""Part → the operation and the type of the resource that lets a user read all of it."""

COSTS: Final[Mapping[str, str]] = {
    TOPICS: (
        "Lists leave out topics that this user cannot DESCRIBE and no ACL names, and no new "
        "orphan-resource is reported."
    ),
    USERS: (
        "Lists leave out SCRAM users that no ACL names, and no new orphan-principal is reported."
    ),
    GROUPS: "Lists leave out groups that no ACL names, and group:<any-other> stands for them.",
    TRANSACTIONAL_IDS: (
        "Lists leave out transactional ids that no ACL names, and "
        "transactional-id:<any-other> stands for them."
    ),
    TOKENS: "Lists leave out delegation tokens that no ACL names, and their owners.",
    SETTINGS: (
        "super.users and allow.everyone.if.no.acl.found are unknown unless you pass them, so "
        "DENIED may be wrong. The authorizer is not checked."
    ),
}
"""Part → what answers lack without it."""

INSTEAD: Final[Mapping[str, str]] = {
    SETTINGS: "Pass --super-users and --allow-everyone, or --server-properties FILE",
    USERS: "Pass --principals FILE --extend",
    **dict.fromkeys((TOPICS, GROUPS, TRANSACTIONAL_IDS, TOKENS), "Pass --resources FILE --extend"),
}
"""Part → how to provide it where the cluster does not."""

_LISTED: Final = {
    "TOPIC": TOPICS,
    "GROUP": GROUPS,
    "TRANSACTIONAL_ID": TRANSACTIONAL_IDS,
    "DELEGATION_TOKEN": TOKENS,
}


def caveats_on_names(
    unread: Iterable[str], *, are_principals: bool, resource_type: str | None = None
) -> Iterator[str]:
    """Yield which names a list lacks because the run could not read them.

    Args:
        unread: the parts that were not read whole.
        are_principals: the list is of principals; otherwise it is of resources.
        resource_type: the only type of the resources; None for all types.

    >>> print(*caveats_on_names([GROUPS, TOPICS], are_principals=False))
    Topics and groups of this cluster were not all read, so names that no ACL names can be missing.
    """
    parts = {*unread}
    if are_principals:
        wanted = [USERS, TOKENS]
    else:
        wanted = [part for kind, part in _LISTED.items() if resource_type in (None, kind)]
    if lacking := [part for part in wanted if part in parts]:
        what = listed([_OWNERS if are_principals and part == TOKENS else part for part in lacking])
        yield (
            f"{capitalized(what)} of this cluster were not all read, so names that no ACL names "
            "can be missing."
        )


def existence_hint(resource_type: str, unread: Collection[str]) -> str:
    """Write that an unknown name can exist; empty where all names of its type were read.

    >>> existence_hint("TOPIC", [TOPICS]), existence_hint("GROUP", [TOPICS])
    ('It can exist, because topics were not all read.', '')
    """
    part = _LISTED.get(resource_type)
    return f"It can exist, because {part} were not all read." if part in unread else ""


_OWNERS: Final = "owners of delegation tokens"
