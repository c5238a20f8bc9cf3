"""A published run and assertions → the outcome of each, without a JVM.

Known names are counted in the tables, together with the names that an assertion spells out. For
all other names, which may come later, the outcome is proven. An inventory's attributes choose
names, so these are taken in place of the attributes: what may come has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Final, Generic, NamedTuple, TypeVar

import duckdb

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL, Acl, Request
from aclkit.model.cidr import is_any_other
from aclkit.model.principal import WILDCARD_PRINCIPAL
from aclkit.model.redpanda import has_unknown_members
from aclkit.model.resource import Resource
from aclkit.model.semantics import BROKER
from aclkit.questions.assertions.evaluate import Hit, Tallies, judge
from aclkit.questions.assertions.match import (
    hosts_said,
    means_host,
    means_principal,
    means_resource,
    operations_on,
    principals_said,
    resources_said,
)
from aclkit.questions.assertions.model import (
    FAILS,
    UNKNOWN,
    Assertion,
    Example,
    Outcome,
    Pattern,
    ResourcePattern,
    What,
    Who,
)
from aclkit.questions.assertions.proof import prove
from aclkit.questions.assertions.published import DutyQuestion, World, count_hits, find_ruling
from aclkit.questions.query.decide_unlisted import Verdict, decide_outside
from aclkit.rules.decide.confirm import Decider
from aclkit.rules.decide.index import AclIndex
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import operations_of
from aclkit.rules.patterns.match import LITERAL
from aclkit.warehouse.acls_in_force import acls_in_force
from aclkit.warehouse.job_run import PublishedRun

_T = TypeVar("_T")


def check(
    connection: duckdb.DuckDBPyConnection,
    run: PublishedRun,
    assertions: Sequence[Assertion],
    budget: Budget | None = None,
) -> list[Outcome]:
    """Hold assertions against the published decisions of a run's cluster.

    What the inventory does not hold is decided now, over the ACLs of the same offset.

    Args:
        connection: see ``duck.connect``.
        run: whose decisions are published.
        assertions: what must hold.
        budget: what all proofs together may take.
    """
    world = World.of(connection, run)
    return check_state(world, assertions, budget or Budget())


def check_state(world: World, assertions: Sequence[Assertion], budget: Budget) -> list[Outcome]:
    """Hold assertions against a state, such as one that is planned, see ``World.planned``."""
    return [_of_members(world, _check_one(world, one, budget), budget) for one in assertions]


def _of_members(world: World, found: Outcome, budget: Budget) -> Outcome:
    """Return an outcome; unknown where members of a role or group can make it another one.

    Nothing shows who they are, so it holds only if it holds where each principal is one of them.
    """
    is_duty = found.assertion.kind == "always"
    every = [
        replace(acl, acl_id=f"members {acl.acl_id}", principal=WILDCARD_PRINCIPAL)
        for acl in world.acls.values()
        if acl.is_allow != is_duty and has_unknown_members(acl.principal, world.semantics)
    ]
    if found.state != "passed" or not every:
        return found
    rules = replace(world.rules, acls=(*world.acls.values(), *every))
    there = World.planned(rules, world.hosts, world.principals, world.resources)
    if _check_one(there, found.assertion, budget).state == "passed":
        return found
    return replace(found, proof=UNKNOWN, detail=_MEMBERS)


_MEMBERS: Final = "the members of roles and groups can make it fail, and they are not known here"


def deciding_acls(
    connection: duckdb.DuckDBPyConnection, run: PublishedRun, outcomes: Sequence[Outcome]
) -> Mapping[str | None, Acl]:
    """Return the ACLs that decided the examples, by id."""
    ids = [example.acl_id for outcome in outcomes for example in outcome.examples]
    return acls_in_force(connection, run, ids)


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


def _check_one(world: World, assertion: Assertion, budget: Budget) -> Outcome:
    tallies: list[Tallies] = []
    sides: list[tuple[DutyQuestion, _Unlisted]] = []
    checked = 0
    for what in assertion.duties:
        names = _names(world, assertion, what)
        checked += _size(names, what)
        question = _question(world, assertion, what, names)
        hits = dict(_unlisted_hits(world, assertion, what, names))
        tallies.append(count_hits(world.connection, question, assertion.kind, list(hits)))
        sides.append((question, hits))
    judged = judge(assertion, tallies)
    examples = tuple(_example(world, hit, *sides[duty]) for duty, hit in judged.hits)
    counted = Outcome(
        assertion=assertion,
        checked=checked,
        violations=judged.violations,
        examples=examples,
        detail=judged.detail,
    )
    return counted if assertion.inventory_only else prove_unlisted(world, counted, budget)


def _names(world: World, assertion: Assertion, what: What) -> _DutyNames:
    """Pick the names that a duty is about."""

    def is_old(name: object) -> bool:
        return not (assertion.inventory_only and str(name).endswith(ANY_OTHER))

    def means_who(name: str) -> bool:
        is_super_user, known = world.settings.makes_super(name), world.principals.get(name, {})
        return means_principal(assertion.who, name, is_super_user=is_super_user, attributes=known)

    def means_it(resource: Resource) -> bool:
        return means_resource(what, resource, world.resources.get(resource, {}))

    def named(known: Iterable[_T], said: Iterable[_T], means: Callable[[_T], bool]) -> _Named[_T]:
        listed = dict.fromkeys(known)
        return decided(
            [name for name in listed if is_old(name) and means(name)],
            [name for name in said if name not in listed and means(name)],
        )

    def decided(known: list[_T], said: list[_T]) -> _Named[_T]:
        return _Named(known, said) if world.is_decided else _Named([], [*known, *said])

    return _DutyNames(
        principals=named(world.principals, principals_said(assertion.who), means_who),
        resources=named(world.resources, resources_said(what), means_it),
        hosts=decided(
            [host for host in world.hosts if means_host(what, host)],
            [host for host in hosts_said(what) if host not in world.hosts],
        ),
    )


def _size(names: _DutyNames, what: What) -> int:
    if not names.hosts.all:
        return 0
    operations = sum(len(operations_on(what, r.resource_type)) for r in names.resources.all)
    return len(names.principals.all) * operations


def _question(world: World, assertion: Assertion, what: What, names: _DutyNames) -> DutyQuestion:
    kinds = sorted({resource.resource_type for resource in names.resources.listed})
    return DutyQuestion(
        cluster_id=world.cluster_id,
        principals=names.principals.listed,
        resources=names.resources.listed,
        operations=[(kind, name) for kind in kinds for name in operations_on(what, kind)],
        hosts=names.hosts.listed,
        decision=assertion.bad_decision,
    )


def _unlisted_hits(
    world: World, assertion: Assertion, what: What, names: _DutyNames
) -> Iterator[tuple[Hit, tuple[str, Verdict]]]:
    """Decide now what is spelled out but not listed: yield a host with the bad decision."""
    who, on, where = names
    blocks = [
        _Block(who.unlisted, on.all, where.all),
        _Block(who.listed, on.unlisted, where.all),
        _Block(who.listed, on.listed, where.unlisted),
    ]
    for block in blocks:
        if all(block):
            yield from _decide(world, what, assertion.bad_decision, block)


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
        host, verdict = min(bad, key=lambda item: (is_any_other(item[0]), item[0]))
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
        if not operations_of(acl).isdisjoint(operations_on(what, acl.resource_type))
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
        resource_type=hit.resource_type,
        resource_name=hit.resource_name,
        **verdict._asdict(),
        in_inventory=_is_known(world, hit, host),
    )


def prove_unlisted(world: World, counted: Outcome, budget: Budget) -> Outcome:
    """Prove an assertion for every name; what the inventory shows already is not shown twice."""
    assertion = _without_attributes(world, counted.assertion)
    proof = prove(assertion, world.rules, budget)
    found = replace(counted, proof=proof.verdict)
    if proof.verdict == UNKNOWN:
        return replace(found, detail=_and(counted.detail, "unknown", proof.detail))
    if proof.verdict != FAILS or proof.request is None:
        return found
    requests = proof.members if assertion.kind == "separate" else (proof.request,)
    decider = Decider.of(world.rules)
    if counted.violations and all(_is_told(world, assertion, decider, r) for r in requests):
        return found
    return replace(
        found,
        examples=(*counted.examples, *_examples(world, decider, requests)),
        detail=_and(counted.detail, "", proof.detail),
    )


def _and(counted: str | None, state: str, detail: str | None) -> str:
    said = ": ".join(each for each in ("for all possible names", state, detail) if each)
    return f"{counted}, and {said}" if counted else said


def _examples(world: World, decider: Decider, requests: Sequence[Request]) -> list[Example]:
    rulings = [decider.index.decide(request, world.settings) for request in requests]
    return [
        Example(
            **asdict(request),
            **Verdict.of(ruling)._asdict(),
            in_inventory=request.principal in world.principals
            and request.host in world.hosts
            and request.resource in world.resources,
        )
        for request, ruling in zip(requests, rulings, strict=True)
    ]


def _is_told(world: World, assertion: Assertion, decider: Decider, request: Request) -> bool:
    """Whether what was counted shows the same: itself, or any other in its place."""
    said = (resource for what in assertion.duties for resource in resources_said(what))
    principals = {*world.principals, *principals_said(assertion.who)}
    resources = {*world.resources, *said}
    principal = request.principal if request.principal in principals else ANY_OTHER_PRINCIPAL
    any_other = Resource(request.resource_type, ANY_OTHER)
    resource = request.resource if request.resource in resources else any_other
    if principal not in principals or resource not in resources:
        return False
    is_super = world.settings.makes_super(principal)
    asked = (
        Request.of(principal, host, request.operation, resource)
        for what in assertion.duties
        for host in (*world.hosts, *hosts_said(what))
        if means_host(what, host) and means_resource(what, resource)
    )
    return means_principal(assertion.who, principal, is_super_user=is_super) and any(
        decider.index.decide(each, world.settings).decision == assertion.bad_decision
        for each in asked
    )


def _without_attributes(world: World, assertion: Assertion) -> Assertion:
    """Name the principals and resources that an assertion chooses by attributes."""
    return replace(
        assertion,
        who=_who(world, assertion.who) if assertion.who.attributes else assertion.who,
        duties=tuple(_what(world, each) if each.attributes else each for each in assertion.duties),
    )


def _who(world: World, who: Who) -> Who:
    named = replace(who, is_inverted=False)
    names = (
        Pattern(LITERAL, name)
        for name, known in world.principals.items()
        if means_principal(named, name, is_super_user=False, attributes=known)
    )
    return replace(who, names=tuple(names), but=(), attributes={})


def _what(world: World, what: What) -> What:
    names = (
        ResourcePattern(resource.resource_type, Pattern(LITERAL, resource.resource_name))
        for resource, known in world.resources.items()
        if means_resource(what, resource, known)
    )
    return replace(what, names=tuple(names), but=(), attributes={})


def _is_known(world: World, hit: Hit, host: str) -> bool:
    """Whether all names of a decision are in the inventory."""
    if world.is_decided:
        return not hit.is_beyond
    resource = Resource(hit.resource_type, hit.resource_name)
    return hit.principal in world.principals and resource in world.resources and host in world.hosts
