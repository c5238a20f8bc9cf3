"""ACLs → ``transactional-id-without-topic``: whose transactions can write to no topic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aclkit.audit.findings.facts import AuditInput
from aclkit.audit.findings.partners import lacking, number_of
from aclkit.model.findings import Finding, Kind

TRANSACTIONAL_WITHOUT_WRITE: Final = Kind(
    id="transactional-id-without-topic",
    severity="info",
    meaning=(
        "A transactional producer needs WRITE on its transactional id and WRITE on the topics. "
        "This principal has the first and WRITE on no topic whatever: it can begin transactions, "
        "and fence the producer of another that uses the same id, but write nothing. Often what "
        "is left of a producer that is gone."
    ),
    fix=(
        "Add WRITE on the producer's topics (kafka-acls --producer --transactional-id adds both), "
        "or remove WRITE on the transactional id."
    ),
)


def find_transactional_without_write(audit: AuditInput) -> Iterator[Finding]:
    """Yield each principal with WRITE on a transactional id and WRITE on no topic."""
    for principal, acls in lacking(audit, ("TRANSACTIONAL_ID", "WRITE"), ("TOPIC", "WRITE")):
        yield TRANSACTIONAL_WITHOUT_WRITE.about(
            principal,
            f"{principal} may WRITE with transactional ids by {number_of(acls)} and may WRITE to "
            "no topic at all.",
            acls=acls,
        )
