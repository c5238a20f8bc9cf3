"""ACLs → ``read-without-group``: who may READ topics and has no group to do it in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aclkit.audit.findings.facts import AuditInput
from aclkit.audit.findings.partners import lacking, number_of
from aclkit.model.findings import Finding, Kind

READ_WITHOUT_GROUP: Final = Kind(
    id="read-without-group",
    severity="info",
    meaning=(
        "A consumer that subscribes needs READ on its topics and READ on its group. This "
        "principal has READ on topics and on no group whatever, so subscribing fails with "
        "GROUP_AUTHORIZATION_FAILED; only a client that assigns partitions to itself and commits "
        "no offsets gets by. Often half of an onboarding was forgotten, or half of a removal."
    ),
    fix=(
        "Add READ on the principal's groups (kafka-acls --consumer adds both), or remove READ on "
        "the topics."
    ),
)


def find_read_without_group(audit: AuditInput) -> Iterator[Finding]:
    """Yield each principal that an ALLOW gives READ on a topic and none gives READ on a group."""
    for principal, acls in lacking(audit, ("TOPIC", "READ"), ("GROUP", "READ")):
        yield READ_WITHOUT_GROUP.about(
            principal,
            f"{principal} may READ topics by {number_of(acls)} and may READ no group at all, so "
            "it cannot subscribe.",
            acls=acls,
        )
