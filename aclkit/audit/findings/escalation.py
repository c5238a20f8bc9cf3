"""ACLs → ``escalation``: which ALLOWs let a principal get more than its ACLs grant, and how much.

Sources: AclApis (CreateAcls and DeleteAcls need ALTER on the cluster), KafkaApis and
ControllerApis (AlterUserScramCredentials the same; IncrementalAlterConfigs of a broker needs
ALTER_CONFIGS, a replica's Fetch CLUSTER_ACTION on the cluster), DelegationTokenManager and
KafkaApis.allowTokenRequests (a token for another owner needs CREATE_TOKENS on that user; a client
that authenticated with a token gets no other one, so such paths have one step).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from aclkit.audit.findings.audit_input import AuditInput, PatternKey
from aclkit.audit.findings.sentences import who_words
from aclkit.model.acl import Acl, acl_words, quoted
from aclkit.model.findings import Finding, Kind
from aclkit.model.groups import grouped
from aclkit.rules.patterns.identity import index_principals
from aclkit.rules.patterns.match import LITERAL, names_one

ESCALATION: Final = Kind(
    id="escalation",
    severity="high",
    summary="ACLs that let a principal gain more access",
    depends="high; medium for ALTER_CONFIGS, and for tokens of users without such power",
    meaning=(
        "The ALLOW lets its principal gain more access than its ACLs grant. ALTER on the cluster "
        "lets it create any ACL and reset any SCRAM password, which amounts to full access. "
        "CLUSTER_ACTION lets it fetch every topic like a replica. ALTER_CONFIGS lets it "
        "change the brokers' configuration. CREATE_TOKENS on a user lets it create delegation "
        "tokens and act as that user. The evidence lists what is within reach. The explain table "
        "holds the decisions of today's ACLs only. ACLs of super users are not reported, because "
        "super users already have full access."
    ),
    fix=(
        "Restrict the ACL to administrators and brokers, and to their hosts. Grant applications "
        "only the ACLs that they need. If the access is intended, accept the finding in the file "
        "of --mutes, with a reason."
    ),
)


class _Power(NamedTuple):
    """What an operation on the cluster is worth.

    Attributes:
        severity: how bad it is.
        effect: what follows, after the principal.
        means: what it lets the principal do, after the ACL.
    """

    severity: str
    effect: str
    means: str


_BY_CLUSTER: Final[Mapping[str, _Power]] = {
    "ALTER": _Power(
        "high",
        "is effectively an administrator",
        "lets it create any ACL and reset SCRAM passwords",
    ),
    "CLUSTER_ACTION": _Power("high", "can read every topic", "lets it fetch like a replica"),
    "ALTER_CONFIGS": _Power(
        "medium", "can reconfigure every broker", "lets it change the brokers' configuration"
    ),
}
"""Operation on the cluster → what it is worth; the worst first."""

_TOKENS: Final = "CREATE_TOKENS"


def find_escalations(audit: AuditInput) -> Iterator[Finding]:
    """Yield each ALLOW by which its principal can get more than the ACLs give it."""
    given = [acl for acl in audit.allows if escalates(acl, audit)]
    yield from (_by_cluster(acl, audit) for acl in given if acl.resource_type == "CLUSTER")
    by_tokens = [acl for acl in given if acl.resource_type == "USER"]
    targets = _targets(by_tokens, audit) if by_tokens else {}
    for acl in by_tokens:
        left = _left(acl, targets.get(acl.pattern, ()), audit)
        yield _by_tokens(acl, [each for each in left if each.user != acl.principal], audit)


def _by_cluster(acl: Acl, audit: AuditInput) -> Finding:
    """Return the worst that an ALLOW on the cluster is good for."""
    powers = _powers(acl, audit)
    worst, principals = _BY_CLUSTER[powers[0]], len(audit.asked_principals)
    known = f"{principals:,} principals and {audit.resource_count:,} resources are known"
    audit.confirm(audit.request_given(acl, power) for power in powers)
    return ESCALATION.about(
        acl,
        f"{who_words(acl.principal, audit.semantics)} {worst.effect}: "
        f"{acl_words(acl, acl.principal)} {worst.means}.",
        severity=worst.severity,
        evidence=(f"{power}: {_BY_CLUSTER[power].means}; {known}" for power in powers),
    )


def _powers(acl: Acl, audit: AuditInput) -> list[str]:
    """Return the operations by which an ALLOW on the cluster gives more access, worst first."""
    return [power for power in _BY_CLUSTER if audit.gives(acl, power)]


def escalates(acl: Acl, audit: AuditInput) -> bool:
    """Whether an ALLOW lets its principal get more than its ACLs grant."""
    if acl.resource_type == "CLUSTER":
        return bool(_powers(acl, audit))
    is_for_itself = acl.pattern_type == LITERAL and acl.resource_name == acl.principal
    return acl.resource_type == "USER" and not is_for_itself and audit.gives(acl, _TOKENS)


def powers_on(resource_type: str) -> frozenset[str]:
    """Return the operations on a resource type that let a principal gain more access."""
    by_type = {"CLUSTER": frozenset(_BY_CLUSTER), "USER": frozenset({_TOKENS})}
    return by_type.get(resource_type, frozenset())


def _left(acl: Acl, targets: Sequence[_Target], audit: AuditInput) -> Sequence[_Target]:
    """Return those of whom DENYs leave tokens to an ALLOW."""
    others, row = audit.others, audit.rows[acl.acl_id]
    classes, _ = others.who(row)
    if not any(True for who in classes for _ in others.near_for(row, who, allows=False)):
        return targets

    def is_left(user: str) -> bool:
        return any(
            not any(deny.answers(_TOKENS) for deny in others.at(who, user, "USER", allows=False))
            for who in classes
        )

    return [target for target in targets if is_left(target.user)]


@dataclass(frozen=True, slots=True)
class _Target:
    """A user whom a token could be made for.

    Attributes:
        user: its principal.
        is_superpowered: whether it reaches everything: a super user, or ALTER on the cluster.
        told: its access, as evidence.
    """

    user: str
    is_superpowered: bool
    told: str


def _targets(given: Iterable[Acl], audit: AuditInput) -> Mapping[PatternKey, Sequence[_Target]]:
    """Return the known users that each resource pattern reaches, the superpowered first."""
    found: defaultdict[PatternKey, list[_Target]] = defaultdict(list)
    wanted = {acl.pattern for acl in given}
    named = {a.principal for a in audit.acls if names_one(a.principal, audit.semantics)}
    supers = filter(audit.settings.makes_super, audit.settings.super_users)
    users = {*audit.asked_principals, *named, *supers}
    for target in sorted(_known(users, audit), key=lambda t: (not t.is_superpowered, t.user)):
        for number in audit.index.matches("USER", target.user):
            if audit.patterns[number] in wanted:
                found[audit.patterns[number]].append(target)
    return found


def _known(users: Iterable[str], audit: AuditInput) -> Iterator[_Target]:
    by_name = grouped((acl.principal, acl) for acl in audit.allows)
    on_cluster = (acl for acl in audit.allows if acl.resource_type == "CLUSTER")
    altering = grouped((acl.principal, acl) for acl in on_cluster if audit.gives(acl, "ALTER"))
    superpowered = index_principals(altering, audit.semantics)

    def alters(user: str) -> bool:
        acls = [acl for text in superpowered.matching(user) for acl in altering[text]]
        who = audit.others.principals["CLUSTER"].of_name(user) if acls else None
        return who is not None and any(audit.left_to(acl, who, "ALTER") for acl in acls)

    is_super = audit.settings.makes_super
    for user in users:
        told = "a super user" if is_super(user) else _told(by_name.get(user, ()))
        yield _Target(user, is_super(user) or alters(user), f"{user}: {told}")


def _told(acls: Sequence[Acl]) -> str:
    if not acls:
        return "no ALLOW names it"
    return f"{len(acls):,} ALLOWs, the first of them {min(acls, key=lambda a: a.acl_id)}"


def _by_tokens(acl: Acl, others: Sequence[_Target], audit: AuditInput) -> Finding:
    """Return what an ALLOW of CREATE_TOKENS on other users is good for."""
    is_superpowered = bool(others) and others[0].is_superpowered
    more = f" {quoted(others[0].user)} has full access." if is_superpowered else ""
    audit.confirm([audit.request_given(acl, _TOKENS)])
    return ESCALATION.about(
        acl,
        f"{who_words(acl.principal, audit.semantics)} can act as {_whose(acl, others)}: "
        f"{acl_words(acl, acl.principal)} lets it create delegation tokens.{more}",
        severity="high" if is_superpowered else "medium",
        evidence=(target.told for target in others),
    )


def _whose(acl: Acl, others: Sequence[_Target]) -> str:
    if acl.pattern_type == LITERAL and acl.resource_name != "*":
        return quoted(acl.resource_name)
    if len(others) == 1:
        return quoted(others[0].user)
    return f"{len(others):,} known users" if others else "users that do not exist yet"
