"""The findings of a cluster before and after a planned change → those that come and go. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from aclkit.audit.findings.audit_input import AuditInput
from aclkit.audit.findings.registry import find_all
from aclkit.model.acl import Acl
from aclkit.model.findings import SEVERITIES, Finding


def changed_findings(
    before: AuditInput, after: Sequence[Acl]
) -> tuple[list[Finding], list[Finding]]:
    """Return the findings that other ACLs bring, and those that they end, the worst first."""
    old, new = (
        {finding.fingerprint: finding for finding in find_all(audit)}
        for audit in (before, replace(before, acls=after))
    )
    brought = [finding for name, finding in new.items() if name not in old]
    ended = [finding for name, finding in old.items() if name not in new]
    return _worst_first(brought), _worst_first(ended)


def _worst_first(findings: Sequence[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))
