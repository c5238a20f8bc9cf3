"""Rows of ``explain`` and Kafka's answers → how many agree, which differ, what was left out.

Left out is what Kafka cannot be asked, because no session is so, or Kafka throws or hangs. What
goes wrong while Kafka searches is foreseen here: an ACL's principal that it cannot parse, and where
``order.BrokerRescan`` loses its way. A DENY that is found before ends the search.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import prod
from string import Template
from typing import Final, Protocol

import duckdb

from aclkit.kafka.verify.wire import Reply, kafka_binding
from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL, Acl, Request
from aclkit.model.cidr import is_any_other
from aclkit.model.groups import grouped
from aclkit.model.host import canonical_host
from aclkit.model.principal import WILDCARD_PRINCIPAL, split_principal
from aclkit.model.resource import Resource
from aclkit.model.semantics import KAFKA, BrokerSettings, Semantics
from aclkit.rules.decide.index import AclIndex
from aclkit.rules.decide.order import BrokerRescan, Ending, Order
from aclkit.rules.decide.rules import DENIED, MATCHING_ACL, Ruling
from aclkit.rules.patterns.match import reaches
from aclkit.warehouse.published import Published
from aclkit.warehouse.views import EXPLAIN_TABLES, explain_sql, pair_ruleset_sql

BATCH: Final = 10_000
"""Rows that are held at a time."""

_OPERATIONS = 8
_ENOUGH_CELLS: Final = 2_000_000


@dataclass(frozen=True, slots=True)
class Cell:
    """One row of ``explain``.

    Attributes:
        request: as it stands there.
        asked: the same with the witness in place of each "any other"; None where one has none.
        decision: ALLOWED, DENIED, or None where the tables have a gap.
        rule: Kafka's name of the rule.
        acl_id: the deciding ACL.
    """

    request: Request
    asked: Request | None
    decision: str | None
    rule: str | None
    acl_id: str | None


@dataclass(frozen=True, slots=True)
class Sample:
    """So many rows at random; the same seed takes the same rows of the same tables."""

    size: int
    seed: int


def read_cells(
    connection: duckdb.DuckDBPyConnection,
    published: Published,
    cluster_id: str,
    sample: Sample | None,
) -> Iterator[list[Cell]]:
    """Yield the rows of a cluster in batches.

    Args:
        connection: see ``query.duck.connect``.
        published: the warehouse.
        cluster_id: the cluster.
        sample: which rows; None is all of them.
    """
    witnesses = _read_witnesses(connection, cluster_id)
    if sample is None:
        cursor = connection.execute(_ROWS, [cluster_id])
    elif "explain" in published.run.table_versions:
        cursor = connection.execute(_SOME_ROWS, [cluster_id, sample.seed, sample.size])
    else:
        sides = _choose_sides(connection, cluster_id, sample)
        cursor = connection.execute(
            _SOME_ROWS_OF_SIDES, [*sides, cluster_id, sample.seed, sample.size]
        )
    while rows := cursor.fetchmany(BATCH):
        yield [_cell(row, witnesses) for row in rows]


def _cell(row: tuple[str, ...], witnesses: _Witnesses) -> Cell:
    principal, host, operation, resource_type, resource_name, decision, rule, acl_id = row
    request = Request.of(principal, host, operation, Resource(resource_type, resource_name))
    return Cell(request, witnesses.stand_in(request), decision, rule, acl_id)


@dataclass(frozen=True, slots=True)
class _Witnesses:
    """The concrete names that the rows of "any other" stand for."""

    principal: str | None
    hosts: dict[str, str | None]
    resources: dict[str, str | None]

    def stand_in(self, request: Request) -> Request | None:
        """Put witnesses into a request; None where one is missing."""
        has_symbol = is_any_other(request.host) or request.resource_name == ANY_OTHER
        if not has_symbol and request.principal != ANY_OTHER_PRINCIPAL:
            return request
        principal = _stand_in(request.principal, ANY_OTHER_PRINCIPAL, self.principal)
        host = self.hosts.get(request.host) if is_any_other(request.host) else request.host
        witness = self.resources.get(request.resource_type)
        name = _stand_in(request.resource_name, ANY_OTHER, witness)
        if principal is None or host is None or name is None:
            return None
        return replace(request, principal=principal, host=host, resource_name=name)


def _stand_in(text: str, symbol: str, witness: str | None) -> str | None:
    return witness if text == symbol else text


def _read_witnesses(connection: duckdb.DuckDBPyConnection, cluster_id: str) -> _Witnesses:
    def find(sql: str, *symbol: str) -> dict[str, str | None]:
        return dict(connection.execute(sql, [cluster_id, *symbol]).fetchall())

    return _Witnesses(
        find(_PRINCIPAL_WITNESS, ANY_OTHER_PRINCIPAL).get(ANY_OTHER_PRINCIPAL),
        find(_HOST_WITNESSES),
        find(_RESOURCE_WITNESSES, ANY_OTHER),
    )


def _choose_sides(
    connection: duckdb.DuckDBPyConnection, cluster_id: str, sample: Sample
) -> list[list[str]]:
    """Choose principals, hosts and resources at random, so few that the view is soon worked out.

    Where all of them are few enough, all of them are chosen.
    """
    rng = random.Random(sample.seed)  # noqa: S311 - a sample, no secret
    sides = [
        [text for (text,) in connection.execute(sql, [cluster_id]).fetchall()] for sql in _SIDES
    ]
    most = max(_ENOUGH_CELLS, 20 * sample.size)
    while prod(map(len, sides)) * _OPERATIONS > most:
        longest = max(range(len(sides)), key=lambda at: len(sides[at]))
        sides[longest] = rng.sample(sides[longest], (len(sides[longest]) + 1) // 2)
    return sides


_RESOURCE: Final = "resource_type || ':' || resource_name"
_SIDES: Final = (
    "SELECT principal FROM principal WHERE cluster_id = ? ORDER BY ALL",
    "SELECT host FROM host WHERE cluster_id = ? ORDER BY ALL",
    f"SELECT {_RESOURCE} FROM resource WHERE cluster_id = ? ORDER BY ALL",  # noqa: S608 - own text
)
_PRINCIPAL_WITNESS: Final = (
    "SELECT principal, witness FROM principal WHERE cluster_id = ? AND principal = ?"
)
_HOST_WITNESSES: Final = "SELECT host, witness FROM host WHERE cluster_id = ? AND witness <> ''"
_RESOURCE_WITNESSES: Final = (
    "SELECT resource_type, witness FROM resource WHERE cluster_id = ? AND resource_name = ?"
)
_ROWS: Final = (
    "SELECT principal, host, operation, resource_type, resource_name, decision, rule, "
    "deciding_acl_id FROM explain WHERE cluster_id = ?"
)
# By a hash and not by chance, because DuckDB's own samples differ with the number of threads.
_BY_CHANCE: Final = (
    " ORDER BY hash(principal, host, operation, resource_type, resource_name, ?) LIMIT ?"
)
_SOME_ROWS: Final = _ROWS + _BY_CHANCE
# The view over what the chosen names have. A condition on the view itself does not reach the tables
# that it joins from the left: all of their rows would be held, gigabytes of a large cluster.
_SOME: Final = {name: f"some_{name}" for name in EXPLAIN_TABLES}
_SOME_ROWS_OF_SIDES: Final = Template("""\
WITH some_principal AS (SELECT * FROM principal WHERE list_contains(?, principal)),
some_host AS (SELECT * FROM host WHERE list_contains(?, host)),
some_resource AS (SELECT * FROM resource WHERE list_contains(?, $resource)),
some_explain_pair AS (
SELECT * FROM explain_pair
SEMI JOIN some_principal USING (cluster_id, principal)
SEMI JOIN some_resource USING (cluster_id, resource_type, resource_name)),
some_explain_class_pair AS (
SELECT * FROM explain_class_pair
SEMI JOIN some_resource USING (cluster_id, resource_type, resource_name)),
asked AS MATERIALIZED ($pairs),
some_explain_ruling AS (
SELECT * FROM explain_ruling SEMI JOIN asked USING (cluster_id, ruleset_id)),
explain AS ($view)
$rows""").substitute(
    resource=_RESOURCE, pairs=pair_ruleset_sql(_SOME), view=explain_sql(_SOME), rows=_SOME_ROWS
)


WILDCARD_SESSION: Final = (
    "Kafka throws IllegalArgumentException: the principal of the session is User:* itself"
)
_LOST: Final = {
    Ending.HANGS: "Kafka hangs: the ACLs of names below * send its search in a circle",
    Ending.THROWS: (
        "Kafka throws StringIndexOutOfBoundsException: the ACLs of names below * mislead its search"
    ),
}


@dataclass(slots=True)
class Refusals:
    """What Kafka cannot be asked while it has these ACLs."""

    super_users: frozenset[str]
    rescan: BrokerRescan
    without_colon: dict[str, list[Acl]]

    @classmethod
    def of(cls, acls: Iterable[Acl], settings: BrokerSettings) -> Refusals:
        """Pick out the ACLs that can make Kafka throw or hang."""
        acls = list(acls)
        without_colon = grouped(
            (acl.resource_type, acl) for acl in acls if split_principal(acl.principal) is None
        )
        return cls(settings.super_users, BrokerRescan.among(acls), without_colon)

    def reason(self, request: Request, deny: Acl | None) -> str | None:
        """Return why Kafka cannot be asked; None where it can.

        Args:
            request: what would be asked.
            deny: the ACL that denies it, if one does: it may end the search before the trouble.
        """
        if reason := _no_such_session(request.principal, request.host):
            return reason
        if request.principal in self.super_users:
            return None
        if request.principal == WILDCARD_PRINCIPAL:
            return WILDCARD_SESSION
        if reason := self._bad_principal(request, deny):
            return reason
        if deny is not None:
            return None
        return _LOST.get(self.rescan.ending(request.resource_type, request.resource_name))

    def _bad_principal(self, request: Request, deny: Acl | None) -> str | None:
        """Find an ACL without a colon that Kafka reads before anything denies."""
        name = request.resource_name
        last = self.rescan.wildcard_last(request.resource_type, name)
        order = Order(request.operation, KAFKA, last)
        for acl in self.without_colon.get(request.resource_type, ()):
            if not reaches(acl, request.resource_type, name, KAFKA):
                continue
            if deny is None or order.is_before(acl, deny):
                return (
                    f"Kafka throws IllegalStateException: the principal of ACL {acl.acl_id}, "
                    f"{acl}, has no colon"
                )
        return None


@lru_cache(maxsize=100_000)
def _no_such_session(principal: str, host: str) -> str | None:
    """Return why no client's session looks like this."""
    if split_principal(principal) is None:
        return "no session has such a principal: it has no colon"
    canonical = canonical_host(host)
    if canonical is None or "%" in canonical:
        return "no host that a broker can see: expected an IP address without a zone"
    if canonical != host:
        return f"no broker sees this host: Java writes {canonical}"
    return None


NO_WITNESS = "no name is known that this row of <any-other> represents"


class Oracle(Protocol):
    """What answers requests: ``verify.kafka.Kafka`` with the ACLs loaded."""

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        """Return an answer to each request."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A request that aclkit and Kafka answer differently.

    Attributes:
        request: as it stands in ``explain``.
        asked: what Kafka was asked.
        ours: aclkit's answer.
        kafkas: Kafka's answer.
    """

    request: Request
    asked: Request
    ours: Reply
    kafkas: Reply


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A request that Kafka was not asked, and why."""

    request: Request
    reason: str


@dataclass(slots=True)
class Agreement:
    """What came of it.

    Attributes:
        asked: requests that Kafka was asked.
        mismatches: where its answer differs.
        left_out: requests that it was not asked.
        read_otherwise: where rows were decided again: published decisions that are not Kafka's,
            because they were made by another reading of the ACLs; else None.
    """

    asked: int = 0
    mismatches: list[Mismatch] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    read_otherwise: int | None = None

    @property
    def agree(self) -> int:
        """How many requests both answer alike."""
        return self.asked - len(self.mismatches)


def compare(
    batches: Iterable[Sequence[Cell]],
    acls: Mapping[str | None, Acl],
    settings: BrokerSettings,
    kafka: Oracle,
    *,
    again: Semantics | None,
) -> Agreement:
    """Ask Kafka about each row, and compare decision, rule and deciding ACL.

    Args:
        batches: the rows.
        acls: all ACLs that the rows were decided by.
        settings: the broker's.
        kafka: has the same ACLs and settings.
        again: how a broker reads ACLs, where the rows were not decided so: each is decided again
            by the pure rule.
    """
    index = AclIndex.of(acls.values(), again) if again else None
    refusals = Refusals.of(acls.values(), settings)
    report = Agreement(read_otherwise=0 if again else None)
    for cells in batches:
        asked = []
        for cell in cells:
            if cell.asked is None:
                report.left_out.append(LeftOut(cell.request, NO_WITNESS))
                continue
            ours = _decided(index.decide(cell.asked, settings)) if index else _published(cell, acls)
            deny = ours.acl if ours.decision == DENIED else None
            if reason := refusals.reason(cell.asked, deny):
                report.left_out.append(LeftOut(cell.request, reason))
            else:
                asked.append((cell, cell.asked, ours))
        _note(report, asked, kafka.ask([request for _, request, _ in asked]))
    return report


def _note(
    report: Agreement, asked: Sequence[tuple[Cell, Request, Reply]], answers: Sequence[Reply]
) -> None:
    """Add what a batch came to."""
    report.asked += len(asked)
    for (cell, request, ours), kafkas in zip(asked, answers, strict=True):
        if not is_same(ours, kafkas):
            report.mismatches.append(Mismatch(cell.request, request, ours, kafkas))
        if report.read_otherwise is not None:
            report.read_otherwise += cell.decision != kafkas.decision


def is_same(ours: Reply, kafkas: Reply) -> bool:
    """Whether two answers have the same decision, rule and deciding ACL.

    Two ids with the same seven fields are one ACL to Kafka.
    """
    if ours.decision != kafkas.decision or ours.rule != kafkas.rule:
        return False
    if ours.acl is None or kafkas.acl is None or ours.acl is kafkas.acl:
        return ours.acl is kafkas.acl
    return kafka_binding(ours.acl) == kafka_binding(kafkas.acl)


def _decided(ruling: Ruling) -> Reply:
    return Reply(ruling.decision, ruling.rule, ruling.acl)


def _published(cell: Cell, acls: Mapping[str | None, Acl]) -> Reply:
    """Return the tables' answer; no broker has a gap, or an ACL that is not in force, either."""
    rule = cell.rule or "no ruling"
    acl = acls.get(cell.acl_id)
    if acl is None and (cell.acl_id is not None or rule == MATCHING_ACL):
        rule = f"{rule} by {cell.acl_id}, which no longer exists"
    return Reply(cell.decision, rule, acl)
