"""ACLs and settings → ``open-to-everyone``: what no ACL reaches while that means access for all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL, Request
from aclkit.model.acl_words import quoted
from aclkit.model.findings import INVENTORY, Finding, Kind
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import CLUSTER_NAME, Resource
from aclkit.rules.names.cover import LEFT, find_left
from aclkit.rules.names.domain import domain_of
from aclkit.rules.names.rows import EVERYTHING, rows_of

if TYPE_CHECKING:
    from aclkit.audit.findings.audit_input import AuditInput

OPEN_TO_EVERYONE: Final = Kind(
    id="open-to-everyone",
    severity="high",
    summary="resources that no ACL protects",
    meaning=(
        "allow.everyone.if.no.acl.found is true, and no ACL applies to the topic or the cluster. "
        "So every client has full access to it and can even delete it. topic:<any-other> stands "
        "for all topics created later. Only ACLs that together match every name protect those."
    ),
    fix=(
        "Give every client its ACLs, then set allow.everyone.if.no.acl.found=false on the brokers. "
        "Until then, add an ACL that applies to the resource."
    ),
    holds_for=INVENTORY,
)


def find_open_to_everyone(audit: AuditInput) -> Iterator[Finding]:
    """Yield the topics, and the cluster, that no ACL applies to while that means ALLOWED."""
    if not audit.settings.allow_everyone:
        return
    topics = (("TOPIC", name) for name in audit.topics_alive)
    for resource_type, name in (("CLUSTER", CLUSTER_NAME), *topics):
        if not audit.index.matches(resource_type, name):
            what = "the cluster" if resource_type == "CLUSTER" else f"topic {quoted(name)}"
            yield _finding(audit, Resource(resource_type, name), what)
    shortest = name_left(audit, "TOPIC")
    if shortest is not None:
        what = "new topics that no ACL matches"
        yield _finding(audit, Resource("TOPIC", ANY_OTHER), what, shortest)


def name_left(audit: AuditInput, resource_type: str) -> str | None:
    """Return the shortest name of a type to which no ACL applies, if there is one.

    Where its existence is only supposed, return "any other".
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
    example = f", for example a topic named {shortest!r}" if shortest else ""
    return OPEN_TO_EVERYONE.about(
        str(of),
        f"Every client has full access to {what}{example}: no ACL applies.",
        evidence=(
            "allow.everyone.if.no.acl.found is true",
            f"rule DefaultAllow grants {operations}",
        ),
    )
