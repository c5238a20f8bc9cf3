"""The state of a run and assertions → the outcome of each, without a JVM.

The rule is applied to all known names, and to those that an assertion spells out: see
``violations``. For all other names, which may come later, the outcome is proven. An inventory's
attributes choose names, so these are taken in place of the attributes: what may come has none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Final, TypeVar

import duckdb

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL, Acl, Request
from aclkit.model.cidr import is_any_other
from aclkit.model.principal import WILDCARD_PRINCIPAL
from aclkit.model.redpanda import has_unknown_members
from aclkit.model.resource import Resource
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
from aclkit.questions.assertions.violations import Hit, Names, World, find_violations
from aclkit.questions.query.decide_unlisted import Verdict
from aclkit.questions.query.names import read_hosts
from aclkit.rules.decide.agreement import DisagreementError
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import Rules
from aclkit.rules.patterns.match import LITERAL
from aclkit.warehouse.acls_in_force import acls_in_force
from aclkit.warehouse.duck import fetch
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.published import run_settings

_T = TypeVar("_T")


def check(
    connection: duckdb.DuckDBPyConnection,
    run: PublishedRun,
    assertions: Sequence[Assertion],
    budget: Budget | None = None,
) -> list[Outcome]:
    """Hold assertions against the ACLs and the inventory of a run's cluster.

    Args:
        connection: see ``duck.connect``.
        run: by whose ACLs and settings is decided.
        assertions: what must hold.
        budget: what all proofs together may take.
    """
    return check_state(read_world(connection, run), assertions, budget or Budget())


def read_world(connection: duckdb.DuckDBPyConnection, run: PublishedRun) -> World:
    """Read the ACLs by which a run decided, and the inventory with its attributes."""
    settings, semantics = run_settings(run)
    people = fetch(connection, _PRINCIPALS, [run.cluster_id])
    things = fetch(connection, _RESOURCES, [run.cluster_id])
    return World(
        rules=Rules(
            acls=tuple(acls_in_force(connection, run).values()),
            settings=settings,
            semantics=semantics,
        ),
        hosts=read_hosts(connection, run.cluster_id),
        principals={name: attributes or {} for name, attributes in people},
        resources={Resource(*named): attributes or {} for *named, attributes in things},
    )


_PRINCIPALS: Final = (
    "SELECT principal, attributes FROM principal WHERE cluster_id = ? ORDER BY principal"
)
_RESOURCES: Final = (
    "SELECT resource_type, resource_name, attributes FROM resource WHERE cluster_id = ? "
    "ORDER BY resource_type, resource_name"
)


def check_state(world: World, assertions: Sequence[Assertion], budget: Budget) -> list[Outcome]:
    """Hold assertions against a state, such as one that is planned."""
    return [_of_members(world, _check_one(world, one, budget), budget) for one in assertions]


def _of_members(world: World, found: Outcome, budget: Budget) -> Outcome:
    """Return an outcome; unknown where members of a role or group can make it another one.

    Nothing shows who they are, so it holds only if it holds where each principal is one of them.
    """
    is_duty = found.assertion.kind == "always"
    every = [
        replace(acl, acl_id=f"members {acl.acl_id}", principal=WILDCARD_PRINCIPAL)
        for acl in world.rules.acls
        if acl.is_allow != is_duty and has_unknown_members(acl.principal, world.rules.semantics)
    ]
    if found.state != "passed" or not every:
        return found
    there = replace(world, rules=replace(world.rules, acls=(*world.rules.acls, *every)))
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


def _check_one(world: World, assertion: Assertion, budget: Budget) -> Outcome:
    duties = [_names(world, assertion, what) for what in assertion.duties]
    found = find_violations(world, assertion, duties)
    sizes = map(_size, duties, assertion.duties)
    counted = Outcome(
        assertion=assertion,
        checked=sum(sizes),
        violations=found.count,
        examples=tuple(
            _example(world, assertion, hit, duties[duty].hosts) for duty, hit in found.hits
        ),
        detail=found.detail,
    )
    return counted if assertion.inventory_only else prove_unlisted(world, counted, budget)


def _names(world: World, assertion: Assertion, what: What) -> Names:
    """Pick the names that a duty is about: known ones, and those that it spells out."""

    def is_meant(name: object) -> bool:
        return not (assertion.inventory_only and str(name).endswith(ANY_OTHER))

    def means_who(name: str) -> bool:
        is_super_user = world.rules.settings.makes_super(name)
        known = world.principals.get(name, {})
        return means_principal(assertion.who, name, is_super_user=is_super_user, attributes=known)

    def named(known: Collection[_T], said: Iterable[_T], means: Callable[[_T], bool]) -> list[_T]:
        names = *filter(is_meant, known), *(name for name in said if name not in known)
        return [name for name in names if means(name)]

    return Names(
        principals=named(world.principals, principals_said(assertion.who), means_who),
        resources=named(
            world.resources,
            resources_said(what),
            lambda resource: means_resource(what, resource, world.resources.get(resource, {})),
        ),
        hosts=[
            *(host for host in world.hosts if means_host(what, host)),
            *(host for host in hosts_said(what) if host not in world.hosts),
        ],
    )


def _size(names: Names, what: What) -> int:
    if not names.hosts:
        return 0
    operations = sum(len(operations_on(what, r.resource_type)) for r in names.resources)
    return len(names.principals) * operations


def _example(world: World, assertion: Assertion, hit: Hit, hosts: Sequence[str]) -> Example:
    """Decide a hit by the rule; an address goes before any other host.

    Raises:
        DisagreementError: the rule decides otherwise from every host.
    """
    meant = (host for host in hosts if hit.is_beyond or host in world.hosts)
    resource = Resource(hit.resource_type, hit.resource_name)
    for host in sorted(meant, key=lambda host: (is_any_other(host), host)):
        request = Request.of(hit.principal, host, hit.operation, resource)
        example = _shown(world, request)
        if example.decision == assertion.bad_decision:
            return example
    raise DisagreementError(
        f"Counted as a violation: {hit.principal} {hit.operation} {resource}, but the rule decides "
        "otherwise from every host. Please report this."
    )


def _shown(world: World, request: Request) -> Example:
    ruling = world.decider.index.decide(request, world.rules.settings)
    return Example(
        **asdict(request),
        **Verdict.of(ruling)._asdict(),
        in_inventory=request.principal in world.principals
        and request.host in world.hosts
        and request.resource in world.resources,
    )


def prove_unlisted(world: World, counted: Outcome, budget: Budget) -> Outcome:
    """Prove an assertion for every name; what the inventory shows already is not shown twice."""
    assertion = _without_attributes(world, counted.assertion)
    proof = prove(assertion, world.rules, budget, world.decider)
    found = replace(counted, proof=proof.verdict)
    if proof.verdict == UNKNOWN:
        return replace(found, detail=_and(counted.detail, "unknown", proof.detail))
    if proof.verdict != FAILS or proof.request is None:
        return found
    requests = proof.members if assertion.kind == "separate" else (proof.request,)
    if counted.violations and all(_is_told(world, assertion, r) for r in requests):
        return found
    return replace(
        found,
        examples=(*counted.examples, *(_shown(world, each) for each in requests)),
        detail=_and(counted.detail, "", proof.detail),
    )


def _and(counted: str | None, state: str, detail: str | None) -> str:
    said = ": ".join(each for each in ("for all possible names", state, detail) if each)
    return f"{counted}, and {said}" if counted else said


def _is_told(world: World, assertion: Assertion, request: Request) -> bool:
    """Whether what was counted shows the same: itself, or any other in its place."""
    said = (resource for what in assertion.duties for resource in resources_said(what))
    principals = {*world.principals, *principals_said(assertion.who)}
    resources = {*world.resources, *said}
    principal = request.principal if request.principal in principals else ANY_OTHER_PRINCIPAL
    any_other = Resource(request.resource_type, ANY_OTHER)
    resource = request.resource if request.resource in resources else any_other
    if principal not in principals or resource not in resources:
        return False
    is_super = world.rules.settings.makes_super(principal)
    asked = (
        Request.of(principal, host, request.operation, resource)
        for what in assertion.duties
        for host in (*world.hosts, *hosts_said(what))
        if means_host(what, host) and means_resource(what, resource)
    )
    return means_principal(assertion.who, principal, is_super_user=is_super) and any(
        world.decider.index.decide(each, world.rules.settings).decision == assertion.bad_decision
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
