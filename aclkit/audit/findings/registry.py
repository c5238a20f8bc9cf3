"""Every kind of finding there is, who looks for it, and what an audit of a cluster finds.

A new finding is a kind and its finder in the module of its family, and a line of the registry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

from aclkit.audit.findings import (
    by_hand,
    denies,
    drift,
    escalation,
    leases,
    left_over,
    never_matches,
    public_access,
    ranges,
    readings,
    redundant,
    required_pairs,
    rights,
    too_much,
)
from aclkit.audit.findings.audit_input import AuditInput
from aclkit.errors import UsageError
from aclkit.model import findings
from aclkit.model.acl import Acl
from aclkit.model.findings import EVERY_NAME, SEVERITIES, Finding, Kind, merge_same
from aclkit.model.phrases import most_like
from aclkit.model.redpanda import has_unknown_members
from aclkit.model.semantics import KIP_1042, Semantics

Finder = Callable[[AuditInput], Iterable[Finding]]

REGISTRY: Final[Mapping[Kind, Finder | None]] = {
    public_access.PUBLIC_ACCESS: public_access.find_public_access,
    too_much.OPEN_TO_EVERYONE: too_much.find_open_to_everyone,
    escalation.ESCALATION: escalation.find_escalations,
    left_over.INHERITED_ACCESS: left_over.find_inherited_access,
    too_much.OVER_BROAD: too_much.find_over_broad,
    public_access.ANY_HOST: lambda audit: public_access.find_any_host(
        audit, redundant.covers_of(audit)
    ),
    ranges.BROKERS_DISAGREE: ranges.find_brokers_disagree,
    ranges.SLEEPING_RANGE: ranges.find_sleeping_ranges,
    denies.ALLOW_OVERRIDDEN: denies.find_overridden,
    never_matches.NEVER_MATCHES: lambda audit: never_matches.find_never_matches(
        audit.acls, audit.semantics
    ),
    never_matches.UNUSUAL_PRINCIPAL: never_matches.find_unusual_principals,
    never_matches.MALFORMED_RANGE: lambda audit: never_matches.find_malformed_ranges(
        audit.acls, audit.semantics
    ),
    never_matches.GLOB_LOOKALIKE: never_matches.find_glob_lookalikes,
    denies.DENY_LEAVES_DESCRIBE: denies.find_deny_leaves_describe,
    redundant.REDUNDANT_ACL: redundant.find_redundant,
    redundant.ALLOW_SHADOWED: redundant.find_shadowed,
    redundant.DENY_SHADOWED: redundant.find_shadowed,
    left_over.ORPHAN_RESOURCE: left_over.find_orphan_resources,
    left_over.ORPHAN_PRINCIPAL: left_over.find_orphan_principals,
    required_pairs.READ_WITHOUT_GROUP: required_pairs.find_read_without_group,
    required_pairs.TRANSACTIONAL_WITHOUT_WRITE: required_pairs.find_transactional_without_write,
    readings.READING_CHANGED: None,
    readings.READS_DIFFERENTLY: None,
    readings.DUPLICATE_ACL: None,
    readings.UNKNOWN_CODE: None,
    findings.UNUSED_GRANT: None,
    findings.REFUSED_ACCESS: None,
    findings.AUTHORIZER_LOG_MISMATCH: None,
    findings.SNAPSHOT_CONTRADICTS_LOG: None,
    readings.BROKER_SETTINGS_DIFFER: None,
    readings.SUPER_USERS_UNKNOWN: None,
    rights.MISSING_RIGHT: None,
    findings.LOG_DIVERGED: None,
    drift.UNMANAGED_ACL: None,
    drift.MISSING_ACL: None,
    drift.DESIRED_UNREADABLE: None,
    by_hand.CHANGED_BY_HAND: None,
    leases.GRANT_ENDED: None,
    leases.GRANT_ENDS_SOON: None,
    leases.LEASE_WITHOUT_ACL: None,
}
"""In the order of the page: too much access first, then what is of no use, then what is odd.

None stands for what another step finds: materialize, replay or usage.
"""

KINDS: Final[Mapping[str, Kind]] = {kind.id: kind for kind in REGISTRY}


def find_all(audit: AuditInput) -> list[Finding]:
    """Return the findings of an audit: what is too much, what is of no use, what is left over."""
    finders = dict.fromkeys(find for find in REGISTRY.values() if find is not None)
    of_members = {
        about
        for acl in audit.acls
        if has_unknown_members(acl.principal, audit.semantics)
        for about in (str(acl), acl.principal)
    }
    return merge_same(
        finding
        for find in finders
        for finding in find(audit)
        if finding.finding not in _WITHOUT_USE or finding.subject not in of_members
    )


_WITHOUT_USE: Final = frozenset(
    kind.id
    for kind in (
        denies.ALLOW_OVERRIDDEN,
        redundant.REDUNDANT_ACL,
        redundant.ALLOW_SHADOWED,
        redundant.DENY_SHADOWED,
        required_pairs.READ_WITHOUT_GROUP,
        required_pairs.TRANSACTIONAL_WITHOUT_WRITE,
    )
)
"""Kinds that do not hold for an ACL whose principal has unknown members."""


def find_readings(acls: Sequence[Acl], semantics: Semantics = KIP_1042) -> list[Finding]:
    """Return the findings on how ACLs are read; ``materialize`` reports them with its result."""
    return merge_same(chain(find_by_texts(acls, semantics), readings.find_duplicates(acls)))


def find_by_texts(acls: Sequence[Acl], semantics: Semantics) -> Iterator[Finding]:
    """Yield those that hang on nothing but the texts of one ACL, each on one of its texts."""
    yield from never_matches.find_never_matches(acls, semantics)
    yield from never_matches.find_malformed_ranges(acls, semantics)
    yield from readings.find_unknown_codes(acls)


def scope_words(kind: Kind) -> str:
    """Write which names a finding of the kind holds for."""
    if kind.holds_for == EVERY_NAME:
        return "every possible name"
    return "known names: the topics, principals and other resources known to the run"


def check_kinds(kinds: Iterable[str], *others: str) -> None:
    """Refuse what is no kind of finding.

    Args:
        kinds: what was written.
        others: words that are valid too.

    Raises:
        UsageError: a word is none.
    """
    known = (*KINDS, *others)
    for kind in kinds:
        if kind not in known:
            near = most_like(kind, known)
            meant = f" Did you mean {near}?" if near else ""
            raise UsageError(
                f"Unknown kind of finding {kind!r}.{meant} All kinds: docs/findings.md."
            )


def changed_findings(
    before: AuditInput, after: AuditInput, known: Iterable[Finding] | None = None
) -> tuple[list[Finding], list[Finding]]:
    """Return the findings that other ACLs bring, and those that they end, the worst first.

    Nothing is looked for where the ACLs are the same.

    Args:
        before: the cluster as it is.
        after: as it will be: its ACLs, and how they are read then.
        known: its findings, where a run has published them; they are looked for otherwise.
    """
    if {acl.binding for acl in before.acls} == {acl.binding for acl in after.acls}:
        return [], []
    found = find_all(before) if known is None else filter(_is_of_acls, known)
    old = {finding.fingerprint: finding for finding in found}
    new = {finding.fingerprint: finding for finding in find_all(after)}
    brought = [finding for name, finding in new.items() if name not in old]
    ended = [finding for name, finding in old.items() if name not in new]
    return _worst_first(brought), _worst_first(ended)


def _is_of_acls(finding: Finding) -> bool:
    """Whether a finding is one that ``find_all`` looks for."""
    kind = KINDS.get(finding.finding)
    return kind is not None and REGISTRY[kind] is not None


def _worst_first(findings: Sequence[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))
