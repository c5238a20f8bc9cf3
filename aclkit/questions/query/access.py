"""who-can and what-can: published rulings → lines of principal, host, operation and decision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from aclkit.errors import DataError
from aclkit.model.acl import ANY_OTHER, Acl
from aclkit.model.host import parse_host
from aclkit.model.operation import OPERATIONS_OF_TYPE, parse_operation
from aclkit.model.principal import parse_principal
from aclkit.model.resource import Resource
from aclkit.questions.query.names import Unknown, unknown_names
from aclkit.questions.query.outside import Verdict, decide_outside
from aclkit.warehouse.alive import acls_alive
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.published import Published, deciding_run, run_settings
from aclkit.warehouse.reader import Tables
from aclkit.warehouse.rows import Rows
from aclkit.warehouse.sql import fetch
from aclkit.warehouse.views import pair_ruleset_sql

WHO_CAN_COLUMNS: Final = (
    "principal", "host", "operation", "decision", "rule", "deciding_acl", "acl_id",
)  # fmt: skip
WHAT_CAN_COLUMNS: Final = (
    "resource", "host", "operation", "decision", "rule", "deciding_acl", "acl_id",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Access(Rows):
    """The answer to a question about access; see ``Rows``.

    Attributes:
        rows: the lines, sorted.
        is_in_inventory: what was named is in the published inventory; otherwise the lines were
            decided now, by the ACLs of the same offset.
        decided_by: the run whose state the answer is about.
        acls: the ACLs that decide, by id.
        names: who or what was asked about, in the first column: also those without a line.
        hosts: from where it was asked.
        unknown: the names of the question that no inventory holds.
    """

    rows: tuple[tuple[str | None, ...], ...]
    is_in_inventory: bool
    decided_by: PublishedRun
    acls: Mapping[str | None, Acl]
    names: tuple[str, ...]
    hosts: frozenset[str]
    unknown: tuple[Unknown, ...] = ()


def who_can(
    connection: Tables,
    published: Published,
    cluster_id: str,
    operation: str,
    resource: Resource,
    *,
    host: str | None = None,
    decision: str | None = "ALLOWED",
) -> Access:
    """Return which principals may do an operation, or ANY, to a resource.

    Args:
        connection: see ``reader.open_tables``.
        published: the warehouse.
        cluster_id: the cluster.
        operation: Kafka's name of it, in any case, or ANY for all of the resource's type.
        resource: the resource.
        host: only from this host.
        decision: only lines with this decision; None for all.

    Raises:
        UsageError: an operation that the type does not know, no IP address, or nothing decided.
    """
    operations = parse_operation(operation, resource.resource_type)
    asked = _Lookup.of(connection, published, cluster_id, operations, host, decision)
    is_known = asked.knows_hosts and bool(asked.ask(_HAS_RESOURCE, *resource))
    if is_known:
        pairs = asked.ask(_PAIRS + _OF_RESOURCE, *resource)
        names, found = [principal for principal, *_ in pairs], _published_lines(asked, pairs)
    else:
        names = [name for (name,) in asked.ask(_PRINCIPALS)]
        found = _outside_lines(asked, names, [resource], frozenset())
    answer = _access(asked, found, WHO_CAN_COLUMNS, names, is_known=is_known)
    return _with_unknown(asked, answer, resource=resource)


def what_can(
    connection: Tables,
    published: Published,
    cluster_id: str,
    principal: str,
    *,
    resource_type: str | None = None,
    resource_name: str | None = None,
    host: str | None = None,
    decision: str | None = "ALLOWED",
) -> Access:
    """Return what a principal may do: to all resources, those of a type, or one of them.

    The other arguments and errors are those of ``who_can``.
    """
    parse_principal(principal)
    asked = _Lookup.of(connection, published, cluster_id, None, host, decision)
    is_known = asked.knows_hosts and bool(asked.ask(_HAS_PRINCIPAL, principal))
    resources = [Resource(*row) for row in asked.ask(_RESOURCES, resource_type, resource_name)]
    if resource_type is not None and resource_name is not None and not resources:
        resources, is_known = [Resource(resource_type, resource_name)], False
        unreached = frozenset[Resource]()
    else:
        unreached = frozenset(Resource(*row) for row in asked.ask(_UNREACHED))
    if is_known:
        pairs = asked.ask(_PAIRS + _OF_PRINCIPAL, principal, resource_type, resource_name)
        resources = [Resource(*named) for _, *named, _ in pairs]
        found = _published_lines(asked, pairs)
    else:
        found = _outside_lines(asked, [principal], resources, unreached)
    answer = _access(asked, found, WHAT_CAN_COLUMNS, map(str, resources), is_known=is_known)
    one = resource_type is not None and resource_name is not None
    resource = Resource(str(resource_type), str(resource_name)) if one else None
    return _with_unknown(asked, answer, principal=principal, resource=resource)


class _AccessLine(NamedTuple):
    """One line of an answer before it is rendered."""

    principal: str
    resource: Resource
    hosts: str
    operation: str
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lookup:
    """What every question needs: where, about which state, operations and hosts."""

    connection: Tables
    run: PublishedRun
    operations: tuple[str, ...] | None
    hosts: Set[str]
    is_one_host: bool
    knows_hosts: bool
    decision: str | None

    @classmethod
    def of(
        cls,
        connection: Tables,
        published: Published,
        cluster_id: str,
        operations: tuple[str, ...] | None,
        host: str | None,
        decision: str | None,
    ) -> _Lookup:
        """Find the state that is asked about."""
        run = deciding_run(published, cluster_id)
        known = frozenset(name for (name,) in fetch(connection, _HOSTS, [cluster_id]))
        if host is not None and host != ANY_OTHER and host not in known:
            host = parse_host(host)
        return cls(
            connection=connection,
            run=run,
            operations=operations,
            hosts=known if host is None else {host},
            is_one_host=host is not None,
            knows_hosts=host is None or host in known,
            decision=decision,
        )

    def ask(
        self, text: str, *values: str | int | Sequence[str | None] | None
    ) -> list[tuple[str, ...]]:
        """Run one of the statements below for the cluster."""
        return fetch(self.connection, text, [self.run.cluster_id, *values])

    def operations_of(self, resource_type: str) -> tuple[str, ...]:
        """Return the operations that are asked about."""
        return self.operations or OPERATIONS_OF_TYPE[resource_type]

    def group(self, named: Mapping[str, Verdict], other: Verdict) -> list[tuple[str, Verdict]]:
        """Put hosts with the same verdict, of those asked for, into one text: ``*`` for all.

        A host that is not named fares as any other; of a thousand hosts few are.
        """
        groups = self._all_groups(named, other)
        return [one for one in groups if self.decision in (None, one[1].decision)]

    def _all_groups(
        self, named: Mapping[str, Verdict], other: Verdict
    ) -> list[tuple[str, Verdict]]:
        apart = {h: v for h, v in named.items() if v != other and h in self.hosts}
        if not apart and self.hosts and not self.is_one_host:
            return [("*", other)]
        groups: dict[Verdict, list[str]] = {}
        for host, verdict in apart.items():
            groups.setdefault(verdict, []).append(host)
        if rest := [host for host in self.hosts if host not in apart]:
            groups[other] = rest
        if len(groups) == 1 and not self.is_one_host:
            return [("*", verdict) for verdict in groups]
        return [(",".join(sorted(hosts)), verdict) for verdict, hosts in groups.items()]


def _published_lines(asked: _Lookup, pairs: Sequence[tuple[str, ...]]) -> Iterable[_AccessLine]:
    """Look up the rulings of pairs (principal, resource type and name, ruleset)."""
    rulesets = sorted({ruleset for *_, ruleset in pairs if ruleset is not None})
    rulings: dict[tuple[str, str], dict[str, Verdict]] = {}
    for ruleset, operation, host, *ruling in asked.ask(_RULINGS, rulesets):
        rulings.setdefault((ruleset, operation), {})[host] = Verdict(*ruling)
    grouped: dict[tuple[str, str], list[tuple[str, Verdict]]] = {}
    for principal, *named, ruleset in pairs:
        resource = Resource(*named)
        for operation in asked.operations_of(resource.resource_type):
            key = ruleset, operation
            if key not in grouped:
                grouped[key] = asked.group(*_by_host(rulings, key))
            for hosts, verdict in grouped[key]:
                yield _AccessLine(principal, resource, hosts, operation, verdict)


def _by_host(
    rulings: Mapping[tuple[str, str], Mapping[str, Verdict]], key: tuple[str, str]
) -> tuple[Mapping[str, Verdict], Verdict]:
    """Return how a ruleset rules on an operation: for hosts that it names, and for any other."""
    named = rulings.get(key, {})
    if ANY_OTHER not in named:
        raise DataError(f"expected a ruling of ruleset {key[0]} on {key[1]} in explain_ruling")
    return named, named[ANY_OTHER]


def _outside_lines(
    asked: _Lookup,
    principals: Sequence[str],
    resources: Sequence[Resource],
    unreached: frozenset[Resource],
) -> Iterable[_AccessLine]:
    """Decide now what the published inventory does not hold."""
    if not asked.hosts:
        return
    settings, semantics = run_settings(asked.run)
    acls = list(acls_alive(asked.connection, asked.run).values())
    grouped: dict[int, list[tuple[str, Verdict]]] = {}
    for decided in decide_outside(
        acls, principals, resources, sorted(asked.hosts), unreached, settings, semantics
    ):
        if decided.operation not in asked.operations_of(decided.resource.resource_type):
            continue
        # Resources that fare alike share one mapping, which decide_outside keeps alive.
        key = id(decided.by_host)
        if key not in grouped:
            one = next(iter(decided.by_host.values()))
            grouped[key] = asked.group(decided.by_host, one)
        for hosts, verdict in grouped[key]:
            for principal in decided.principals:
                yield _AccessLine(principal, decided.resource, hosts, decided.operation, verdict)


def _access(
    asked: _Lookup,
    lines: Iterable[_AccessLine],
    columns: tuple[str, ...],
    names: Iterable[str],
    *,
    is_known: bool,
) -> Access:
    """Render lines, sorted; the first column says which of the names they are about."""
    wanted = list(lines)
    acls = acls_alive(asked.connection, asked.run, list({line.verdict.acl_id for line in wanted}))
    rows = [
        (
            str(getattr(line, columns[0])),
            line.hosts,
            line.operation,
            line.verdict.decision,
            line.verdict.rule,
            str(acls[line.verdict.acl_id]) if line.verdict.acl_id in acls else None,
            line.verdict.acl_id,
        )
        for line in wanted
    ]
    ordered = sorted(rows, key=lambda row: (row[0], row[2], row[1]))
    return Access(
        columns=columns,
        rows=tuple(ordered),
        is_in_inventory=is_known,
        decided_by=asked.run,
        acls=acls,
        names=tuple(sorted(set(names))) if asked.hosts else (),
        hosts=frozenset(asked.hosts),
    )


def _with_unknown(
    asked: _Lookup, answer: Access, *, principal: str | None = None, resource: Resource | None
) -> Access:
    """Say which names no inventory holds; where all are known nothing is looked for."""
    if answer.is_in_inventory:
        return answer
    (host,) = asked.hosts if asked.is_one_host else (None,)
    unknown = unknown_names(
        asked.connection, asked.run.cluster_id, principal=principal, host=host, resource=resource
    )
    return replace(answer, unknown=unknown)


_HOSTS: Final = "SELECT host FROM host WHERE cluster_id = ? ORDER BY host"
_PRINCIPALS: Final = "SELECT principal FROM principal WHERE cluster_id = ? ORDER BY principal"
_HAS_PRINCIPAL: Final = "SELECT principal FROM principal WHERE cluster_id = ? AND principal = ?"
_HAS_RESOURCE: Final = (
    "SELECT resource_name FROM resource "
    "WHERE cluster_id = ? AND resource_type = ? AND resource_name = ?"
)
_RESOURCES: Final = (
    "SELECT resource_type, resource_name FROM resource WHERE cluster_id = ? "
    "AND resource_type = coalesce(?, resource_type) AND resource_name = coalesce(?, resource_name)"
)
_UNREACHED: Final = (
    "SELECT DISTINCT resource_type, resource_name FROM explain_class_pair "
    "WHERE cluster_id = ? AND ruleset_id = 'none:' || resource_type"
)
_PAIRS: Final = (
    f"WITH pair AS ({pair_ruleset_sql()}) "  # noqa: S608  (this package's own text)
    "SELECT principal, resource_type, resource_name, ruleset_id FROM pair WHERE cluster_id = ? "
)
_OF_RESOURCE: Final = "AND resource_type = ? AND resource_name = ?"
_OF_PRINCIPAL: Final = (
    "AND principal = ? "
    "AND resource_type = coalesce(?, resource_type) AND resource_name = coalesce(?, resource_name)"
)
_RULINGS: Final = (
    "SELECT ruleset_id, operation, host, decision, rule, deciding_acl_id FROM explain_ruling "
    "WHERE cluster_id = ? AND ruleset_id IN (SELECT unnest(CAST(? AS VARCHAR[])))"
)
