"""ACLs and topics → ``over-broad``: which ALLOWs apply to a large share of all topics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from aclkit.audit.findings.sentences import who_words
from aclkit.model.acl import Acl
from aclkit.model.acl_words import acl_words
from aclkit.model.findings import INVENTORY, Finding, Kind
from aclkit.rules.names.rows import operations_of

if TYPE_CHECKING:
    from aclkit.audit.findings.audit_input import AuditInput

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
        reached = broadly_reached(acl, audit)
        if reached:
            is_mild = audit.given[acl.acl_id].issubset(_MILD)
            yield _finding(acl, audit, "low" if is_mild else "medium", reached)


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


def _finding(acl: Acl, audit: AuditInput, severity: str, reached: int) -> Finding:
    total = len(audit.topics_alive)
    share = f"{reached:,} of {total:,} topics ({reached / total:.0%})"
    return OVER_BROAD.about(
        str(acl),
        f"{who_words(acl.principal, audit.semantics)} has access to {share}: "
        f"{acl_words(acl, acl.principal)}.",
        severity=severity,
        acls=(acl,),
        evidence=(f"{acl.pattern_type} {acl.resource_name!r} grants access to {share}",),
    )
