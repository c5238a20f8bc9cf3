"""ACLs → ``transactional-id-without-topic``: whose transactions can write to no topic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aclkit.audit.findings.audit_input import AuditInput
from aclkit.audit.findings.required_pairs import lacking
from aclkit.audit.findings.sentences import acls_words, who_words
from aclkit.model.findings import Finding, Kind

TRANSACTIONAL_WITHOUT_WRITE: Final = Kind(
    id="transactional-id-without-topic",
    severity="info",
    summary="transactional ids without a topic to write to",
    meaning=(
        "A transactional producer needs WRITE on its transactional id and WRITE on its topics. "
        "The principal has WRITE on a transactional id but on no topic. So it can start "
        "transactions and fence another producer with the same id, but cannot write records. Often "
        "such ACLs are left over from a producer that no longer exists."
    ),
    fix=(
        "Add WRITE on the producer's topics (kafka-acls --producer --transactional-id adds both "
        "ACLs), or remove WRITE on the transactional id."
    ),
)


def find_transactional_without_write(audit: AuditInput) -> Iterator[Finding]:
    """Yield each principal with WRITE on a transactional id and WRITE on no topic."""
    for principal, acls in lacking(audit, ("TRANSACTIONAL_ID", "WRITE"), ("TOPIC", "WRITE")):
        yield TRANSACTIONAL_WITHOUT_WRITE.about(
            principal,
            f"{who_words(principal, audit.semantics)} has WRITE on transactional ids but on no "
            f"topic, so it cannot produce: {acls_words(acls, principal)}.",
            acls=acls,
        )
