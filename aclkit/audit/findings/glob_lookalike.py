"""ACLs → ``glob-lookalike``: whose resource name looks like a glob and is none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aclkit.audit.findings.audit_input import AuditInput
from aclkit.audit.findings.sentences import names_words
from aclkit.model.acl import Acl
from aclkit.model.acl_words import acl_words, type_words
from aclkit.model.findings import Finding, Kind
from aclkit.rules.patterns.match import LITERAL, effective_pattern_type

GLOB_LOOKALIKE: Final = Kind(
    id="glob-lookalike",
    severity="medium",
    summary="ACLs whose name looks like a pattern but is none",
    depends="medium for a DENY, low for an ALLOW",
    meaning=(
        "The name contains * or ?, but in LITERAL and PREFIXED patterns these are plain "
        "characters. Only the LITERAL name * matches all names. LITERAL app-* matches only the "
        "group with exactly that name. PREFIXED * matches names that start with a star. "
        "kafka-acls accepts such names without a warning. Topic names cannot contain * or ?, so "
        "for topics the finding is never-matches."
    ),
    fix=(
        "Add the ACL that was intended, then remove the one found. For names that start with app-, "
        "pass --resource-pattern-type prefixed and the name app-. For all names, pass the literal "
        "name *."
    ),
)

_TYPES: Final = ("GROUP", "TRANSACTIONAL_ID", "DELEGATION_TOKEN", "USER")
"""Where names may hold a star: topics cannot, and there is one cluster only."""


def find_glob_lookalikes(audit: AuditInput) -> Iterator[Finding]:
    """Yield each ACL whose name holds a wildcard that is none; LITERAL ``*`` is one."""
    for acl in audit.acls:
        if acl.resource_type in _TYPES and _looks_like_a_glob(acl, audit):
            yield GLOB_LOOKALIKE.about(
                str(acl),
                f"{acl_words(acl)} matches only {_names(acl)}: * and ? are plain characters in a "
                f"{acl.pattern_type} pattern.",
                severity="low" if acl.is_allow else "medium",
                acls=(acl,),
            )


def _names(acl: Acl) -> str:
    if acl.pattern_type == LITERAL:
        return f'the {type_words(acl.resource_type)} with the name "{acl.resource_name}"'
    return names_words(acl)


def _looks_like_a_glob(acl: Acl, audit: AuditInput) -> bool:
    name, kind = acl.resource_name, acl.pattern_type
    if (kind, name) == (LITERAL, "*") or not ("*" in name or "?" in name):
        return False
    # A GLOB that today's brokers take for a prefix is reads-differently.
    return effective_pattern_type(kind, audit.semantics) == kind != "GLOB"
