"""ACLs and topics → ``over-broad``: which ALLOWs reach a large share of all topics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aclkit.audit.findings.containment import pattern_of
from aclkit.audit.findings.facts import AuditInput
from aclkit.model.acl import Acl
from aclkit.model.findings import INVENTORY, Finding, Kind

OVER_BROAD: Final = Kind(
    id="over-broad",
    severity="medium where it changes or deletes, low where it reads or describes",
    meaning=(
        "The pattern of an ALLOW reaches more than a share of all topics, half of them unless "
        "told otherwise: a prefix that is too short, a glob, or *. Access that wide is seldom "
        "meant for an application, and it grows with every new topic. Nothing is said where "
        "fewer than ten topics are known."
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
    if total < _FEW_TOPICS:
        return
    for acl in audit.allows:
        reached = audit.reach.get(pattern_of(acl), 0)
        if acl.resource_type == "TOPIC" and reached > audit.broad_share * total:
            is_mild = audit.given[acl.acl_id].issubset(_MILD)
            yield _finding(acl, "low" if is_mild else "medium", reached, total)


def _finding(acl: Acl, severity: str, reached: int, total: int) -> Finding:
    share = f"{reached:,} of {total:,} topics ({reached / total:.0%})"
    return OVER_BROAD.about(
        str(acl),
        f"{acl.principal} has {acl.operation} on {share} by this one ALLOW.",
        severity=severity,
        acls=(acl,),
        evidence=(f"{acl.pattern_type} {acl.resource_name!r} reaches {share}",),
    )
