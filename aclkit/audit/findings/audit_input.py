"""All that findings are made of, and what several of them need, worked out once. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import and_
from typing import Final, TypeVar, cast

from aclkit.model.acl import Acl, Request
from aclkit.model.brokers import Broker, RangesByBroker, ranges_by_broker
from aclkit.model.cidr import parse_range
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.rules.decide.confirm import Comparison, Decider
from aclkit.rules.names.classes import NameClass
from aclkit.rules.names.compare import SemanticsChange
from aclkit.rules.names.overlap_index import OverlapIndex, Who
from aclkit.rules.names.question import Budget
from aclkit.rules.names.redundancy import Leftover, View, find_left
from aclkit.rules.names.rows import Row, Rules, operations_of, rows_of
from aclkit.rules.patterns.match import can_match, names_exactly
from aclkit.rules.patterns.trie import PatternIndex

PatternKey = tuple[str, str, str]
"""Resource type, pattern type, resource name."""

Rows = Mapping[str, Row]
"""Id → ACL, in order of ids."""
Covers = dict[str, tuple[Acl, ...]]
"""Id of an ACL that may go → the ACLs that answer in its place."""

_KNOWN_OF_BOTH: Final = ("rows", "others", "decider", "leftovers", "overridden", "index", "_made")
"""What is the same whatever is supposed."""

_T = TypeVar("_T")

_MOST_TRIED: Final = 10
"""So many topics are tried for an example."""

BROAD_SHARE: Final = 0.5
"""An ALLOW that reaches more than this share of the topics is broad, unless told otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """The offsets of the log between which a topic or a user existed.

    Attributes:
        name: of the topic, or of the principal with its type.
        first_offset: where it was created.
        last_offset: where it was deleted; None if it still exists.
        topic_id: a topic's Uuid, which distinguishes two topics of one name.
    """

    name: str
    first_offset: int
    last_offset: int | None = None
    topic_id: str = ""


@dataclass(frozen=True, kw_only=True)
class AuditInput:
    """The input of an audit: the ACLs in force, and other facts about the cluster.

    What is unknown is left empty, and no finding is about it.

    Attributes:
        acls: the ACLs in force.
        semantics: how they are read.
        settings: super users and allow.everyone.
        topics: lifetimes of topics; none where the cluster follows listings.
        users: lifetimes of SCRAM users.
        listed_topics: topics that the user's own inventory names.
        listed_principals: principals that the user's own inventory names.
        asked_principals: all principals that the run asked about.
        resource_count: how many resources the run asked about.
        added_offsets: id of an ACL → the offset where it was added.
        broad_share: an ALLOW that covers more than this share of the topics is broad.
        brokers: those that the log has as registered.
        budget: the search limit of exact answers.
        has_builder: the user configured a principal builder, so names may have any form.
        unread: the parts of a live cluster that were not read whole; see ``model.unread``.
        supposed: the result for "is something left?" where the search limit was reached first.
    """

    acls: Sequence[Acl]
    semantics: Semantics
    settings: BrokerSettings = field(default_factory=BrokerSettings)
    topics: Sequence[Life] = ()
    users: Sequence[Life] = ()
    listed_topics: frozenset[str] = frozenset()
    listed_principals: frozenset[str] = frozenset()
    asked_principals: Sequence[str] = ()
    resource_count: int = 0
    added_offsets: Mapping[str, int] = field(default_factory=dict)
    broad_share: float = BROAD_SHARE
    brokers: Sequence[Broker] = ()
    budget: Budget = field(default_factory=Budget)
    has_builder: bool = False
    unread: frozenset[str] = frozenset()
    supposed: bool = False

    @cached_property
    def rows(self) -> Rows:
        """The ACLs that some request can meet."""
        able = (acl for acl in self.acls if can_match(acl, self.semantics))
        ordered = sorted(able, key=lambda acl: acl.acl_id)
        return {row.acl.acl_id: row for row in rows_of(ordered, self.semantics)}

    @cached_property
    def others(self) -> OverlapIndex:
        """The same, ready to be asked what they leave of one."""
        supers = self.settings.super_users
        return OverlapIndex(self.rows.values(), self.semantics, self.budget, supers)

    @cached_property
    def decider(self) -> Decider:
        """What decides each name that a finding shows."""
        rules = Rules(acls=self.acls, settings=self.settings, semantics=self.semantics)
        return Decider.of(rules)

    @cached_property
    def ranges(self) -> RangesByBroker:
        """Whether ranges decide, according to the brokers' versions."""
        return ranges_by_broker(self.brokers)

    @property
    def has_sleeping(self) -> bool:
        """Whether ranges decide not at all, or not on every broker."""
        return not self.semantics.cidr_hosts or bool(self.ranges.without)

    @cached_property
    def by_ranges(self) -> Comparison | None:
        """What differs where ranges decide from where they do not, for every name.

        None where no ACL's host is one, or they decide on every broker.
        """
        if not self.has_sleeping or not any(parse_range(acl.host) for acl in self.acls):
            return None
        off, on = (
            Rules(acls=self.acls, settings=self.settings, semantics=how)
            for how in (replace(self.semantics, cidr_hosts=decide) for decide in (False, True))
        )
        return Comparison.of(off, on, self.budget)

    @cached_property
    def rereads(self) -> list[SemanticsChange]:
        """What each ACL does whose host is a range, once it wakes; empty where none sleeps."""
        # What tells it is no part of what is known for others, so it takes a budget of its own.
        telling = Budget(per_question=self.budget.per_question, total=self.budget.total)
        return self.by_ranges.rereads(telling) if self.by_ranges else []

    @cached_property
    def leftovers(self) -> Mapping[str, Leftover]:
        """Id of an ALLOW → what DENYs leave of it: DENY wins (StandardAuthorizerData)."""
        allows = ((each, row) for each, row in self.rows.items() if row.acl.is_allow)
        return {
            each: find_left((row,), self.others, operations_of(row.acl)) for each, row in allows
        }

    @cached_property
    def overridden(self) -> Covers:
        """The ALLOWs that DENYs leave nothing of, each with those DENYs."""
        return {
            acl_id: tuple(row.acl for row in left.by)
            for acl_id, left in self.leftovers.items()
            if left.by
        }

    def once(self, make: Callable[[AuditInput], _T]) -> _T:
        """Return what a function makes of this input, made once: the same whatever is supposed."""
        if make not in self._made:
            self._made[make] = make(self)
        return cast(_T, self._made[make])

    @cached_property
    def _made(self) -> dict[Callable[[AuditInput], object], object]:
        return {}

    @cached_property
    def given(self) -> Mapping[str, frozenset[str]]:
        """Id of an ALLOW → the operations that it grants to some principal, if any.

        It does not grant an operation of which DENYs leave nothing. An ALLOW that never matches
        grants none, nor does one for a super user, who needs no ACL. Where the search limit was
        reached before it was known whether something is left, ``supposed`` decides.
        """
        return {
            acl_id: given
            for acl_id, left in self.leftovers.items()
            if not self._is_super(self.rows[acl_id].acl)
            if (given := frozenset(left.given) | (left.unknown if self.supposed else frozenset()))
        }

    def _is_super(self, acl: Acl) -> bool:
        is_one = names_exactly(acl.principal, self.semantics)
        return is_one and acl.principal in self.settings.super_users

    @cached_property
    def allows(self) -> list[Acl]:
        """The ALLOWs that give something to somebody."""
        return [acl for acl in self.acls if acl.acl_id in self.given]

    def gives(self, acl: Acl, operation: str) -> bool:
        """Whether an ACL is an ALLOW that gives an operation to somebody."""
        return operation in self.given.get(acl.acl_id, ())

    def left_to(self, acl: Acl, principals: NameClass, operation: str) -> Sequence[Request | None]:
        """Return the requests, one for each class of hosts, that an ALLOW gives to some principals.

        Of each the shortest; None where that is but supposed.
        """
        row = self.rows[acl.acl_id]
        found: list[Request | None] = []
        hosts = self.others.hosts[acl.resource_type].within(row.host)
        for host in hosts.members:
            view = View(self.others, (row,), Who(principals, host))
            left = view.left(operation)
            if left.name is not None:
                found.append(view.request(operation, left.name))
            elif self.supposed and not left.is_known:
                found.append(None)
        return found or [None] * (self.supposed and not hosts.is_complete)

    def request_given(self, acl: Acl, operation: str) -> Request | None:
        """Return the shortest request that an ALLOW gives; None where that is but supposed."""
        given = self.leftovers[acl.acl_id].given.get(operation)
        return given[0].request(operation, given[1]) if given else None

    def confirm(self, requests: Iterable[Request | None]) -> Request | None:
        """Return the first of some requests, once the rule has allowed it."""
        request = next((each for each in requests if each is not None), None)
        if request is not None:
            self.decider.confirm(request, is_allowed=True)
        return request

    def example(self, requests: Iterable[Request | None], *acls: Acl) -> str:
        """Write the same as a sentence that follows another one.

        It names a topic that exists where some ACLs all match one and the rule allows it there.
        """
        found = self.confirm(requests)
        if found is None:
            return ""
        known = (replace(found, resource_name=name) for name in self._topics_of_all(acls))
        request = next(filter(self.decider.allows, known), found)
        what = f"{request.operation} {request.resource}"
        return f" For example, {request.principal} from {request.host} can {what}."

    def _topics_of_all(self, acls: Sequence[Acl]) -> Iterator[str]:
        """Yield the first few topics alive that ACLs all match."""
        bits = reduce(and_, (self.reached.get(acl.pattern, 0) for acl in acls)) if acls else 0
        for _ in range(_MOST_TRIED):
            if not bits:
                return
            yield self.topics_alive[(bits & -bits).bit_length() - 1]
            bits &= bits - 1

    def supposing(self) -> AuditInput:
        """Return the same, where something is left wherever that is unknown."""
        other = replace(self, supposed=True)
        for known in _KNOWN_OF_BOTH:
            other.__dict__[known] = getattr(self, known)
        for known in ("by_ranges", "rereads"):
            if known in self.__dict__:
                other.__dict__[known] = self.__dict__[known]
        return other

    @cached_property
    def topics_alive(self) -> list[str]:
        """The topics that exist according to the log and the user's inventory, sorted."""
        alive = {life.name for life in self.topics if life.last_offset is None}
        return sorted(alive | self.listed_topics)

    @cached_property
    def index(self) -> PatternIndex:
        """All resource patterns, each with its place in ``patterns``."""
        return PatternIndex.build(((n, *p) for n, p in enumerate(self.patterns)), self.semantics)

    @cached_property
    def patterns(self) -> list[PatternKey]:
        """The different resource patterns of the ACLs, sorted."""
        return sorted({acl.pattern for acl in self.acls})

    @cached_property
    def reached(self) -> Mapping[PatternKey, int]:
        """The topics alive that each resource pattern matches, as bits in their order."""
        found: dict[PatternKey, int] = {}
        for at, name in enumerate(self.topics_alive):
            for number in self.index.matches("TOPIC", name):
                found[self.patterns[number]] = found.get(self.patterns[number], 0) | 1 << at
        return found
