"""ALLOWs of one kind → whose clients need an ALLOW of another kind and have none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from aclkit.audit.findings.facts import AuditInput
from aclkit.model.acl import ANY_OTHER, Acl
from aclkit.model.principal import WILDCARD_PRINCIPAL
from aclkit.rules.patterns.identity import index_principals


def lacking(
    audit: AuditInput, has: tuple[str, str], needs: tuple[str, str]
) -> Iterator[tuple[str, Sequence[Acl]]]:
    """Yield each principal with an ALLOW of one kind and none of the other, with those ACLs.

    A principal that is a glob has the other kind where some ALLOW of it may be for all that the
    glob stands for. ``User:*`` is left out, because nobody in particular lacks anything; and so
    is everybody where allow.everyone gives the other kind on what no ACL reaches.

    Args:
        audit: what is audited.
        has: resource type and operation of the ALLOWs that are there.
        needs: those of the ALLOW without which they are of little use.
    """
    if audit.settings.allow_everyone and not audit.index.matches(needs[0], ANY_OTHER):
        return
    given: defaultdict[str, list[Acl]] = defaultdict(list)
    for acl in audit.allows:
        if _gives(audit, acl, has):
            given[acl.principal].append(acl)
    partners = {acl.principal for acl in audit.allows if _gives(audit, acl, needs)}
    index = index_principals(partners, audit.semantics)
    for principal, acls in given.items():
        if principal != WILDCARD_PRINCIPAL and not index.matching(principal):
            yield principal, acls


def number_of(acls: Sequence[Acl]) -> str:
    """Return the number of ACLs in words."""
    return "one ACL" if len(acls) == 1 else f"{len(acls):,} ACLs"


def _gives(audit: AuditInput, acl: Acl, what: tuple[str, str]) -> bool:
    resource_type, operation = what
    return acl.resource_type == resource_type and audit.gives(acl, operation)
