"""What came out of the inventory, and the ACLs → the same, with what is proven for every name.

An inventory's attributes choose names, so these are taken in place of the attributes: what may
come has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL, Request
from aclkit.model.resource import Resource
from aclkit.questions.assertions.match import (
    hosts_said,
    means_host,
    means_principal,
    means_resource,
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
from aclkit.questions.assertions.world import World
from aclkit.questions.query.decide_unlisted import Verdict
from aclkit.rules.decide.confirm import Decider
from aclkit.rules.names.budget import Budget
from aclkit.rules.patterns.match import LITERAL


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
    is_super = principal in world.settings.super_users
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
