"""ACLs and super users → ``public-access``: what every client can do, authenticated or not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from aclkit.audit.findings.anywhere import anywhere_words, is_anywhere
from aclkit.audit.findings.sentences import can_words, names_words, who_words
from aclkit.model.acl import ANY_OTHER_PRINCIPAL, Acl, Request
from aclkit.model.acl_words import acl_words, quoted
from aclkit.model.findings import Finding, Kind
from aclkit.model.phrases import number_of
from aclkit.model.semantics import Semantics
from aclkit.rules.names.rows import operations_of
from aclkit.rules.patterns.match import LITERAL, is_any_host, principal_matches

if TYPE_CHECKING:
    from aclkit.audit.findings.audit_input import AuditInput

PUBLIC_ACCESS: Final = Kind(
    id="public-access",
    severity="high",
    summary="access open to every client",
    depends="high; medium for one host or range, low for descriptions only",
    meaning=(
        "An ALLOW applies to every client, to every principal that no ACL names, or to clients "
        "without authentication (User:ANONYMOUS). So every client that can connect to a listener "
        "has the access. Or User:ANONYMOUS is a super user, and clients without authentication "
        "have full access."
    ),
    fix=(
        "Add ACLs for the principals that need the access, by name. Then remove the ACL for every "
        "client. aclkit preview remove-acl shows who would lose access."
    ),
)
ANONYMOUS: Final = "User:ANONYMOUS"
"""Who comes over a listener without authentication (KafkaPrincipal.ANONYMOUS)."""

Public = dict[str, Request | None]
_READ_ONLY: Final = ("DESCRIBE", "DESCRIBE_CONFIGS")


def find_public_access(audit: AuditInput) -> Iterator[Finding]:
    """Yield each ALLOW for every client or ``User:ANONYMOUS``, and a nameless super user.

    High, but medium where it is bound to a host, and low where it shows descriptions only.
    """
    if ANONYMOUS in audit.settings.super_users:
        yield PUBLIC_ACCESS.about(
            ANONYMOUS,
            f"{ANONYMOUS} is a super user: clients without authentication have full access.",
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
                _message(acl, whom, public, audit),
                severity=_severity(acl, public, audit),
                acls=(acl,),
            )


def _message(acl: Acl, whom: str, public: Public, audit: AuditInput) -> str:
    """Write what an ALLOW lets every client do; where a DENY can limit it, with an example."""
    example = audit.example(public.values(), acl)
    can = (
        f"{whom}{_place(acl, audit.semantics)} can {can_words(acl, public.keys())} "
        f"{names_words(acl)}{_number_today(acl, audit)}"
    )
    denies = audit.others.meeting(audit.rows[acl.acl_id], allows=False)
    if any(public.keys() & operations_of(deny.acl) for deny in denies):
        return f"{can}, unless a DENY applies: {acl_words(acl)}.{example}"
    return f"{can}: {acl_words(acl)}."


def _number_today(acl: Acl, audit: AuditInput) -> str:
    """Write how many topics a pattern for several matches, where topics are known."""
    is_one = acl.pattern_type == LITERAL and acl.resource_name != "*"
    if acl.resource_type != "TOPIC" or is_one or not audit.topics_alive:
        return ""
    return f" ({number_of(audit.reached.get(acl.pattern, 0).bit_count(), 'topic')} today)"


def public_of(acl: Acl, semantics: Semantics) -> str | None:
    """Return for whom an ALLOW would be public; None where it is for some principals only."""
    if principal_matches(acl.principal, ANY_OTHER_PRINCIPAL, semantics):
        return who_words(acl.principal, semantics)
    if principal_matches(acl.principal, ANONYMOUS, semantics):
        return "Every client without authentication"
    return None


def public_left(acl: Acl, audit: AuditInput) -> Public:
    """Return the operations that a public ALLOW grants, each with the shortest request left.

    Where that is but supposed there is no request. What applies to every client is public as long
    as DENYs leave something of it to some client; what matches clients without authentication only,
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
    if is_any_host(acl.host, semantics):
        return ""
    if is_anywhere(acl.host, semantics):
        return f" from {anywhere_words([acl.host], semantics)}"
    return f" from {quoted(acl.host)}"


def _severity(acl: Acl, public: Public, audit: AuditInput) -> str:
    if public.keys() <= {*_READ_ONLY}:
        return "low"
    return "high" if is_anywhere(acl.host, audit.semantics) else "medium"
