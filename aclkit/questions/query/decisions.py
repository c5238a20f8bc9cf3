"""A resource or a principal → the published decisions for every principal or resource.

Names that the same ruleset decides have the same decisions: they form a group, and a ruleset is
read once. Unknown names are decided now, by the ACLs of the same offset.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from aclkit.errors import DataError
from aclkit.model.acl import ANY_OTHER
from aclkit.model.broker_settings import caveats_on_answer
from aclkit.model.confluent import caveats_on_roles
from aclkit.model.groups import grouped
from aclkit.model.host import parse_host
from aclkit.model.operation import OPERATIONS_OF_TYPE, parse_operation
from aclkit.model.principal import parse_principal
from aclkit.model.redpanda import OF_LISTS
from aclkit.model.resource import Resource
from aclkit.model.semantics import REDPANDA
from aclkit.model.unread import caveats_on_names
from aclkit.model.values import dataclass
from aclkit.questions.query.decide_unlisted import Verdict, decide_outside
from aclkit.questions.query.group_rows import ALL_HOSTS, Alike, Line
from aclkit.questions.query.names import (
    Unknown,
    is_principal,
    is_resource,
    read_hosts,
    read_principals,
    unknown_names,
)
from aclkit.rules.decide.rules import ALLOWED, DEFAULT_DENY
from aclkit.warehouse.acls_in_force import acls_in_force
from aclkit.warehouse.duck import Tables, fetch
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.published import Published, deciding_run, run_settings, unread_parts
from aclkit.warehouse.views import pair_ruleset_sql


class Where(NamedTuple):
    """An open warehouse, and the cluster of it that is asked about."""

    tables: Tables
    published: Published
    cluster_id: str


@dataclass(frozen=True, kw_only=True)
class Decisions:
    """The decisions for all names of a question.

    Attributes:
        groups: names with the same decisions, by the first of them; without groups in which no
            line has the decision that is asked for.
        names: all that were asked about, sorted.
        hosts: the hosts that were asked about.
        is_in_inventory: the names of the question are in the published inventory; otherwise they
            were decided now, by the ACLs of the same offset.
        decided_by: the run whose state this is.
        unknown: the names of the question that are not known.
        unread: the parts of a live cluster that were not read whole.
        resource_type: the one type that a list of resources is about; None for all.
        is_one: a single resource of a single principal was asked about.
    """

    groups: tuple[Alike, ...]
    names: tuple[str, ...]
    hosts: frozenset[str]
    is_in_inventory: bool
    decided_by: PublishedRun
    unknown: tuple[Unknown, ...] = ()
    unread: frozenset[str] = frozenset()
    resource_type: str | None = None
    is_one: bool = False

    @property
    def acl_ids(self) -> list[str]:
        """The ACLs that decide, sorted."""
        ids = {line.acl_id for group in self.groups for line in group.lines}
        return sorted(filter(None, ids))

    def caveats(self, principal: str | None) -> list[str]:
        """Write what is wrong where settings, names or roles were not read.

        Args:
            principal: whose access was asked about; None for that of all principals.
        """
        settings, semantics = self.decided_by.settings.broker, self.decided_by.settings.semantics
        if principal is not None and settings.makes_super(principal):
            return []
        lines = [line for group in self.groups for line in group.lines]
        return [
            *caveats_on_answer(
                settings,
                principal,
                has_denied=any(line.decision != ALLOWED for line in lines),
                has_unreached=principal is not None
                or not lines
                or any(line.rule == DEFAULT_DENY for line in lines),
            ),
            *self._missing_names(are_principals=principal is None),
            *caveats_on_roles(
                self.names if principal is None else [principal], self.decided_by.cluster_id
            ),
            *([OF_LISTS] if semantics and semantics.authorizer == REDPANDA else []),
        ]

    def _missing_names(self, *, are_principals: bool) -> Iterator[str]:
        """Yield which names the list can lack, if it is one."""
        if not self.is_one:
            yield from caveats_on_names(
                self.unread, are_principals=are_principals, resource_type=self.resource_type
            )

    @property
    def unknown_settings(self) -> list[str]:
        """The brokers' settings that were unknown."""
        return sorted(self.decided_by.settings.broker.unknown)


def decisions_on(
    where: Where, operation: str, resource: Resource, *, host: str | None, decision: str | None
) -> Decisions:
    """Return the decisions for every principal on a resource; see ``access.who_can``."""
    operations = parse_operation(operation, resource.resource_type)
    asked = _Lookup(where, operations, host, decision)
    kind = resource.resource_type
    if asked.knows_hosts and is_resource(where.tables, where.cluster_id, resource):
        found = asked.ask(_PRINCIPALS_OF, *resource)
        pairs = [_Pairs(ruleset, kind, sorted(names)) for ruleset, names in found]
        return asked.answer(_published(asked, pairs), (n for each in pairs for n in each.names))
    names = read_principals(where.tables, where.cluster_id)
    groups = _outside(asked, names, [resource], frozenset(), is_who=True)
    return asked.answer(groups, names, resource=resource)


def decisions_of(
    where: Where,
    principal: str,
    narrow: Mapping[str, str | None],
    *,
    host: str | None,
    decision: str | None,
) -> Decisions:
    """Return the decisions for a principal on every resource; see ``what_can``.

    ``narrow`` holds ``resource_type`` and ``resource_name`` as far as they are passed.
    """
    parse_principal(principal)
    asked = _Lookup(where, None, host, decision)
    asked.resource_type, asked.is_one = (
        narrow.get("resource_type"),
        None
        not in (
            narrow.get("resource_type"),
            narrow.get("resource_name"),
        ),
    )
    given = {column: value for column, value in narrow.items() if value is not None}
    which = "".join(f"AND {column} = ? " for column in given)
    if asked.knows_hosts and is_principal(where.tables, where.cluster_id, principal):
        found = asked.ask(_RESOURCES_OF.format(which=which), principal, *given.values())
        pairs = [_Pairs(ruleset, kind, _written(kind, names)) for ruleset, kind, names in found]
        if pairs or len(given) < len(Resource._fields):
            return asked.answer(_published(asked, pairs), (n for each in pairs for n in each.names))
    resources = [Resource(*row) for row in asked.ask(_RESOURCES + which, *given.values())]
    unreached = frozenset[Resource]()
    one = Resource(**given) if len(given) == len(Resource._fields) else None
    if resources or one is None:
        unreached = frozenset(Resource(*row) for row in asked.ask(_UNREACHED))
    elif one is not None:
        resources = [one]
    groups = _outside(asked, [principal], resources, unreached, is_who=False)
    return asked.answer(groups, map(str, resources), principal=principal, resource=one)


class _Pairs(NamedTuple):
    """Names that one ruleset decides, and the type of the resource, or of all of them."""

    ruleset: str | None
    resource_type: str
    names: Sequence[str]


def _written(resource_type: str, names: Iterable[str]) -> list[str]:
    return [str(Resource(resource_type, name)) for name in sorted(names)]


class _Lookup:
    """What every question needs: where, about which state, operations and hosts."""

    def __init__(
        self, where: Where, only: tuple[str, ...] | None, host: str | None, decision: str | None
    ) -> None:
        """Find the state that is asked about; ``only`` these operations, or all."""
        self.connection, self.operations, self.decision = where.tables, only, decision
        self.run = deciding_run(where.published, where.cluster_id)
        self.unread = unread_parts(where.published, self.run)
        self.resource_type: str | None = None
        self.is_one = False
        known = frozenset(read_hosts(where.tables, where.cluster_id))
        if host is not None and host != ANY_OTHER and host not in known:
            host = parse_host(host)
        self.hosts = known if host is None else frozenset({host})
        self.is_one_host = host is not None
        self.knows_hosts = host is None or host in known

    def ask(self, text: str, *values: str | Sequence[str]) -> list[tuple[str, ...]]:
        """Run one of the statements below for the cluster."""
        return fetch(self.connection, text, [self.run.cluster_id, *values])

    def answer(
        self,
        groups: Iterable[Alike],
        names: Iterable[str],
        *,
        principal: str | None = None,
        resource: Resource | None = None,
    ) -> Decisions:
        """Return the answer; where a name is passed, a name of the question is not known."""
        is_known = principal is None and resource is None
        (host,) = self.hosts if self.is_one_host else (None,)
        # No engine guarantees the order of groups.
        found = sorted((group for group in groups if group.lines), key=lambda group: group.names[0])
        return Decisions(
            groups=tuple(found) if self.hosts else (),
            names=tuple(sorted(set(names))) if self.hosts else (),
            hosts=self.hosts,
            is_in_inventory=is_known,
            decided_by=self.run,
            unknown=() if is_known else unknown_names(
                self.connection, self.run.cluster_id,
                principal=principal, host=host, resource=resource, unread=self.unread,
            ),
            unread=self.unread,
            resource_type=self.resource_type,
            is_one=self.is_one,
        )  # fmt: skip

    def operations_of(self, resource_type: str) -> tuple[str, ...]:
        """Return the operations that are asked about."""
        return self.operations or OPERATIONS_OF_TYPE[resource_type]

    def lines(self, operation: str, named: Mapping[str, Verdict], other: Verdict) -> list[Line]:
        """Put hosts with the same verdict, of those asked for, into one line: ``*`` for all.

        A host that is not in ``named`` has the verdict ``other``; of a thousand hosts few differ.
        """
        return [
            Line(hosts, operation, *verdict)
            for hosts, verdict in self._all_groups(named, other)
            if self.decision in (None, verdict.decision)
        ]

    def _all_groups(
        self, named: Mapping[str, Verdict], other: Verdict
    ) -> list[tuple[str, Verdict]]:
        apart = {h: v for h, v in named.items() if v != other and h in self.hosts}
        if not apart and self.hosts and not self.is_one_host:
            return [(ALL_HOSTS, other)]
        groups = grouped((verdict, host) for host, verdict in apart.items())
        if rest := [host for host in self.hosts if host not in apart]:
            groups[other] = rest
        if len(groups) == 1 and not self.is_one_host:
            return [(ALL_HOSTS, verdict) for verdict in groups]
        return [(",".join(sorted(hosts)), verdict) for verdict, hosts in groups.items()]


def _published(asked: _Lookup, pairs: Sequence[_Pairs]) -> Iterable[Alike]:
    """Look up the rulings of rulesets."""
    rulesets = sorted({each.ruleset for each in pairs if each.ruleset is not None})
    rulings: dict[tuple[str | None, str], dict[str, Verdict]] = {}
    for ruleset, operation, host, *ruling in asked.ask(_RULINGS, rulesets):
        rulings.setdefault((ruleset, operation), {})[host] = Verdict(*ruling)
    for each in pairs:
        lines: list[Line] = []
        for operation in asked.operations_of(each.resource_type):
            named = rulings.get((each.ruleset, operation), {})
            if ANY_OTHER not in named:
                expected = f"expected a ruling of ruleset {each.ruleset} on {operation}"
                raise DataError(f"{expected} in explain_ruling")
            lines += asked.lines(operation, named, named[ANY_OTHER])
        yield Alike(each.names, _sorted(lines))


def _outside(
    asked: _Lookup,
    principals: Sequence[str],
    resources: Sequence[Resource],
    unreached: frozenset[Resource],
    *,
    is_who: bool,
) -> Iterable[Alike]:
    """Decide now what the published inventory does not hold."""
    if not asked.hosts:
        return
    settings, semantics = run_settings(asked.run)
    acls = list(acls_in_force(asked.connection, asked.run).values())
    lines_of: dict[int, list[Line]] = {}
    found: dict[tuple[str, str], list[Line]] = {}
    for decided in decide_outside(
        acls, principals, resources, sorted(asked.hosts), unreached, settings, semantics
    ):
        kind = decided.resource.resource_type
        if decided.operation not in asked.operations_of(kind):
            continue
        # Resources with the same decisions share one mapping, which decide_outside keeps alive.
        key = id(decided.by_host)
        if key not in lines_of:
            one = next(iter(decided.by_host.values()))
            lines_of[key] = asked.lines(decided.operation, decided.by_host, one)
        for name in decided.principals if is_who else [str(decided.resource)]:
            found.setdefault((kind, name), []).extend(lines_of[key])
    alike = grouped(((kind, _sorted(lines)), name) for (kind, name), lines in found.items())
    for (_, together), names in alike.items():
        yield Alike(names, together)


def _sorted(lines: Iterable[Line]) -> tuple[Line, ...]:
    return tuple(sorted(lines, key=lambda line: (line.operation, line.hosts)))


_RESOURCES: Final = "SELECT resource_type, resource_name FROM resource WHERE cluster_id = ? "
_UNREACHED: Final = (
    "SELECT DISTINCT resource_type, resource_name FROM explain_class_pair "
    "WHERE cluster_id = ? AND ruleset_id = 'none:' || resource_type"
)
_PAIR: Final = f"WITH pair AS ({pair_ruleset_sql()}) "
_PRINCIPALS_OF: Final = (
    f"{_PAIR}SELECT ruleset_id, array_agg(principal) FROM pair WHERE cluster_id = ? "  # noqa: S608 -- this package's own text
    "AND resource_type = ? AND resource_name = ? GROUP BY ruleset_id"
)
_RESOURCES_OF: Final = (
    f"{_PAIR}SELECT ruleset_id, resource_type, array_agg(resource_name) FROM pair "  # noqa: S608 -- likewise
    "WHERE cluster_id = ? AND principal = ? {which}GROUP BY ruleset_id, resource_type"
)
_RULINGS: Final = (
    "SELECT ruleset_id, operation, host, decision, rule, deciding_acl_id FROM explain_ruling "
    "WHERE cluster_id = ? AND ruleset_id IN (SELECT unnest(CAST(? AS VARCHAR[])))"
)
