"""Parts of sentences that the messages of findings share, and the columns of their subjects. Pure.

Names stand in them as they are: the code that prints them makes them visible.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from aclkit.model.acl import Acl, acl_words, pattern_words, quoted, type_words
from aclkit.model.findings import AUTHORIZER_LOG_MISMATCH, Finding
from aclkit.model.groups import grouped
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.phrases import few, number_of
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


class SubjectColumns(NamedTuple):
    """What a finding is about.

    Attributes:
        principal: one, or the first and how many more; empty where none is known.
        resource: the resource pattern, or how many there are; or any other subject.
        access: permission and operations, and the hosts; empty where no ACL is known.
    """

    principal: str
    resource: str
    access: str


def subject_columns(finding: Finding, acls: Mapping[str, Acl]) -> SubjectColumns:
    """Return what a finding is about.

    A finding on one ACL is about that ACL, whichever other ACLs it has. Any other finding is
    about all its ACLs. Where none of them is known, its subject takes their place.

    Args:
        finding: the finding.
        acls: id → ACL, as far as they are known.
    """
    behind = [acls[each] for each in finding.acl_ids if each in acls]
    about = [acl for acl in behind if str(acl) == finding.subject] or behind
    if about:
        patterns = {acl.pattern for acl in about}
        return SubjectColumns(
            few(dict.fromkeys(acl.principal for acl in about), 1),
            pattern_words(about[0]) if len(patterns) == 1 else number_of(len(patterns), "pattern"),
            _access(about),
        )
    if finding.subject.startswith("User:") and finding.finding != AUTHORIZER_LOG_MISMATCH.id:
        return SubjectColumns(finding.subject, "", "")
    return SubjectColumns("", finding.subject, "")


def subject_words(subject: str, acls: Iterable[Acl]) -> str:
    """Write the subject of a finding for people: an ACL that is among some in its short form."""
    return next((acl_words(acl) for acl in acls if str(acl) == subject), subject)


def _access(acls: Sequence[Acl]) -> str:
    operations = grouped((acl.permission_type, acl.operation) for acl in acls)
    granted = (f"{kind} {few(dict.fromkeys(each))}" for kind, each in operations.items())
    return f"{'; '.join(granted)}{_hosts(acls)}"


def _hosts(acls: Sequence[Acl]) -> str:
    """Write the hosts; of one ACL "any host", which is Kafka's default, is left out."""
    hosts = list(dict.fromkeys(acl.host for acl in acls))
    if hosts == ["*"]:
        return " from any host" if len({acl.binding for acl in acls}) > 1 else ""
    return f" from {quoted(hosts[0]) if len(hosts) == 1 else number_of(len(hosts), 'host')}"
