"""ACLs and names that no inventory holds → verdicts, decided now by the pure rule."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from aclkit.decide.rules import decide
from aclkit.model.acl import Acl, Request
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import Resource
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.patterns.match import host_matches, principal_matches, reaches


@dataclass(frozen=True, slots=True)
class Verdict:
    """A decision, Kafka's name of the rule behind it, and the deciding ACL's id."""

    decision: str
    rule: str
    acl_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """Principals that fare alike with one operation on one resource, from each host."""

    principals: Sequence[str]
    resource: Resource
    operation: str
    by_host: Mapping[str, Verdict]


def decide_outside(
    acls: Sequence[Acl],
    principals: Sequence[str],
    resources: Sequence[Resource],
    hosts: Sequence[str],
    unreached: frozenset[Resource],
    settings: BrokerSettings,
    semantics: Semantics,
) -> Iterator[Decided]:
    """Decide every principal × host × operation × resource.

    Only one request is decided of those that the same ACLs match: names that the same ACL
    principals and hosts match cannot fare differently. Of one principal, only its own ACLs
    are looked at; that nobody else's reach a resource is then told by ``unreached``.

    Args:
        acls: all ACLs alive.
        principals: who asks.
        resources: what is asked about.
        hosts: from where.
        unreached: resources known to be reached by no ACL of anybody.
        settings: the broker's.
        semantics: how ACLs are read.
    """
    is_narrow = len(principals) == 1 and len(resources) > 1
    if is_narrow:
        acls = [acl for acl in acls if principal_matches(acl.principal, principals[0], semantics)]
    decided: dict[object, list[Decided]] = {}
    for resource in resources:
        reaching = [acl for acl in acls if reaches(acl, *_parts(resource), semantics)]
        is_open = settings.allow_everyone and (not is_narrow or resource in unreached)
        # The broker's order depends on the name in one way only: see broker_deny_key.
        is_late = resource.resource_name < "*"
        key = resource.resource_type, tuple(acl.acl_id for acl in reaching), is_open, is_late
        if key not in decided:
            asked = replace(settings, allow_everyone=is_open)
            decided[key] = list(
                _decide_alike(reaching, principals, resource, hosts, asked, semantics)
            )
        for found in decided[key]:
            yield replace(found, resource=resource)


def _decide_alike(
    acls: Sequence[Acl],
    principals: Sequence[str],
    resource: Resource,
    hosts: Sequence[str],
    settings: BrokerSettings,
    semantics: Semantics,
) -> Iterator[Decided]:
    """Decide one resource by the ACLs that reach it."""
    supers = [name for name in principals if name in settings.super_users]
    others = [name for name in principals if name not in settings.super_users]
    alike = _alike(
        others,
        {acl.principal for acl in acls},
        lambda acl_principal, name: principal_matches(acl_principal, name, semantics),
    )
    alike_hosts = _alike(
        hosts,
        {acl.host for acl in acls},
        lambda acl_host, host: host_matches(acl_host, host, semantics),
    )
    for names in [supers, *alike] if supers else alike:
        for operation in OPERATIONS_OF_TYPE[resource.resource_type]:
            by_host: dict[str, Verdict] = {}
            for group in alike_hosts:
                request = Request(
                    principal=names[0],
                    host=group[0],
                    operation=operation,
                    resource_type=resource.resource_type,
                    resource_name=resource.resource_name,
                )
                ruling = decide(acls, request, settings, semantics)
                acl_id = ruling.acl.acl_id if ruling.acl else None
                verdict = Verdict(ruling.decision, ruling.rule, acl_id)
                by_host.update(dict.fromkeys(group, verdict))
            yield Decided(principals=names, resource=resource, operation=operation, by_host=by_host)


def _alike(
    names: Sequence[str], patterns: Collection[str], matches: Callable[[str, str], bool]
) -> list[list[str]]:
    """Put names together that the same patterns match."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        key = tuple(pattern for pattern in patterns if matches(pattern, name))
        groups.setdefault(key, []).append(name)
    return list(groups.values())


def _parts(resource: Resource) -> tuple[str, str]:
    return resource.resource_type, resource.resource_name
