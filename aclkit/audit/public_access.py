"""ACLs → ``public-access``: who allows something to everybody, or to clients without a name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from aclkit.findings import Finding, Kind
from aclkit.model.acl import ANY_OTHER_PRINCIPAL, Acl
from aclkit.model.semantics import Semantics
from aclkit.patterns.match import is_any_host, principal_matches

PUBLIC_ACCESS: Final = Kind(
    id="public-access",
    severity="high; medium where bound to a host, low where it shows descriptions only",
    meaning=(
        "An ALLOW is for everybody, for all principals that stand in no ACL, or for clients that "
        "come without authentication (User:ANONYMOUS): whoever reaches a listener has the access."
    ),
    fix="Allow it to the principals that need it, by name, then remove this ACL.",
)
ANONYMOUS: Final = "User:ANONYMOUS"
"""Who comes over a listener without authentication (KafkaPrincipal.ANONYMOUS)."""

_READ_ONLY: Final = ("DESCRIBE", "DESCRIBE_CONFIGS")


def find_public_access(acls: Iterable[Acl], semantics: Semantics) -> Iterator[Finding]:
    """Yield each ALLOW that everybody or ``User:ANONYMOUS`` has.

    High, but medium where it is bound to a host, and low where it shows descriptions only.
    """
    for acl in acls:
        whom = _whom(acl, semantics) if acl.is_allow else None
        if whom:
            yield PUBLIC_ACCESS.about(
                str(acl),
                f"{whom} {_place(acl, semantics)} has {acl.operation} on "
                f"{acl.resource_type} {acl.resource_name!r} ({acl.pattern_type}) by this ALLOW.",
                severity=_severity(acl, semantics),
                acls=(acl,),
            )


def _whom(acl: Acl, semantics: Semantics) -> str | None:
    if principal_matches(acl.principal, ANY_OTHER_PRINCIPAL, semantics):
        return f"Every principal that {acl.principal} stands for"
    if principal_matches(acl.principal, ANONYMOUS, semantics):
        return "Every client without authentication"
    return None


def _place(acl: Acl, semantics: Semantics) -> str:
    return "from any host" if is_any_host(acl.host, semantics) else f"from host {acl.host!r}"


def _severity(acl: Acl, semantics: Semantics) -> str:
    if acl.operation in _READ_ONLY:
        return "low"
    return "high" if is_any_host(acl.host, semantics) else "medium"
