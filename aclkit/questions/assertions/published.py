"""The published tables → what assertions are checked against, and their violations, counted.

Cells are never multiplied out: a ruleset's rulings show for which operations it violates the
assertion from some of the hosts, and only pairs with such a ruleset are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import duckdb

from aclkit.model.acl import ANY_OTHER, Acl
from aclkit.model.cidr import is_any_other
from aclkit.model.resource import Resource
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.questions.assertions.evaluate import Hit, Tallies, Tally
from aclkit.questions.assertions.model import Kind
from aclkit.questions.query.decide_unlisted import Verdict
from aclkit.questions.query.names import read_hosts
from aclkit.rules.names.rows import Rules
from aclkit.warehouse.acls_in_force import acls_in_force
from aclkit.warehouse.duck_beside import new_duckdb
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.published import run_settings
from aclkit.warehouse.sql import fetch

_T = TypeVar("_T")
_Attributes = Mapping[_T, Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The facts that assertions are checked against.

    Attributes:
        connection: see ``duck.connect``.
        cluster_id: the cluster.
        acls: the ACLs by which it decided, by id.
        settings: the broker's.
        semantics: how ACLs are read.
        principals: of the inventory, each with its attributes.
        hosts: of the inventory.
        resources: of the inventory, each with its attributes.
        is_decided: the tables hold the decisions on the inventory; otherwise they are made now.
    """

    connection: duckdb.DuckDBPyConnection
    cluster_id: str
    acls: Mapping[str, Acl]
    settings: BrokerSettings
    semantics: Semantics
    principals: _Attributes[str]
    hosts: tuple[str, ...]
    resources: _Attributes[Resource]
    is_decided: bool = True

    @classmethod
    def of(cls, connection: duckdb.DuckDBPyConnection, run: PublishedRun) -> World:
        """Read the inventory and the ACLs."""
        settings, semantics = run_settings(run)
        people = fetch(connection, _PRINCIPALS, [run.cluster_id])
        things = fetch(connection, _RESOURCES, [run.cluster_id])
        return cls(
            connection=connection,
            cluster_id=run.cluster_id,
            acls={acl.acl_id: acl for acl in acls_in_force(connection, run).values()},
            settings=settings,
            semantics=semantics,
            principals={name: attributes or {} for name, attributes in people},
            hosts=read_hosts(connection, run.cluster_id),
            resources={Resource(*named): attributes or {} for *named, attributes in things},
        )

    @classmethod
    def planned(
        cls,
        rules: Rules,
        hosts: tuple[str, ...],
        principals: _Attributes[str],
        resources: _Attributes[Resource],
    ) -> World:
        """Return a state that no tables hold: all of it is decided now."""
        connection = new_duckdb({})
        connection.execute(_NO_DECISIONS)
        return cls(
            connection=connection,
            cluster_id="",
            acls={acl.acl_id: acl for acl in rules.acls},
            settings=rules.settings,
            semantics=rules.semantics,
            principals=principals,
            hosts=hosts,
            resources=resources,
            is_decided=False,
        )

    @property
    def rules(self) -> Rules:
        """All that decides."""
        return Rules(acls=self.acls.values(), settings=self.settings, semantics=self.semantics)


_NO_DECISIONS: Final = """\
CREATE TABLE principal (
  cluster_id VARCHAR, principal VARCHAR, principal_class INT, is_super_user BOOLEAN
);
CREATE TABLE explain_ruling (
  cluster_id VARCHAR, ruleset_id VARCHAR, operation VARCHAR, host VARCHAR, decision VARCHAR
);
CREATE TABLE explain_pair (
  cluster_id VARCHAR, principal VARCHAR, resource_type VARCHAR, resource_name VARCHAR,
  ruleset_id VARCHAR
);
CREATE TABLE explain_class_pair (
  cluster_id VARCHAR, principal_class INT, resource_type VARCHAR, resource_name VARCHAR,
  ruleset_id VARCHAR
)"""
"""The tables that are asked, without a row."""

_PRINCIPALS = "SELECT principal, attributes FROM principal WHERE cluster_id = ? ORDER BY principal"
_RESOURCES = (
    "SELECT resource_type, resource_name, attributes FROM resource WHERE cluster_id = ? "
    "ORDER BY resource_type, resource_name"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DutyQuestion:
    """What of the inventory an assertion's duty is about.

    Attributes:
        cluster_id: the cluster.
        principals: who.
        resources: on what.
        operations: (resource type, operation).
        hosts: from where, any other host among them where it is meant.
        decision: what speaks against the assertion.
    """

    cluster_id: str
    principals: Sequence[str]
    resources: Sequence[Resource]
    operations: Sequence[tuple[str, str]]
    hosts: Sequence[str]
    decision: str


def count_hits(
    connection: duckdb.DuckDBPyConnection,
    question: DutyQuestion,
    kind: Kind,
    beyond: Sequence[Hit],
) -> Tallies:
    """Count what speaks against an assertion.

    Args:
        connection: see ``duck.connect``.
        question: what of the inventory is asked about.
        kind: of the assertion.
        beyond: what speaks against it beyond the inventory, each once.
    """
    values = [
        question.cluster_id,
        list(question.principals),
        *_columns(question.resources, 2),
        *_columns(question.operations, 2),
        list(question.hosts),
        question.decision,
        sum(host != ANY_OTHER for host in question.hosts),
        *_columns((hit[1:] for hit in beyond), 6),
    ]
    return {
        tuple(subject): Tally(count=count, is_endless=is_endless, example=Hit(*example))
        for *subject, count, is_endless, example in fetch(
            connection, _TALLIES.get(kind, _OF_WHOLE), values
        )
    }


def find_ruling(
    connection: duckdb.DuckDBPyConnection, question: DutyQuestion, hit: Hit
) -> tuple[str, Verdict]:
    """Return a host from which a decision of the tables speaks against an assertion.

    An address goes before any other host.
    """
    rows = fetch(connection, _RULINGS, [question.cluster_id, hit.place, hit.operation])
    by_host = {host: Verdict(*ruling) for host, *ruling in rows}
    ranked = sorted(question.hosts, key=lambda host: (is_any_other(host), host))
    verdicts = ((host, by_host.get(host, by_host[ANY_OTHER])) for host in ranked)
    return next(found for found in verdicts if found[1].decision == question.decision)


def _columns(rows: Iterable[Sequence[object]], width: int) -> list[list[object]]:
    """Turn rows into columns; without rows they are empty."""
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(width)]


_RULINGS: Final = (
    "SELECT host, decision, rule, deciding_acl_id FROM explain_ruling "
    "WHERE cluster_id = ? AND ruleset_id = ? AND operation = ?"
)
_HITS: Final = """\
WITH who AS (
SELECT p.principal, p.principal_class, p.is_super_user
FROM principal p
JOIN (SELECT unnest(CAST($2 AS VARCHAR[])) AS principal) asked ON asked.principal = p.principal
WHERE p.cluster_id = $1
),
what AS (
SELECT unnest(CAST($3 AS VARCHAR[])) AS resource_type,
       unnest(CAST($4 AS VARCHAR[])) AS resource_name
),
does AS (
SELECT unnest(CAST($5 AS VARCHAR[])) AS resource_type, unnest(CAST($6 AS VARCHAR[])) AS operation
),
bad AS (
SELECT ruleset_id, operation
FROM explain_ruling
WHERE cluster_id = $1 AND operation IN (SELECT operation FROM does)
  AND (host = '<any-other>' OR host IN (SELECT unnest(CAST($7 AS VARCHAR[]))))
GROUP BY ruleset_id, operation
HAVING bool_or(decision = $8 AND list_contains(CAST($7 AS VARCHAR[]), host))
    OR (bool_or(decision = $8 AND host = '<any-other>')
        AND count(*) FILTER (host <> '<any-other>') < $9)
),
pair AS (
SELECT e.principal, e.resource_type, e.resource_name, e.ruleset_id
FROM explain_pair e
JOIN who ON who.principal = e.principal AND NOT who.is_super_user
JOIN what ON what.resource_type = e.resource_type AND what.resource_name = e.resource_name
WHERE e.cluster_id = $1 AND e.ruleset_id IN (SELECT ruleset_id FROM bad)
UNION ALL
SELECT who.principal, c.resource_type, c.resource_name, c.ruleset_id
FROM explain_class_pair c
JOIN what ON what.resource_type = c.resource_type AND what.resource_name = c.resource_name
JOIN who ON who.principal_class = c.principal_class AND NOT who.is_super_user
ANTI JOIN explain_pair e
  ON e.cluster_id = c.cluster_id AND e.principal = who.principal
 AND e.resource_type = c.resource_type AND e.resource_name = c.resource_name
WHERE c.cluster_id = $1 AND c.ruleset_id IN (SELECT ruleset_id FROM bad)
UNION ALL
SELECT who.principal, what.resource_type, what.resource_name, 'super'
FROM who CROSS JOIN what WHERE who.is_super_user
),
known AS (
SELECT pair.principal, pair.resource_type, pair.resource_name, bad.operation, pair.ruleset_id
FROM pair
JOIN bad ON bad.ruleset_id = pair.ruleset_id
JOIN does ON does.resource_type = pair.resource_type AND does.operation = bad.operation
),
beyond AS (
SELECT unnest(CAST($10 AS BOOLEAN[])) AS is_symbol, unnest(CAST($11 AS VARCHAR[])) AS principal,
       unnest(CAST($12 AS VARCHAR[])) AS resource_type,
       unnest(CAST($13 AS VARCHAR[])) AS resource_name,
       unnest(CAST($14 AS VARCHAR[])) AS operation, unnest(CAST($15 AS VARCHAR[])) AS place
),
hit AS (
SELECT false AS is_beyond,
       principal = 'User:<any-other>' OR resource_name = '<any-other>' AS is_symbol,
       principal, resource_type, resource_name, operation, ruleset_id AS place
FROM known
UNION ALL
SELECT true, b.is_symbol, b.principal, b.resource_type, b.resource_name, b.operation, b.place
FROM beyond b
ANTI JOIN known k
  ON k.principal = b.principal AND k.operation = b.operation
 AND k.resource_type = b.resource_type AND k.resource_name = b.resource_name
)
"""
_WHOLE: Final = "SELECT count(*), "
_PER_RESOURCE: Final = "SELECT resource_type, resource_name, count(DISTINCT principal), "
_PER_PRINCIPAL: Final = "SELECT principal, count(*), "
_COUNTED: Final = (
    "bool_or(principal = 'User:<any-other>'), "
    "min(ROW(is_beyond, is_symbol, principal, resource_type, resource_name, operation, place)) "
)
_OF_ALL: Final = "FROM hit HAVING count(*) > 0"
_OF_RESOURCES: Final = "FROM hit GROUP BY resource_type, resource_name"
_OF_PRINCIPALS: Final = "FROM hit GROUP BY principal"
_OF_WHOLE: Final = _HITS + _WHOLE + _COUNTED + _OF_ALL
_TALLIES: Final[dict[Kind, str]] = {
    "at_most": _HITS + _PER_RESOURCE + _COUNTED + _OF_RESOURCES,
    "separate": _HITS + _PER_PRINCIPAL + _COUNTED + _OF_PRINCIPALS,
}
