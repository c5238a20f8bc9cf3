"""One request → its decision, and every ACL that takes part in it, ranked.

It is decided by the pure rule over the ACLs of the published decisions, so that principals, hosts
and resources of no inventory are answered like all others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import field, replace
from datetime import datetime
from itertools import pairwise
from typing import Final

from aclkit.errors import UsageError
from aclkit.model.acl import ANY_OTHER, Acl, Request
from aclkit.model.cidr import range_of_any_other
from aclkit.model.groups import grouped
from aclkit.model.host import parse_host
from aclkit.model.operation import ANY_OPERATION, coverage, parse_operation
from aclkit.model.principal import parse_principal
from aclkit.model.resource import Resource
from aclkit.model.semantics import BROKER, Semantics
from aclkit.model.values import dataclass
from aclkit.questions.query.as_of import Moment, find_moment, read_timeline
from aclkit.questions.query.kafka_requests import read_passages
from aclkit.questions.query.lifetimes import (
    Lifetime,
    broker_rescan,
    lifetimes_below_star,
    lifetimes_near,
)
from aclkit.questions.query.names import Unknown, read_hosts, unknown_names
from aclkit.questions.query.other_reading import (
    ByBroker,
    Otherwise,
    decided_otherwise,
    rulings_by_broker,
)
from aclkit.questions.query.own_acls import OwnAcls, read_own_acls
from aclkit.rules.decide.counterfactual import (
    Case,
    Fit,
    NextNeeds,
    fit,
    least_allowing_acl,
    next_needs,
)
from aclkit.rules.decide.handlers import needed_next
from aclkit.rules.decide.order import Ending, Order, WildcardLast
from aclkit.rules.decide.requests import KafkaRequest, Passage
from aclkit.rules.decide.rules import DEFAULT_DENY, SUPER_USER, Ruling, answers
from aclkit.rules.patterns.identity import asked_host, index_hosts
from aclkit.rules.patterns.match import (
    host_can_match,
    is_any_host,
    principal_matches,
    reaches,
    reasons_never_to_match,
)
from aclkit.warehouse.codecs import BROKERS_SQL, brokers_of
from aclkit.warehouse.duck import Tables, fetch
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.published import Published, deciding_run, run_settings, unread_parts

MOST_NEAR: Final = 10
"""ACLs that nearly take part of which an answer tells."""

MOST_OTHERS: Final = 5
"""Principals of others' ACLs that an answer names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """An ACL that takes part in a decision, or nearly does.

    Attributes:
        life: the ACL and since when it is there.
        fit: how it matches.
        rank: its place, from 1, which decides; None where it takes no part.
        because: what beat it, or what does not fit; None of the deciding ACL.
        without: what the decision would be without it.
        changes: whether that is another decision.
    """

    life: Lifetime
    fit: Fit
    rank: int | None
    because: str | None
    without: Ruling
    changes: bool

    @property
    def acl(self) -> Acl:
        """The ACL."""
        return self.life.acl

    @property
    def beaten_by(self) -> int | None:
        """The rank of the ACL that it lost to: the one before it."""
        return self.rank - 1 if self.rank and self.rank > 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """A decision and its reasons.

    Attributes:
        request: the question; its host is "any other" where none was named.
        ruling: the answer.
        acls: the ACLs that match the request, the deciding one first.
        near: ACLs that apply to the resource and the principal, but to another host or
            operation. At most ``MOST_NEAR`` of ``near_count``.
        near_count: how many of these there are.
        others: principals of the other ACLs that apply to the resource, the most frequent first,
            at most ``MOST_OTHERS``.
        other_count: how many of these ACLs there are.
        elsewhere: hosts with another decision, where no host was named.
        least: the smallest ACL that would allow the access, and of a request that was named the
            next one of such a client; None where a DENY matches, or where no ACL is the answer.
        or_least: other ACLs that would do in its place.
        next_deny: a DENY that stops what the client of a named request needs next.
        never: why no ACL can allow it, where that is so.
        without_denies: what the decision would be without the DENYs that match.
        not_super: what it would be without super.users, for a super user.
        unknown: the names of the question that are not known.
        fault: what a broker does instead of answering, where its search fails.
        otherwise: the decision of the other reading of ACLs, where it differs.
        by_broker: where the decision depends on the broker, how each side decides.
        passages: the requests that depend on this access, and the result of each.
        sent: the request that was named.
        own: what the principal has on other names.
        case: the facts that decided.
        moment: the state that the answer is about.
        run: the run whose decisions are published.
    """

    request: Request
    ruling: Ruling
    acls: tuple[Part, ...]
    near: tuple[Part, ...]
    near_count: int
    others: tuple[str, ...]
    other_count: int
    elsewhere: tuple[tuple[tuple[str, ...], Ruling], ...]
    least: Acl | None
    without_denies: Ruling | None
    not_super: Ruling | None
    or_least: tuple[Acl, ...] = ()
    next_deny: Acl | None = None
    never: tuple[str, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    fault: str | None = None
    otherwise: tuple[Otherwise, ...] = ()
    by_broker: tuple[tuple[ByBroker, ByBroker], ...] = ()
    passages: tuple[Passage, ...] = ()
    sent: KafkaRequest | None = None
    own: OwnAcls = field(default_factory=OwnAcls)
    case: Case
    moment: Moment
    run: PublishedRun

    @property
    def is_any_host(self) -> bool:
        """Whether the question is about any host that nothing names."""
        return self.request.host == ANY_OTHER


def explain_why(
    connection: Tables,
    published: Published,
    cluster_id: str,
    principal: str,
    operation: str,
    resource: Resource,
    *,
    host: str | None = None,
    moment: int | datetime | None = None,
    sent: KafkaRequest | None = None,
) -> Why:
    """Return whether a principal can perform an operation on a resource, and why.

    Args:
        connection: see ``reader.open_tables``.
        published: the warehouse.
        cluster_id: the cluster.
        principal: who asks.
        operation: Kafka's name of it, in any case.
        resource: the resource.
        host: from where; by default any host that nothing names.
        moment: the offset or time of the state; by default that of the published decisions.
        sent: the request that needs this access; by default all that do.

    Raises:
        UsageError: a malformed principal or host, an operation that the type does not have, a
            moment about which nothing is known, or nothing decided.
    """
    asked = principal, operation, resource, host
    request, run, semantics = read_question(published, cluster_id, *asked)
    timeline = read_timeline(connection, published, run)
    found = find_moment(connection, timeline, run, moment)
    near = lifetimes_near(connection, cluster_id, resource, found.offset)
    lives = [life for life in near if reaches(life.acl, *resource, semantics)]
    below = lifetimes_below_star(connection, cluster_id, resource, semantics)
    search = broker_rescan(below, found.offset)
    case = Case(
        request=request,
        reaching=[life.acl for life in lives],
        settings=found.settings,
        semantics=semantics,
        wildcard_is_last=search.wildcard_is_last(*resource),
    )
    hosts = read_hosts(connection, cluster_id)
    brokers = brokers_of(fetch(connection, f"{BROKERS_SQL}WHERE cluster_id = ?", [cluster_id]))
    why = _explain(case, lives, hosts, found, run)
    least, next_deny = _least_of(why, sent)
    return replace(
        why,
        sent=sent,
        least=next(iter(least), None),
        or_least=tuple(least[1:]),
        next_deny=next_deny,
        unknown=unknown_names(
            connection,
            cluster_id,
            principal=principal,
            host=request.host,
            resource=resource,
            unread=unread_parts(published, run),
        ),
        fault=_fault(why, search.ending(*resource)),
        otherwise=tuple(decided_otherwise(case, [life.acl for life in near])),
        by_broker=tuple(rulings_by_broker(case, hosts, brokers.brokers, found.offset)),
        passages=read_passages(connection, cluster_id, case, found.offset, sent),
        own=_own(connection, cluster_id, why),
    )


def _least_of(why: Why, sent: KafkaRequest | None) -> tuple[list[Acl], Acl | None]:
    """Return the ACLs of which one lets a client work that sends a request, and what stops it."""
    if why.least is None or sent is None:
        return ([] if why.least is None else [why.least]), None
    needs = needed_next([sent.name], why.request.operation, why.request.resource_type)
    found: NextNeeds = next_needs(needs, lambda need: _decided_as(why.case, need))
    return [replace(why.least, operation=need) for need in found.open], found.deny


def _decided_as(case: Case, operation: str) -> Ruling:
    return replace(case, request=replace(case.request, operation=operation)).decide()


def read_question(
    published: Published,
    cluster_id: str,
    principal: str,
    operation: str,
    resource: Resource,
    host: str | None,
) -> tuple[Request, PublishedRun, Semantics]:
    """Make a request of what a person wrote; the run that decides it, and how that reads ACLs.

    Raises:
        UsageError: a malformed principal or host, one that stands for others within a range where
            ranges do not decide, not one operation that the type knows, or nothing decided.
    """
    parse_principal(principal)
    operations = parse_operation(operation, resource.resource_type)
    if operation.upper() == ANY_OPERATION:
        raise UsageError(f"Pass one operation instead of ANY: {', '.join(operations)}.")
    is_symbol = host in (None, ANY_OTHER) or range_of_any_other(str(host))
    where = host or ANY_OTHER if is_symbol else parse_host(str(host))
    run = deciding_run(published, cluster_id)
    _, semantics = run_settings(run)
    if range_of_any_other(where) and not semantics.cidr_hosts:
        parse_host(where)
    return Request.of(principal, where, operations[0], resource), run, semantics


def _own(connection: Tables, cluster_id: str, why: Why) -> OwnAcls:
    """Return what the principal has on other names, where none of its ACLs denies this one."""
    acl = why.ruling.acl
    if why.ruling.rule == SUPER_USER or (acl is not None and not acl.is_allow):
        return OwnAcls()
    case = why.case
    own = read_own_acls(connection, cluster_id, case.request, case.semantics, why.moment.offset)
    if case.settings.allow_everyone and not own.groups:
        # Every principal can use groups to which no ACL applies.
        own = replace(own, groups=None)
    return own if why.ruling.rule == DEFAULT_DENY else replace(own, others=())


def _explain(
    case: Case, lives: Sequence[Lifetime], hosts: Sequence[str], moment: Moment, run: PublishedRun
) -> Why:
    """Put an answer together; nothing is read any more."""
    request, ruling = case.request, case.decide()
    is_super = ruling.rule == SUPER_USER
    mine = [
        life
        for life in lives
        if principal_matches(life.acl.principal, request.principal, case.semantics)
    ]
    acls = () if is_super else _ranked(case, ruling, mine)
    near = () if is_super else _near(case, ruling, mine)
    others = Counter(life.acl.principal for life in lives)
    others.subtract(life.acl.principal for life in mine)
    others = +others
    least = least_allowing_acl(request) if ruling.rule == DEFAULT_DENY else None
    never = tuple(reasons_never_to_match(least, case.semantics)) if least else ()
    return Why(
        request=request,
        ruling=ruling,
        acls=acls,
        near=near[:MOST_NEAR],
        near_count=len(near),
        others=tuple(name for name, _ in others.most_common(MOST_OTHERS)),
        other_count=others.total(),
        elsewhere=() if is_super else _elsewhere(case, ruling, mine, hosts),
        least=None if never else least,
        never=never,
        without_denies=_without_denies(case, acls),
        not_super=_no_super_users(case) if is_super else None,
        case=case,
        moment=moment,
        run=run,
    )


def _without_denies(case: Case, acls: Sequence[Part]) -> Ruling | None:
    """Decide again without the DENYs that match, where there are any."""
    denies = {part.acl.acl_id for part in acls if not part.acl.is_allow}
    left = [acl for acl in case.reaching if acl.acl_id not in denies]
    return replace(case, reaching=left).decide() if denies else None


def _no_super_users(case: Case) -> Ruling:
    return replace(case, settings=replace(case.settings, super_users=frozenset())).decide()


def _fault(why: Why, ending: Ending) -> str | None:
    """Return how a broker's search gets lost, as it does for some names below ``*``."""
    is_lost = ending in (Ending.HANGS, Ending.THROWS)
    is_denied = why.ruling.rule == SUPER_USER or (why.ruling.acl and not why.ruling.acl.is_allow)
    if not is_lost or is_denied or why.case.semantics.deciding_acl != BROKER:
        return None
    return f"A broker does not answer this request ({_SEEN_IN}): its search {ending.value}."


_SEEN_IN: Final = "seen in 4.3.1; the source of 4.4.0 is the same"


def _ranked(case: Case, ruling: Ruling, mine: Sequence[Lifetime]) -> tuple[Part, ...]:
    """Rank the ACLs that match, each with what it lost by to the one before it."""
    request, semantics, is_last = case.request, case.semantics, case.wildcard_is_last
    by_id = {life.acl.acl_id: life for life in mine}
    matching = (life.acl for life in mine if answers(life.acl, request, semantics))
    order = Order(
        request.operation,
        semantics,
        WildcardLast.of(request.resource_name, wildcard_is_last=is_last),
    )
    ranked = order.ranked(matching)
    beaten = [order.reason(better, worse) for better, worse in pairwise(ranked)]
    return tuple(
        _part(case, ruling, by_id[acl.acl_id], rank, because)
        for rank, (acl, because) in enumerate(zip(ranked, [None, *beaten], strict=False), start=1)
    )


def _near(case: Case, ruling: Ruling, mine: Sequence[Lifetime]) -> tuple[Part, ...]:
    """Return the ACLs of the principal that do not match, what fits best first."""
    fits = [(life, fit(life.acl, case.request, case.semantics)) for life in mine]
    missed = [(life, how) for life, how in fits if how.misses]
    missed.sort(key=lambda pair: (pair[1].misses, pair[1].skipped or 0, pair[0].acl.acl_id))
    return tuple(
        _part(case, ruling, life, None, _miss(life.acl, how, case.request)) for life, how in missed
    )


def _part(
    case: Case, ruling: Ruling, life: Lifetime, rank: int | None, because: str | None
) -> Part:
    without = case.decide_without(life.acl, ruling)
    return Part(
        life=life,
        fit=fit(life.acl, case.request, case.semantics),
        rank=rank,
        because=because,
        without=without,
        changes=without.decision != ruling.decision,
    )


def _miss(acl: Acl, how: Fit, request: Request) -> str:
    """Return in words what of an ACL does not fit."""
    misses = []
    if how.host is None:
        misses.append(f"only from {acl.host}")
    if how.operation is None:
        verb = "grants" if acl.is_allow else "denies"
        misses.append(f"{verb} {acl.operation}, not {request.operation}")
    return "; ".join(misses)


def _elsewhere(
    case: Case, ruling: Ruling, mine: Sequence[Lifetime], hosts: Sequence[str]
) -> tuple[tuple[tuple[str, ...], Ruling], ...]:
    """Return the hosts decided differently from any other host, equal ones together.

    They are the inventory's and those that ACLs name. A glob or range of an ACL stands for the
    hosts that it matches and that nothing narrower names.
    """
    if case.request.host != ANY_OTHER:
        return ()
    texts = {
        acl.host
        for acl in (life.acl for life in mine)
        if not is_any_host(acl.host, case.semantics)
        and host_can_match(acl.host, case.semantics)
        and coverage(acl.operation, acl.permission_type, case.request.operation) is not None
    }
    if not texts:
        return ()
    index = index_hosts(texts, case.semantics)
    texts = {asked_host(text, case.semantics) or text for text in texts}
    named = sorted({*hosts, *texts} - {ANY_OTHER})
    alike = grouped((tuple(index.matching(name)), name) for name in named)
    groups: dict[Ruling, list[str]] = {}
    for names in alike.values():
        there = replace(case, request=replace(case.request, host=names[0])).decide()
        if there != ruling:
            groups.setdefault(there, []).extend(names)
    return tuple((tuple(sorted(names)), there) for there, names in groups.items())
