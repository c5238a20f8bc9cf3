"""A request, or all principals of a resource → what another reading or broker decides. Pure.

Kafka's brokers and KIP-1042 read some ACLs differently. An answer under one reading shows where the
other reading decides differently, and where the decision depends on the broker.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from aclkit.model.acl import ANY_OTHER, Acl
from aclkit.model.brokers import DIFFER, Broker, ranges_by_broker
from aclkit.model.resource import Resource
from aclkit.model.semantics import KAFKA, BrokerSettings, Semantics, other_reading
from aclkit.model.values import dataclass
from aclkit.questions.query.decide_unlisted import decide_outside
from aclkit.questions.query.table_words import few_names, short_reason
from aclkit.rules.decide.counterfactual import Case
from aclkit.rules.decide.rules import ALLOWED, DENIED, Ruling
from aclkit.rules.names.rows import of_host, of_principal
from aclkit.rules.patterns.identity import asked_host, index_principals
from aclkit.rules.patterns.match import has_wildcard, reaches

KIP_NAME: Final = "kip-1042"
KAFKA_NAME: Final = "kafka"


@dataclass(frozen=True, slots=True, kw_only=True)
class Otherwise:
    """How the other reading decides a request that this one decides otherwise.

    Attributes:
        preset: the preset whose reading it is.
        host: from where; "any other" where the request names no host.
        ruling: what it comes to.
    """

    preset: str
    host: str
    ruling: Ruling


def preset_of_other(semantics: Semantics) -> str:
    """Return the name of the preset that these settings are furthest from."""
    other = other_reading(semantics)
    return KAFKA_NAME if other.identity_globs == KAFKA.identity_globs else KIP_NAME


def decided_otherwise(case: Case, near: Sequence[Acl]) -> Iterator[Otherwise]:
    """Yield how the other reading decides a request, where that is another decision.

    A request from any host is asked from the hosts too that ACLs name which are read differently.

    Args:
        case: the request.
        near: the ACLs that reach its resource in either reading.
    """
    request, other = case.request, other_reading(case.semantics)
    theirs = replace(
        case,
        semantics=other,
        reaching=[acl for acl in near if reaches(acl, *request.resource, other)],
    )
    suspects = read_differently(near, Resource(*request.resource), case.semantics)
    if not suspects:
        return
    hosts = [request.host]
    if request.host == ANY_OTHER:
        hosts += sorted({acl.host for acl in suspects} - {"*", ""})
    known = set[Ruling]()
    for host in hosts:
        ruling = _from(theirs, host).decide()
        if ruling.decision != _from(case, host).decide().decision and ruling not in known:
            known.add(ruling)
            yield Otherwise(preset=preset_of_other(case.semantics), host=host, ruling=ruling)


def _from(case: Case, host: str) -> Case:
    """Ask from a host; a glob stands for the hosts that it matches, and no broker has such one."""
    if has_wildcard(host) and not case.semantics.identity_globs:
        host = ANY_OTHER
    return replace(case, request=replace(case.request, host=host))


@dataclass(frozen=True, slots=True, kw_only=True)
class OthersOtherwise:
    """Whom the other reading lets do more, or less, with a resource.

    Attributes:
        preset: the preset whose reading it is.
        allowed: principals that it allows what is denied → the ACL that does, if one decides.
        denied: principals that it denies what is allowed, likewise.
    """

    preset: str
    allowed: dict[str, Acl | None]
    denied: dict[str, Acl | None]


def decided_otherwise_for(
    near: Sequence[Acl],
    principals: Sequence[str],
    resource: Resource,
    hosts: Collection[str],
    settings: BrokerSettings,
    semantics: Semantics,
    operations: frozenset[str] | None = None,
) -> OthersOtherwise | None:
    """Return which principals the other reading decides otherwise for; None if none.

    Args:
        near: the ACLs that reach the resource in either reading, or more.
        principals: who is asked about.
        resource: the resource.
        hosts: from where.
        settings: the broker's.
        semantics: this reading.
        operations: only these; all that the resource's type knows if not given.
    """
    other = other_reading(semantics)
    touched = _touched(near, principals, resource, settings, (semantics, other))
    if not touched or not hosts:
        return None
    ours, theirs = (
        {
            (principal, one.operation, host): verdict
            for one in decide_outside(
                near, touched, [resource], sorted(hosts), frozenset(), settings, way, operations
            )
            for principal in one.principals
            for host, verdict in one.by_host.items()
        }
        for way in (semantics, other)
    )
    acls: dict[str | None, Acl] = {acl.acl_id: acl for acl in near}
    found = OthersOtherwise(preset=preset_of_other(semantics), allowed={}, denied={})
    for asked, verdict in sorted(theirs.items()):
        if verdict.decision != ours[asked].decision:
            them = found.allowed if verdict.decision == ALLOWED else found.denied
            them.setdefault(asked[0], acls.get(verdict.acl_id))
    return found if found.allowed or found.denied else None


def _touched(
    near: Sequence[Acl],
    principals: Sequence[str],
    resource: Resource,
    settings: BrokerSettings,
    ways: tuple[Semantics, Semantics],
) -> list[str]:
    """Return the principals for whom an ACL that is read differently can decide."""
    suspects = read_differently(near, resource, ways[0])
    # Where one reading alone reaches the resource, the default of what no ACL reaches may differ.
    if settings.allow_everyone and any(_reached_by(acl, resource, ways) == 1 for acl in suspects):
        return list(principals)
    indexes = [index_principals({acl.principal for acl in suspects}, way) for way in ways]
    return [name for name in principals if any(index.matching(name) for index in indexes)]


def read_differently(near: Sequence[Acl], resource: Resource, semantics: Semantics) -> list[Acl]:
    """Return the ACLs by which the other reading may decide requests on a resource otherwise."""
    ways = semantics, other_reading(semantics)
    return [acl for acl in near if not _is_alike_on(acl, resource, ways)]


def _is_alike_on(acl: Acl, resource: Resource, ways: tuple[Semantics, Semantics]) -> bool:
    """Whether two readings let an ACL do the same for all requests on one resource."""
    reached = _reached_by(acl, resource, ways)
    if reached != len(ways):
        return reached == 0
    then, now = ((of_principal(acl.principal, way), of_host(acl.host, way)) for way in ways)
    return then == now


def _reached_by(acl: Acl, resource: Resource, ways: tuple[Semantics, Semantics]) -> int:
    return sum(reaches(acl, *resource, way) for way in ways)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByBroker:
    """How an access from some hosts is decided by brokers that read hosts alike.

    Attributes:
        hosts: from where.
        brokers: their numbers.
        ruling: what they decide.
    """

    hosts: tuple[str, ...]
    brokers: tuple[int, ...]
    ruling: Ruling


def rulings_by_broker(
    case: Case, hosts: Iterable[str], brokers: Iterable[Broker], offset: int
) -> Iterator[tuple[ByBroker, ByBroker]]:
    """Yield decisions of brokers that treat ranges as text and of the others, where they differ.

    Args:
        case: the access, and what decides it.
        hosts: those of the inventory, which count where the access is from any host.
        brokers: the newest ones in the log.
        offset: the state asked about; where it had other brokers, nothing is known.
    """
    known = list(brokers)
    ranges = ranges_by_broker(known)
    if ranges.state != DIFFER or any(broker.since_offset >= offset for broker in known):
        return
    ways = [replace(case, semantics=replace(case.semantics, cidr_hosts=on)) for on in (False, True)]
    found: dict[tuple[Ruling, Ruling], list[str]] = {}
    for host in _asked(ways[1], hosts):
        then, now = (replace(w, request=replace(w.request, host=host)).decide() for w in ways)
        if then.decision != now.decision:
            found.setdefault((then, now), []).append(host)
    for (then, now), names in found.items():
        alike = tuple(names)
        yield (
            ByBroker(hosts=alike, brokers=ranges.without, ruling=then),
            ByBroker(hosts=alike, brokers=ranges.with_ranges, ruling=now),
        )


def _asked(case: Case, hosts: Iterable[str]) -> list[str]:
    """Return the host of an access; of one from any host those of the inventory and of ACLs."""
    if case.request.host != ANY_OTHER:
        return [case.request.host]
    named = (asked_host(acl.host, case.semantics) for acl in case.reaching)
    return sorted({*hosts, *(host for host in named if host is not None)} - {ANY_OTHER})


def others_otherwise_sentence(found: OthersOtherwise) -> str:
    """Write whom the other reading of ACLs decides otherwise for."""
    changes = " and ".join(
        f"{few_names(tuple(them))} would be {verb} ({_first_reason(them, decision)})"
        for verb, decision, them in (
            ("allowed", ALLOWED, found.allowed),
            ("denied", DENIED, found.denied),
        )
        if them
    )
    return f"{other_name(found.preset)} {changes}."


def other_name(preset: str) -> str:
    """Begin a sentence on what another reading would decide."""
    return {
        KIP_NAME: "Under KIP-1042 (no Kafka release yet)",
        KAFKA_NAME: "By Kafka's own reading (--semantics kafka)",
    }[preset]


def _first_reason(them: Mapping[str, Acl | None], decision: str) -> str:
    acl = next(iter(them.values()))
    return short_reason(decision, "", acl, None, None)
