"""Parts of sentences that the messages of findings share. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from aclkit.model.acl import Acl
from aclkit.model.acl_words import acl_words, pattern_words, quoted, type_words
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.phrases import few
from aclkit.model.principal import WILDCARD_PRINCIPAL
from aclkit.model.semantics import Semantics
from aclkit.rules.patterns.match import PREFIXED, names_exactly

_VERBS: Final = {
    "READ": "read",
    "WRITE": "write to",
    "CREATE": "create",
    "DELETE": "delete",
    "ALTER": "alter",
    "DESCRIBE": "describe",
    "CLUSTER_ACTION": "act as a broker of",
    "DESCRIBE_CONFIGS": "see the configuration of",
    "ALTER_CONFIGS": "change the configuration of",
    "CREATE_TOKENS": "create delegation tokens for",
    "DESCRIBE_TOKENS": "list the delegation tokens of",
}
_VERBS_OF_TYPE: Final = {
    ("GROUP", "READ"): "consume with",
    ("TRANSACTIONAL_ID", "WRITE"): "produce with",
    ("CLUSTER", "CREATE"): "create topics on",
}


def who_words(principal: str, semantics: Semantics) -> str:
    """Write whom an ACL is for, as the subject of a sentence."""
    if principal == WILDCARD_PRINCIPAL:
        return "Every client"
    if not names_exactly(principal, semantics):
        return f"Every principal that matches {quoted(principal)}"
    return quoted(principal)


def acls_words(
    acls: Sequence[Acl], principal: str | None = None, resource_type: str | None = None
) -> str:
    """Write the first of some ACLs, and count the others; see ``acl_words``."""
    return few((acl_words(acl, principal, resource_type) for acl in acls), 1)


def nothing_words(acl: Acl) -> str:
    """Write what an ACL does that matches no request."""
    return "grants nothing" if acl.is_allow else "protects nothing"


def can_words(acl: Acl, granted: Collection[str]) -> str:
    """Write what an ALLOW lets somebody do, up to the resource that follows.

    Args:
        acl: the ALLOW.
        granted: the operations of which DENYs leave something.
    """
    kind, operation = acl.resource_type, acl.operation
    verb = _VERBS_OF_TYPE.get((kind, operation)) or _VERBS.get(operation)
    if operation in granted and verb is not None:
        return verb
    if frozenset(granted) == frozenset(OPERATIONS_OF_TYPE.get(kind, ())):
        return "perform every operation on"
    return f"perform {', '.join(sorted(granted))} on"


def names_words(acl: Acl) -> str:
    """Write the resources that an ACL applies to as part of a sentence.

    >>> acl = Acl(acl_id="", resource_type="TOPIC", resource_name="bil", host="*",
    ...           pattern_type="PREFIXED", principal="User:*", operation="READ",
    ...           permission_type="ALLOW")
    >>> names_words(acl)
    'topics that start with "bil"'
    """
    if acl.pattern_type != PREFIXED or acl.resource_type == "CLUSTER":
        return pattern_words(acl)
    kind = type_words(acl.resource_type)
    return f'{kind}s that start with "{acl.resource_name}"' if acl.resource_name else f"all {kind}s"
