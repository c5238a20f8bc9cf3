"""What is known of a cluster → all findings on its ACLs, the worst first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from aclkit.audit.findings.any_host import find_any_host
from aclkit.audit.findings.deny_leaves_describe import find_deny_leaves_describe
from aclkit.audit.findings.escalation import find_escalations
from aclkit.audit.findings.facts import AuditInput
from aclkit.audit.findings.glob_lookalike import find_glob_lookalikes
from aclkit.audit.findings.inherited_access import find_inherited_access
from aclkit.audit.findings.never_matches import find_never_matches
from aclkit.audit.findings.open_to_everyone import find_open_to_everyone
from aclkit.audit.findings.orphan_principal import find_orphan_principals
from aclkit.audit.findings.orphan_resource import find_orphan_resources
from aclkit.audit.findings.over_broad import find_over_broad
from aclkit.audit.findings.overridden import find_overridden
from aclkit.audit.findings.public_access import find_public_access
from aclkit.audit.findings.read_without_group import find_read_without_group
from aclkit.audit.findings.readings import find_duplicates, find_unknown_codes
from aclkit.audit.findings.redundant import find_redundant
from aclkit.audit.findings.shadowed import find_shadowed
from aclkit.audit.findings.transactional_without_write import find_transactional_without_write
from aclkit.model.acl import Acl
from aclkit.model.findings import Finding, merge_same
from aclkit.model.semantics import KIP_1042, Semantics

Finder = Callable[[AuditInput], Iterable[Finding]]

FINDERS: Final[tuple[Finder, ...]] = (
    find_public_access,
    lambda audit: find_never_matches(audit.acls, audit.semantics),
    find_redundant,
    find_shadowed,
    find_overridden,
    find_glob_lookalikes,
    find_any_host,
    find_escalations,
    find_over_broad,
    find_open_to_everyone,
    find_inherited_access,
    find_orphan_resources,
    find_orphan_principals,
    find_read_without_group,
    find_transactional_without_write,
    find_deny_leaves_describe,
)


def find_all(audit: AuditInput) -> list[Finding]:
    """Return the findings of an audit: what is too much, what is of no use, what is left over."""
    return merge_same(finding for find in FINDERS for finding in find(audit))


def find_readings(acls: Sequence[Acl], semantics: Semantics = KIP_1042) -> list[Finding]:
    """Return the findings on how ACLs are read; ``materialize`` says them with its result."""
    return merge_same(
        [
            *find_never_matches(acls, semantics),
            *find_duplicates(acls),
            *find_unknown_codes(acls),
        ]
    )
