"""ACLs and lifetimes of topics → ``orphan-resource``: ACLs on topics that do not exist."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from aclkit.model.acl import Acl
from aclkit.model.acl_words import acl_words, quoted
from aclkit.model.findings import INVENTORY, Finding, Kind
from aclkit.rules.patterns.match import LITERAL

if TYPE_CHECKING:
    from aclkit.audit.findings.audit_input import AuditInput

ORPHAN_RESOURCE: Final = Kind(
    id="orphan-resource",
    severity="low",
    summary="ACLs on topics that do not exist",
    meaning=(
        "A LITERAL ACL names a topic that does not exist. The topic was deleted, or the log never "
        "had it. Kafka keeps the ACLs of a deleted topic, and a new topic with that name inherits "
        "them. An ALLOW of CREATE on a topic that the log never had is no finding. Such an ACL "
        "precedes its topic. If no topics are known, aclkit reports nothing."
    ),
    fix="Remove the ACL, or create the topic.",
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
        what = f"the log never had topic {quoted(name)}"
    else:
        what = f"topic {quoted(name)} was deleted at offset {end}"
    return ORPHAN_RESOURCE.about(
        str(acl),
        f"{acl_words(acl)} applies to no topic: {what}.",
        acls=(acl,),
        evidence=(what,),
    )
