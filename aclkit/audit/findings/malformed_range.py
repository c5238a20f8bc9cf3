"""ACLs → ``malformed-range``: whose host has a ``/`` and is no range, so it matches nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from aclkit.model.acl import Acl
from aclkit.model.cidr import has_unknown_zone, why_no_range
from aclkit.model.findings import Finding, Kind
from aclkit.model.semantics import Semantics
from aclkit.rules.patterns.match import is_malformed_range

MALFORMED_RANGE: Final = Kind(
    id="malformed-range",
    severity="medium",
    depends="medium for a DENY, low for an ALLOW",
    meaning=(
        "The host holds a / and is no range as Kafka 4.4 reads it (10.0.0.0/33, 10.0.0/8, "
        "10.0.*/8, ::ffff:10.0.0.0/104), so no address matches it, and nothing says so when a "
        "request is decided. An ALLOW of the kind gives nothing; a DENY is a protection that "
        "somebody believes in and that does not act. Controllers of Kafka 4.4 refuse such a host; "
        "older ones took any text. Where ranges do not decide, this is never-matches instead."
    ),
    fix=(
        "Add the range that was meant in a form that parses, such as 10.0.0.0/8, then remove this "
        "ACL."
    ),
)
_WITHOUT_ZONE: Final = (
    "Add the range without its zone, which no address is compared with, then remove this ACL."
)


def find_malformed_ranges(acls: Iterable[Acl], semantics: Semantics) -> Iterator[Finding]:
    """Yield each ACL whose host would be a range if it parsed, with Kafka's reason why not.

    Medium for a DENY: somebody believes in a protection that does not act. Low for an ALLOW.
    """
    for acl in acls:
        if is_malformed_range(acl.host, semantics):
            depends = has_unknown_zone(acl.host)
            yield MALFORMED_RANGE.about(
                str(acl),
                f"{_effect(acl)}: host {acl.host!r} is no range: {why_no_range(acl.host)}"
                f"{_UNLESS if depends else ''}.",
                severity="low" if acl.is_allow else "medium",
                fix=_WITHOUT_ZONE if depends else None,
                acls=(acl,),
            )


def _effect(acl: Acl) -> str:
    if acl.is_allow:
        return "This ALLOW matches no address and gives nothing to anybody"
    return "This DENY matches no address, so the protection that it seems to give does not act"


_UNLESS: Final = (
    "; on a broker whose machine has the network interface that its zone names it is one, and "
    "which has it is not known here"
)
