"""ACLs whose host is a range, and the brokers → ``sleeping-range`` and ``brokers-disagree``.

Source: StandardAuthorizerData and CidrUtils of Kafka 4.4.0 (KIP-1276). A broker's registration
names the version of its binary (``aclkit.model.brokers``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aclkit.audit.findings.audit_input import AuditInput
from aclkit.model.acl import acl_words
from aclkit.model.brokers import DIFFER, named_brokers
from aclkit.model.findings import Finding, Kind
from aclkit.model.phrases import number_of
from aclkit.rules.decide.confirm import Comparison
from aclkit.rules.names.compare import GAINED, LOST, CellChange, SemanticsChange
from aclkit.rules.names.question import Budget
from aclkit.rules.names.region import openings
from aclkit.rules.names.words import opening_words, semantics_change_words

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
                each.acl,
                f"{acl_words(each.acl)} matches no client before Kafka 4.4. From Kafka 4.4 on, the "
                f"{each.acl.permission_type} {semantics_change_words(each)}.",
                severity=_severity(each),
                fix=None if each.changes else _NOTHING_TO_DO,
                evidence=(audit.ranges.words,),
            )


def _severity(each: SemanticsChange) -> str:
    if each.of_kind(GAINED):
        return "high"
    return "medium" if each.of_kind(LOST) else "info"


BROKERS_DISAGREE: Final = Kind(
    id="brokers-disagree",
    severity="high",
    summary="requests that brokers decide differently",
    meaning=(
        "Some registered brokers run Kafka 4.4 or later and read a host such as 10.0.0.0/8 as a "
        "range of addresses. Other brokers compare it as text. So one broker allows a request that "
        "another broker denies. One finding covers the cluster and lists the decisions that depend "
        "on the broker. The finding sleeping-range explains each ACL."
    ),
    fix=(
        "Run the same Kafka version on all brokers. Until then, do not use ranges as hosts in "
        "these ACLs."
    ),
)
SUBJECT: Final = "cluster"


def find_brokers_disagree(audit: AuditInput) -> Iterator[Finding]:
    """Yield one finding where a decision depends on the broker."""
    compared, ranges = audit.by_ranges, audit.ranges
    if ranges.state != DIFFER or compared is None or not compared.difference.changes:
        return
    # What tells the names is no part of what is known, so it takes a budget of its own.
    telling = Budget(per_question=audit.budget.per_question, total=audit.budget.total)
    told = openings(compared.difference, telling)
    older, newer = named_brokers(ranges.without), named_brokers(ranges.with_ranges)
    at_least = "" if compared.difference.is_known else "at least "
    yield BROKERS_DISAGREE.about(
        SUBJECT,
        f"The answer to {at_least}{number_of(len(told), 'set')} of requests depends on the broker. "
        f"For example, {_example(compared, told[0].change, older, newer)}.",
        fix=(
            f"Upgrade {older} to Kafka 4.4 or later, or downgrade {newer}. Until then, remove "
            "these ACLs if the answer must not depend on the broker."
        ),
        acls=[each.acl for each in audit.rereads if each.changes],
        evidence=(
            ranges.words,
            *(
                f"allowed only by {newer if each.kind == GAINED else older}: {opening_words(each)}"
                for each in told
            ),
        ),
    )


def _example(compared: Comparison, change: CellChange, older: str, newer: str) -> str:
    """Show one decision as each side makes it."""
    request, then, now = compared.rulings(change)
    return (
        f"{request.operation} on {request.resource} by {request.principal} from {request.host} "
        f"is {then.decision} by {older} and {now.decision} by {newer}"
    )
