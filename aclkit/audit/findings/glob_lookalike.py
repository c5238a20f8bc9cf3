"""ACLs → ``glob-lookalike``: whose resource name looks like a glob and is none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aclkit.audit.findings.facts import AuditInput
from aclkit.model.acl import Acl
from aclkit.model.findings import Finding, Kind
from aclkit.rules.patterns.match import LITERAL, effective_pattern_type

GLOB_LOOKALIKE: Final = Kind(
    id="glob-lookalike",
    severity="medium",
    depends="medium for a DENY, low for an ALLOW",
    meaning=(
        "The name holds * or ?, but in a LITERAL or PREFIXED pattern these are letters like any "
        "other: LITERAL app-* is the one group of that very name, and PREFIXED * are names that "
        "begin with a star. kafka-acls takes such a name without a word. On topics, whose names "
        "can hold neither, this is never-matches instead."
    ),
    fix=(
        "Write app-* as --resource-pattern-type prefixed with the name app-, and everything as "
        "literal *; then remove this ACL."
    ),
)

_TYPES: Final = ("GROUP", "TRANSACTIONAL_ID", "DELEGATION_TOKEN", "USER")
"""Where names may hold a star: topics cannot, and there is one cluster only."""


def find_glob_lookalikes(audit: AuditInput) -> Iterator[Finding]:
    """Yield each ACL whose name holds a wildcard that is none; LITERAL ``*`` is one."""
    for acl in audit.acls:
        if acl.resource_type in _TYPES and _looks_like_a_glob(acl, audit):
            effect = "gives access to" if acl.is_allow else "protects"
            what = "the name itself" if acl.pattern_type == LITERAL else "names that begin so"
            yield GLOB_LOOKALIKE.about(
                str(acl),
                f"This ACL {effect} {what} only: {acl.resource_name!r} is no glob in a "
                f"{acl.pattern_type} pattern.",
                severity="low" if acl.is_allow else "medium",
                acls=(acl,),
            )


def _looks_like_a_glob(acl: Acl, audit: AuditInput) -> bool:
    name, kind = acl.resource_name, acl.pattern_type
    if (kind, name) == (LITERAL, "*") or not ("*" in name or "?" in name):
        return False
    # A GLOB that today's brokers take for a prefix is reads-differently.
    return effective_pattern_type(kind, audit.semantics) == kind != "GLOB"
