"""Refused accesses and the ACLs of today and before → why they are refused. Pure.

The log shows that an access was refused; the ACLs show why, for each host. An access that is
allowed by now is kept apart, and so is one whose denial only left something out of an answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, NamedTuple

from aclkit.model.acl import ANY_OTHER, Acl, Request
from aclkit.model.groups import grouped
from aclkit.model.resource import Resource
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.questions.query.lifetimes import Lifetime
from aclkit.rules.decide.counterfactual import NextNeeds, least_allowing_acl, next_needs
from aclkit.rules.decide.handlers import leaves_out, needed_next
from aclkit.rules.decide.index import AclIndex
from aclkit.rules.decide.rules import ALLOWED, Ruling

REMOVED: Final = "acl-removed"
DENIED_BY: Final = "deny"
NO_NAME: Final = "unknown-name"
NO_ACL: Final = "no-acl"
LISTING: Final = "listing"
ALLOWED_NOW: Final = "allowed-now"
CAUSES: Final = (REMOVED, DENIED_BY, NO_ACL, NO_NAME, LISTING, ALLOWED_NOW)
"""In the order of an answer: what broke first, what is no problem last."""

PROBLEMS: Final = (REMOVED, DENIED_BY, NO_ACL, NO_NAME)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """An access that brokers refused, from some hosts together.

    Attributes:
        principal: who.
        operation: Kafka's name.
        resource: on what.
        requests: Kafka's names of the requests.
        hosts: from where, the most frequent first.
        lines: how often, as lines of the log.
        log_days: on which days.
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
    log_days: frozenset[datetime]
    first_at: datetime | None
    last_at: datetime | None
    is_new: bool

    @property
    def days(self) -> int:
        """On how many days."""
        return len(self.log_days)


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
        fixes: the smallest ACLs with which the client can work: alternatives, each of the ACLs that
            it takes; none where an ACL is not the answer.
        next_deny: a DENY that stops what the client may do next, once it is let in.
    """

    refused: Refused
    cause: str
    acl: Acl | None = None
    removed_offset: int | None = None
    removed_at: datetime | None = None
    exists: bool | None = None
    fixes: tuple[tuple[Acl, ...], ...] = ()
    next_deny: Acl | None = None


@dataclass(frozen=True, kw_only=True)
class Removed:
    """The ALLOWs that were removed.

    Attributes:
        index: finds them; each set of seven fields stands in it once.
        lives: the same → their lifetimes, the last removal first.
    """

    index: AclIndex
    lives: Mapping[tuple[str, ...], Sequence[Lifetime]]

    @classmethod
    def of(cls, lives: Iterable[Lifetime], semantics: Semantics) -> Removed:
        """Index lifetimes, which come with the last removal first."""
        by_binding = grouped((life.acl.binding, life) for life in lives if life.acl.is_allow)
        once = (replace(found[0].acl, acl_id=str(n)) for n, found in enumerate(by_binding.values()))
        return cls(index=AclIndex.of(once, semantics), lives=by_binding)

    def allowing(self, request: Request, until: datetime | None) -> Lifetime | None:
        """Return the last one that allowed a request and was in force before a time.

        Without a time, or the time of its beginning, it is unknown, and none is returned.
        """
        found = [
            life
            for acl in self.index.find(request)[1]
            for life in self.lives[acl.binding]
            if until is not None and life.added_at is not None and life.added_at <= until
        ]
        return max(found, key=lambda life: life.removed_offset or 0, default=None)


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What refused accesses are compared with.

    Attributes:
        index: the ACLs in force.
        removed: the ALLOWs that were removed.
        settings: of the brokers.
        topics: the known topics.
        has_all_topics: there are no others.
    """

    index: AclIndex
    removed: Removed
    settings: BrokerSettings
    topics: Collection[str]
    has_all_topics: bool

    def exists(self, resource: Resource) -> bool | None:
        """Whether a resource exists; None where that is not known."""
        if resource.resource_type == "TOPIC":
            found = resource.resource_name in self.topics
            return found or (False if self.has_all_topics else None)
        return True if resource.resource_type == "CLUSTER" else None


class _Why(NamedTuple):
    """The cause of a refusal from one host, and the ACL behind it."""

    cause: str
    acl: Acl | None = None
    removed_offset: int | None = None
    removed_at: datetime | None = None


def explain_denials(refused: Sequence[Refused], facts: Facts) -> Iterator[Denial]:
    """Yield why accesses are refused; hosts of an access with the same cause are one.

    Args:
        refused: each from one host.
        facts: what they are compared with.
    """
    refusals = (each for each in refused if not _is_listing(each))
    types = grouped((each.principal, each.resource.resource_type) for each in refusals)
    accesses = grouped(((one.principal, one.operation, one.resource), one) for one in refused)
    for (principal, operation, resource), found in accesses.items():
        names = {name for each in found for name in each.requests}
        needs = needed_next(names, operation, resource.resource_type, types.get(principal, ()))
        by_cause = grouped(((_why(one, facts), _next(one, needs, facts)), one) for one in found)
        has_deny = any(why.cause == DENIED_BY or after.deny for why, after in by_cause)
        for (why, after), alike in by_cause.items():
            one = _together(alike)
            yield Denial(
                refused=one,
                **why._asdict(),
                exists=facts.exists(resource),
                fixes=_fixes(one, why, after.open, each_host=has_deny),
                next_deny=after.deny if why.cause in (NO_ACL, REMOVED, NO_NAME) else None,
            )


def _is_listing(refused: Refused) -> bool:
    """Whether all that was refused is that something stands in an answer."""
    check = refused.operation, refused.resource.resource_type
    return bool(refused.requests) and all(leaves_out(name, *check) for name in refused.requests)


def _next(refused: Refused, needs: Iterable[str], facts: Facts) -> NextNeeds:
    """Return what of that which a client needs next no DENY stops, from one host."""
    (host,) = refused.hosts

    def rule(need: str) -> Ruling:
        asked = Request.of(refused.principal, host, need, refused.resource)
        return facts.index.decide(asked, facts.settings)

    return next_needs(needs, rule)


def _why(refused: Refused, facts: Facts) -> _Why:
    """Return why an access from one host is refused."""
    (host,) = refused.hosts
    request = Request.of(refused.principal, host, refused.operation, refused.resource)
    ruling = facts.index.decide(request, facts.settings)
    if ruling.decision == ALLOWED:
        return _Why(ALLOWED_NOW, ruling.acl)
    if _is_listing(refused):
        return _Why(LISTING, ruling.acl)
    if ruling.acl is not None:
        return _Why(DENIED_BY, ruling.acl)
    before = facts.removed.allowing(request, refused.last_at)
    if before is not None:
        return _Why(REMOVED, before.acl, before.removed_offset, before.removed_at)
    # Who is refused to create a topic does not miss it.
    is_missed = facts.exists(refused.resource) is False and refused.operation != "CREATE"
    return _Why(NO_NAME if is_missed else NO_ACL)


def _fixes(
    refused: Refused, why: _Why, needs: Sequence[str], *, each_host: bool
) -> tuple[tuple[Acl, ...], ...]:
    """Return what lets a client work: for the one host, for any, or for each alone.

    A host that a DENY keeps out is not let in, so the others are named.
    """
    if why.cause == ALLOWED_NOW or (why.acl is not None and not why.acl.is_allow):
        return ()
    if why.cause == LISTING:
        needs = (refused.operation,)
    elif why.acl is not None and why.acl.operation in needs:
        needs = (why.acl.operation,)  # what it had before it was removed
    hosts = refused.hosts if each_host or len(refused.hosts) == 1 else (ANY_OTHER,)
    return tuple(
        tuple(
            least_allowing_acl(Request.of(refused.principal, host, need, refused.resource))
            for host in hosts
        )
        for need in needs
    )


def _together(found: Sequence[Refused]) -> Refused:
    """Return one access from all its hosts."""
    found = sorted(found, key=lambda each: (-each.lines, each.hosts))
    times = [t for each in found for t in (each.first_at, each.last_at) if t is not None]
    return replace(
        found[0],
        requests=tuple(sorted({name for each in found for name in each.requests})),
        hosts=tuple(host for each in found for host in each.hosts),
        lines=sum(each.lines for each in found),
        log_days=frozenset().union(*(each.log_days for each in found)),
        first_at=min(times, default=None),
        last_at=max(times, default=None),
        is_new=all(each.is_new for each in found),
    )
