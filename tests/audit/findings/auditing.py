"""An audit of a few ACLs, with as much beside them as a test is about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from aclkit.audit.findings.audit_input import AuditInput
from aclkit.model.acl import Acl
from aclkit.model.findings import Finding
from aclkit.model.semantics import KIP_1042


def audit_of(*acls: Acl, **known: Any) -> AuditInput:
    """Make the input of an audit."""
    return AuditInput(**{"acls": acls, "semantics": KIP_1042} | known)


def subjects(findings: Iterable[Finding]) -> list[str]:
    """Return what findings are about, in order."""
    return [finding.subject for finding in findings]
