"""ACLs → all findings on them, the worst first: for the nightly run and for materialize."""

from __future__ import annotations

from collections.abc import Sequence

from aclkit.audit.never_matches import find_never_matches
from aclkit.audit.public_access import find_public_access
from aclkit.audit.readings import (
    find_duplicates,
    find_hosts_never_matching,
    find_malformed_principals,
    find_unknown_codes,
)
from aclkit.audit.redundant import find_redundant
from aclkit.findings import Finding, sort_findings
from aclkit.model.acl import Acl
from aclkit.model.semantics import KIP_1042, Semantics


def find_all(acls: Sequence[Acl], semantics: Semantics) -> list[Finding]:
    """Return the findings of an audit: public, redundant and dead ACLs."""
    return sort_findings(
        [
            *find_public_access(acls, semantics),
            *find_redundant(acls, semantics),
            *find_never_matches(acls, semantics),
        ]
    )


def find_readings(acls: Sequence[Acl], semantics: Semantics = KIP_1042) -> list[Finding]:
    """Return the findings on how ACLs are read; ``materialize`` says them with its result."""
    return sort_findings(
        [
            *find_malformed_principals(acls),
            *find_duplicates(acls),
            *find_unknown_codes(acls),
            *find_hosts_never_matching(acls, semantics),
        ]
    )
