"""A published warehouse → the accesses that brokers refused, and why."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from aclkit.errors import UsageError
from aclkit.model.cluster_rights import makes_of_client
from aclkit.model.resource import Resource
from aclkit.model.symbol import PRINCIPALS, RESOURCES, is_symbol
from aclkit.model.unread import TOPICS
from aclkit.questions.denials.causes import (
    CAUSES,
    Denial,
    Facts,
    Refused,
    Removed,
    explain_denials,
)
from aclkit.questions.query.lifetimes import lifetime_of, lifetime_sql
from aclkit.rules.decide.any_of_type import HARDCODED_NAME
from aclkit.rules.decide.index import AclIndex
from aclkit.warehouse.acls_in_force import acls_in_force
from aclkit.warehouse.duck import Tables, fetch
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.published import Published, run_settings
from aclkit.warehouse.reader import read_written

if TYPE_CHECKING:
    from aclkit.warehouse.store import Store


ACCESS_DAY: Final = "access_day"
"""The table that aclkit usage writes."""

NEEDED: Final[Mapping[str, Mapping[str, str]]] = {
    name: {} for name in (ACCESS_DAY, "acl_history", "resource", "resource_lifetime", "broker")
}
"""The tables that are asked, see ``duck.connect``."""


def has_log(published: Published) -> bool:
    """Whether an authorizer log was ever read to a warehouse."""
    return ACCESS_DAY in published.run.table_versions


def require_log(published: Published) -> None:
    """Refuse a warehouse to which no authorizer log was ever read.

    Raises:
        UsageError: none was.
    """
    if not has_log(published):
        raise UsageError(
            "No authorizer log has been read yet. Next: aclkit usage --authorizer-log PATH"
        )


def denials_of_run(store: Store, decided: PublishedRun, unread: Collection[str]) -> list[Denial]:
    """Return the same while a run writes: as its tables stand, with the ACLs decided last."""
    with read_written(store, decided.cluster_id, *NEEDED) as reader:
        return read_denials(reader.connection, decided, unread)


def read_denials(tables: Tables, run: PublishedRun, unread: Collection[str]) -> list[Denial]:
    """Return every refused access of a cluster with its cause, the most lines first.

    What only an administrator or a broker should be granted is the last of its cause. An access
    with a name that is a symbol is left out: it cannot be decided, and ``usage`` reports it. So is
    the name with which brokers ask about any topic.

    Args:
        tables: see ``reader.open_tables``.
        run: the run whose decisions are published.
        unread: the parts of a live cluster that were not read whole, see ``unread_parts``.
    """
    settings, semantics = run_settings(run)
    topics = {name for (name,) in fetch(tables, _TOPICS, [run.cluster_id])}
    listed = {name for (name,) in fetch(tables, _LISTED_TOPICS, [run.cluster_id])}
    removed = (lifetime_of(row) for row in fetch(tables, _REMOVED, [run.cluster_id]))
    facts = Facts(
        index=AclIndex.of(acls_in_force(tables, run).values(), semantics),
        removed=Removed.of(removed, semantics),
        settings=settings,
        topics=topics | listed,
        has_all_topics=bool(topics) and TOPICS not in unread,
    )
    found = map(_refused, fetch(tables, _REFUSED, [run.cluster_id]))
    refused = [each for each in found if not _has_symbol(each) and not _is_of_any(each)]
    return sorted(explain_denials(refused, facts), key=_order)


def _order(denial: Denial) -> tuple[int, bool, int]:
    is_warned = any(makes_of_client(acl) for acls in denial.fixes for acl in acls)
    return CAUSES.index(denial.cause), is_warned, -denial.refused.lines


def _has_symbol(refused: Refused) -> bool:
    return is_symbol(PRINCIPALS, refused.principal) or is_symbol(
        RESOURCES, refused.resource.resource_name
    )


def _is_of_any(refused: Refused) -> bool:
    """Whether brokers asked about any topic, by a name of their own: no ACL is about that one."""
    is_own_name = refused.resource == Resource("TOPIC", HARDCODED_NAME)
    return is_own_name and refused.requests == ("InitProducerId",)


def _refused(row: Sequence[Any]) -> Refused:
    principal, operation, kind, name, host, requests, lines, days, *rest = row
    first_at, last_at, is_new = rest
    return Refused(
        principal=principal,
        operation=operation,
        resource=Resource(kind, name),
        requests=tuple(requests or ()),
        hosts=(host,),
        lines=lines,
        log_days=frozenset(days or ()),
        first_at=first_at,
        last_at=last_at,
        is_new=is_new,
    )


_REFUSED: Final = """\
SELECT principal, operation, resource_type, resource_name, host,
       list(DISTINCT request_name ORDER BY request_name) FILTER (request_name IS NOT NULL),
       CAST(sum(lines) AS BIGINT),
       list(DISTINCT CAST(log_day AS TIMESTAMP)) FILTER (log_day IS NOT NULL),
       min(CAST(first_at AS TIMESTAMP)), max(CAST(last_at AS TIMESTAMP)),
       min(run_number) = (SELECT max(run_number) FROM access_day WHERE cluster_id = $1)
FROM access_day
WHERE cluster_id = $1 AND decision = 'DENIED' AND principal IS NOT NULL AND host IS NOT NULL
  AND operation IS NOT NULL AND resource_type IS NOT NULL
GROUP BY ALL
ORDER BY 1, 2, 3, 4, 5"""
_REMOVED: Final = lifetime_sql(
    "FROM acl_history "
    "WHERE cluster_id = ? AND removed_offset IS NOT NULL AND permission_type = 'ALLOW' "
    "ORDER BY removed_offset DESC"
)
_TOPICS: Final = (
    "SELECT DISTINCT resource_name FROM resource_lifetime "
    "WHERE cluster_id = ? AND resource_type = 'TOPIC' AND last_offset IS NULL"
)
_LISTED_TOPICS: Final = (
    "SELECT resource_name FROM resource "
    "WHERE cluster_id = ? AND resource_type = 'TOPIC' AND origin = 'file'"
)
