"""ALLOWs of one kind → whose clients need an ALLOW of another kind and have none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from aclkit.audit.facts import AuditInput
from aclkit.model.acl import Acl
from aclkit.model.operation import coverage
from aclkit.patterns.identity import index_principals


def lacking(
    audit: AuditInput, has: tuple[str, str], needs: tuple[str, str]
) -> Iterator[tuple[str, Sequence[Acl]]]:
    """Yield each principal with an ALLOW of one kind and none of the other, with those ACLs.

    A principal that is a glob has the other kind where some ALLOW of it may be for all that the
    glob stands for; ``User:*`` and super users are left out, the one because nobody in
    particular lacks anything, the others because they need no ACL.

    Args:
        audit: what is audited.
        has: resource type and operation of the ALLOWs that are there.
        needs: those of the ALLOW without which they are of little use.
    """
    given: defaultdict[str, list[Acl]] = defaultdict(list)
    for acl in audit.allows:
        if _gives(acl, has):
            given[acl.principal].append(acl)
    partners = {acl.principal for acl in audit.allows if _gives(acl, needs)}
    index = index_principals(partners, audit.semantics)
    for principal, acls in given.items():
        is_somebody = principal != "User:*" and principal not in audit.settings.super_users
        if is_somebody and principal not in partners and not index.matching(principal):
            yield principal, acls


def counted(acls: Sequence[Acl]) -> str:
    """Write how many ACLs there are."""
    return "one ACL" if len(acls) == 1 else f"{len(acls):,} ACLs"


def _gives(acl: Acl, what: tuple[str, str]) -> bool:
    resource_type, operation = what
    return (
        acl.resource_type == resource_type
        and coverage(acl.operation, acl.permission_type, operation) is not None
    )
