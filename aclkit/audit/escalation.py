"""ACLs → ``escalation``: which ALLOWs let a principal get more than its ACLs say, and how much.

Sources: AclApis (CreateAcls and DeleteAcls need ALTER on the cluster), KafkaApis and
ControllerApis (AlterUserScramCredentials the same; IncrementalAlterConfigs of a broker needs
ALTER_CONFIGS, a replica's Fetch CLUSTER_ACTION on the cluster), DelegationTokenManager and
KafkaApis.allowTokenRequests (a token for another owner needs CREATE_TOKENS on that user; who came
with a token gets no other one, so such paths have one step).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from aclkit.audit.facts import AuditInput
from aclkit.audit.shelf import pattern_of
from aclkit.findings import Finding, Kind
from aclkit.model.acl import Acl
from aclkit.model.operation import coverage
from aclkit.model.resource import CLUSTER_NAME
from aclkit.patterns.match import names_exactly, pattern_matches

ESCALATION: Final = Kind(
    id="escalation",
    severity="high; medium for ALTER_CONFIGS, and for tokens of users without such power",
    meaning=(
        "This ALLOW is worth more than it says. ALTER on the cluster writes ACLs, for oneself "
        "too, and sets SCRAM passwords of others: that is everything. CLUSTER_ACTION speaks as a "
        "broker: it fetches every topic as a replica does. ALTER_CONFIGS changes the brokers' own "
        "configuration. CREATE_TOKENS on a user makes delegation tokens with which one is that "
        "user. What would be reached is in the evidence; the decisions of explain are those of "
        "the ACLs as they stand. ACLs of super users are left out: they have everything already."
    ),
    fix=(
        "Leave it to administrators and to the brokers: bind it to a host, and give applications "
        "the ACLs that they need. What is meant to be so belongs into the mutes, with a reason."
    ),
)

_BY_CLUSTER: Final[Mapping[str, tuple[str, str]]] = {
    "ALTER": ("high", "can write ACLs for anybody and set SCRAM passwords, and so reach"),
    "CLUSTER_ACTION": ("high", "can fetch as a replica does, and so read every topic of"),
    "ALTER_CONFIGS": ("medium", "can change the configuration of the brokers that hold"),
}
"""Operation on the cluster → how bad it is, and what it is good for; the worst first."""


def find_escalations(audit: AuditInput) -> Iterator[Finding]:
    """Yield each ALLOW by which its principal can get more than the ACLs give it."""
    for acl in audit.allows:
        if acl.principal in audit.settings.super_users:
            continue
        if acl.resource_type == "CLUSTER" and _reaches_cluster(acl, audit):
            yield from _by_cluster(acl, audit)
    yield from _by_tokens(audit)


def _reaches_cluster(acl: Acl, audit: AuditInput) -> bool:
    return pattern_matches(acl.pattern_type, acl.resource_name, CLUSTER_NAME, audit.semantics)


def _by_cluster(acl: Acl, audit: AuditInput) -> Iterator[Finding]:
    """Yield the worst that an ALLOW on the cluster is good for."""
    powers = [power for power in _BY_CLUSTER if coverage(acl.operation, "ALLOW", power) is not None]
    if powers:
        severity, good_for = _BY_CLUSTER[powers[0]]
        whole = _whole(audit)
        yield ESCALATION.about(
            str(acl),
            f"{acl.principal} has {acl.operation} on the cluster: it {good_for} {whole}.",
            severity=severity,
            acls=(acl,),
            evidence=(f"{power}: {_BY_CLUSTER[power][1]} {whole}" for power in powers),
        )


def _whole(audit: AuditInput) -> str:
    principals, resources = len(audit.asked_principals), audit.resource_count
    return f"all that there is: {principals:,} principals and {resources:,} resources are known"


def _by_tokens(audit: AuditInput) -> Iterator[Finding]:
    """Yield the ALLOWs of CREATE_TOKENS on other users, with what these may do."""
    given = [a for a in audit.allows if _creates_tokens(a, audit.settings.super_users)]
    if not given:
        return
    targets = _targets(given, audit)
    powers = _powers(audit)
    for acl in given:
        others = [user for user in targets[pattern_of(acl)] if user != acl.principal]
        is_self = acl.pattern_type == "LITERAL" and acl.resource_name == acl.principal
        if not is_self:
            yield _tokens_of(acl, others, powers, audit)


def _creates_tokens(acl: Acl, super_users: frozenset[str]) -> bool:
    covers = coverage(acl.operation, acl.permission_type, "CREATE_TOKENS") is not None
    return acl.resource_type == "USER" and covers and acl.principal not in super_users


def _targets(given: Iterable[Acl], audit: AuditInput) -> dict[tuple[str, str, str], list[str]]:
    """Return the known users that each resource pattern reaches, sorted."""
    found: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    wanted = {pattern_of(acl) for acl in given}
    named = {a.principal for a in audit.acls if names_exactly(a.principal, audit.semantics)}
    for user in sorted({*audit.asked_principals, *named, *audit.settings.super_users}):
        for number in audit.index.matches("USER", user):
            if audit.patterns[number] in wanted:
                found[audit.patterns[number]].append(user)
    return found


def _powers(audit: AuditInput) -> Mapping[str, Sequence[Acl]]:
    """Return the ALLOWs that name each principal."""
    found: defaultdict[str, list[Acl]] = defaultdict(list)
    for acl in audit.allows:
        found[acl.principal].append(acl)
    return found


def _tokens_of(
    acl: Acl, others: Sequence[str], powers: Mapping[str, Sequence[Acl]], audit: AuditInput
) -> Finding:
    mighty = [user for user in others if _is_mighty(user, powers.get(user, ()), audit)]
    who = f"{len(others):,} known users" if len(others) != 1 else others[0]
    more = f"; {mighty[0]} can reach everything" if mighty else ""
    ordered = [*mighty, *(user for user in others if user not in set(mighty))]
    return ESCALATION.about(
        str(acl),
        f"{acl.principal} can make delegation tokens of {who}, and so act as they may{more}.",
        severity="high" if mighty else "medium",
        acls=(acl,),
        evidence=(_told(user, powers.get(user, ()), audit) for user in ordered),
    )


def _is_mighty(user: str, acls: Iterable[Acl], audit: AuditInput) -> bool:
    """Say whether a user reaches everything: a super user, or ALTER on the cluster."""
    return user in audit.settings.super_users or any(
        acl.resource_type == "CLUSTER"
        and coverage(acl.operation, "ALLOW", "ALTER") is not None
        and _reaches_cluster(acl, audit)
        for acl in acls
    )


def _told(user: str, acls: Sequence[Acl], audit: AuditInput) -> str:
    if user in audit.settings.super_users:
        return f"{user}: a super user"
    if not acls:
        return f"{user}: no ALLOW names it"
    return f"{user}: {len(acls):,} ALLOWs, the first of them {min(acls, key=lambda a: a.acl_id)}"
