"""ACLs whose host is a range, and the brokers → ``sleeping-range``: the effect of Kafka 4.4.

Source: StandardAuthorizerData and CidrUtils of Kafka 4.4.0 (KIP-1276). A broker's registration
names the version of its binary (``aclkit.model.brokers``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aclkit.audit.findings.audit_input import AuditInput
from aclkit.model.acl_words import acl_words
from aclkit.model.findings import Finding, Kind
from aclkit.rules.names.compare import GAINED, LOST, SemanticsChange
from aclkit.rules.names.words import semantics_change_words

SLEEPING_RANGE: Final = Kind(
    id="sleeping-range",
    severity="high",
    summary="host ranges that take effect with Kafka 4.4",
    depends="high where it will grant access, medium where it will revoke some, info otherwise",
    meaning=(
        "The host of the ACL is a range of addresses, for example 10.0.0.0/8. Brokers up to 4.3 "
        "compare the range as text, so it matches no client. The range takes effect as soon as a "
        "broker runs Kafka 4.4, whatever metadata.version is. An ALLOW then grants access that no "
        "client has had before. A DENY then denies access that clients use today. The message "
        "describes the effect when all ranges take effect together."
    ),
    fix=(
        "Before you upgrade the brokers, decide whether the effect is intended. If not, narrow or "
        "remove the ACL. aclkit preview upgrade --from 4.3 --to 4.4 shows the effect of all ranges."
    ),
)
_NOTHING_TO_DO: Final = (
    "Do nothing while the other ranges stay unchanged. Before you remove any of the ranges, run "
    "aclkit preview remove-acl."
)


def find_sleeping_ranges(audit: AuditInput) -> Iterator[Finding]:
    """Yield each ACL whose host is a range where ranges do not decide on every broker.

    What is not known of it makes no finding.
    """
    for each in audit.rereads:
        if each.changes or each.is_known:
            yield SLEEPING_RANGE.about(
                str(each.acl),
                f"{acl_words(each.acl)} matches no client before Kafka 4.4. From Kafka 4.4 on, the "
                f"{each.acl.permission_type} {semantics_change_words(each)}.",
                severity=_severity(each),
                fix=None if each.changes else _NOTHING_TO_DO,
                acls=(each.acl,),
                evidence=(audit.ranges.words,),
            )


def _severity(each: SemanticsChange) -> str:
    if each.of_kind(GAINED):
        return "high"
    return "medium" if each.of_kind(LOST) else "info"
