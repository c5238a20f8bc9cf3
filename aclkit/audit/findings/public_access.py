"""ACLs and super users → ``public-access``, ``any-host``: what every client can do, from where.

A host is as good as any if it is a range of all addresses of IPv4 or of IPv6.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from aclkit.audit.findings.audit_input import AuditInput
from aclkit.audit.findings.sentences import acls_words, can_words, names_words, who_words
from aclkit.model.acl import ANY_OTHER_PRINCIPAL, Acl, Request, acl_words, quoted, type_words
from aclkit.model.cidr import IPV4, IPV6
from aclkit.model.findings import Finding, Kind
from aclkit.model.groups import grouped
from aclkit.model.phrases import number_of
from aclkit.model.semantics import Semantics
from aclkit.rules.names.rows import operations_of
from aclkit.rules.patterns.match import LITERAL, is_any_host, principal_matches, range_of_host

_EVERY: Final = 0


def is_anywhere(host: str, semantics: Semantics) -> bool:
    """Whether an ACL's host is any host, or a range of all addresses of IPv4 or of IPv6."""
    return _bits(host, semantics) is not None


def anywhere_words(hosts: Iterable[str], semantics: Semantics) -> str:
    """Name the addresses of such hosts: IPv4 and IPv6 differ, and 0.0.0.0 is in no range."""
    kinds = {_bits(host, semantics) for host in hosts}
    named = " or ".join(_NAMES[bits] for bits in _NAMES if bits in kinds)
    alone = _LEFT_OUT.get(kinds.pop(), "") if len(kinds) == 1 else ""
    return f"{named}{alone}"


def _bits(host: str, semantics: Semantics) -> int | None:
    """Return the length of the addresses that a host has all of, ``_EVERY`` for any host."""
    meant = range_of_host(host, semantics)
    if meant is not None:
        return meant.bits if meant.mask == 0 else None
    return _EVERY if is_any_host(host, semantics) else None


_NAMES: Final[dict[int | None, str]] = {
    _EVERY: "any host",
    IPV4: "any IPv4 address except 0.0.0.0",
    IPV6: "any IPv6 address",
}
_LEFT_OUT: Final[dict[int | None, str]] = {
    IPV4: " (no IPv6 address)",
    IPV6: " (no IPv4 address)",
}


PUBLIC_ACCESS: Final = Kind(
    id="public-access",
    severity="high",
    summary="access open to every client",
    depends="high; medium for one host or range, low for descriptions only",
    meaning=(
        "An ALLOW applies to every client, to every principal that no ACL names, or to clients "
        "without authentication (User:ANONYMOUS). So every client that can connect to a listener "
        "has the access. Or User:ANONYMOUS is a super user, and clients without authentication "
        "have full access."
    ),
    fix=(
        "Add ACLs for the principals that need the access, by name. Then remove the ACL for every "
        "client. aclkit preview remove-acl shows who would lose access."
    ),
)
ANONYMOUS: Final = "User:ANONYMOUS"
"""Who comes over a listener without authentication (KafkaPrincipal.ANONYMOUS)."""

Public = dict[str, Request | None]
_READ_ONLY: Final = ("DESCRIBE", "DESCRIBE_CONFIGS")


def find_public_access(audit: AuditInput) -> Iterator[Finding]:
    """Yield each ALLOW for every client or ``User:ANONYMOUS``, and a nameless super user.

    High, but medium where it is bound to a host, and low where it shows descriptions only.
    """
    if ANONYMOUS in audit.settings.super_users:
        yield PUBLIC_ACCESS.about(
            ANONYMOUS,
            f"{ANONYMOUS} is a super user: clients without authentication have full access.",
            severity="high",
            fix=(
                f"Enable authentication between brokers and controllers, then remove {ANONYMOUS} "
                "from super.users. Until then, firewall the PLAINTEXT listeners."
            ),
            evidence=(f"super.users holds {ANONYMOUS}",),
        )
    for acl in audit.allows:
        whom, public = public_of(acl, audit.semantics), public_left(acl, audit)
        if whom and public:
            yield PUBLIC_ACCESS.about(
                acl,
                _message(acl, whom, public, audit),
                severity=_public_severity(acl, public, audit),
            )


def _message(acl: Acl, whom: str, public: Public, audit: AuditInput) -> str:
    """Write what an ALLOW lets every client do; where a DENY can limit it, with an example."""
    example = audit.example(public.values(), acl)
    can = (
        f"{whom}{_place(acl, audit.semantics)} can {can_words(acl, public.keys())} "
        f"{names_words(acl)}{_number_today(acl, audit)}"
    )
    denies = audit.others.meeting(audit.rows[acl.acl_id], allows=False)
    if any(public.keys() & operations_of(deny.acl) for deny in denies):
        return f"{can}, unless a DENY applies: {acl_words(acl)}.{example}"
    return f"{can}: {acl_words(acl)}."


def _number_today(acl: Acl, audit: AuditInput) -> str:
    """Write how many topics a pattern for several matches, where topics are known."""
    is_one = acl.pattern_type == LITERAL and acl.resource_name != "*"
    if acl.resource_type != "TOPIC" or is_one or not audit.topics_alive:
        return ""
    return f" ({number_of(audit.reached.get(acl.pattern, 0).bit_count(), 'topic')} today)"


def public_of(acl: Acl, semantics: Semantics) -> str | None:
    """Return for whom an ALLOW would be public; None where it is for some principals only."""
    if principal_matches(acl.principal, ANY_OTHER_PRINCIPAL, semantics):
        return who_words(acl.principal, semantics)
    if principal_matches(acl.principal, ANONYMOUS, semantics):
        return "Every client without authentication"
    return None


def public_left(acl: Acl, audit: AuditInput) -> Public:
    """Return the operations that a public ALLOW grants, each with the shortest request left.

    Where that is but supposed there is no request. What applies to every client is public as long
    as DENYs leave something of it to some client; what matches clients without authentication only,
    where they leave something to these.
    """
    if principal_matches(acl.principal, ANY_OTHER_PRINCIPAL, audit.semantics):
        return {each: audit.request_given(acl, each) for each in sorted(audit.given[acl.acl_id])}
    if public_of(acl, audit.semantics) is None or ANONYMOUS in audit.settings.super_users:
        return {}
    anonymous = audit.others.principals[acl.resource_type].of_name(ANONYMOUS)
    left = {each: audit.left_to(acl, anonymous, each) for each in sorted(operations_of(acl))}
    return {operation: found[0] for operation, found in left.items() if found}


def _place(acl: Acl, semantics: Semantics) -> str:
    if is_any_host(acl.host, semantics):
        return ""
    if is_anywhere(acl.host, semantics):
        return f" from {anywhere_words([acl.host], semantics)}"
    return f" from {quoted(acl.host)}"


def _public_severity(acl: Acl, public: Public, audit: AuditInput) -> str:
    if public.keys() <= {*_READ_ONLY}:
        return "low"
    return "high" if is_anywhere(acl.host, audit.semantics) else "medium"


ANY_HOST: Final = Kind(
    id="any-host",
    severity="medium",
    summary="sensitive operations allowed from any host",
    depends="medium on CLUSTER and USER, low elsewhere, info for WRITE and CREATE alone",
    meaning=(
        "A principal can perform sensitive operations from any address: DELETE, ALTER, "
        "ALTER_CONFIGS, CLUSTER_ACTION, CREATE_TOKENS, WRITE, CREATE, or ALL. A stolen credential "
        "can then be used from anywhere. Where brokers read ranges, 0.0.0.0/0 and ::/0 count "
        "as any host. The message then names the addresses that they leave out. One finding covers "
        "a principal and a resource type, and lists the ACLs. It lists neither redundant ACLs nor "
        "ACLs for every client (see public-access). It also leaves out ACLs of super users, and "
        "ACLs on transactional ids and delegation tokens."
    ),
    fix=(
        "Re-create these ACLs with --allow-host for the client's addresses, then remove the ones "
        "with host *."
    ),
)

_SENSITIVE: Final = (
    "CLUSTER_ACTION", "CREATE_TOKENS", "ALTER", "DELETE", "ALTER_CONFIGS", "WRITE", "CREATE",
)  # fmt: skip
"""The worst first."""
_ORDINARY: Final = ("WRITE", "CREATE")
"""What producers do; others only where it is more than that."""
_WEIGHTY: Final = ("CLUSTER", "USER")
_TYPES: Final = ("TOPIC", "GROUP", *_WEIGHTY)


def find_any_host(audit: AuditInput, redundant: Collection[str]) -> Iterator[Finding]:
    """Yield each principal with sensitive operations from any host, for each resource type.

    Args:
        audit: the ACLs.
        redundant: ids of those that are left out, because they should go anyway.
    """
    needed = (acl for acl in audit.allows if acl.acl_id not in redundant)
    unbound = (acl for acl in needed if is_unbound(acl, audit))
    found = grouped(((acl.principal, acl.resource_type), acl) for acl in unbound)
    for (principal, resource_type), acls in found.items():
        operations = _sensitive(audit, acls)
        kind = "the cluster" if resource_type == "CLUSTER" else f"{type_words(resource_type)}s"
        acls.sort(key=lambda acl: (operations.index(_sensitive(audit, (acl,))[0]), acl.acl_id))
        audit.confirm(audit.request_given(acl, each) for each in operations for acl in acls)
        yield ANY_HOST.about(
            f"{principal} on {resource_type}",
            f"{who_words(principal, audit.semantics)} has {', '.join(operations)} on "
            f"{kind} from {anywhere_words((acl.host for acl in acls), audit.semantics)}: "
            f"{acls_words(acls, principal, resource_type)}.",
            severity=_any_host_severity(resource_type, operations),
            acls=acls,
        )


def is_unbound(acl: Acl, audit: AuditInput) -> bool:
    """Whether an ALLOW grants some principals something sensitive from any host."""
    return (
        acl.resource_type in _TYPES
        and is_anywhere(acl.host, audit.semantics)
        and bool(_sensitive(audit, (acl,)))
        and not public_left(acl, audit)
    )


def _sensitive(audit: AuditInput, acls: Sequence[Acl]) -> list[str]:
    """Return the sensitive operations that ALLOWs give, the worst first."""
    given = frozenset[str]().union(*(audit.given[acl.acl_id] for acl in acls))
    return [operation for operation in _SENSITIVE if operation in given]


def _any_host_severity(resource_type: str, operations: Collection[str]) -> str:
    if set(operations).issubset(_ORDINARY):
        return "info"
    return "medium" if resource_type in _WEIGHTY else "low"
