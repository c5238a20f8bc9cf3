"""A request and ACLs → how each fits, what it would be without one, the least one. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from aclkit.model.acl import ANY_OTHER, Acl, Request
from aclkit.model.cidr import range_of_any_other
from aclkit.model.operation import coverage
from aclkit.model.principal import WILDCARD_PRINCIPAL, split_principal
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.model.values import dataclass
from aclkit.rules.decide.order import WORD_OF_COVER, WORD_OF_NAME
from aclkit.rules.decide.rules import Ruling, decide
from aclkit.rules.patterns import match

WILDCARD: Final = "wildcard"
"""The word for what matches every name; the other words are literal, prefix, exact and glob."""

_WORD_OF_PATTERN: Final = {match.LITERAL: "literal", match.PREFIXED: "prefix", match.GLOB: "glob"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How an ACL that reaches a resource fits a request; None where a part does not fit.

    Attributes:
        pattern: literal, prefix, glob or wildcard.
        skipped: letters of the name that the pattern does not spell out; None for "any other",
            which has no letters.
        principal: exact, glob or wildcard.
        host: exact, range, glob or wildcard.
        operation: equal, implied or all.
    """

    pattern: str
    skipped: int | None
    principal: str | None
    host: str | None
    operation: str | None

    @property
    def misses(self) -> int:
        """How many parts do not fit: none where the ACL matches the request."""
        return (self.principal, self.host, self.operation).count(None)


def fit(acl: Acl, request: Request, semantics: Semantics) -> Fit:
    """Return how an ACL that reaches the request's resource fits the request, part by part."""
    pattern = acl.pattern[1:]
    letters = -match.pattern_specificity(*pattern, semantics)[0].minus_letters
    name = request.resource_name
    kind = _WORD_OF_PATTERN[match.effective_pattern_type(acl.pattern_type, semantics)]
    cover = coverage(acl.operation, acl.permission_type, request.operation)
    is_asker = match.principal_matches(acl.principal, request.principal, semantics)
    is_there = match.host_matches(acl.host, request.host, semantics)
    principal = WORD_OF_NAME[match.principal_specificity(acl.principal, semantics)[0]]
    host = WORD_OF_NAME[match.host_specificity(acl.host, semantics)[0]]
    return Fit(
        pattern=WILDCARD if match.matches_every_name(*pattern, semantics) else kind,
        skipped=None if name == ANY_OTHER else len(name) - letters,
        principal=principal if is_asker else None,
        host=host if is_there else None,
        operation=None if cover is None else WORD_OF_COVER[cover],
    )


class NextNeeds(NamedTuple):
    """Operations of which a client needs one next: those that an ALLOW would open.

    Attributes:
        open: those that no DENY stops.
        deny: the DENY that stops one of the others; None where all are open.
    """

    open: tuple[str, ...]
    deny: Acl | None


def next_needs(needs: Iterable[str], rule: Callable[[str], Ruling]) -> NextNeeds:
    """Part what a client needs next into what an ALLOW would open, and what a DENY stops.

    Args:
        needs: see ``handlers.needed_next``.
        rule: decides one of these operations today.
    """
    rulings = {need: rule(need) for need in needs}
    stopped = {need: r.acl for need, r in rulings.items() if r.acl and not r.acl.is_allow}
    return NextNeeds(
        tuple(need for need in rulings if need not in stopped), next(iter(stopped.values()), None)
    )


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
