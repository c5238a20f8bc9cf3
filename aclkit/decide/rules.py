"""One request, all ACLs → decision, rule and deciding ACL: the rule of DESIGN.md, written out.

This is the specification. It looks at every ACL and is as slow as it is plain; Spark's result
and Kafka's own answers are compared with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from aclkit.decide.order import deciding_acl
from aclkit.model.acl import Acl, Request
from aclkit.model.operation import coverage
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.patterns.match import host_matches, principal_matches, reaches

ALLOWED: Final = "ALLOWED"
DENIED: Final = "DENIED"
SUPER_USER: Final = "SuperUser"
MATCHING_ACL: Final = "MatchingAcl"
DEFAULT_ALLOW: Final = "DefaultAllow"
DEFAULT_DENY: Final = "DefaultDeny"


@dataclass(frozen=True, slots=True)
class Ruling:
    """The answer to a request: ALLOWED or DENIED, Kafka's rule name, and the ACL if one decided."""

    decision: str
    rule: str
    acl: Acl | None = None


def decide(
    acls: Iterable[Acl],
    request: Request,
    settings: BrokerSettings,
    semantics: Semantics,
    *,
    wildcard_is_last: bool = False,
) -> Ruling:
    """Decide one request by all ACLs of its cluster.

    1. a super user is ALLOWED; 2. any matching DENY → DENIED; 3. any matching ALLOW → ALLOWED;
    4. where no ACL of anybody reaches the resource and ``allow_everyone`` is set → ALLOWED;
    5. otherwise DENIED. Source: StandardAuthorizerData, with KIP-1042's patterns.
    ``wildcard_is_last`` has to do with the deciding ACL only: see ``deciding_acl``.
    """
    if request.principal in settings.super_users:
        return Ruling(ALLOWED, SUPER_USER)
    candidates = [
        acl for acl in acls if reaches(acl, request.resource_type, request.resource_name, semantics)
    ]
    hits = [acl for acl in candidates if answers(acl, request, semantics)]
    acl = deciding_acl(
        [hit for hit in hits if not hit.is_allow],
        [hit for hit in hits if hit.is_allow],
        (request.operation, request.resource_name),
        semantics,
        wildcard_is_last=wildcard_is_last,
    )
    if acl is not None:
        return Ruling(ALLOWED if acl.is_allow else DENIED, MATCHING_ACL, acl)
    if not candidates and settings.allow_everyone:
        return Ruling(ALLOWED, DEFAULT_ALLOW)
    return Ruling(DENIED, DEFAULT_DENY)


def answers(acl: Acl, request: Request, semantics: Semantics) -> bool:
    """Say whether an ACL that reaches the resource answers the rest of the request."""
    return (
        coverage(acl.operation, acl.permission_type, request.operation) is not None
        and principal_matches(acl.principal, request.principal, semantics)
        and host_matches(acl.host, request.host, semantics)
    )
