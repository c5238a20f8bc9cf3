"""ACLs and lifetimes of topics → ``orphan-resource``: which ACLs name a topic that is not there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from aclkit.model.acl import Acl
from aclkit.model.findings import INVENTORY, Finding, Kind
from aclkit.rules.patterns.match import LITERAL

if TYPE_CHECKING:
    from aclkit.audit.findings.facts import AuditInput

ORPHAN_RESOURCE: Final = Kind(
    id="orphan-resource",
    severity="low",
    meaning=(
        "A LITERAL ACL names a topic that does not exist: it was deleted, or no record of the "
        "log ever made it. Kafka keeps the ACLs of a deleted topic, and who creates a topic of "
        "that name gets them with it. An ALLOW of CREATE on a name that never was is not "
        "reported: that is how a topic begins. Nothing is said where no topics are known."
    ),
    fix="Remove the ACL, or create the topic that it waits for.",
    holds_for=INVENTORY,
)


def find_orphan_resources(audit: AuditInput) -> Iterator[Finding]:
    """Yield each ACL on a topic by name that is not among the topics alive."""
    is_orphaned = orphaned_resources(audit)
    ends: dict[str, int] = {}
    for life in audit.topics:
        if life.last_offset is not None:
            ends[life.name] = max(life.last_offset, ends.get(life.name, 0))
    for acl in filter(is_orphaned, audit.acls):
        end = ends.get(acl.resource_name)
        if end is not None or not (acl.is_allow and acl.operation == "CREATE"):
            yield _finding(acl, end)


def orphaned_resources(audit: AuditInput) -> Callable[[Acl], bool]:
    """Return what tells whether an ACL is on a topic by name that does not exist."""
    alive = set(audit.topics_alive)
    are_known = bool(audit.topics or audit.listed_topics)
    return lambda acl: are_known and _names_a_topic(acl) and acl.resource_name not in alive


def _names_a_topic(acl: Acl) -> bool:
    is_one = acl.pattern_type == LITERAL and acl.resource_name != "*"
    return is_one and acl.resource_type == "TOPIC"


def _finding(acl: Acl, end: int | None) -> Finding:
    name = acl.resource_name
    if end is None:
        what = f"no record of the log made topic {name!r}"
    else:
        what = f"topic {name!r} was deleted at offset {end}"
    return ORPHAN_RESOURCE.about(
        str(acl),
        f"This ACL is on a topic that does not exist: {what}.",
        acls=(acl,),
        evidence=(what,),
    )
