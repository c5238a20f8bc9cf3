"""ACLs → ``allow-shadowed``, ``deny-shadowed``: those that a single wider ACL covers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aclkit.audit.findings.audit_input import AuditInput
from aclkit.audit.findings.redundant import is_redundant, redundant_words
from aclkit.model.findings import Finding, Kind

ALLOW_SHADOWED: Final = Kind(
    id="allow-shadowed",
    severity="low",
    summary="ALLOW ACLs that another ACL already covers",
    meaning=(
        "A wider ALLOW grants all that the ALLOW grants, and more. So removing the ALLOW changes "
        "no decision, and it does not revoke the access: the wider ALLOW still grants it. An ALLOW "
        "that another finding asks to remove or narrow, for example one for User:*, does not count "
        "as wider. A READ or WRITE does not count for the DESCRIBE that kafka-acls adds with it."
    ),
    fix=(
        "If the wider ALLOW is intended, remove the redundant one. Otherwise, narrow the wider "
        "ALLOW. aclkit tidy --format kafka-acls writes the commands."
    ),
)
DENY_SHADOWED: Final = Kind(
    id="deny-shadowed",
    severity="low",
    summary="DENY ACLs that another ACL already covers",
    meaning=(
        "A wider DENY denies all that the DENY denies, and more. So removing the DENY changes no "
        "decision."
    ),
    fix=(
        "If the wider DENY is permanent, remove the redundant one. If the wider DENY is temporary, "
        "keep both."
    ),
)


def find_shadowed(audit: AuditInput) -> Iterator[Finding]:
    """Yield each ACL that one wider ACL of the same permission contains entirely.

    The ACL that is named stays, so that all that is reported can be removed, alone or together.
    """
    for acl in audit.acls:
        cover = audit.removable.get(acl.acl_id)
        if cover and not is_redundant(acl, cover, audit):
            kind = ALLOW_SHADOWED if acl.is_allow else DENY_SHADOWED
            yield kind.about(
                str(acl),
                redundant_words(acl, cover),
                acls=(acl, *cover),
            )
