"""ACLs, topics and settings → ``over-broad``, ``open-to-everyone``: access to too many topics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aclkit.audit.findings.audit_input import AuditInput
from aclkit.audit.findings.sentences import who_words
from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL, Acl, Request, acl_words, quoted
from aclkit.model.findings import INVENTORY, Finding, Kind
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import CLUSTER_NAME, Resource
from aclkit.rules.names.cover import LEFT, find_left
from aclkit.rules.names.domain import domain_of
from aclkit.rules.names.rows import EVERYTHING, operations_of, rows_of

OVER_BROAD: Final = Kind(
    id="over-broad",
    severity="medium",
    summary="ALLOW ACLs on a large share of all topics",
    depends="medium for changing or deleting, low for reading or describing",
    meaning=(
        "An ALLOW grants access to more than a share of all topics, by default half of them. "
        "Topics on which DENY ACLs leave nothing do not count. The cause is a prefix that is too "
        "short, a glob, or *. Applications rarely need such access, and it grows with every new "
        "topic. If fewer than ten topics are known, aclkit reports nothing."
    ),
    fix=(
        "Add ACLs for the prefixes or topics that the principal needs, then remove the broad ACL. "
        "aclkit preview remove-acl shows what the principal would lose."
    ),
    holds_for=INVENTORY,
)

_FEW_TOPICS: Final = 10
_MILD: Final = ("READ", "DESCRIBE", "DESCRIBE_CONFIGS")


def find_over_broad(audit: AuditInput) -> Iterator[Finding]:
    """Yield each ALLOW on topics whose pattern reaches more than ``broad_share`` of them."""
    for acl in audit.allows:
        if reached := broadly_reached(acl, audit):
            total = len(audit.topics_alive)
            share = f"{reached:,} of {total:,} topics ({reached / total:.0%})"
            yield OVER_BROAD.about(
                acl,
                f"{who_words(acl.principal, audit.semantics)} has access to {share}: "
                f"{acl_words(acl, acl.principal)}.",
                severity="low" if audit.given[acl.acl_id].issubset(_MILD) else "medium",
                evidence=(f"{acl.pattern_type} {acl.resource_name!r} grants access to {share}",),
            )


def broadly_reached(acl: Acl, audit: AuditInput) -> int:
    """Return on how many topics an ALLOW grants something; 0 where these are no large share."""
    total = len(audit.topics_alive)
    most = audit.broad_share * total
    if total < _FEW_TOPICS or acl.resource_type != "TOPIC":
        return 0
    if audit.reached.get(acl.pattern, 0).bit_count() <= most:
        return 0
    reached = _left(acl, audit).bit_count()
    return reached if reached > most else 0


def _left(acl: Acl, audit: AuditInput) -> int:
    """Return the topics of which DENYs leave something to an ALLOW, as bits."""
    others, row, found = audit.others, audit.rows[acl.acl_id], 0
    classes, is_complete = others.who(row)
    if audit.supposed and not is_complete:
        return audit.reached[acl.pattern]
    for who in classes:
        denies = {each.acl for each in others.near_for(row, who, allows=False)}
        for operation in audit.given[acl.acl_id]:
            left = audit.reached[acl.pattern]
            for deny in denies:
                if operation in operations_of(deny):
                    left &= ~audit.reached.get(deny.pattern, 0)
            found |= left
    return found


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
            yield _open(audit, Resource(resource_type, name), what)
    shortest = name_left(audit, "TOPIC")
    if shortest is not None:
        what = "new topics that no ACL matches"
        yield _open(audit, Resource("TOPIC", ANY_OTHER), what, shortest)


def name_left(audit: AuditInput, resource_type: str) -> str | None:
    """Return the shortest name of a type to which no ACL applies, if there is one.

    Where its existence is only supposed, return "any other".
    """
    rows = rows_of((a for a in audit.acls if a.resource_type == resource_type), audit.semantics)
    patterns = {each for row in rows for each in row.patterns}
    found = find_left(patterns, [EVERYTHING], domain_of(resource_type), audit.budget)
    supposed = ANY_OTHER if audit.supposed and not found.is_complete else None
    return found.names.get(LEFT, supposed)


def _open(audit: AuditInput, of: Resource, what: str, shortest: str | None = None) -> Finding:
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
