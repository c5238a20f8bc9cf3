"""A published run and assertions → what came out of each, without a JVM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, NamedTuple, TypeVar

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
from aclkit.questions.assertions.published import DutyQuestion, count_hits, find_ruling
from aclkit.questions.assertions.stand_ins import Ground
from aclkit.questions.preview.state import Asked
from aclkit.questions.query.outside import Verdict, decide_outside
from aclkit.rules.decide.index import AclIndex
from aclkit.rules.patterns.identity import index_principals
from aclkit.rules.patterns.match import host_matches, is_any_host
from aclkit.warehouse.alive import acls_alive
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.published import run_settings
from aclkit.warehouse.sql import fetch

_T = TypeVar("_T")


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
    run: PublishedRun
    acls: Mapping[str, Acl]
    settings: BrokerSettings
    semantics: Semantics
    principals: Mapping[str, Mapping[str, str]]
    hosts: tuple[str, ...]
    resources: Mapping[Resource, Mapping[str, str]]
    ground: Ground

    @classmethod
    def of(cls, connection: duckdb.DuckDBPyConnection, run: PublishedRun) -> World:
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
    connection: duckdb.DuckDBPyConnection, run: PublishedRun, assertions: Sequence[Assertion]
) -> list[Outcome]:
    """Hold assertions against the published decisions of a run's cluster.

    What the inventory holds is counted in the tables; what it does not hold, as far as an
    assertion means it, is decided now by the pure rule over the ACLs of the same offset.
    """
    world = World.of(connection, run)
    return [_check_one(world, assertion) for assertion in assertions]


def acl_texts(
    connection: duckdb.DuckDBPyConnection, run: PublishedRun, outcomes: Sequence[Outcome]
) -> dict[str | None, str]:
    """Return the ACLs that decided the examples, as kafka-acls prints them, by id."""
    ids = [example.acl_id for outcome in outcomes for example in outcome.examples]
    return {acl_id: str(acl) for acl_id, acl in acls_alive(connection, run, ids).items()}


class _Named(NamedTuple, Generic[_T]):
    """What a duty names in one dimension: what the inventory lists, and what it does not."""

    listed: list[_T]
    unlisted: list[_T]

    @property
    def all(self) -> list[_T]:
        return [*self.listed, *self.unlisted]


class _DutyNames(NamedTuple):
    """What a duty is about."""

    principals: _Named[str]
    resources: _Named[Resource]
    hosts: _Named[str]


class _Block(NamedTuple):
    """What is decided now: every principal on every resource from every host."""

    principals: Sequence[str]
    resources: Sequence[Resource]
    hosts: Sequence[str]


_Unlisted = Mapping[Hit, tuple[str, Verdict]]
"""What speaks against an assertion beyond the inventory: each with a host, and its decision."""


def _check_one(world: World, assertion: Assertion) -> Outcome:
    tallies: list[Tallies] = []
    sides: list[tuple[DutyQuestion, _Unlisted]] = []
    beyond = find_beyond(assertion, world.ground)
    endless = (ANY_OTHER_PRINCIPAL, *beyond.endless)
    checked = 0
    for what in assertion.duties:
        names = _names(world, beyond, assertion, what)
        checked += _size(names, what)
        question = _question(world, assertion, what, names)
        hits = dict(_unlisted_hits(world, assertion, what, names))
        tallies.append(count_hits(world.connection, question, assertion.kind, list(hits), endless))
        sides.append((question, hits))
    judged = judge(assertion, tallies)
    return Outcome(
        assertion=assertion,
        checked=checked,
        violations=judged.violations,
        examples=tuple(_example(world, hit, *sides[duty]) for duty, hit in judged.hits),
        detail=judged.detail,
    )


def _names(world: World, beyond: Beyond, assertion: Assertion, what: What) -> _DutyNames:
    """Pick the names that a duty is about."""
    supers = world.settings.super_users
    means_who, is_there = partial(means_principal, assertion.who), partial(means_host, what)

    def is_old(name: str) -> bool:
        return not (assertion.inventory_only and name.endswith(ANY_OTHER))

    return _DutyNames(
        principals=_Named(
            [
                name
                for name, known in world.principals.items()
                if is_old(name) and means_who(name, is_super_user=name in supers, attributes=known)
            ],
            [name for name in beyond.principals if means_who(name, is_super_user=name in supers)],
        ),
        resources=_Named(
            [
                resource
                for resource, known in world.resources.items()
                if is_old(resource.resource_name) and means_resource(what, resource, known)
            ],
            [resource for resource in beyond.resources if means_resource(what, resource)],
        ),
        hosts=_Named(*(list(filter(is_there, hosts)) for hosts in (world.hosts, beyond.hosts))),
    )


def _size(names: _DutyNames, what: What) -> int:
    if not names.hosts.all:
        return 0
    operations = sum(len(operations_on(what, r.resource_type)) for r in names.resources.all)
    return len(names.principals.all) * operations


def _question(world: World, assertion: Assertion, what: What, names: _DutyNames) -> DutyQuestion:
    kinds = sorted({resource.resource_type for resource in names.resources.listed})
    return DutyQuestion(
        cluster_id=world.run.cluster_id,
        principals=names.principals.listed,
        resources=names.resources.listed,
        operations=[(kind, name) for kind in kinds for name in operations_on(what, kind)],
        hosts=names.hosts.listed,
        decision=assertion.bad_decision,
    )


def _unlisted_hits(
    world: World, assertion: Assertion, what: What, names: _DutyNames
) -> Iterator[tuple[Hit, tuple[str, Verdict]]]:
    """Decide now what the inventory does not hold: a host where the decision is the bad one."""
    who, on, where = names
    blocks = [
        _Block(who.unlisted, on.all, where.all),
        _Block(who.listed, on.unlisted, where.all),
        _faring_otherwise(world, _Block(who.listed, on.listed, where.unlisted), where.listed),
    ]
    for block in blocks:
        if all(block):
            yield from _decide(world, what, assertion.bad_decision, block)


def _faring_otherwise(world: World, block: _Block, listed_hosts: Sequence[str]) -> _Block:
    """Keep what may fare otherwise from hosts of no inventory than from any other host.

    Only ACLs that match such a host and not every host make a difference. Where any other host
    is not asked about, everything is kept.
    """
    if not block.hosts or ANY_OTHER not in listed_hosts:
        return block
    semantics = world.semantics
    acls = [
        acl
        for acl in world.acls.values()
        if not is_any_host(acl.host, semantics)
        and any(host_matches(acl.host, host, semantics) for host in block.hosts)
    ]
    index = AclIndex.of(acls, semantics)
    people = index_principals({acl.principal for acl in acls}, semantics)
    return block._replace(
        principals=[name for name in block.principals if people.matching(name)],
        resources=[resource for resource in block.resources if index.reaching(*resource)],
    )


def _decide(
    world: World, what: What, decision: str, block: _Block
) -> Iterator[tuple[Hit, tuple[str, Verdict]]]:
    for decided in decide_outside(
        _relevant(world, what, block.resources),
        *block,
        _unreached(world, block),
        world.settings,
        world.semantics,
        what.operations,
    ):
        bad = [item for item in decided.by_host.items() if item[1].decision == decision]
        if not bad:
            continue
        host, verdict = min(bad, key=lambda item: (item[0] == ANY_OTHER, item[0]))
        for principal in decided.principals:
            hit = Hit(
                is_beyond=True,
                is_symbol=ANY_OTHER in (decided.resource[1], principal.partition(":")[2]),
                principal=principal,
                **decided.resource._asdict(),
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


def _unreached(world: World, block: _Block) -> frozenset[Resource]:
    """Return resources that no ACL reaches, as far as ``decide_outside`` asks for them."""
    if len(block.principals) != 1 or not world.settings.allow_everyone:
        return frozenset()
    index = AclIndex.of(world.acls.values(), world.semantics)
    return frozenset(r for r in block.resources if not index.reaching(*r))


def _example(world: World, hit: Hit, question: DutyQuestion, unlisted: _Unlisted) -> Example:
    host, verdict = unlisted[hit] if hit.is_beyond else find_ruling(world.connection, question, hit)
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
