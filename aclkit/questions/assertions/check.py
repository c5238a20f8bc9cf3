"""A state and assertions → the outcome of each. Pure.

The rule is applied to all known names, and to those that an assertion spells out: see
``violations``. For all other names, which may come later, the outcome is proven. An inventory's
attributes choose names, so these are taken in place of the attributes: what may come has none.
Of a state without known names, such as files hold, all is proven and nothing counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL, Request
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
    EVERY_NAME,
    FAILED,
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
from aclkit.questions.assertions.violations import Hit, Indexed, Names, find_violations
from aclkit.questions.state import State
from aclkit.rules.decide.agreement import DisagreementError
from aclkit.rules.decide.rules import ALLOWED
from aclkit.rules.names.question import Budget
from aclkit.rules.patterns.match import LITERAL

_T = TypeVar("_T")


def check(
    state: State, assertions: Sequence[Assertion], budget: Budget, *, at_every_end: bool = True
) -> list[Outcome]:
    """Check assertions on a state.

    Args:
        state: what decides, and the known names.
        assertions: what must hold.
        budget: what all proofs together may take.
        at_every_end: where an order or a name is open, an assertion that can fail is unknown;
            otherwise the ACLs count as they stand.
    """
    ends = [state.rules]
    if at_every_end and not state.is_exact:
        ends += [state.most, state.least]
    states = [Indexed(rules, state.inventory) for rules in ends]
    return [_check_at(states, each, budget) for each in assertions]


def _check_at(states: Sequence[Indexed], assertion: Assertion, budget: Budget) -> Outcome:
    first, *others = states
    found = _of_members(first, assertion, budget)
    for other in others:
        if not found.has_passed:
            return found
        found = _of_members(other, assertion, budget)
        if found.verdict == FAILED:
            return replace(found, violations=0, proof=UNKNOWN, detail=_OPEN)
    return found


_OPEN: Final = "it may fail: the order of the plan or the name of a principal is open"


def _of_members(state: Indexed, assertion: Assertion, budget: Budget) -> Outcome:
    """Return an outcome; unknown where members of a role or group can make it another one.

    Nothing shows who they are, so it holds only if it holds where each principal is one of them.
    """
    found = _check_one(state, assertion, budget)
    is_duty = assertion.kind == "always"
    every = [
        replace(acl, acl_id=f"members {acl.acl_id}", principal=WILDCARD_PRINCIPAL)
        for acl in state.rules.acls
        if acl.is_allow != is_duty and has_unknown_members(acl.principal, state.rules.semantics)
    ]
    if not found.has_passed or not every:
        return found
    there = replace(state, rules=replace(state.rules, acls=(*state.rules.acls, *every)))
    if _check_one(there, assertion, budget).has_passed:
        return found
    return replace(found, proof=UNKNOWN, detail=_MEMBERS)


_MEMBERS: Final = "the members of roles and groups can make it fail, and they are not known here"


def _check_one(state: Indexed, assertion: Assertion, budget: Budget) -> Outcome:
    if not state.inventory.has_names:
        return _of_every_name(state, assertion, budget)
    duties = [_names(state, assertion, what) for what in assertion.duties]
    found = find_violations(state, assertion, duties)
    sizes = map(_size, duties, assertion.duties)
    counted = Outcome(
        assertion=assertion,
        checked=sum(sizes),
        violations=found.count,
        examples=tuple(
            _example(state, assertion, hit, duties[duty].hosts) for duty, hit in found.hits
        ),
        detail=found.detail,
    )
    return counted if assertion.inventory_only else _with_unlisted(state, counted, budget)


def _of_every_name(state: Indexed, assertion: Assertion, budget: Budget) -> Outcome:
    """Prove an assertion where no name is known; what attributes choose is unknown there."""
    if assertion.who.attributes or any(what.attributes for what in assertion.duties):
        return Outcome(assertion=assertion, proof=UNKNOWN, detail=_ATTRIBUTES)
    proof = prove(assertion, state.rules, budget, state.decider)
    requests = proof.members or (() if proof.request is None else (proof.request,))
    return Outcome(
        assertion=assertion,
        proof=proof.verdict,
        examples=tuple(_shown(state, assertion, each) for each in requests),
        detail=proof.detail,
        hard=proof.hard,
    )


_ATTRIBUTES: Final = "it chooses names by attributes, and those of an inventory are not known here"


def _names(state: Indexed, assertion: Assertion, what: What) -> Names:
    """Pick the names that a duty is about: known ones, and those that it spells out."""

    def is_meant(name: object) -> bool:
        return not (assertion.inventory_only and str(name).endswith(ANY_OTHER))

    def means_who(name: str) -> bool:
        is_super_user = state.rules.settings.makes_super(name)
        own = state.attributes(name)
        return means_principal(assertion.who, name, is_super_user=is_super_user, attributes=own)

    def named(
        known: Sequence[_T], said: Iterable[_T], index: frozenset[_T], means: Callable[[_T], bool]
    ) -> list[_T]:
        names = *filter(is_meant, known), *(name for name in said if name not in index)
        return [name for name in names if means(name)]

    known, who = state.inventory, assertion.who
    return Names(
        principals=named(known.principals, principals_said(who), state.principals, means_who),
        resources=named(
            known.resources,
            resources_said(what),
            state.resources,
            lambda resource: means_resource(what, resource, state.attributes(resource)),
        ),
        hosts=[
            *(host for host in known.hosts if means_host(what, host)),
            *(host for host in hosts_said(what) if host not in state.hosts),
        ],
    )


def _size(names: Names, what: What) -> int:
    if not names.hosts:
        return 0
    operations = sum(len(operations_on(what, r.resource_type)) for r in names.resources)
    return len(names.principals) * operations


def _example(state: Indexed, assertion: Assertion, hit: Hit, hosts: Sequence[str]) -> Example:
    """Decide a hit by the rule; an address goes before any other host.

    Raises:
        DisagreementError: the rule decides otherwise from every host.
    """
    is_allowed = assertion.bad_decision == ALLOWED
    meant = (host for host in hosts if hit.is_beyond or host in state.hosts)
    resource = Resource(hit.resource_type, hit.resource_name)
    for host in sorted(meant, key=lambda host: (is_any_other(host), host)):
        request = Request.of(hit.principal, host, hit.operation, resource)
        if state.decider.allows(request) is is_allowed:
            return _shown(state, assertion, request)
    raise DisagreementError(
        f"Counted as a violation: {hit.principal} {hit.operation} {resource}, but the rule decides "
        "otherwise from every host. Please report this."
    )


def _shown(state: Indexed, assertion: Assertion, request: Request) -> Example:
    """Decide a request that speaks against an assertion.

    Raises:
        DisagreementError: it does not.
    """
    is_allowed = assertion.bad_decision == ALLOWED
    ruling = state.decider.confirm(request, is_allowed=is_allowed)
    return Example(request, ruling, _is_known(state, request))


def _is_known(state: Indexed, request: Request) -> bool | None:
    if not state.inventory.has_names:
        return None
    return (
        request.principal in state.principals
        and request.host in state.hosts
        and request.resource in state.resources
    )


def _with_unlisted(state: Indexed, counted: Outcome, budget: Budget) -> Outcome:
    """Prove an assertion for every name; what the inventory shows already is not shown twice."""
    assertion = _without_attributes(state, counted.assertion)
    proof = prove(assertion, state.rules, budget, state.decider)
    found = replace(counted, proof=proof.verdict, hard=proof.hard)
    if proof.verdict == UNKNOWN:
        return replace(found, detail=_and(counted.detail, "unknown", proof.detail))
    if proof.verdict != FAILED or proof.request is None:
        return found
    requests = proof.members if assertion.kind == "separate" else (proof.request,)
    if counted.violations and all(_is_told(state, assertion, r) for r in requests):
        return found
    return replace(
        found,
        examples=(*counted.examples, *(_shown(state, assertion, each) for each in requests)),
        detail=_and(counted.detail, "", proof.detail),
    )


def _and(counted: str | None, state: str, detail: str | None) -> str:
    said = ": ".join(each for each in (EVERY_NAME, state, detail) if each)
    return f"{counted}, and {said}" if counted else said


def _is_told(state: Indexed, assertion: Assertion, request: Request) -> bool:
    """Whether what was counted shows the same: itself, or any other in its place."""
    said = (resource for what in assertion.duties for resource in resources_said(what))
    principals = {*state.principals, *principals_said(assertion.who)}
    resources = {*state.resources, *said}
    principal = request.principal if request.principal in principals else ANY_OTHER_PRINCIPAL
    any_other = Resource(request.resource_type, ANY_OTHER)
    resource = request.resource if request.resource in resources else any_other
    if principal not in principals or resource not in resources:
        return False
    is_super = state.rules.settings.makes_super(principal)
    asked = (
        Request.of(principal, host, request.operation, resource)
        for what in assertion.duties
        for host in (*state.hosts, *hosts_said(what))
        if means_host(what, host) and means_resource(what, resource)
    )
    return means_principal(assertion.who, principal, is_super_user=is_super) and any(
        state.decider.allows(each) is (assertion.bad_decision == ALLOWED) for each in asked
    )


def _without_attributes(state: Indexed, assertion: Assertion) -> Assertion:
    """Name the principals and resources that an assertion chooses by attributes."""
    return replace(
        assertion,
        who=_who(state, assertion.who) if assertion.who.attributes else assertion.who,
        duties=tuple(_what(state, each) if each.attributes else each for each in assertion.duties),
    )


def _who(state: Indexed, who: Who) -> Who:
    named = replace(who, is_inverted=False)
    names = (
        Pattern(LITERAL, name)
        for name in state.inventory.principals
        if means_principal(named, name, is_super_user=False, attributes=state.attributes(name))
    )
    return replace(who, names=tuple(names), but=(), attributes={})


def _what(state: Indexed, what: What) -> What:
    names = (
        ResourcePattern(resource.resource_type, Pattern(LITERAL, resource.resource_name))
        for resource in state.inventory.resources
        if means_resource(what, resource, state.attributes(resource))
    )
    return replace(what, names=tuple(names), but=(), attributes={})
