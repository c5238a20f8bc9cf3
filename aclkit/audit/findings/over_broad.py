"""ACLs and topics → ``over-broad``: which ALLOWs reach a large share of all topics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from aclkit.model.acl import Acl
from aclkit.model.findings import INVENTORY, Finding, Kind
from aclkit.rules.names.rows import operations_of

if TYPE_CHECKING:
    from aclkit.audit.findings.facts import AuditInput

OVER_BROAD: Final = Kind(
    id="over-broad",
    severity="medium",
    depends="medium where it changes or deletes, low where it reads or describes",
    meaning=(
        "An ALLOW gives something on more than a share of all topics, half of them unless "
        "told otherwise, that no DENY takes: a prefix that is too short, a glob, or *. Access that "
        "wide is seldom meant for an application, and it grows with every new topic. Nothing is "
        "said where fewer than ten topics are known."
    ),
    fix=(
        "Add ACLs for the prefixes or topics that the principal works with, then remove this one."
    ),
    holds_for=INVENTORY,
)

_FEW_TOPICS: Final = 10
_MILD: Final = ("READ", "DESCRIBE", "DESCRIBE_CONFIGS")


def find_over_broad(audit: AuditInput) -> Iterator[Finding]:
    """Yield each ALLOW on topics whose pattern reaches more than ``broad_share`` of them."""
    total = len(audit.topics_alive)
    for acl in audit.allows:
        reached = broadly_reached(acl, audit)
        if reached:
            is_mild = audit.given[acl.acl_id].issubset(_MILD)
            yield _finding(acl, "low" if is_mild else "medium", reached, total)


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


def _finding(acl: Acl, severity: str, reached: int, total: int) -> Finding:
    share = f"{reached:,} of {total:,} topics ({reached / total:.0%})"
    return OVER_BROAD.about(
        str(acl),
        f"{acl.principal} has {acl.operation} on {share} by this one ALLOW.",
        severity=severity,
        acls=(acl,),
        evidence=(f"{acl.pattern_type} {acl.resource_name!r} gives something on {share}",),
    )
