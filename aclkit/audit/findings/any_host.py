"""ACLs → ``any-host``: who can change what from any address, by resource type."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from aclkit.audit.findings.anywhere import anywhere_words, is_anywhere
from aclkit.audit.findings.public_access import public_left
from aclkit.audit.findings.sentences import acls_words, who_words
from aclkit.model.acl import Acl
from aclkit.model.acl_words import type_words
from aclkit.model.findings import Finding, Kind
from aclkit.model.groups import grouped

if TYPE_CHECKING:
    from aclkit.audit.findings.audit_input import AuditInput

ANY_HOST: Final = Kind(
    id="any-host",
    severity="medium",
    summary="sensitive operations allowed from any host",
    depends="medium on CLUSTER and USER, low elsewhere, info for WRITE and CREATE alone",
    meaning=(
        "A principal can perform sensitive operations from any address: DELETE, ALTER, "
        "ALTER_CONFIGS, CLUSTER_ACTION, CREATE_TOKENS, WRITE, CREATE, or ALL. A stolen credential "
        "can then be used from anywhere. Where brokers read ranges, 0.0.0.0/0 and ::/0 count "
        "as any host. The message then names the addresses that they leave out. One finding covers "
        "a principal and a resource type, and lists the ACLs. It lists neither redundant ACLs nor "
        "ACLs for every client (see public-access). It also leaves out ACLs of super users, and "
        "ACLs on transactional ids and delegation tokens."
    ),
    fix=(
        "Re-create these ACLs with --allow-host for the client's addresses, then remove the ones "
        "with host *."
    ),
)

_SENSITIVE: Final = (
    "CLUSTER_ACTION", "CREATE_TOKENS", "ALTER", "DELETE", "ALTER_CONFIGS", "WRITE", "CREATE",
)  # fmt: skip
"""The worst first."""
_ORDINARY: Final = ("WRITE", "CREATE")
"""What producers do; others only where it is more than that."""
_WEIGHTY: Final = ("CLUSTER", "USER")
_TYPES: Final = ("TOPIC", "GROUP", *_WEIGHTY)


def find_any_host(audit: AuditInput) -> Iterator[Finding]:
    """Yield each principal with sensitive operations from any host, for each resource type."""
    needed = (acl for acl in audit.allows if acl.acl_id not in audit.removable)
    unbound = (acl for acl in needed if is_unbound(acl, audit))
    found = grouped(((acl.principal, acl.resource_type), acl) for acl in unbound)
    for (principal, resource_type), acls in found.items():
        operations = _sensitive(audit, acls)
        acls.sort(key=lambda acl: (operations.index(_sensitive(audit, (acl,))[0]), acl.acl_id))
        audit.confirm(audit.request_given(acl, each) for each in operations for acl in acls)
        yield ANY_HOST.about(
            f"{principal} on {resource_type}",
            f"{who_words(principal, audit.semantics)} has {', '.join(operations)} on "
            f"{_whole_type(resource_type)} from "
            f"{anywhere_words((acl.host for acl in acls), audit.semantics)}: "
            f"{acls_words(acls, principal, resource_type)}.",
            severity=_severity(resource_type, operations),
            acls=acls,
        )


def is_unbound(acl: Acl, audit: AuditInput) -> bool:
    """Whether an ALLOW grants some principals something sensitive from any host."""
    return (
        acl.resource_type in _TYPES
        and is_anywhere(acl.host, audit.semantics)
        and bool(_sensitive(audit, (acl,)))
        and not public_left(acl, audit)
    )


def _whole_type(resource_type: str) -> str:
    return "the cluster" if resource_type == "CLUSTER" else f"{type_words(resource_type)}s"


def _sensitive(audit: AuditInput, acls: Sequence[Acl]) -> list[str]:
    """Return the sensitive operations that ALLOWs give, the worst first."""
    given = frozenset[str]().union(*(audit.given[acl.acl_id] for acl in acls))
    return [operation for operation in _SENSITIVE if operation in given]


def _severity(resource_type: str, operations: Collection[str]) -> str:
    if set(operations).issubset(_ORDINARY):
        return "info"
    return "medium" if resource_type in _WEIGHTY else "low"
