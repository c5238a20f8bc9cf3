"""ACLs → ``allow-overridden``: which ALLOWs a DENY leaves nothing of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aclkit.audit.findings.audit_input import AuditInput
from aclkit.audit.findings.sentences import acls_words
from aclkit.model.acl_words import acl_words
from aclkit.model.findings import Finding, Kind

ALLOW_OVERRIDDEN: Final = Kind(
    id="allow-overridden",
    severity="medium",
    summary="ALLOW ACLs that DENY ACLs override completely",
    meaning=(
        "One DENY, or several together, deny every request that the ALLOW matches. A DENY "
        "overrides every ALLOW, even a more specific one. So the ALLOW grants nothing today, but "
        "it takes effect as soon as the DENY is removed."
    ),
    fix=(
        "If the access is not intended, remove the ALLOW. Otherwise, narrow the DENY: no ALLOW can "
        "override a DENY. aclkit preview remove-acl shows the effect."
    ),
)


def find_overridden(audit: AuditInput) -> Iterator[Finding]:
    """Yield each ALLOW that DENYs contain entirely, operation by operation."""
    for acl in audit.acls:
        cover = audit.overridden.get(acl.acl_id)
        if cover:
            together = f"{len(cover):,} DENY ACLs together override it ({acls_words(cover)})"
            why = f"{acl_words(cover[0])} overrides it" if len(cover) == 1 else together
            yield ALLOW_OVERRIDDEN.about(
                str(acl),
                f"{acl_words(acl)} has no effect: {why}.",
                acls=(acl, *cover),
            )
