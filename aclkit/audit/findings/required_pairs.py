"""ALLOWs of one kind → whose clients need an ALLOW of another kind and have none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from aclkit.audit.findings.audit_input import AuditInput
from aclkit.audit.findings.sentences import acls_words, who_words
from aclkit.audit.findings.too_much import name_left
from aclkit.model.acl import Acl
from aclkit.model.findings import Finding, Kind
from aclkit.model.groups import grouped
from aclkit.model.principal import WILDCARD_PRINCIPAL
from aclkit.rules.names.rows import Symbols, of_principal


def lacking(
    audit: AuditInput, has: tuple[str, str], needs: tuple[str, str]
) -> Iterator[tuple[str, Sequence[Acl]]]:
    """Yield each principal with an ALLOW of one kind and none of the other, with those ACLs.

    A principal that is a glob has the other kind where some ALLOW of it may be for all names that
    the glob stands for. ``User:*`` is left out, because it is no particular client. Every principal
    is left out where allow.everyone grants the other kind on resources without an ACL.

    Args:
        audit: what is audited.
        has: resource type and operation of the ALLOWs that exist.
        needs: those of the ALLOW without which they are of little use.
    """
    if audit.settings.allow_everyone and name_left(audit, needs[0]) is not None:
        return
    given = grouped((acl.principal, acl) for acl in audit.allows if _gives(audit, acl, has))
    others = (acl for acl in audit.allows if given and _gives(audit, acl, needs))
    partners = grouped((audit.rows[acl.acl_id].principal, acl) for acl in others)
    for principal, acls in given.items():
        if principal != WILDCARD_PRINCIPAL and not _has(audit, principal, needs, partners):
            yield principal, acls


def _has(
    audit: AuditInput,
    principal: str,
    needs: tuple[str, str],
    partners: Mapping[Symbols | None, Sequence[Acl]],
) -> bool:
    """Whether DENYs leave a principal something of an ALLOW that it needs."""
    symbols, known = of_principal(principal, audit.semantics), audit.others.principals.get(needs[0])
    if known is None:
        return False
    least = known.within(symbols)
    return (audit.supposed and not least.is_complete) or any(
        audit.left_to(acl, who, needs[1])
        for who in least.members
        for text in sorted(who.patterns)
        for acl in partners.get(text, ())
    )


def _gives(audit: AuditInput, acl: Acl, what: tuple[str, str]) -> bool:
    resource_type, operation = what
    return acl.resource_type == resource_type and audit.gives(acl, operation)


READ_WITHOUT_GROUP: Final = Kind(
    id="read-without-group",
    severity="info",
    summary="principals that can read topics but no group",
    meaning=(
        "A consumer that subscribes needs READ on its topics and READ on its group. The principal "
        "has READ on topics but on no group, so subscribing fails with GROUP_AUTHORIZATION_FAILED. "
        "Only a client that assigns partitions itself and commits no offsets can consume. Often "
        "half of the ACLs were forgotten when the client was set up or removed."
    ),
    fix=(
        "Add READ on the principal's groups (kafka-acls --consumer adds both ACLs), or remove READ "
        "on the topics."
    ),
)


def find_read_without_group(audit: AuditInput) -> Iterator[Finding]:
    """Yield each principal with READ on a topic and READ on no group."""
    why = "has READ on topics but on no group, so it cannot subscribe"
    yield from _without(audit, READ_WITHOUT_GROUP, ("TOPIC", "READ"), ("GROUP", "READ"), why)


TRANSACTIONAL_WITHOUT_WRITE: Final = Kind(
    id="transactional-id-without-topic",
    severity="info",
    summary="transactional ids without a topic to write to",
    meaning=(
        "A transactional producer needs WRITE on its transactional id and WRITE on its topics. "
        "The principal has WRITE on a transactional id but on no topic. So it can start "
        "transactions and fence another producer with the same id, but cannot write records. Often "
        "such ACLs are left over from a producer that no longer exists."
    ),
    fix=(
        "Add WRITE on the producer's topics (kafka-acls --producer --transactional-id adds both "
        "ACLs), or remove WRITE on the transactional id."
    ),
)


def find_transactional_without_write(audit: AuditInput) -> Iterator[Finding]:
    """Yield each principal with WRITE on a transactional id and WRITE on no topic."""
    has, needs = ("TRANSACTIONAL_ID", "WRITE"), ("TOPIC", "WRITE")
    why = "has WRITE on transactional ids but on no topic, so it cannot produce"
    yield from _without(audit, TRANSACTIONAL_WITHOUT_WRITE, has, needs, why)


def _without(
    audit: AuditInput, kind: Kind, has: tuple[str, str], needs: tuple[str, str], why: str
) -> Iterator[Finding]:
    for principal, acls in lacking(audit, has, needs):
        who = who_words(principal, audit.semantics)
        yield kind.about(principal, f"{who} {why}: {acls_words(acls, principal)}.", acls=acls)
