"""ACLs whose host is a range × brokers → ``brokers-disagree``: what depends on the broker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from aclkit.audit.findings.audit_input import AuditInput
from aclkit.model.brokers import DIFFER, RangesByBroker, named_brokers
from aclkit.model.findings import Finding, Kind
from aclkit.model.phrases import number_of
from aclkit.questions.preview.preview import MOST_REGIONS
from aclkit.rules.decide.confirm import Comparison
from aclkit.rules.names.compare import GAINED, CellChange
from aclkit.rules.names.question import Budget
from aclkit.rules.names.region import RegionChange, openings
from aclkit.rules.names.words import opening_words

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
    told = openings(compared.difference, telling, MOST_REGIONS)
    at_least = "" if compared.difference.is_known else "at least "
    yield BROKERS_DISAGREE.about(
        SUBJECT,
        f"The answer to {at_least}{number_of(len(told), 'set')} of requests depends on the broker. "
        f"For example, {_example(compared, told[0].change, ranges)}.",
        fix=_way_out(ranges),
        acls=[each.acl for each in audit.rereads if each.changes],
        evidence=(ranges.words, *_regions(told, ranges)),
    )


def _example(compared: Comparison, change: CellChange, ranges: RangesByBroker) -> str:
    """Show one decision as each side makes it."""
    request, then, now = compared.rulings(change)
    return (
        f"{request.operation} on {request.resource} by {request.principal} from {request.host} "
        f"is {then.decision} by {named_brokers(ranges.without)} and "
        f"{now.decision} by {named_brokers(ranges.with_ranges)}"
    )


def _regions(told: Sequence[RegionChange], ranges: RangesByBroker) -> Iterator[str]:
    """Yield which brokers alone allow what."""
    for opening in told:
        who = ranges.with_ranges if opening.kind == GAINED else ranges.without
        yield f"allowed only by {named_brokers(who)}: {opening_words(opening)}"


def _way_out(ranges: RangesByBroker) -> str:
    return (
        f"Upgrade {named_brokers(ranges.without)} to Kafka 4.4 or later, or downgrade "
        f"{named_brokers(ranges.with_ranges)}. Until then, remove these ACLs if the answer must "
        "not depend on the broker."
    )
