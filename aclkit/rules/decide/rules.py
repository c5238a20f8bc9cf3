"""One request, all ACLs → decision, rule and deciding ACL: the rule of DESIGN.md, written out.

``decide`` is the specification. It looks at every ACL and is as slow as it is plain; Spark's
result and Kafka's own answers are compared with it. Code that finds the matching ACLs in another
way ends with the same ``conclude``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from aclkit.model.acl import Acl, Request
from aclkit.model.operation import coverage
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.model.values import dataclass
from aclkit.rules.decide.order import Order, WildcardLast
from aclkit.rules.patterns.match import host_matches, principal_matches, reaches

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

    @property
    def acl_id(self) -> str | None:
        """The deciding ACL's id, None where a default or a super user decides."""
        return None if self.acl is None else self.acl.acl_id


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
    4. where no ACL of any principal reaches the resource and ``allow_everyone`` is set → ALLOWED;
    5. otherwise DENIED. Source: StandardAuthorizerData, with KIP-1042's patterns.
    ``wildcard_is_last`` has to do with the deciding ACL only: see ``order.WildcardLast``.
    """
    candidates = [acl for acl in acls if reaches(acl, *request.resource, semantics)]
    return conclude(
        [acl for acl in candidates if answers(acl, request, semantics)],
        Order(
            request.operation,
            semantics,
            WildcardLast.of(request.resource_name, wildcard_is_last=wildcard_is_last),
        ),
        is_super=settings.makes_super(request.principal),
        is_open=settings.allow_everyone and not candidates,
    )


def conclude(hits: Iterable[Acl], order: Order, *, is_super: bool, is_open: bool) -> Ruling:
    """Decide by the ACLs that match a request: the five steps of ``decide``.

    Args:
        hits: the ACLs that reach the resource and answer the rest of the request.
        order: which of them decides.
        is_super: the principal is a super user.
        is_open: no ACL of any principal reaches the resource, and ``allow_everyone`` is set.
    """
    if is_super:
        return _SUPER_USER
    acl = order.first(hits)
    if acl is not None:
        return Ruling(ALLOWED if acl.is_allow else DENIED, MATCHING_ACL, acl)
    return _DEFAULT_ALLOW if is_open else _DEFAULT_DENY


def answers(acl: Acl, request: Request, semantics: Semantics) -> bool:
    """Whether an ACL that reaches the resource answers the rest of the request."""
    return (
        coverage(acl.operation, acl.permission_type, request.operation) is not None
        and principal_matches(acl.principal, request.principal, semantics)
        and host_matches(acl.host, request.host, semantics)
    )


_SUPER_USER: Final = Ruling(ALLOWED, SUPER_USER)
_DEFAULT_ALLOW: Final = Ruling(ALLOWED, DEFAULT_ALLOW)
_DEFAULT_DENY: Final = Ruling(DENIED, DEFAULT_DENY)
