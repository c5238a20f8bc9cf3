"""A published run and assertions → what came out of each, without a JVM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import duckdb

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL, Acl
from aclkit.model.operation import coverage
from aclkit.model.resource import Resource
from aclkit.model.semantics import BROKER, BrokerSettings, Semantics
from aclkit.questions.assertions.beyond import Beyond, find_beyond
from aclkit.questions.assertions.evaluate import Hit, Tallies, judge
from aclkit.questions.assertions.match import (
    means_host,
    means_principal,
    means_resource,
    operations_on,
)
from aclkit.questions.assertions.model import Assertion, Example, Outcome, What
from aclkit.questions.assertions.published import Question, count_hits, find_ruling
from aclkit.questions.assertions.stand_ins import Ground
from aclkit.questions.preview.state import Asked
from aclkit.questions.query.outside import Verdict, decide_outside
from aclkit.rules.patterns.match import host_matches, is_any_host, principal_matches
from aclkit.rules.patterns.trie import PatternIndex
from aclkit.warehouse.alive import acls_alive
from aclkit.warehouse.published import Run, run_settings
from aclkit.warehouse.sql import fetch


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What assertions are held against.

    Attributes:
        connection: see ``duck.connect``.
        run: the run whose decisions are published.
        acls: the ACLs by which it decided, by id.
        settings: the broker's.
        semantics: how ACLs are read.
        principals: of the inventory, each with its attributes.
        hosts: of the inventory.
        resources: of the inventory, each with its attributes.
        ground: what the ACLs say, from which names of no inventory are made.
    """

    connection: duckdb.DuckDBPyConnection
    run: Run
    acls: Mapping[str, Acl]
    settings: BrokerSettings
    semantics: Semantics
    principals: Mapping[str, Mapping[str, str]]
    hosts: tuple[str, ...]
    resources: Mapping[Resource, Mapping[str, str]]
    ground: Ground

    @classmethod
    def of(cls, connection: duckdb.DuckDBPyConnection, run: Run) -> World:
        """Read the inventory and the ACLs."""
        settings, semantics = run_settings(run)
        acls = {acl.acl_id: acl for acl in acls_alive(connection, run).values()}
        principals = {
            name: attributes or {}
            for name, attributes in fetch(connection, _PRINCIPALS, [run.cluster_id])
        }
        resources = {
            Resource(kind, name): attributes or {}
            for kind, name, attributes in fetch(connection, _RESOURCES, [run.cluster_id])
        }
        hosts = tuple(name for (name,) in fetch(connection, _HOSTS, [run.cluster_id]))
        inventory = Asked(principals=tuple(principals), hosts=hosts, resources=tuple(resources))
        return cls(
            connection=connection,
            run=run,
            acls=acls,
            settings=settings,
            semantics=semantics,
            principals=principals,
            hosts=hosts,
            resources=resources,
            ground=Ground.of(acls.values(), inventory, semantics),
        )


def check(
    connection: duckdb.DuckDBPyConnection, run: Run, assertions: Sequence[Assertion]
) -> list[Outcome]:
    """Hold assertions against the published decisions of a run's cluster.

    What the inventory holds is counted in the tables; what it does not hold, as far as an
    assertion means it, is decided now by the pure rule over the ACLs of the same offset.
    """
    world = World.of(connection, run)
    return [_check_one(world, assertion) for assertion in assertions]


def acl_texts(
    connection: duckdb.DuckDBPyConnection, run: Run, outcomes: Sequence[Outcome]
) -> dict[str | None, str]:
    """Return the ACLs that decided the examples, as kafka-acls prints them, by id."""
    ids = [example.acl_id for outcome in outcomes for example in outcome.examples]
    return {acl_id: str(acl) for acl_id, acl in acls_alive(connection, run, ids).items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """What a duty is about: names of the inventory, and names beyond it."""

    principals: tuple[list[str], list[str]]
    resources: tuple[list[Resource], list[Resource]]
    hosts: tuple[list[str], list[str]]


def _check_one(world: World, assertion: Assertion) -> Outcome:
    tallies: list[Tallies] = []
    sides: list[tuple[Question, dict[Hit, tuple[str, Verdict]]]] = []
    strange = find_beyond(assertion, world.ground)
    endless = (ANY_OTHER_PRINCIPAL, *strange.endless)
    checked = 0
    for what in assertion.duties:
        part = _select(world, strange, assertion, what)
        checked += _size(part, what)
        question = _question(world, assertion, what, part)
        beyond = dict(_hits_beyond(world, assertion, what, part))
        tallies.append(
            count_hits(world.connection, question, assertion.kind, list(beyond), endless)
        )
        sides.append((question, beyond))
    judged = judge(assertion, tallies)
    return Outcome(
        assertion=assertion,
        checked=checked,
        violations=judged.violations,
        examples=tuple(_example(world, hit, *sides[duty]) for duty, hit in judged.hits),
        detail=judged.detail,
    )


def _select(world: World, strange: Beyond, assertion: Assertion, what: What) -> _Part:
    """Pick the names that a duty is about."""
    who, supers = assertion.who, world.settings.super_users

    def is_old(name: str) -> bool:
        return not (assertion.inventory_only and name.endswith(ANY_OTHER))

    return _Part(
        principals=(
            [
                name
                for name, attributes in world.principals.items()
                if is_old(name)
                and means_principal(who, name, is_super_user=name in supers, attributes=attributes)
            ],
            [
                name
                for name in strange.principals
                if means_principal(who, name, is_super_user=name in supers)
            ],
        ),
        resources=(
            [
                resource
                for resource, attributes in world.resources.items()
                if is_old(resource.resource_name) and means_resource(what, resource, attributes)
            ],
            [resource for resource in strange.resources if means_resource(what, resource)],
        ),
        hosts=(
            [host for host in world.hosts if means_host(what, host)],
            [host for host in strange.hosts if means_host(what, host)],
        ),
    )


def _size(part: _Part, what: What) -> int:
    if not any(part.hosts):
        return 0
    principals = sum(map(len, part.principals))
    resources = (resource for side in part.resources for resource in side)
    return principals * sum(len(operations_on(what, r.resource_type)) for r in resources)


def _question(world: World, assertion: Assertion, what: What, part: _Part) -> Question:
    kinds = sorted({resource.resource_type for resource in part.resources[0]})
    return Question(
        cluster_id=world.run.cluster_id,
        principals=part.principals[0],
        resources=part.resources[0],
        operations=[(kind, name) for kind in kinds for name in operations_on(what, kind)],
        hosts=part.hosts[0],
        decision=assertion.bad_decision,
    )


def _hits_beyond(
    world: World, assertion: Assertion, what: What, part: _Part
) -> Iterator[tuple[Hit, tuple[str, Verdict]]]:
    """Decide now what the inventory does not hold: a host where the decision is the bad one."""
    (known, strange), (there, new), (near, far) = part.principals, part.resources, part.hosts
    blocks = [(strange, [*there, *new], [*near, *far]), (known, new, [*near, *far])]
    if far:
        blocks.append((*_faring_otherwise(world, known, there, near, far), far))
    for principals, resources, hosts in blocks:
        if not (principals and resources and hosts):
            continue
        yield from _decide(world, what, assertion.bad_decision, principals, resources, hosts)


def _faring_otherwise(
    world: World,
    principals: list[str],
    resources: list[Resource],
    near: Sequence[str],
    far: Sequence[str],
) -> tuple[list[str], list[Resource]]:
    """Keep what may fare otherwise from hosts of no inventory than from any other host.

    Only ACLs that match such a host and not every host make a difference. Where any other host
    is not asked about, everything is kept.
    """
    if ANY_OTHER not in near:
        return principals, resources
    semantics = world.semantics
    acls = [
        acl
        for acl in world.acls.values()
        if not is_any_host(acl.host, semantics)
        and any(host_matches(acl.host, host, semantics) for host in far)
    ]
    index = _index(acls, semantics)
    texts = {acl.principal for acl in acls}
    return (
        [p for p in principals if any(principal_matches(text, p, semantics) for text in texts)],
        [r for r in resources if index.matches(r.resource_type, r.resource_name)],
    )


def _decide(
    world: World,
    what: What,
    decision: str,
    principals: Sequence[str],
    resources: Sequence[Resource],
    hosts: Sequence[str],
) -> Iterator[tuple[Hit, tuple[str, Verdict]]]:
    acls = _relevant(world, what, resources)
    for decided in decide_outside(
        acls,
        principals,
        resources,
        hosts,
        _unreached(world, principals, resources),
        world.settings,
        world.semantics,
        what.operations,
    ):
        resource = decided.resource
        bad = [item for item in decided.by_host.items() if item[1].decision == decision]
        if not bad:
            continue
        host, verdict = min(bad, key=lambda item: (item[0] == ANY_OTHER, item[0]))
        for principal in decided.principals:
            hit = Hit(
                is_beyond=True,
                is_symbol=ANY_OTHER in (resource.resource_name, principal.partition(":")[2]),
                principal=principal,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
                operation=decided.operation,
                place="",
            )
            yield hit, (host, verdict)


def _relevant(world: World, what: What, resources: Sequence[Resource]) -> list[Acl]:
    """Leave out ACLs that can make no difference for the operations asked about.

    None is left out where it may by its mere presence: where everyone may use what no ACL
    reaches, or where the end of a broker's search names the deciding ACL.
    """
    kinds = {resource.resource_type for resource in resources}
    acls = [acl for acl in world.acls.values() if acl.resource_type in kinds]
    if world.settings.allow_everyone or world.semantics.deciding_acl == BROKER:
        return acls
    return [
        acl
        for acl in acls
        if any(
            coverage(acl.operation, acl.permission_type, operation) is not None
            for operation in operations_on(what, acl.resource_type)
        )
    ]


def _unreached(
    world: World, principals: Sequence[str], resources: Sequence[Resource]
) -> frozenset[Resource]:
    """Return resources that no ACL reaches, as far as ``decide_outside`` asks for them."""
    if len(principals) != 1 or not world.settings.allow_everyone:
        return frozenset()
    index = _index(list(world.acls.values()), world.semantics)
    return frozenset(r for r in resources if not index.matches(r.resource_type, r.resource_name))


def _index(acls: Sequence[Acl], semantics: Semantics) -> PatternIndex:
    rows = ((n, a.resource_type, a.pattern_type, a.resource_name) for n, a in enumerate(acls))
    return PatternIndex.build(rows, semantics)


def _example(
    world: World, hit: Hit, question: Question, beyond: Mapping[Hit, tuple[str, Verdict]]
) -> Example:
    host, verdict = beyond[hit] if hit.is_beyond else find_ruling(world.connection, question, hit)
    return Example(
        principal=hit.principal,
        host=host,
        operation=hit.operation,
        resource=Resource(hit.resource_type, hit.resource_name),
        decision=verdict.decision,
        rule=verdict.rule,
        acl_id=verdict.acl_id,
        in_inventory=not hit.is_beyond,
    )


_PRINCIPALS = "SELECT principal, attributes FROM principal WHERE cluster_id = ? ORDER BY principal"
_HOSTS = "SELECT host FROM host WHERE cluster_id = ? ORDER BY host"
_RESOURCES = (
    "SELECT resource_type, resource_name, attributes FROM resource WHERE cluster_id = ? "
    "ORDER BY resource_type, resource_name"
)
