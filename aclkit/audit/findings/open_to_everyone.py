"""ACLs and settings → ``open-to-everyone``: what no ACL reaches while that means access for all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL, Request
from aclkit.model.findings import INVENTORY, Finding, Kind
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import CLUSTER_NAME, Resource
from aclkit.rules.names.cover import LEFT, find_left
from aclkit.rules.names.domain import domain_of
from aclkit.rules.names.rows import rows_of
from aclkit.rules.names.symbols import EVERYTHING

if TYPE_CHECKING:
    from aclkit.audit.findings.facts import AuditInput

OPEN_TO_EVERYONE: Final = Kind(
    id="open-to-everyone",
    severity="high",
    meaning=(
        "allow.everyone.if.no.acl.found is true and no ACL of anybody reaches the topic, or the "
        "cluster itself: every client may do everything with it, delete it too. topic:<any-other> "
        "stands for all topics to come: only ACLs that together reach every name take them out."
    ),
    fix=(
        "Set allow.everyone.if.no.acl.found=false when every client has its ACLs; until then add "
        "an ACL that reaches the resource."
    ),
    holds_for=INVENTORY,
)


def find_open_to_everyone(audit: AuditInput) -> Iterator[Finding]:
    """Yield the topics, and the cluster, that no ACL reaches while that means ALLOWED."""
    if not audit.settings.allow_everyone:
        return
    topics = (("TOPIC", name) for name in audit.topics_alive)
    for resource_type, name in (("CLUSTER", CLUSTER_NAME), *topics):
        if not audit.index.matches(resource_type, name):
            yield _finding(audit, Resource(resource_type, name), f"{resource_type} {name}")
    shortest = name_left(audit, "TOPIC")
    if shortest is not None:
        what = "a topic that no ACL names, one created tomorrow for example"
        yield _finding(audit, Resource("TOPIC", ANY_OTHER), what, shortest)


def name_left(audit: AuditInput, resource_type: str) -> str | None:
    """Return the shortest name of a type that no ACL of anybody reaches, if there is one.

    Where that is but supposed, it is "any other".
    """
    rows = rows_of((a for a in audit.acls if a.resource_type == resource_type), audit.semantics)
    patterns = {each for row in rows for each in row.patterns}
    found = find_left(patterns, [EVERYTHING], domain_of(resource_type), audit.budget)
    supposed = ANY_OTHER if audit.supposed and not found.is_complete else None
    return found.names.get(LEFT, supposed)


def _finding(audit: AuditInput, of: Resource, what: str, shortest: str | None = None) -> Finding:
    name = shortest or of.resource_name
    if name != ANY_OTHER:
        resource = Resource(of.resource_type, name)
        anybody = Request.of(ANY_OTHER_PRINCIPAL, ANY_OTHER, "DESCRIBE", resource)
        audit.decider.confirm(anybody, is_allowed=True)
    operations = ", ".join(OPERATIONS_OF_TYPE[of.resource_type])
    example = f"; the shortest name is {shortest!r}" if shortest else ""
    return OPEN_TO_EVERYONE.about(
        str(of),
        f"No ACL reaches {what}, so every client may do everything with it{example}.",
        evidence=(
            "allow.everyone.if.no.acl.found is true",
            f"rule DefaultAllow gives {operations}",
        ),
    )
