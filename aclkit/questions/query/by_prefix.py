"""The beginning of names → who can do an operation to what begins so, and to names to come.

Of known names each is decided. Of names to come it is proven whether all of them are allowed, some
or none; where the budget of a proof ends it is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final, NamedTuple

from aclkit.errors import UsageError
from aclkit.model.acl import ANY_OTHER, Acl
from aclkit.model.broker_settings import ALLOW_EVERYONE, caveats_on_answer
from aclkit.model.groups import grouped
from aclkit.model.host import parse_host
from aclkit.model.operation import parse_operation
from aclkit.model.resource import WORD_OF_TYPE
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.model.values import dataclass
from aclkit.questions.query.decisions import Where
from aclkit.questions.query.group_rows import ALL_HOSTS
from aclkit.questions.query.lifetimes import lifetimes_beginning
from aclkit.questions.query.names import read_hosts, read_principals, read_resources
from aclkit.rules.decide.rules import ALLOWED
from aclkit.rules.names.cover import ALL, NONE, SOME, UNKNOWN, Extent, find_extent, find_shared
from aclkit.rules.names.domain import domain_of
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import RUN, Row, Symbols, rows_of
from aclkit.rules.patterns.identity import index_hosts, index_principals
from aclkit.rules.patterns.match import GLOB, effective_pattern_type
from aclkit.rules.patterns.trie import PatternIndex
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.published import deciding_run, run_settings
from aclkit.warehouse.result_rows import Rows

PREFIX_COLUMNS: Final = (
    "principal", "host", "operation", "extent", "known_allowed", "known_names", "to_come",
    "allowed_name", "denied_name", "allowed_by", "denied_by",
)  # fmt: skip
NEEDED: Final[Mapping[str, Mapping[str, str]]] = {
    name: {} for name in ("principal", "host", "resource", "acl_history")
}
"""The tables that answer it, see ``duck.connect``."""

_END: Final = 2**63 - 1


class Reach(NamedTuple):
    """How an operation from some hosts is decided on names with the prefix.

    Attributes:
        hosts: those with the same decisions, with commas, or ``*``.
        operation: Kafka's name of it.
        known_allowed: how many known names are allowed.
        to_come: whether all, some or none of all other names are allowed: proven, or unknown.
        allowed_by: the ALLOWs that match on some name, by id.
        denied_by: the DENYs that do.
        is_super: the principal is a super user, and no ACL is asked.
    """

    hosts: str
    operation: str
    known_allowed: int
    to_come: Extent
    allowed_by: tuple[Acl, ...] = ()
    denied_by: tuple[Acl, ...] = ()
    is_super: bool = False

    def extent(self, known: int) -> str:
        """Return how many of all names are allowed, of which so many are known."""
        words = {self.to_come.word}
        if known:
            part = SOME if 0 < self.known_allowed < known else NONE
            words.add(ALL if self.known_allowed == known else part)
        if len(words) == 1:
            return words.pop()
        return UNKNOWN if words == {UNKNOWN, ALL} or words == {UNKNOWN, NONE} else SOME


@dataclass(frozen=True, kw_only=True)
class ByPrefix(Rows):
    """The answer: ``rows`` has one for each principal and reach.

    Attributes:
        resource_type: of the names.
        prefix: what they begin with.
        known: the known names that do, sorted.
        reaches: principal → its reaches, of those that are asked for.
        principals: all that were asked about, sorted.
        hosts: from where it was asked.
        decided_by: the run whose state this is.
        has_unreached: there may be such a name that no ACL applies to.
    """

    resource_type: str
    prefix: str
    known: tuple[str, ...]
    reaches: dict[str, tuple[Reach, ...]] = field(default_factory=dict)
    principals: tuple[str, ...]
    hosts: frozenset[str]
    decided_by: PublishedRun
    has_unreached: bool = True

    def caveats(self, decision: str | None) -> list[str]:
        """Write what is wrong where the brokers' settings were unknown.

        Args:
            decision: the one that was asked for.
        """
        has_denied = decision != ALLOWED and bool(self.reaches)
        return [
            *caveats_on_answer(
                self.decided_by.settings.broker,
                None,
                has_denied=has_denied,
                has_unreached=self.has_unreached,
            )
        ]

    @property
    def unknown_settings(self) -> list[str]:
        """The brokers' settings that were unknown."""
        return sorted(self.decided_by.settings.broker.unknown)


def who_can_prefix(
    where: Where,
    operation: str,
    resource_type: str,
    prefix: str,
    *,
    host: str | None = None,
    decision: str | None = "ALLOWED",
    principals: Sequence[str] | None = None,
    budget: Budget | None = None,
) -> ByPrefix:
    """Return who can perform an operation, or ANY, on names with a prefix.

    Args:
        where: the warehouse and the cluster.
        operation: as in ``access.who_can``.
        resource_type: of the names.
        prefix: what they begin with.
        host: only from this host.
        decision: ALLOWED leaves out principals allowed on no name, DENIED those allowed on all.
        principals: only these; by default all known ones.
        budget: the search limit of the proofs.

    Raises:
        UsageError: no name of the type can have the prefix, or as in ``access.who_can``.
    """
    operations = parse_operation(operation, resource_type)
    run = deciding_run(where.published, where.cluster_id)
    hosts = frozenset(read_hosts(where.tables, where.cluster_id))
    if host is not None:
        hosts = frozenset({host if host == ANY_OTHER or host in hosts else parse_host(host)})
    offset = _END if run.head_offset is None else run.head_offset
    lives = lifetimes_beginning(where.tables, where.cluster_id, resource_type, prefix, offset)
    known = tuple(
        name
        for kind, name in read_resources(where.tables, where.cluster_id)
        if kind == resource_type and name != ANY_OTHER and name.startswith(prefix)
    )
    settings, semantics = run_settings(run)
    acls = [life.acl for life in lives]
    asker = _Asker(acls, resource_type, prefix, known, settings, semantics, budget or Budget())
    if asker.is_empty:
        raise no_such_names(resource_type, prefix)
    if principals is None:
        principals = read_principals(where.tables, where.cluster_id)
    told = asker.reaches(principals, hosts, operations)
    reaches = {name: _wanted(each, len(known), decision) for name, each in told.items()}
    if host is not None:
        (one,) = hosts
        reaches = {n: tuple(r._replace(hosts=one) for r in each) for n, each in reaches.items()}
    return ByPrefix(
        columns=PREFIX_COLUMNS,
        rows=[row for name in principals for row in _rows(name, reaches[name], len(known))],
        resource_type=resource_type,
        prefix=prefix,
        known=known,
        reaches={name: each for name, each in reaches.items() if each},
        principals=tuple(principals),
        hosts=hosts,
        decided_by=run,
        has_unreached=ALLOW_EVERYONE in settings.unknown and asker.has_unreached,
    )


def no_such_names(resource_type: str, prefix: str) -> UsageError:
    """Return the error of a beginning that no name of a type has."""
    word = WORD_OF_TYPE[resource_type]
    return UsageError(f"No {word} can have a name that begins with {prefix!r}.")


def _wanted(reaches: Sequence[Reach], known: int, decision: str | None) -> tuple[Reach, ...]:
    left_out = {"ALLOWED": NONE, "DENIED": ALL}.get(decision or "")
    return tuple(each for each in reaches if each.extent(known) != left_out)


def _rows(principal: str, reaches: Sequence[Reach], known: int) -> Iterator[tuple[object, ...]]:
    for each in reaches:
        yield (
            principal, each.hosts, each.operation, each.extent(known), each.known_allowed, known,
            each.to_come.word, each.to_come.allowed, each.to_come.denied,
            list(map(str, each.allowed_by)), list(map(str, each.denied_by)),
        )  # fmt: skip


class _Asker:
    """Decides for the names that begin so; what is asked twice is answered once."""

    def __init__(
        self,
        acls: Sequence[Acl],
        resource_type: str,
        prefix: str,
        known: Sequence[str],
        settings: BrokerSettings,
        semantics: Semantics,
        budget: Budget,
    ) -> None:
        """Take the ACLs, and look up which of them reach each known name."""
        self.known, self.settings, self.semantics = known, settings, semantics
        self.budget, self.prefix = budget, (*prefix, RUN)
        self.domain = domain_of(resource_type)
        self.rows = [row for row in rows_of(acls, semantics) if self._is_near(row)]
        patterns = ((at, *row.acl.pattern) for at, row in enumerate(self.rows))
        index = PatternIndex.build(patterns, semantics)
        self.reached = [frozenset(index.matches(resource_type, name)) for name in known]
        self.found: dict[object, tuple[int, Extent]] = {}

    def _is_near(self, row: Row) -> bool:
        if effective_pattern_type(row.acl.pattern_type, self.semantics) != GLOB:
            return True  # only such are read
        found = find_shared([self.prefix], row.patterns, self.domain, self.budget)
        return bool(found.names) or not found.is_complete

    @property
    def is_empty(self) -> bool:
        """Whether no name begins so."""
        everything = self._extent((), (), is_open=False)
        return not self.known and everything == Extent(NONE)

    @property
    def has_unreached(self) -> bool:
        """Whether there is a name that no ACL applies to, or the budget cannot tell."""
        everything = [each for row in self.rows for each in row.patterns]
        extent = self._extent(everything, (), is_open=False)
        return not (all(self.reached) and (extent.word == ALL or extent == Extent(NONE)))

    def reaches(
        self, principals: Sequence[str], hosts: frozenset[str], operations: Sequence[str]
    ) -> dict[str, list[Reach]]:
        """Decide for each principal; those that the same ACLs match have the same decisions."""
        index = index_principals({row.acl.principal for row in self.rows}, self.semantics)
        is_super = self.settings.makes_super
        alike = grouped(
            (None if is_super(name) else tuple(index.matching(name)), name) for name in principals
        )
        found: dict[str, list[Reach]] = {}
        for texts, names in alike.items():
            each = [
                reach for operation in operations for reach in self._of(texts, hosts, operation)
            ]
            found |= dict.fromkeys(names, each)
        return found

    def _of(
        self, texts: Sequence[str] | None, hosts: frozenset[str], operation: str
    ) -> Iterator[Reach]:
        """Yield how an operation is decided for some principals, equal hosts together."""
        if texts is None:
            yield Reach(ALL_HOSTS, operation, len(self.known), Extent(ALL), is_super=True)
            return
        own = [
            at
            for at, row in enumerate(self.rows)
            if row.acl.principal in texts and row.answers(operation)
        ]
        index = index_hosts({self.rows[at].acl.host for at in own}, self.semantics)
        classes = grouped((frozenset(index.matching(host)), host) for host in sorted(hosts))
        alike: dict[Reach, list[str]] = {}
        for here, names in classes.items():
            reach = self._decide(frozenset(a for a in own if self.rows[a].acl.host in here))
            alike.setdefault(reach._replace(operation=operation), []).extend(names)
        for reach, names in alike.items():
            is_all = len(names) == len(hosts)
            yield reach._replace(hosts=ALL_HOSTS if is_all else ",".join(sorted(names)))

    def _decide(self, own: frozenset[int]) -> Reach:
        """Decide what some ACLs allow of the known names, and of all others."""
        allow, deny = (
            frozenset(at for at in own if self.rows[at].acl.is_allow is is_allow)
            for is_allow in (True, False)
        )
        key = allow, deny
        if key not in self.found:
            is_open = self.settings.allow_everyone
            number = sum(
                not deny & reached and bool(allow & reached or (is_open and not reached))
                for reached in self.reached
            )
            patterns = (
                [each for at in sorted(some) for each in self.rows[at].patterns] for some in key
            )
            self.found[key] = number, self._extent(*patterns, is_open=is_open)
        number, extent = self.found[key]
        allows, denies = (tuple(self.rows[at].acl for at in sorted(some)) for some in key)
        return Reach("", "", number, extent, allows, denies)

    def _extent(
        self, allow: Sequence[Symbols], deny: Sequence[Symbols], *, is_open: bool
    ) -> Extent:
        """Prove whether all, some or none of the unknown names are allowed."""
        everybody = [each for row in self.rows for each in row.patterns]
        return find_extent(
            [self.prefix], allow, deny, self.domain, self.budget,
            but=[tuple(name) for name in self.known], anybody=everybody if is_open else None,
        )  # fmt: skip
