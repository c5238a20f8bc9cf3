"""The published ``explain`` → rows, all or some at random, each with the request it stands for."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import Final

import duckdb

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL, Request
from aclkit.model.cidr import is_any_other
from aclkit.model.resource import Resource
from aclkit.warehouse.published import Published

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
            _SOME_ROWS_OF_SIDES, [cluster_id, *sides, sample.seed, sample.size]
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
# Conditions of this form reach the tables below the view; those with IN do not.
_SOME_ROWS_OF_SIDES: Final = (
    _ROWS + " AND list_contains(?, principal) AND list_contains(?, host) "
    f"AND list_contains(?, {_RESOURCE})" + _BY_CHANCE
)
