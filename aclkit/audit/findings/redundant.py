"""ACLs → ``redundant-acl``, ``allow-shadowed``, ``deny-shadowed``: what other ACLs cover."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from aclkit.audit.findings.audit_input import AuditInput
from aclkit.audit.findings.readings import DUPLICATE_FIX
from aclkit.audit.findings.sentences import acls_words
from aclkit.model.acl import Acl
from aclkit.model.acl_words import acl_words
from aclkit.model.findings import Finding, Kind

REDUNDANT_ACL: Final = Kind(
    id="redundant-acl",
    severity="low",
    summary="ACLs that other ACLs make redundant",
    meaning=(
        "Other ACLs decide every request that the ACL matches, in the same way. So removing the "
        "ACL changes no decision. Either one ACL is equivalent, or several ACLs together leave "
        "nothing to it. For example, an ALL whose other operations are denied is redundant next to "
        "READ and WRITE. You can remove all redundant and shadowed ACLs of one audit at once. "
        "Redundant ACLs are misleading: if you remove one of two equal ACLs, you remove no access."
    ),
    fix=(
        "Remove the redundant ACL and keep the others. aclkit tidy --format kafka-acls writes the "
        "commands."
    ),
)


def find_redundant(audit: AuditInput) -> Iterator[Finding]:
    """Yield each ACL that one equivalent ACL, or several together, make redundant."""
    for acl in audit.acls:
        cover = audit.removable.get(acl.acl_id)
        if cover and is_redundant(acl, cover, audit):
            yield REDUNDANT_ACL.about(
                acl,
                _message(acl, cover),
                fix=DUPLICATE_FIX if acl.binding == cover[0].binding else None,
                acls=cover,
            )


def is_redundant(acl: Acl, cover: Sequence[Acl], audit: AuditInput) -> bool:
    """Whether several ACLs, or one equal to it, cover an ACL; otherwise a wider one shadows it."""
    containing, _ = audit.others.containing(audit.rows[cover[0].acl_id])
    return len(cover) > 1 or audit.rows[acl.acl_id] in containing


def redundant_words(acl: Acl, cover: Sequence[Acl]) -> str:
    """Write that an ACL is redundant, and which other one covers it."""
    is_own = acl.principal == cover[0].principal
    other = f"its own {acl_words(cover[0], acl.principal)}" if is_own else acl_words(cover[0])
    return f"Redundant: {acl_words(acl)}; {other} already covers it."


def _message(acl: Acl, cover: Sequence[Acl]) -> str:
    if len(cover) > 1:
        others = f"{len(cover):,} other ACLs together already cover it ({acls_words(cover)})"
        return f"Redundant: {acl_words(acl)}; {others}."
    if acl.binding == cover[0].binding:
        return f"Redundant: {acl_words(acl)} exists more than once."
    return redundant_words(acl, cover)


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
            yield kind.about(acl, redundant_words(acl, cover), acls=cover)
