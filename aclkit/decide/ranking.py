"""The ACLs that match a request → their ranks, how each of them matches, and what beat it. Pure.

The first rank is the deciding ACL of ``rules.decide``: the keys are those of ``order``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from aclkit.decide.order import (
    broker_allow_key,
    broker_deny_key,
    compare_standard_acls,
    specific_key,
)
from aclkit.model.acl import ANY_OTHER, Acl, Request
from aclkit.model.operation import BY_ALL, EQUAL, IMPLIED, coverage
from aclkit.model.semantics import BROKER, Semantics
from aclkit.patterns.match import (
    GLOB,
    LITERAL,
    PREFIXED,
    effective_pattern_type,
    host_matches,
    matches_every_name,
    principal_matches,
)
from aclkit.patterns.specificity import (
    NAME_EXACT,
    NAME_GLOB,
    NAME_WILDCARD,
    Specificity,
    host_specificity,
    pattern_specificity,
    principal_specificity,
)

WILDCARD: Final = "wildcard"
"""The word for what matches every name; the other words are literal, prefix, exact and glob."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How an ACL that reaches a resource fits a request; None where a part does not fit.

    Attributes:
        pattern: literal, prefix, glob or wildcard.
        skipped: letters of the name that the pattern does not spell out; None for "any other",
            which has no letters.
        principal: exact, glob or wildcard.
        host: exact, glob or wildcard.
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
    """Say how an ACL that reaches the request's resource fits the request, part by part."""
    pattern = acl.pattern_type, acl.resource_name
    letters = -pattern_specificity(*pattern, semantics)[0].minus_letters
    name = request.resource_name
    kind = _WORD_OF_PATTERN[effective_pattern_type(acl.pattern_type, semantics)]
    cover = coverage(acl.operation, acl.permission_type, request.operation)
    is_asker = principal_matches(acl.principal, request.principal, semantics)
    is_there = host_matches(acl.host, request.host, semantics)
    return Fit(
        pattern=WILDCARD if matches_every_name(*pattern, semantics) else kind,
        skipped=None if name == ANY_OTHER else len(name) - letters,
        principal=_WORD_OF_NAME[_principal_class(acl, semantics)] if is_asker else None,
        host=_WORD_OF_NAME[host_specificity(acl.host, semantics)[0]] if is_there else None,
        operation=None if cover is None else _WORD_OF_COVER[cover],
    )


def rank_acls(
    acls: Iterable[Acl], request: Request, semantics: Semantics, *, wildcard_is_last: bool = False
) -> list[Acl]:
    """Sort ACLs that match a request: whatever stands before would decide in place of the next.

    DENYs before ALLOWs, each in the order of ``deciding_acl``. A broker stops at its first DENY
    and goes on to its last ALLOW; so its ALLOWs are ranked from the last one back.
    """
    denies: list[Acl] = []
    allows: list[Acl] = []
    for acl in acls:
        (allows if acl.is_allow else denies).append(acl)
    if semantics.deciding_acl != BROKER:
        for side in (denies, allows):
            side.sort(key=lambda acl: specific_key(acl, request.operation, semantics))
    else:
        denies.sort(key=lambda acl: broker_deny_key(acl, request.resource_name))
        allows.sort(
            key=lambda acl: broker_allow_key(acl, wildcard_is_last=wildcard_is_last), reverse=True
        )
    return denies + allows


def why_beaten(
    better: Acl,
    worse: Acl,
    request: Request,
    semantics: Semantics,
    *,
    wildcard_is_last: bool = False,
) -> str:
    """Say what ranks one matching ACL before another: the first thing in which their keys differ.

    >>> from aclkit.model.semantics import KIP_1042
    >>> ids = {"acl_id": "1", "resource_type": "TOPIC", "principal": "User:a", "host": "*"}
    >>> ids |= {"operation": "READ", "permission_type": "ALLOW"}
    >>> long = Acl(resource_name="pay-in", pattern_type="PREFIXED", **ids)
    >>> short = Acl(resource_name="pay", pattern_type="PREFIXED", **ids)
    >>> ask = Request(principal="User:a", host="::1", operation="READ",
    ...               resource_type="TOPIC", resource_name="pay-in-1")
    >>> why_beaten(long, short, ask, KIP_1042)
    'pattern spells more letters: 6 before 3'
    """
    if worse.is_allow and not better.is_allow:
        return "a DENY beats every ALLOW"
    if semantics.deciding_acl != BROKER:
        return next(_specific_reasons(better, worse, request.operation, semantics))
    if better.is_allow:
        keys = [broker_allow_key(acl, wildcard_is_last=wildcard_is_last) for acl in (better, worse)]
        rule = "a broker names the last ALLOW that it meets"
    else:
        keys = [broker_deny_key(acl, request.resource_name) for acl in (better, worse)]
        rule = "a broker stops at the first DENY that it meets"
    if keys[0][0] != keys[1][0]:
        return f"{rule}, and here it meets the pattern * last"
    return f"{rule}, in its order by {_standard_field(better, worse)}"


_WORD_OF_PATTERN: Final = {LITERAL: "literal", PREFIXED: "prefix", GLOB: "glob"}
_WORD_OF_NAME: Final = {NAME_EXACT: "exact", NAME_GLOB: "glob", NAME_WILDCARD: WILDCARD}
_WORD_OF_COVER: Final = {EQUAL: "equal", IMPLIED: "implied", BY_ALL: "all"}
_STANDARD_FIELDS: Final = (
    "resource_name", "pattern_type", "operation", "principal", "host", "permission_type",
)  # fmt: skip
"""The fields of StandardAcl in the order in which it compares them, the resource type aside."""


def _principal_class(acl: Acl, semantics: Semantics) -> int:
    return principal_specificity(acl.principal, semantics)[0]


def _specific_reasons(
    better: Acl, worse: Acl, operation: str, semantics: Semantics
) -> Iterator[str]:
    """Yield every difference of two ``specific_key``s in words, the first that counts first."""
    a, b = (specific_key(acl, operation, semantics) for acl in (better, worse))
    (a_place, _), (b_place, _) = a[0], b[0]
    yield from _differences("pattern", a_place, b_place)
    if a[0] != b[0]:
        kinds = [effective_pattern_type(acl.pattern_type, semantics) for acl in (better, worse)]
        yield f"pattern type: {kinds[0]} before {kinds[1]}"
    for what, at in (("principal", 1), ("host", 2)):
        if a[at][0] != b[at][0]:
            yield f"{what}: {_WORD_OF_NAME[a[at][0]]} before {_WORD_OF_NAME[b[at][0]]}"
        yield from _differences(what, a[at][1], b[at][1])
    if a[3] != b[3]:
        yield f"operation: {_WORD_OF_COVER[a[3]]} before {_WORD_OF_COVER[b[3]]}"
    for what, x, y in zip(_TEXTS, a[4:], b[4:], strict=True):
        if x != y:
            yield f"equally specific; {what} first in code-point order"


_TEXTS: Final = ("name", "principal", "host", "operation", "id")


def _differences(what: str, a: Specificity, b: Specificity) -> Iterator[str]:
    """Yield how two specificities differ."""
    if a.minus_letters != b.minus_letters:
        yield f"{what} spells more letters: {-a.minus_letters} before {-b.minus_letters}"
    if a.stars != b.stars:
        yield f"{what} has fewer *: {a.stars} before {b.stars}"
    if a.minus_questions != b.minus_questions:
        yield f"{what} has more ?: {-a.minus_questions} before {-b.minus_questions}"
    if a.minus_literal_start != b.minus_literal_start:
        starts = -a.minus_literal_start, -b.minus_literal_start
        yield f"{what} has the longer literal start: {starts[0]} before {starts[1]} letters"


def _standard_field(better: Acl, worse: Acl) -> str:
    """Name the field in which two ACLs of one resource type differ for StandardAcl."""
    for field in _STANDARD_FIELDS:
        if compare_standard_acls(replace(worse, **{field: getattr(better, field)}), worse):
            words = field.replace("_", " ")
            return f"{words}, descending" if field == "resource_name" else words
    return "id"
