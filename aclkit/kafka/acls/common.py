"""What every tool that manages ACLs for Kafka can express, as Strimzi and Terraform can. Pure."""

from __future__ import annotations

import re
from typing import Final

from aclkit.model.acl import Acl
from aclkit.model.enums import AclOperation
from aclkit.model.resource import CLUSTER_NAME

_TYPES: Final = ("TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID")
_LATER: Final = ("ANY", "CREATE_TOKENS", "DESCRIBE_TOKENS", "TWO_PHASE_COMMIT")
"""Operations of a filter, and those that came with tokens of users and two-phase commits."""


def is_common(acl: Acl) -> bool:
    """Whether an ACL has only resources, patterns and operations that each such tool knows."""
    is_cluster = acl.resource_type == "CLUSTER"
    return (
        acl.resource_type in _TYPES
        and acl.pattern_type in ("LITERAL", "PREFIXED")
        and acl.permission_type in ("ALLOW", "DENY")
        and AclOperation.is_known(acl.operation)
        and acl.operation not in _LATER
        and bool(acl.resource_name)
        and (not is_cluster or (acl.resource_name, acl.pattern_type) == (CLUSTER_NAME, "LITERAL"))
    )


def is_kubernetes_name(name: str) -> bool:
    """Whether Kubernetes allows a name (RFC 1123 subdomain)."""
    return len(name) <= 253 and _KUBERNETES.fullmatch(name) is not None


_LABEL: Final = r"[a-z0-9]+(?:-+[a-z0-9]+)*"
_KUBERNETES: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
