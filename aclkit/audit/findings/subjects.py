"""A finding and its ACLs → principal, resource and operation, as three columns.

Pure. Names stand in them as they are: the code that prints them makes them visible.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from aclkit.model.acl import Acl
from aclkit.model.acl_words import acl_words, pattern_words, quoted
from aclkit.model.findings import Finding
from aclkit.model.groups import grouped
from aclkit.model.log_findings import AUTHORIZER_LOG_MISMATCH
from aclkit.model.phrases import few, number_of

_ANY_HOST: Final = "*"
_USER: Final = "User:"


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
        return SubjectColumns(_principals(about), _resources(about), _access(about))
    if finding.subject.startswith(_USER) and finding.finding != AUTHORIZER_LOG_MISMATCH.id:
        return SubjectColumns(finding.subject, "", "")
    return SubjectColumns("", finding.subject, "")


def subject_words(subject: str, acls: Iterable[Acl]) -> str:
    """Write the subject of a finding for people: an ACL that is among some in its short form."""
    return next((acl_words(acl) for acl in acls if str(acl) == subject), subject)


def _principals(acls: Sequence[Acl]) -> str:
    return few(dict.fromkeys(acl.principal for acl in acls), 1)


def _resources(acls: Sequence[Acl]) -> str:
    patterns = {acl.pattern: acl for acl in acls}
    return pattern_words(acls[0]) if len(patterns) == 1 else number_of(len(patterns), "pattern")


def _access(acls: Sequence[Acl]) -> str:
    operations = grouped((acl.permission_type, acl.operation) for acl in acls)
    granted = (f"{kind} {few(dict.fromkeys(each))}" for kind, each in operations.items())
    return f"{'; '.join(granted)}{_hosts(acls)}"


def _hosts(acls: Sequence[Acl]) -> str:
    """Write the hosts; of one ACL "any host", which is Kafka's default, is left out."""
    hosts = list(dict.fromkeys(acl.host for acl in acls))
    if hosts == [_ANY_HOST]:
        return " from any host" if len({acl.binding for acl in acls}) > 1 else ""
    return f" from {quoted(hosts[0]) if len(hosts) == 1 else number_of(len(hosts), 'host')}"
