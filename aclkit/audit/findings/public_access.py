"""ACLs and super users → ``public-access``: what everybody may do, or clients without a name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from aclkit.audit.findings.anywhere import anywhere_words, is_anywhere
from aclkit.model.acl import ANY_OTHER_PRINCIPAL, Acl, Request
from aclkit.model.findings import Finding, Kind
from aclkit.model.semantics import Semantics
from aclkit.rules.names.rows import operations_of
from aclkit.rules.patterns.match import principal_matches

if TYPE_CHECKING:
    from aclkit.audit.findings.facts import AuditInput

PUBLIC_ACCESS: Final = Kind(
    id="public-access",
    severity="high",
    depends="high; medium where bound to a host, low where it shows descriptions only",
    meaning=(
        "An ALLOW is for everybody, for all principals that stand in no ACL, or for clients that "
        "come without authentication (User:ANONYMOUS): whoever reaches a listener has the access. "
        "Or User:ANONYMOUS is a super user, and such clients may do everything."
    ),
    fix="Allow it to the principals that need it, by name, then remove this ACL.",
)
ANONYMOUS: Final = "User:ANONYMOUS"
"""Who comes over a listener without authentication (KafkaPrincipal.ANONYMOUS)."""

Public = dict[str, Request | None]
_READ_ONLY: Final = ("DESCRIBE", "DESCRIBE_CONFIGS")


def find_public_access(audit: AuditInput) -> Iterator[Finding]:
    """Yield each ALLOW that everybody or ``User:ANONYMOUS`` has, and a nameless super user.

    High, but medium where it is bound to a host, and low where it shows descriptions only.
    """
    if ANONYMOUS in audit.settings.super_users:
        yield PUBLIC_ACCESS.about(
            ANONYMOUS,
            f"{ANONYMOUS} is a super user: every client without authentication may do everything.",
            severity="high",
            fix=(
                f"Enable authentication between brokers and controllers, then remove {ANONYMOUS} "
                "from super.users. Until then, firewall the PLAINTEXT listeners."
            ),
            evidence=(f"super.users holds {ANONYMOUS}",),
        )
    for acl in audit.allows:
        whom, public = public_of(acl, audit.semantics), public_left(acl, audit)
        if whom and public:
            yield PUBLIC_ACCESS.about(
                str(acl),
                f"{whom} {_place(acl, audit.semantics)} has {acl.operation} on "
                f"{acl.resource_type} {acl.resource_name!r} ({acl.pattern_type}) by this ALLOW"
                f"{audit.show(public.values())}.",
                severity=_severity(acl, public, audit),
                acls=(acl,),
            )


def public_of(acl: Acl, semantics: Semantics) -> str | None:
    """Return for whom an ALLOW would be public; None where it is for some principals only."""
    if principal_matches(acl.principal, ANY_OTHER_PRINCIPAL, semantics):
        return f"Every principal that {acl.principal} stands for"
    if principal_matches(acl.principal, ANONYMOUS, semantics):
        return "Every client without authentication"
    return None


def public_left(acl: Acl, audit: AuditInput) -> Public:
    """Return the operations that a public ALLOW gives, each with the shortest request left.

    Where that is but supposed there is no request. What is for everybody is public as long as
    DENYs leave something of it to somebody; what matches clients without authentication only,
    where they leave something to these.
    """
    if principal_matches(acl.principal, ANY_OTHER_PRINCIPAL, audit.semantics):
        return {each: audit.request_given(acl, each) for each in sorted(audit.given[acl.acl_id])}
    if public_of(acl, audit.semantics) is None or ANONYMOUS in audit.settings.super_users:
        return {}
    anonymous = audit.others.principals[acl.resource_type].of_name(ANONYMOUS)
    left = {each: audit.left_to(acl, anonymous, each) for each in sorted(operations_of(acl))}
    return {operation: found[0] for operation, found in left.items() if found}


def _place(acl: Acl, semantics: Semantics) -> str:
    if is_anywhere(acl.host, semantics):
        return f"from {anywhere_words([acl.host], semantics)}"
    return f"from host {acl.host!r}"


def _severity(acl: Acl, public: Public, audit: AuditInput) -> str:
    if public.keys() <= {*_READ_ONLY}:
        return "low"
    return "high" if is_anywhere(acl.host, audit.semantics) else "medium"
