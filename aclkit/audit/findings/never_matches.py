"""ACLs → ``never-matches``: which ones no resource, client or operation can ever meet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from aclkit.model.acl import Acl
from aclkit.model.findings import Finding, Kind
from aclkit.model.semantics import Semantics
from aclkit.rules.patterns.unmatchable import IS_MALFORMED, SLEEPS, reasons_never_to_match

NEVER_MATCHES: Final = Kind(
    id="never-matches",
    severity="medium",
    depends="medium for a DENY, low for an ALLOW",
    meaning=(
        "No request can ever meet the ACL: a topic's name cannot hold its letters (PREFIXED *, a "
        "LITERAL that looks like a glob) or be that long, its host is no address as a broker "
        "writes it (a host name, ::1 instead of 0:0:0:0:0:0:0:1), no request on that type has its "
        "operation, its principal or the USER that it is on has no colon between type and name, or "
        "the cluster has another name. A range of addresses can match, if only on newer brokers: "
        "that is sleeping-range. kafka-acls and the controller take such ACLs without a word "
        "(a principal without colon until 4.0). An ALLOW of the kind gives nothing; a DENY is a "
        "protection that does not exist. It still counts as an ACL of its resource, and one whose "
        "principal has no colon makes authorizeByResourceType fail for its resource type."
    ),
    fix="Add what was meant in a form that can match, then remove this ACL.",
)


def find_never_matches(acls: Iterable[Acl], semantics: Semantics) -> Iterator[Finding]:
    """Yield each ACL that nothing can ever match, with all reasons.

    Medium for a DENY: somebody believes in a protection that is not there. Low for an ALLOW.
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
                f"{_effect(acl)}: {'; and '.join(reasons)}.",
                severity="low" if acl.is_allow else "medium",
                acls=(acl,),
                evidence=reasons,
            )


def _effect(acl: Acl) -> str:
    if acl.is_allow:
        return "This ALLOW can never match and gives nothing to anybody"
    return "This DENY can never match, so the protection that it seems to give does not exist"
