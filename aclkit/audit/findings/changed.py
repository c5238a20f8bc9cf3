"""The findings of a cluster before and after a planned change → those that come and go. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aclkit.audit.findings.audit_input import AuditInput
from aclkit.audit.findings.registry import KINDS, REGISTRY, find_all
from aclkit.model.findings import SEVERITIES, Finding


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
