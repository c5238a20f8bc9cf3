"""ACLs → ``any-host``: which ALLOWs of a sensitive operation are bound to no host."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aclkit.audit.facts import AuditInput
from aclkit.findings import Finding, Kind
from aclkit.model.acl import Acl
from aclkit.patterns.match import is_any_host

ANY_HOST: Final = Kind(
    id="any-host",
    severity="medium on CLUSTER and USER, low elsewhere",
    meaning=(
        "An operation that destroys data, changes the configuration or hands out access is "
        "allowed from any address: DELETE, ALTER, ALTER_CONFIGS, CLUSTER_ACTION, CREATE_TOKENS, "
        "or ALL with them. Whoever gets hold of the credential can use it from anywhere."
    ),
    fix="Add the ACL for the hosts that need it, then remove this one.",
)

SENSITIVE: Final = (
    "DELETE", "ALTER", "ALTER_CONFIGS", "CLUSTER_ACTION", "CREATE_TOKENS", "ALL",
)  # fmt: skip
_WEIGHTY: Final = ("CLUSTER", "USER")
_HARMLESS: Final = ("DELEGATION_TOKEN", "TRANSACTIONAL_ID")
"""Types whose only operations describe or are an ordinary client's; ALL on them is no more."""


def find_any_host(audit: AuditInput) -> Iterator[Finding]:
    """Yield each ALLOW of a sensitive operation that holds from any host."""
    for acl in audit.allows:
        if _is_sensitive(acl) and is_any_host(acl.host, audit.semantics):
            yield ANY_HOST.about(
                str(acl),
                f"{acl.principal} has {acl.operation} on {acl.resource_type} "
                f"{acl.resource_name!r} ({acl.pattern_type}) from any host.",
                severity="medium" if acl.resource_type in _WEIGHTY else "low",
                acls=(acl,),
            )


def _is_sensitive(acl: Acl) -> bool:
    return acl.operation in SENSITIVE and acl.resource_type not in _HARMLESS
