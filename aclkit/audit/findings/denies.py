"""ACLs → ``allow-overridden`` and ``deny-leaves-describe``: what DENYs leave of ALLOWs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aclkit.audit.findings.audit_input import AuditInput
from aclkit.audit.findings.sentences import acls_words
from aclkit.model.acl import Request, acl_words
from aclkit.model.findings import Finding, Kind
from aclkit.rules.names.redundancy import find_left
from aclkit.rules.names.rows import Row

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
            message = f"{acl_words(acl)} has no effect: {why}."
            yield ALLOW_OVERRIDDEN.about(acl, message, acls=cover)


DENY_LEAVES_DESCRIBE: Final = Kind(
    id="deny-leaves-describe",
    severity="low",
    summary="DENY READ ACLs that leave DESCRIBE allowed",
    meaning=(
        "An ALLOW of READ also grants DESCRIBE, but a DENY of READ denies READ only. So another "
        "ALLOW, even an ALLOW of READ, still grants DESCRIBE. The topic or group stays visible in "
        "listings, with its partitions, offsets and lag."
    ),
    fix=(
        "To hide the resource, add a DENY of DESCRIBE with the same pattern, principal and host. "
        "Or narrow the ALLOW. aclkit preview add-acl shows who would lose access."
    ),
)

_TYPES: Final = ("TOPIC", "GROUP")
_DESCRIBE: Final = "DESCRIBE"


def find_deny_leaves_describe(audit: AuditInput) -> Iterator[Finding]:
    """Yield each DENY of READ on which some ALLOW still grants DESCRIBE, with one such ALLOW."""
    for row in audit.rows.values():
        acl = row.acl
        reads = not acl.is_allow and acl.operation == "READ" and acl.resource_type in _TYPES
        if reads and (shown := _shown(audit, row)):
            allow, request = shown
            yield DENY_LEAVES_DESCRIBE.about(
                acl,
                f"{acl_words(acl)} leaves DESCRIBE allowed: {acl_words(allow.acl)} grants it."
                f"{audit.example([request], acl, allow.acl)}",
                acls=(allow.acl,),
            )


def _shown(audit: AuditInput, deny: Row) -> tuple[Row, Request | None] | None:
    """Return an ALLOW that gives DESCRIBE where a DENY answers, and the shortest request.

    Where that is but supposed, there is no request.
    """
    if _left(audit, deny) is None:
        return None
    allows = audit.others.meeting(deny, allows=True)
    left = (
        (allow, _left(audit, deny, allow)) for allow in allows if audit.gives(allow.acl, _DESCRIBE)
    )
    return next(((allow, found[0]) for allow, found in left if found), None)


def _left(audit: AuditInput, *rows: Row) -> tuple[Request | None] | None:
    """Return the shortest request of DESCRIBE left of what ACLs all answer."""
    left = find_left(rows, audit.others, [_DESCRIBE])
    if left.given:
        view, name = left.given[_DESCRIBE]
        return (view.request(_DESCRIBE, name),)
    return (None,) if audit.supposed and left.unknown else None
