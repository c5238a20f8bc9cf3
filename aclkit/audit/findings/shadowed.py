"""ACLs → ``allow-shadowed``, ``deny-shadowed``: which ones a single wider one makes needless."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aclkit.audit.findings.facts import AuditInput
from aclkit.audit.findings.redundant import is_redundant
from aclkit.model.findings import Finding, Kind

ALLOW_SHADOWED: Final = Kind(
    id="allow-shadowed",
    severity="low",
    meaning=(
        "A wider ALLOW gives all that this ALLOW gives, and more. No decision changes without it; "
        "but who removes it to take the access away will be surprised, because the wider one "
        "still gives it. An ALLOW that another finding asks to remove or narrow, such as one for "
        "User:*, shadows nothing; nor does a READ or WRITE the DESCRIBE that kafka-acls writes "
        "beside it."
    ),
    fix=(
        "Keep one of the two: remove this ACL if the wider one is meant, otherwise narrow the "
        "wider one."
    ),
)
DENY_SHADOWED: Final = Kind(
    id="deny-shadowed",
    severity="low",
    meaning=(
        "A wider DENY denies all that this DENY denies, and more, so no decision changes without "
        "it."
    ),
    fix=(
        "Remove this ACL if the wider DENY is meant to stay; keep it if the wider one is temporary."
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
                f"The wider ACL {cover[0]} answers every request that this one answers, so "
                "without this one no decision changes; this holds for every possible name.",
                acls=(acl, *cover),
            )
