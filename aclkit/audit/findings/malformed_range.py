"""ACLs → ``malformed-range``: whose host has a ``/`` and is no range, so it matches nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from aclkit.audit.findings.sentences import nothing_words
from aclkit.model.acl import Acl
from aclkit.model.acl_words import acl_words
from aclkit.model.cidr import has_unknown_zone, why_no_range
from aclkit.model.findings import Finding, Kind
from aclkit.model.semantics import Semantics
from aclkit.rules.patterns.match import is_malformed_range

MALFORMED_RANGE: Final = Kind(
    id="malformed-range",
    severity="medium",
    summary="ACLs whose host is not a valid range",
    depends="medium for a DENY, low for an ALLOW",
    meaning=(
        "The host contains a / but is not a range that Kafka 4.4 can read. Examples are "
        "10.0.0.0/33, 10.0.0/8, 10.0.*/8 and ::ffff:10.0.0.0/104. No address matches such a host, "
        "and brokers do not warn about it. Such an ALLOW grants nothing, and such a DENY protects "
        "nothing. Controllers of Kafka 4.4 reject such hosts; older controllers accepted any text. "
        "Where brokers do not read ranges, the finding is never-matches."
    ),
    fix=(
        "Add an ACL with the intended range in a valid form, for example 10.0.0.0/8, then remove "
        "the one found."
    ),
)
_WITHOUT_ZONE: Final = (
    "Add an ACL with the range without its zone, which Kafka does not compare, then remove the one "
    "found."
)


def find_malformed_ranges(acls: Iterable[Acl], semantics: Semantics) -> Iterator[Finding]:
    """Yield each ACL whose host would be a range if it parsed, with Kafka's reason why not.

    Medium for a DENY, which protects nothing; low for an ALLOW.
    """
    for acl in acls:
        if is_malformed_range(acl.host, semantics):
            depends = has_unknown_zone(acl.host)
            yield MALFORMED_RANGE.about(
                str(acl),
                f"{acl_words(acl)} {nothing_words(acl)}: the host is not a valid range "
                f"({why_no_range(acl.host)}).{_UNLESS if depends else ''}",
                severity="low" if acl.is_allow else "medium",
                fix=_WITHOUT_ZONE if depends else None,
                acls=(acl,),
            )


_UNLESS: Final = (
    " The host is a range only on brokers that have the network interface of its zone. aclkit does "
    "not know which brokers have it."
)
