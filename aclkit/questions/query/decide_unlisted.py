"""ACLs and names that no inventory holds → verdicts, decided now by the pure rule."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from aclkit.model.acl import Acl, Request
from aclkit.model.groups import grouped
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import Resource
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.model.values import dataclass
from aclkit.rules.decide.index import AclIndex
from aclkit.rules.decide.order import BrokerRescan
from aclkit.rules.decide.rules import Ruling, decide
from aclkit.rules.patterns.identity import IdentityIndex, index_hosts, index_principals
from aclkit.rules.patterns.match import principal_matches, reaches


class Verdict(NamedTuple):
    """A decision, Kafka's name of the rule that made it, and the deciding ACL's id."""

    decision: str
    rule: str
    acl_id: str | None

    @classmethod
    def of(cls, ruling: Ruling) -> Verdict:
        """Take of a ruling what tells it from others."""
        return cls(ruling.decision, ruling.rule, ruling.acl_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """Principals with the same decisions for one operation on one resource, from each host."""

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
    operations: frozenset[str] | None = None,
) -> Iterator[Decided]:
    """Decide every principal × host × operation × resource.

    Of all requests that the same ACLs match only one is decided: names that the same ACL
    principals and hosts match cannot have different decisions. For one principal, only its own
    ACLs are read; ``unreached`` then has the resources to which no other ACL applies either.

    Args:
        acls: all ACLs in force.
        principals: who asks.
        resources: what is asked about.
        hosts: from where.
        unreached: resources to which no ACL of any principal applies.
        settings: the broker's.
        semantics: how ACLs are read.
        operations: only these; by default all operations of a resource's type.
    """
    is_narrow = len(principals) == 1 and len(resources) > 1
    rescan = BrokerRescan.among(acls)
    if is_narrow:
        acls = [acl for acl in acls if principal_matches(acl.principal, principals[0], semantics)]
    decided: dict[object, list[Decided]] = {}
    for resource, reaching in _reaching(acls, resources, semantics):
        is_open = settings.allow_everyone and (not is_narrow or resource in unreached)
        last = rescan.wildcard_last(*resource)
        ids = tuple(acl.acl_id for acl in reaching)
        key = resource.resource_type, ids, is_open, last
        if key not in decided:
            asked = replace(settings, allow_everyone=is_open and not reaching)
            rule = partial(
                decide, settings=asked, semantics=semantics, wildcard_is_last=last.allows
            )
            people = _by_principal(reaching, principals, settings, semantics)
            places = _alike(hosts, index_hosts({acl.host for acl in reaching}, semantics))
            decided[key] = list(_decide(resource, people, places.values(), rule, operations))
        for found in decided[key]:
            yield replace(found, resource=resource)


def _reaching(
    acls: Sequence[Acl], resources: Sequence[Resource], semantics: Semantics
) -> Iterator[tuple[Resource, Sequence[Acl]]]:
    """Yield each resource with the ACLs that reach it; for one of them no index is worth it."""
    if len(resources) == 1:
        (one,) = resources
        yield one, [acl for acl in acls if reaches(acl, *one, semantics)]
        return
    index = AclIndex.of(acls, semantics)
    for resource in resources:
        yield resource, index.reaching(*resource)


_Party = tuple[Sequence[str], Sequence[Acl]]
"""Principals that the same ACLs match, and these."""


def _by_principal(
    acls: Sequence[Acl],
    principals: Sequence[str],
    settings: BrokerSettings,
    semantics: Semantics,
) -> list[_Party]:
    """Put principals together that the same ACLs match; super users need none.

    ACLs of other principals are not compared. The rule's settings already reflect that these ACLs
    end the default for every principal.
    """
    by_principal = grouped((acl.principal, acl) for acl in acls)
    supers = [name for name in principals if settings.makes_super(name)]
    others = [name for name in principals if not settings.makes_super(name)]
    alike = _alike(others, index_principals(by_principal, semantics))
    own: list[_Party] = [
        (names, [acl for text in texts for acl in by_principal[text]])
        for texts, names in alike.items()
    ]
    return [(supers, []), *own] if supers else own


def _decide(
    resource: Resource,
    people: Iterable[_Party],
    places: Collection[Sequence[str]],
    rule: Callable[..., Ruling],
    operations: frozenset[str] | None,
) -> Iterator[Decided]:
    """Decide one resource for each group of principals, from each group of hosts."""
    known = OPERATIONS_OF_TYPE[resource.resource_type]
    for names, acls in people:
        for operation in [o for o in known if operations is None or o in operations]:
            by_host: dict[str, Verdict] = {}
            for hosts in places:
                request = Request.of(names[0], hosts[0], operation, resource)
                by_host |= dict.fromkeys(hosts, Verdict.of(rule(acls, request)))
            yield Decided(principals=names, resource=resource, operation=operation, by_host=by_host)


def _alike(names: Sequence[str], index: IdentityIndex) -> dict[tuple[str, ...], list[str]]:
    """Put names together that the same texts match, under those texts."""
    return grouped((tuple(index.matching(name)), name) for name in names)
