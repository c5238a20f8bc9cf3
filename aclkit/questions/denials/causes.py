"""A refused access and the ACLs of today and before → why it is refused. Pure.

The log shows that it was refused; the ACLs show why. An access that is allowed by now is told
apart, and so is one that only left something out of a listing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from aclkit.model.acl import ANY_OTHER, Acl, Request
from aclkit.model.resource import Resource
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.questions.query.lifetimes import Lifetime
from aclkit.rules.decide.counterfactual import least_allowing_acl
from aclkit.rules.decide.index import AclIndex
from aclkit.rules.decide.rules import ALLOWED, answers
from aclkit.rules.patterns.match import reaches

REMOVED: Final = "acl-removed"
DENIED_BY: Final = "deny"
NO_NAME: Final = "unknown-name"
NO_ACL: Final = "no-acl"
LISTING: Final = "listing"
ALLOWED_NOW: Final = "allowed-now"
CAUSES: Final = (REMOVED, DENIED_BY, NO_ACL, NO_NAME, LISTING, ALLOWED_NOW)
"""In the order of an answer: what broke first, what is no problem last."""

PROBLEMS: Final = (REMOVED, DENIED_BY, NO_ACL, NO_NAME)

_LISTS: Final = frozenset(
    (
        "Metadata",
        "FindCoordinator",
        "ListGroups",
        "ListTransactions",
        "DescribeTopicPartitions",
        "DescribeCluster",
        "ListClientMetricsResources",
    )
)
"""Requests that leave out what a client may not DESCRIBE, or look for where it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """An access that brokers refused, from all hosts together.

    Attributes:
        principal: who.
        operation: Kafka's name.
        resource: on what.
        requests: Kafka's names of the requests.
        hosts: from where, the most frequent first.
        lines: how often, as lines of the log.
        days: on how many days.
        first_at: when first; None where the lines have no time.
        last_at: when last.
        is_new: the last run that read the log saw it first.
    """

    principal: str
    operation: str
    resource: Resource
    requests: tuple[str, ...]
    hosts: tuple[str, ...]
    lines: int
    days: int
    first_at: datetime | None
    last_at: datetime | None
    is_new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Denial:
    """A refused access and why.

    Attributes:
        refused: what the log shows.
        cause: one of ``CAUSES``.
        acl: the ACL that once allowed it, that denies it, or that allows it now.
        removed_offset: where that ACL was removed.
        removed_at: when.
        exists: the resource is known; None where aclkit cannot know (groups, transactional ids).
        least: the smallest ACL that would allow it; None where an ACL is not the answer.
    """

    refused: Refused
    cause: str
    acl: Acl | None = None
    removed_offset: int | None = None
    removed_at: datetime | None = None
    exists: bool | None = None
    least: Acl | None = None


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What refused accesses are compared with.

    Attributes:
        index: the ACLs in force.
        removed: the ACLs that were removed, the last removal first.
        settings: of the brokers.
        semantics: how ACLs are read.
        topics: the known topics.
    """

    index: AclIndex
    removed: Sequence[Lifetime]
    settings: BrokerSettings
    semantics: Semantics
    topics: Collection[str]


def explain_denial(refused: Refused, facts: Facts) -> Denial:
    """Return why an access is refused.

    It is decided from the host of most lines. Where that host is allowed by now and another one is
    not, the first that is not counts.
    """
    exists = _exists(refused.resource, facts.topics)
    for host in refused.hosts:
        request = Request.of(refused.principal, host, refused.operation, refused.resource)
        ruling = facts.index.decide(request, facts.settings)
        if ruling.decision != ALLOWED:
            break
    else:
        return Denial(refused=refused, cause=ALLOWED_NOW, acl=ruling.acl, exists=exists)
    if refused.operation == "DESCRIBE" and _LISTS.issuperset(refused.requests):
        least = None if ruling.acl else _least(request, refused)
        return Denial(refused=refused, cause=LISTING, acl=ruling.acl, exists=exists, least=least)
    if ruling.acl is not None:
        return Denial(refused=refused, cause=DENIED_BY, acl=ruling.acl, exists=exists)
    least = _least(request, refused)
    before = next((life for life in facts.removed if _allowed(life.acl, request, facts)), None)
    if before is not None:
        return Denial(
            refused=refused,
            cause=REMOVED,
            acl=before.acl,
            removed_offset=before.removed_offset,
            removed_at=before.removed_at,
            exists=exists,
            least=least,
        )
    cause = NO_NAME if exists is False else NO_ACL
    return Denial(refused=refused, cause=cause, exists=exists, least=least)


def _least(request: Request, refused: Refused) -> Acl:
    """Return the smallest ACL; one for any host where clients come from several."""
    found = least_allowing_acl(request)
    if len(refused.hosts) == 1:
        return found
    return least_allowing_acl(
        Request.of(request.principal, ANY_OTHER, request.operation, request.resource)
    )


def _allowed(acl: Acl, request: Request, facts: Facts) -> bool:
    is_about_it = reaches(acl, *request.resource, facts.semantics)
    return acl.is_allow and is_about_it and answers(acl, request, facts.semantics)


def _exists(resource: Resource, topics: Collection[str]) -> bool | None:
    if resource.resource_type == "TOPIC":
        return resource.resource_name in topics
    return True if resource.resource_type == "CLUSTER" else None
