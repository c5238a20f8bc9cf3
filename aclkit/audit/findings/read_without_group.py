"""ACLs → ``read-without-group``: who has READ on topics and on no group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aclkit.audit.findings.audit_input import AuditInput
from aclkit.audit.findings.required_pairs import lacking
from aclkit.audit.findings.sentences import acls_words, who_words
from aclkit.model.findings import Finding, Kind

READ_WITHOUT_GROUP: Final = Kind(
    id="read-without-group",
    severity="info",
    summary="principals that can read topics but no group",
    meaning=(
        "A consumer that subscribes needs READ on its topics and READ on its group. The principal "
        "has READ on topics but on no group, so subscribing fails with GROUP_AUTHORIZATION_FAILED. "
        "Only a client that assigns partitions itself and commits no offsets can consume. Often "
        "half of the ACLs were forgotten when the client was set up or removed."
    ),
    fix=(
        "Add READ on the principal's groups (kafka-acls --consumer adds both ACLs), or remove READ "
        "on the topics."
    ),
)


def find_read_without_group(audit: AuditInput) -> Iterator[Finding]:
    """Yield each principal with READ on a topic and READ on no group."""
    for principal, acls in lacking(audit, ("TOPIC", "READ"), ("GROUP", "READ")):
        yield READ_WITHOUT_GROUP.about(
            principal,
            f"{who_words(principal, audit.semantics)} has READ on topics but on no group, so it "
            f"cannot subscribe: {acls_words(acls, principal)}.",
            acls=acls,
        )
