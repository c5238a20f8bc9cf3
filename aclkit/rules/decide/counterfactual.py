"""A decided request → what it would be without an ACL, and the least ACL that allows it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from aclkit.model.acl import ANY_OTHER, Acl, Request
from aclkit.model.cidr import range_of_any_other
from aclkit.model.principal import WILDCARD_PRINCIPAL, split_principal
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.rules.decide.rules import Ruling, decide

NO_ID = ""
"""The id of an ACL that does not exist yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A request with all that decides it.

    Attributes:
        request: the question.
        reaching: the ACLs of any principal that reach the resource.
        settings: the brokers'.
        semantics: how ACLs are read.
        wildcard_is_last: see ``deciding_acl``.
    """

    request: Request
    reaching: Sequence[Acl]
    settings: BrokerSettings
    semantics: Semantics
    wildcard_is_last: bool = False

    def decide(self) -> Ruling:
        """Decide it by the pure rule."""
        return decide(
            self.reaching,
            self.request,
            self.settings,
            self.semantics,
            wildcard_is_last=self.wildcard_is_last,
        )

    def decide_without(self, acl: Acl, ruling: Ruling) -> Ruling:
        """Decide it without one of the ACLs that reach the resource.

        Only two ACLs can matter, so only these are decided again: the deciding ACL, because it
        decides as long as it exists; and an ACL that alone reaches the resource, because without
        it the default for resources that no ACL reaches applies.

        Args:
            acl: one of ``reaching``.
            ruling: the result of ``decide``.
        """
        if ruling.acl != acl and len(self.reaching) > 1:
            return ruling
        others = [other for other in self.reaching if other.acl_id != acl.acl_id]
        return replace(self, reaching=others).decide()


def least_allowing_acl(request: Request) -> Acl:
    """Return the ALLOW that opens least and yet answers a request that no ACL answers.

    It names the principal, the host, the operation and the LITERAL resource of the request. "Any
    other" is opened by what matches every name only, within a range by the range. A resource named
    ``*`` cannot be named, for LITERAL ``*`` is every name: the least that Kafka knows is PREFIXED
    ``*``.
    """
    parts = split_principal(request.principal)
    is_nobody = parts is not None and parts[1] == ANY_OTHER
    name, within = request.resource_name, range_of_any_other(request.host)
    return Acl(
        acl_id=NO_ID,
        resource_type=request.resource_type,
        resource_name="*" if name == ANY_OTHER else name,
        pattern_type="PREFIXED" if name == "*" else "LITERAL",
        principal=WILDCARD_PRINCIPAL if is_nobody else request.principal,
        host="*" if request.host == ANY_OTHER else str(within or request.host),
        operation=request.operation,
        permission_type="ALLOW",
    )
