"""ACLs and a request → why Kafka cannot be asked it: no session is so, or Kafka throws or hangs.

What goes wrong while Kafka searches is foreseen here: an ACL's principal that it cannot parse, and
where ``order.BrokerRescan`` loses its way. A DENY that is found before ends the search.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from aclkit.model.acl import Acl, Request
from aclkit.model.groups import grouped
from aclkit.model.host import canonical_host
from aclkit.model.principal import WILDCARD_PRINCIPAL, split_principal
from aclkit.model.semantics import KAFKA, BrokerSettings
from aclkit.rules.decide.order import BrokerRescan, Ending, Order
from aclkit.rules.patterns.match import reaches

WILDCARD_SESSION: Final = (
    "Kafka throws IllegalArgumentException: the principal of the session is User:* itself"
)
_LOST: Final = {
    Ending.HANGS: "Kafka hangs: the ACLs of names below * send its search in a circle",
    Ending.THROWS: (
        "Kafka throws StringIndexOutOfBoundsException: the ACLs of names below * mislead its search"
    ),
}


@dataclass(slots=True)
class Refusals:
    """What Kafka cannot be asked while it has these ACLs."""

    super_users: frozenset[str]
    rescan: BrokerRescan
    without_colon: dict[str, list[Acl]]

    @classmethod
    def of(cls, acls: Iterable[Acl], settings: BrokerSettings) -> Refusals:
        """Pick out the ACLs that can make Kafka throw or hang."""
        acls = list(acls)
        without_colon = grouped(
            (acl.resource_type, acl) for acl in acls if split_principal(acl.principal) is None
        )
        return cls(settings.super_users, BrokerRescan.among(acls), without_colon)

    def reason(self, request: Request, deny: Acl | None) -> str | None:
        """Return why Kafka cannot be asked; None where it can.

        Args:
            request: what would be asked.
            deny: the ACL that denies it, if one does: it may end the search before the trouble.
        """
        if reason := _no_such_session(request.principal, request.host):
            return reason
        if request.principal in self.super_users:
            return None
        if request.principal == WILDCARD_PRINCIPAL:
            return WILDCARD_SESSION
        if reason := self._bad_principal(request, deny):
            return reason
        if deny is not None:
            return None
        return _LOST.get(self.rescan.ending(request.resource_type, request.resource_name))

    def _bad_principal(self, request: Request, deny: Acl | None) -> str | None:
        """Find an ACL without a colon that Kafka reads before anything denies."""
        name = request.resource_name
        last = self.rescan.wildcard_last(request.resource_type, name)
        order = Order(request.operation, KAFKA, last)
        for acl in self.without_colon.get(request.resource_type, ()):
            if not reaches(acl, request.resource_type, name, KAFKA):
                continue
            if deny is None or order.is_before(acl, deny):
                return (
                    f"Kafka throws IllegalStateException: the principal of ACL {acl.acl_id}, "
                    f"{acl}, has no colon"
                )
        return None


@lru_cache(maxsize=100_000)
def _no_such_session(principal: str, host: str) -> str | None:
    """Return why no client's session looks like this."""
    if split_principal(principal) is None:
        return "no session has such a principal: it has no colon"
    canonical = canonical_host(host)
    if canonical is None or "%" in canonical:
        return "no host that a broker can see: expected an IP address without a zone"
    if canonical != host:
        return f"no broker sees this host: Java writes {canonical}"
    return None
