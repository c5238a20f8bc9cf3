"""An ACL that reaches a resource, and a request → how each part of it fits. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from aclkit.model.acl import ANY_OTHER, Acl, Request
from aclkit.model.operation import coverage
from aclkit.model.semantics import Semantics
from aclkit.rules.decide.order import WORD_OF_COVER, WORD_OF_NAME
from aclkit.rules.patterns import match, specificity

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
    letters = -specificity.pattern_specificity(*pattern, semantics)[0].minus_letters
    name = request.resource_name
    kind = _WORD_OF_PATTERN[match.effective_pattern_type(acl.pattern_type, semantics)]
    cover = coverage(acl.operation, acl.permission_type, request.operation)
    is_asker = match.principal_matches(acl.principal, request.principal, semantics)
    is_there = match.host_matches(acl.host, request.host, semantics)
    principal = WORD_OF_NAME[specificity.principal_specificity(acl.principal, semantics)[0]]
    host = WORD_OF_NAME[specificity.host_specificity(acl.host, semantics)[0]]
    return Fit(
        pattern=WILDCARD if match.matches_every_name(*pattern, semantics) else kind,
        skipped=None if name == ANY_OTHER else len(name) - letters,
        principal=principal if is_asker else None,
        host=host if is_there else None,
        operation=None if cover is None else WORD_OF_COVER[cover],
    )
