"""Every kind of finding there is, who looks for it, and what an audit of a cluster finds.

A new finding is a module with its kind and its finder, and a line of the registry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

from aclkit.audit.findings.any_host import ANY_HOST, find_any_host
from aclkit.audit.findings.audit_input import AuditInput
from aclkit.audit.findings.broker_settings_differ import BROKER_SETTINGS_DIFFER
from aclkit.audit.findings.brokers_disagree import BROKERS_DISAGREE, find_brokers_disagree
from aclkit.audit.findings.deny_leaves_describe import (
    DENY_LEAVES_DESCRIBE,
    find_deny_leaves_describe,
)
from aclkit.audit.findings.drift import DESIRED_UNREADABLE, MISSING_ACL, UNMANAGED_ACL
from aclkit.audit.findings.escalation import ESCALATION, find_escalations
from aclkit.audit.findings.glob_lookalike import GLOB_LOOKALIKE, find_glob_lookalikes
from aclkit.audit.findings.inherited_access import INHERITED_ACCESS, find_inherited_access
from aclkit.audit.findings.malformed_range import MALFORMED_RANGE, find_malformed_ranges
from aclkit.audit.findings.never_matches import NEVER_MATCHES, find_never_matches
from aclkit.audit.findings.open_to_everyone import OPEN_TO_EVERYONE, find_open_to_everyone
from aclkit.audit.findings.orphan_principal import ORPHAN_PRINCIPAL, find_orphan_principals
from aclkit.audit.findings.orphan_resource import ORPHAN_RESOURCE, find_orphan_resources
from aclkit.audit.findings.over_broad import OVER_BROAD, find_over_broad
from aclkit.audit.findings.overridden import ALLOW_OVERRIDDEN, find_overridden
from aclkit.audit.findings.public_access import PUBLIC_ACCESS, find_public_access
from aclkit.audit.findings.read_without_group import READ_WITHOUT_GROUP, find_read_without_group
from aclkit.audit.findings.reading_changed import READING_CHANGED
from aclkit.audit.findings.readings import (
    DUPLICATE_ACL,
    READS_DIFFERENTLY,
    UNKNOWN_CODE,
    find_duplicates,
    find_unknown_codes,
)
from aclkit.audit.findings.redundant import REDUNDANT_ACL, find_redundant
from aclkit.audit.findings.shadowed import ALLOW_SHADOWED, DENY_SHADOWED, find_shadowed
from aclkit.audit.findings.sleeping_range import SLEEPING_RANGE, find_sleeping_ranges
from aclkit.audit.findings.super_users_unknown import SUPER_USERS_UNKNOWN
from aclkit.audit.findings.transactional_without_write import (
    TRANSACTIONAL_WITHOUT_WRITE,
    find_transactional_without_write,
)
from aclkit.audit.findings.unusual_principal import UNUSUAL_PRINCIPAL, find_unusual_principals
from aclkit.model.acl import Acl
from aclkit.model.findings import EVERY_NAME, Finding, Kind, merge_same
from aclkit.model.log_findings import (
    AUTHORIZER_LOG_MISMATCH,
    LOG_DIVERGED,
    SNAPSHOT_CONTRADICTS_LOG,
    UNUSED_GRANT,
)
from aclkit.model.semantics import KIP_1042, Semantics

Finder = Callable[[AuditInput], Iterable[Finding]]

REGISTRY: Final[Mapping[Kind, Finder | None]] = {
    PUBLIC_ACCESS: find_public_access,
    OPEN_TO_EVERYONE: find_open_to_everyone,
    ESCALATION: find_escalations,
    INHERITED_ACCESS: find_inherited_access,
    OVER_BROAD: find_over_broad,
    ANY_HOST: find_any_host,
    BROKERS_DISAGREE: find_brokers_disagree,
    SLEEPING_RANGE: find_sleeping_ranges,
    ALLOW_OVERRIDDEN: find_overridden,
    NEVER_MATCHES: lambda audit: find_never_matches(audit.acls, audit.semantics),
    UNUSUAL_PRINCIPAL: find_unusual_principals,
    MALFORMED_RANGE: lambda audit: find_malformed_ranges(audit.acls, audit.semantics),
    GLOB_LOOKALIKE: find_glob_lookalikes,
    DENY_LEAVES_DESCRIBE: find_deny_leaves_describe,
    REDUNDANT_ACL: find_redundant,
    ALLOW_SHADOWED: find_shadowed,
    DENY_SHADOWED: find_shadowed,
    ORPHAN_RESOURCE: find_orphan_resources,
    ORPHAN_PRINCIPAL: find_orphan_principals,
    READ_WITHOUT_GROUP: find_read_without_group,
    TRANSACTIONAL_WITHOUT_WRITE: find_transactional_without_write,
    READING_CHANGED: None,
    READS_DIFFERENTLY: None,
    DUPLICATE_ACL: None,
    UNKNOWN_CODE: None,
    UNUSED_GRANT: None,
    AUTHORIZER_LOG_MISMATCH: None,
    SNAPSHOT_CONTRADICTS_LOG: None,
    BROKER_SETTINGS_DIFFER: None,
    SUPER_USERS_UNKNOWN: None,
    LOG_DIVERGED: None,
    UNMANAGED_ACL: None,
    MISSING_ACL: None,
    DESIRED_UNREADABLE: None,
}
"""In the order of the page: too much access first, then what is of no use, then what is odd.

None stands for what another step finds: materialize, replay or usage.
"""

KINDS: Final[Mapping[str, Kind]] = {kind.id: kind for kind in REGISTRY}


def find_all(audit: AuditInput) -> list[Finding]:
    """Return the findings of an audit: what is too much, what is of no use, what is left over."""
    finders = dict.fromkeys(find for find in REGISTRY.values() if find is not None)
    return merge_same(finding for find in finders for finding in find(audit))


def find_readings(acls: Sequence[Acl], semantics: Semantics = KIP_1042) -> list[Finding]:
    """Return the findings on how ACLs are read; ``materialize`` reports them with its result."""
    return merge_same(chain(find_by_texts(acls, semantics), find_duplicates(acls)))


def find_by_texts(acls: Sequence[Acl], semantics: Semantics) -> Iterator[Finding]:
    """Yield those that hang on nothing but the texts of one ACL, each on one of its texts."""
    yield from find_never_matches(acls, semantics)
    yield from find_malformed_ranges(acls, semantics)
    yield from find_unknown_codes(acls)


def scope_words(kind: Kind) -> str:
    """Write which names a finding of the kind holds for."""
    if kind.holds_for == EVERY_NAME:
        return "every possible name"
    return "known names: the topics, principals and other resources known to the run"
