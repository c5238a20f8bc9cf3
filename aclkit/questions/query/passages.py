"""A decided access → the requests that hang on it, and what becomes of them by the same ACLs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from aclkit.model.acl import Acl, Request
from aclkit.model.resource import Resource
from aclkit.questions.query.lifetimes import lifetimes_of_type, lifetimes_reaching
from aclkit.rules.decide.any_of_type import authorize_any
from aclkit.rules.decide.by_resource_type import BadAclPrincipalError
from aclkit.rules.decide.counterfactual import Case
from aclkit.rules.decide.handlers import requests_about
from aclkit.rules.decide.requests import BY_RESOURCE_TYPE, Asker, Passage
from aclkit.rules.decide.rules import DENIED, Ruling
from aclkit.warehouse.tables import Tables


def read_passages(
    connection: Tables, cluster_id: str, case: Case, offset: int
) -> tuple[Passage, ...]:
    """Say of each request that hangs on an access whether a broker lets it pass.

    Args:
        connection: see ``opening.open_tables``.
        cluster_id: the cluster.
        case: the access, and what decides it.
        offset: as of which the case's ACLs are alive.
    """
    request = case.request

    @cache
    def reaching(resource: Resource) -> list[Acl]:
        lives = lifetimes_reaching(connection, cluster_id, resource, case.semantics, offset)
        return [life.acl for life in lives]

    @cache
    def decide(other: Request) -> Ruling:
        resource = Resource(other.resource_type, other.resource_name)
        if resource == Resource(request.resource_type, request.resource_name):
            return replace(case, request=other).decide()
        return replace(case, request=other, reaching=reaching(resource)).decide()

    asker = Asker(
        principal=request.principal,
        host=request.host,
        names={request.resource_type: request.resource_name},
        decide=decide,
        decide_any=_decide_any(connection, cluster_id, case, offset),
    )
    requests = requests_about(request.operation, request.resource_type)
    return tuple(asker.judge(each) for each in requests)


def _decide_any(
    connection: Tables, cluster_id: str, case: Case, offset: int
) -> Callable[[str, str], Ruling]:
    def decide_any(operation: str, resource_type: str) -> Ruling:
        lives = lifetimes_of_type(connection, cluster_id, resource_type, offset)
        requester = case.request.principal, case.request.host
        try:
            decision = authorize_any(
                (life.acl for life in lives),
                requester,
                (operation, resource_type),
                case.settings,
                case.semantics,
            )
        except BadAclPrincipalError:
            decision = DENIED  # the broker's search throws, and its handler refuses
        return Ruling(decision, BY_RESOURCE_TYPE)

    return decide_any
