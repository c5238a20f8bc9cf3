"""ALLOWs → the findings that ask to remove or to narrow each of them.

An ACL that is to go is no reason for another one to go: who followed both remedies would take away
an access that neither of them names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from aclkit.audit.findings.escalation import ESCALATION, escalates
from aclkit.audit.findings.left_over import (
    INHERITED_ACCESS,
    ORPHAN_PRINCIPAL,
    ORPHAN_RESOURCE,
    inherited_lives,
    orphaned_principals,
    orphaned_resources,
)
from aclkit.audit.findings.never_matches import UNUSUAL_PRINCIPAL, why_unusual
from aclkit.audit.findings.public_access import ANY_HOST, PUBLIC_ACCESS, is_unbound, public_left
from aclkit.audit.findings.too_much import OVER_BROAD, broadly_reached
from aclkit.model.acl import Acl

if TYPE_CHECKING:
    from aclkit.audit.findings.audit_input import AuditInput


def reasons_to_go(audit: AuditInput) -> Callable[[Acl], frozenset[str]]:
    """Return what finds the kinds of findings that ask to remove or narrow an ACL; DENYs have none.

    Each ACL is looked at when it is first asked about.
    """
    lives_of = inherited_lives(audit)
    reasons: Mapping[str, Callable[[Acl], object]] = {
        PUBLIC_ACCESS.id: lambda acl: public_left(acl, audit),
        ESCALATION.id: lambda acl: escalates(acl, audit),
        INHERITED_ACCESS.id: lambda acl: lives_of(acl) is not None,
        OVER_BROAD.id: lambda acl: broadly_reached(acl, audit),
        ANY_HOST.id: lambda acl: is_unbound(acl, audit),
        ORPHAN_RESOURCE.id: orphaned_resources(audit),
        ORPHAN_PRINCIPAL.id: orphaned_principals(audit),
        UNUSUAL_PRINCIPAL.id: lambda acl: why_unusual(acl.principal, audit),
    }

    @cache
    def reasons_of(acl: Acl) -> frozenset[str]:
        if acl.acl_id not in audit.given:
            return frozenset()
        return frozenset(kind for kind, is_found in reasons.items() if is_found(acl))

    return reasons_of
