"""A published warehouse → the accesses that brokers refused, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from aclkit.errors import UsageError
from aclkit.model.resource import Resource
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.model.symbol import PRINCIPALS, RESOURCES, is_symbol
from aclkit.questions.denials.causes import CAUSES, Denial, Facts, Refused, explain_denial
from aclkit.questions.query.lifetimes import lifetime_of, lifetime_sql
from aclkit.rules.decide.index import AclIndex
from aclkit.warehouse.acls_in_force import acls_in_force
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.published import Published, run_settings
from aclkit.warehouse.reader import Tables, read_written
from aclkit.warehouse.sql import fetch
from aclkit.warehouse.store import Store

ACCESS_DAY: Final = "access_day"
"""The table that aclkit usage writes."""

NEEDED: Final[Mapping[str, Mapping[str, str]]] = {
    name: {} for name in (ACCESS_DAY, "acl_history", "resource", "broker")
}
"""The tables that are asked, see ``duck.connect``."""


def require_log(published: Published) -> None:
    """Refuse a warehouse to which no authorizer log was ever read.

    Raises:
        UsageError: none was.
    """
    if ACCESS_DAY not in published.run.table_versions:
        raise UsageError(
            "No authorizer log has been read yet. Next: aclkit usage --authorizer-log PATH"
        )


def denials_of_run(store: Store, decided: PublishedRun) -> list[Denial]:
    """Return the same while a run writes: as its tables stand, with the ACLs decided last."""
    with read_written(store, decided.cluster_id, *NEEDED) as reader:
        return read_denials(reader.connection, decided)


def read_denials(tables: Tables, run: PublishedRun) -> list[Denial]:
    """Return every refused access of a cluster with its cause, the most lines first.

    One with a name that is a symbol is left out: it cannot be decided, and ``usage`` reports it.
    """
    settings, semantics = run_settings(run)
    facts = _facts(tables, run, settings, semantics)
    rows = fetch(tables, _REFUSED, [run.cluster_id])
    decided = (each for each in map(_refused, rows) if not _has_symbol(each))
    denials = [explain_denial(each, facts) for each in decided]
    return sorted(denials, key=lambda each: (CAUSES.index(each.cause), -each.refused.lines))


def _facts(
    tables: Tables, run: PublishedRun, settings: BrokerSettings, semantics: Semantics
) -> Facts:
    return Facts(
        index=AclIndex.of(acls_in_force(tables, run).values(), semantics),
        removed=[lifetime_of(row) for row in fetch(tables, _REMOVED, [run.cluster_id])],
        settings=settings,
        semantics=semantics,
        topics={name for (name,) in fetch(tables, _TOPICS, [run.cluster_id])},
    )


def _has_symbol(refused: Refused) -> bool:
    return is_symbol(PRINCIPALS, refused.principal) or is_symbol(
        RESOURCES, refused.resource.resource_name
    )


def _refused(row: Sequence[Any]) -> Refused:
    principal, operation, kind, name, requests, hosts, *rest = row
    lines, days, first_at, last_at, is_new = rest
    return Refused(
        principal=principal,
        operation=operation,
        resource=Resource(kind, name),
        requests=tuple(requests or ()),
        hosts=tuple(hosts),
        lines=lines,
        days=days,
        first_at=first_at,
        last_at=last_at,
        is_new=is_new,
    )


_REFUSED: Final = """\
WITH refused AS (
SELECT * FROM access_day
WHERE cluster_id = $1 AND decision = 'DENIED' AND principal IS NOT NULL
  AND operation IS NOT NULL AND resource_type IS NOT NULL
),
by_host AS (
SELECT principal, operation, resource_type, resource_name, host, sum(lines) AS lines
FROM refused GROUP BY ALL
),
hosts AS (
SELECT principal, operation, resource_type, resource_name,
       list(host ORDER BY lines DESC, host) AS hosts
FROM by_host GROUP BY ALL
)
SELECT r.principal, r.operation, r.resource_type, r.resource_name,
       list(DISTINCT r.request_name ORDER BY r.request_name)
         FILTER (r.request_name IS NOT NULL),
       any_value(h.hosts), sum(r.lines), count(DISTINCT r.log_day), min(r.first_at),
       max(r.last_at),
       min(r.run_number) = (SELECT max(run_number) FROM access_day WHERE cluster_id = $1)
FROM refused r
JOIN hosts h USING (principal, operation, resource_type, resource_name)
GROUP BY ALL
ORDER BY 1, 2, 3, 4"""
_REMOVED: Final = lifetime_sql(
    "FROM acl_history "
    "WHERE cluster_id = ? AND removed_offset IS NOT NULL AND permission_type = 'ALLOW' "
    "ORDER BY removed_offset DESC"
)
_TOPICS: Final = (
    "SELECT resource_name FROM resource "
    "WHERE cluster_id = ? AND resource_type = 'TOPIC' AND NOT is_any_other"
)
