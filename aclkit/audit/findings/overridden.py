"""ACLs → ``allow-overridden``: which ALLOWs a DENY leaves nothing of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aclkit.audit.findings.facts import AuditInput
from aclkit.model.findings import Finding, Kind

ALLOW_OVERRIDDEN: Final = Kind(
    id="allow-overridden",
    severity="medium",
    meaning=(
        "Every request that this ALLOW answers is denied by a DENY, or by several together: a "
        "DENY wins over any ALLOW, however specific that is. Whoever added the ALLOW believes in "
        "an access that nobody has; and it comes to life on the day when the DENY goes."
    ),
    fix=(
        "Remove this ALLOW if the access is not meant; otherwise narrow the DENY, because no "
        "ALLOW can win against it."
    ),
)


def find_overridden(audit: AuditInput) -> Iterator[Finding]:
    """Yield each ALLOW that DENYs contain entirely, operation by operation."""
    for acl in audit.acls:
        cover = audit.overridden.get(acl.acl_id)
        if cover:
            whom = f"the DENY {cover[0]}" if len(cover) == 1 else f"{len(cover)} DENYs together"
            verb = "denies" if len(cover) == 1 else "deny"
            yield ALLOW_OVERRIDDEN.about(
                str(acl),
                f"This ALLOW gives nothing to anybody: {whom} {verb} all of it; this holds for "
                "every possible name.",
                acls=(acl, *cover),
            )
