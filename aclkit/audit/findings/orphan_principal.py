"""ACLs and lifetimes of users → ``orphan-principal``: whose ACLs nobody can use any more."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from aclkit.audit.findings.public_access import ANONYMOUS
from aclkit.model.acl import Acl
from aclkit.model.findings import INVENTORY, Finding, Kind
from aclkit.model.groups import grouped
from aclkit.model.principal import split_principal
from aclkit.rules.patterns.match import names_exactly

if TYPE_CHECKING:
    from aclkit.audit.findings.facts import AuditInput, Life

ORPHAN_PRINCIPAL: Final = Kind(
    id="orphan-principal",
    severity="medium",
    depends="medium for a deleted user, info for one that the log never knew",
    meaning=(
        "ACLs name a user that has no SCRAM credential. Where the log says that it was deleted, "
        "the ACLs wait for whoever is given that name next. Where the log never knew it, it may "
        "come by another way than SCRAM, such as TLS, Kerberos or OAuth: name those in a file of "
        "--principals. Nothing is said where no users are known, nor about distinguished names "
        "and super users."
    ),
    fix="Remove the ACLs of this principal, or name it in the inventory of principals.",
    holds_for=INVENTORY,
)


def find_orphan_principals(audit: AuditInput) -> Iterator[Finding]:
    """Yield each principal that ACLs name and that is neither a user alive nor listed."""
    lives = grouped((life.name, life) for life in audit.users)
    orphaned = filter(orphaned_principals(audit), audit.acls)
    for principal, rows in grouped((acl.principal, acl) for acl in orphaned).items():
        yield _finding(principal, rows, lives.get(principal, ()))


def orphaned_principals(audit: AuditInput) -> Callable[[Acl], bool]:
    """Return what tells whether an ACL names a principal that is neither alive nor listed."""
    alive = {life.name for life in audit.users if life.last_offset is None}
    known = alive | audit.listed_principals | audit.settings.super_users | {ANONYMOUS}

    def is_orphaned(acl: Acl) -> bool:
        is_known = not audit.users or acl.principal in known
        return not is_known and _may_be_scram(acl.principal, audit)

    return is_orphaned


def _may_be_scram(principal: str, audit: AuditInput) -> bool:
    """Whether it is one user by name, and not a distinguished name of TLS."""
    parts = split_principal(principal)
    if parts is None or not names_exactly(principal, audit.semantics):
        return False
    return parts[0] == "User" and "=" not in parts[1]


def _finding(principal: str, acls: Sequence[Acl], lives: Sequence[Life]) -> Finding:
    many = "One ACL names" if len(acls) == 1 else f"{len(acls):,} ACLs name"
    if lives:
        end = max(life.last_offset or 0 for life in lives)
        what, severity = f"its last SCRAM credential was deleted at offset {end}", "medium"
    else:
        what, severity = "the log never knew a SCRAM credential of it", "info"
    return ORPHAN_PRINCIPAL.about(
        principal,
        f"{many} {principal}, which has no SCRAM credential: {what}.",
        severity=severity,
        acls=acls,
        evidence=(what,),
    )
