"""ACLs → ``never-matches``: which ones no resource, client or operation can ever meet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from aclkit.audit.findings.sentences import nothing_words
from aclkit.model.acl import Acl
from aclkit.model.acl_words import acl_words
from aclkit.model.findings import Finding, Kind
from aclkit.model.semantics import Semantics
from aclkit.rules.patterns.match import IS_MALFORMED, SLEEPS, reasons_never_to_match

NEVER_MATCHES: Final = Kind(
    id="never-matches",
    severity="medium",
    summary="ACLs that can never match a request",
    depends="medium for a DENY, low for an ALLOW",
    meaning=(
        "No request can ever match the ACL, for one of these reasons. Topic names cannot contain "
        "such characters (PREFIXED *, a LITERAL that looks like a glob) or be that long. The host "
        "is not an address in the form that brokers use (a host name, or ::1 instead of "
        "0:0:0:0:0:0:0:1). The resource type does not have the operation. The principal or the "
        "USER resource has no colon between type and name. A cluster resource has a wrong name. A "
        "range of addresses can match on newer brokers (see sleeping-range). kafka-acls and the "
        "controller accept such ACLs without a warning (principals without a colon until 4.0). "
        "Such an ALLOW grants nothing, and such a DENY protects nothing. The ACL still counts as "
        "an ACL of its resource. A principal without a colon makes authorizeByResourceType fail "
        "for the resource type."
    ),
    fix="Add the intended ACL in a form that can match, then remove the one found.",
)


def find_never_matches(acls: Iterable[Acl], semantics: Semantics) -> Iterator[Finding]:
    """Yield each ACL that nothing can ever match, with all reasons.

    Medium for a DENY, which protects nothing; low for an ALLOW.
    That a host is a malformed range is a finding of its own, and so is one that is a range where
    they do not decide: it matches as soon as brokers are of Kafka 4.4.
    """
    for acl in acls:
        reasons = [
            why
            for why in reasons_never_to_match(acl, semantics)
            if why not in (IS_MALFORMED, SLEEPS)
        ]
        if reasons:
            yield NEVER_MATCHES.about(
                str(acl),
                f"{acl_words(acl)} {nothing_words(acl)}: {'; '.join(reasons)}.",
                severity="low" if acl.is_allow else "medium",
                acls=(acl,),
                evidence=reasons,
            )
