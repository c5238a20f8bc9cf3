"""ACLs and lifetimes of users → ``orphan-principal``: ACLs of users that do not exist."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from aclkit.audit.findings.public_access import ANONYMOUS
from aclkit.audit.findings.sentences import acls_words
from aclkit.model.acl import Acl
from aclkit.model.acl_words import quoted
from aclkit.model.findings import INVENTORY, Finding, Kind
from aclkit.model.groups import grouped
from aclkit.model.phrases import number_of
from aclkit.model.principal import split_principal
from aclkit.rules.patterns.match import names_exactly

if TYPE_CHECKING:
    from aclkit.audit.findings.audit_input import AuditInput, Life

ORPHAN_PRINCIPAL: Final = Kind(
    id="orphan-principal",
    severity="medium",
    summary="ACLs of users without a SCRAM credential",
    depends="medium for a deleted user, info for a user that the log never had",
    meaning=(
        "ACLs name a user that has no SCRAM credential. If the log shows that the credential was "
        "deleted, the next user with that name gets the ACLs. If the log never had such a "
        "credential, the user perhaps authenticates with TLS, Kerberos or OAuth. List such users "
        "in the file of --principals. If no users are known, aclkit reports nothing. It never "
        "reports distinguished names and super users."
    ),
    fix=(
        "Remove the ACLs of the principal. If the principal exists, add it to the file of "
        "--principals."
    ),
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
    if lives:
        end = max(life.last_offset or 0 for life in lives)
        what, severity = f"the last one was deleted at offset {end}", "medium"
    else:
        what, severity = "the log never had one", "info"
    return ORPHAN_PRINCIPAL.about(
        principal,
        f"{quoted(principal)} has no SCRAM credential ({what}), but has "
        f"{number_of(len(acls), 'ACL')}: {acls_words(acls, principal)}.",
        severity=severity,
        acls=acls,
        evidence=(f"no SCRAM credential: {what}",),
    )
