"""A decided access → the requests that hang on it, and what becomes of them by the same ACLs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from aclkit.model.acl import Acl, Request, TypeRequest
from aclkit.model.resource import Resource
from aclkit.model.values import dataclass
from aclkit.questions.query.lifetimes import lifetimes_of_type, lifetimes_reaching
from aclkit.rules.decide.any_of_type import BadAclPrincipalError, TooHardError, authorize_any
from aclkit.rules.decide.counterfactual import Case
from aclkit.rules.decide.handlers import requests_about
from aclkit.rules.decide.requests import BY_RESOURCE_TYPE, Asker, KafkaRequest, Passage
from aclkit.rules.decide.rules import DENIED, Ruling
from aclkit.rules.patterns.match import reaches
from aclkit.warehouse.duck import Tables


@dataclass(frozen=True, slots=True)
class Supposed:
    """A change of the ACLs.

    Attributes:
        added: ACLs that come.
        removed: the ids of those that go.
    """

    added: tuple[Acl, ...] = ()
    removed: frozenset[str] = frozenset()

    def left_of(self, acls: Iterable[Acl]) -> list[Acl]:
        """Return the ACLs that stay."""
        return [acl for acl in acls if acl.acl_id not in self.removed]


def read_passages(
    connection: Tables,
    cluster_id: str,
    case: Case,
    offset: int,
    request: KafkaRequest | None = None,
    supposed: Supposed | None = None,
) -> tuple[Passage, ...]:
    """Return what becomes of each request that hangs on an access.

    Args:
        connection: see ``reader.open_tables``.
        cluster_id: the cluster.
        case: the access, and what decides it.
        offset: as of which the case's ACLs are alive.
        request: only this one, although it may ask for the access but aside.
        supposed: a change of the ACLs that is taken to be made.
    """
    access, change = case.request, supposed or Supposed()

    @cache
    def reaching(resource: Resource) -> list[Acl]:
        lives = lifetimes_reaching(connection, cluster_id, resource, case.semantics, offset)
        added = [acl for acl in change.added if reaches(acl, *resource, case.semantics)]
        return [*change.left_of(life.acl for life in lives), *added]

    @cache
    def decide(other: Request) -> Ruling:
        is_known = other.resource == access.resource and supposed is None
        acls = case.reaching if is_known else reaching(other.resource)
        return replace(case, request=other, reaching=acls).decide()

    def decide_any(asked: TypeRequest) -> Ruling | None:
        lives = lifetimes_of_type(connection, cluster_id, asked.resource_type, offset)
        added = [acl for acl in change.added if acl.resource_type == asked.resource_type]
        acls = [*change.left_of(life.acl for life in lives), *added]
        try:
            decision = authorize_any(acls, asked, case.settings, case.semantics)
        except BadAclPrincipalError:
            decision = DENIED  # the broker's search throws, and its handler refuses
        except TooHardError:
            return None
        return Ruling(decision, BY_RESOURCE_TYPE)

    asker = Asker(
        principal=access.principal,
        host=access.host,
        names={access.resource_type: access.resource_name},
        decide=decide,
        decide_any=decide_any,
    )
    about = requests_about(access.operation, access.resource_type)
    return tuple(asker.judge(each) for each in ([request] if request else about))
