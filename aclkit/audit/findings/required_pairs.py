"""ALLOWs of one kind → whose clients need an ALLOW of another kind and have none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from aclkit.audit.findings.open_to_everyone import name_left
from aclkit.model.acl import Acl
from aclkit.model.groups import grouped
from aclkit.model.principal import WILDCARD_PRINCIPAL
from aclkit.rules.names.rows import Symbols, of_principal

if TYPE_CHECKING:
    from aclkit.audit.findings.audit_input import AuditInput


def lacking(
    audit: AuditInput, has: tuple[str, str], needs: tuple[str, str]
) -> Iterator[tuple[str, Sequence[Acl]]]:
    """Yield each principal with an ALLOW of one kind and none of the other, with those ACLs.

    A principal that is a glob has the other kind where some ALLOW of it may be for all names that
    the glob stands for. ``User:*`` is left out, because it is no particular client. Every principal
    is left out where allow.everyone grants the other kind on resources without an ACL.

    Args:
        audit: what is audited.
        has: resource type and operation of the ALLOWs that exist.
        needs: those of the ALLOW without which they are of little use.
    """
    if audit.settings.allow_everyone and name_left(audit, needs[0]) is not None:
        return
    given = grouped((acl.principal, acl) for acl in audit.allows if _gives(audit, acl, has))
    others = (acl for acl in audit.allows if given and _gives(audit, acl, needs))
    partners = grouped((audit.rows[acl.acl_id].principal, acl) for acl in others)
    for principal, acls in given.items():
        if principal != WILDCARD_PRINCIPAL and not _has(audit, principal, needs, partners):
            yield principal, acls


def _has(
    audit: AuditInput,
    principal: str,
    needs: tuple[str, str],
    partners: Mapping[Symbols | None, Sequence[Acl]],
) -> bool:
    """Whether DENYs leave a principal something of an ALLOW that it needs."""
    symbols, known = of_principal(principal, audit.semantics), audit.others.principals.get(needs[0])
    if known is None:
        return False
    least = known.within(symbols)
    return (audit.supposed and not least.is_complete) or any(
        audit.left_to(acl, who, needs[1])
        for who in least.members
        for text in sorted(who.patterns)
        for acl in partners.get(text, ())
    )


def _gives(audit: AuditInput, acl: Acl, what: tuple[str, str]) -> bool:
    resource_type, operation = what
    return acl.resource_type == resource_type and audit.gives(acl, operation)
