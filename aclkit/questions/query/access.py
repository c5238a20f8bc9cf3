"""who-can: decisions → rows of name, host, operation, decision and reason, as of what-can too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from aclkit.model.acl import Acl
from aclkit.model.operation import parse_operation
from aclkit.model.resource import Resource
from aclkit.model.values import dataclass
from aclkit.questions.query.decisions import Decisions, Where, decisions_on
from aclkit.questions.query.group_rows import Alike
from aclkit.questions.query.lifetimes import lifetimes_near
from aclkit.questions.query.names import read_principals
from aclkit.questions.query.other_reading import (
    OthersOtherwise,
    decided_otherwise_for,
    read_differently,
)
from aclkit.warehouse.acls_in_force import acls_in_force
from aclkit.warehouse.duck import Tables
from aclkit.warehouse.published import Published, run_settings
from aclkit.warehouse.result_rows import Rows
from aclkit.warehouse.views import EXPLAIN_TABLES

if TYPE_CHECKING:
    from aclkit.questions.query.pattern_grants import PatternGrant

DECIDED: Final = ("host", "operation", "decision", "rule", "deciding_acl", "acl_id")
WHO_CAN_COLUMNS: Final = ("principal", *DECIDED)


NEEDED: Final[Mapping[str, Mapping[str, str]]] = {
    name: {} for name in (*EXPLAIN_TABLES, "acl_history")
}
"""The tables that answer them, see ``duck.connect``."""


@dataclass(frozen=True, kw_only=True)
class Access(Decisions, Rows):
    """The answer to a question about access: decisions, and their rows.

    Attributes:
        rows: the lines, sorted.
        acls: the ACLs that decide, by id.
        grants: of what-can, unless it is about one resource: what ACLs with a pattern grant, for
            future names too.
        otherwise: of ``who_can``: the principals that the other reading decides differently for.
    """

    rows: tuple[tuple[str | None, ...], ...]
    acls: Mapping[str | None, Acl]
    grants: tuple[PatternGrant, ...] = ()
    otherwise: OthersOtherwise | None = None


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
    """Return which principals can perform an operation, or ANY, on a resource.

    Args:
        connection: see ``reader.open_tables``.
        published: the warehouse.
        cluster_id: the cluster.
        operation: Kafka's name of it, in any case, or ANY for all of the resource's type.
        resource: the resource.
        host: only from this host.
        decision: only lines with this decision; None for all.

    Raises:
        UsageError: an operation that the type does not have, no IP address, or nothing decided.
    """
    where = Where(connection, published, cluster_id)
    found = decisions_on(where, operation, resource, host=host, decision=decision)
    asked = frozenset(parse_operation(operation, resource.resource_type))
    otherwise = otherwise_of(where, found, resource, asked)
    return access_of(connection, found, WHO_CAN_COLUMNS, otherwise)


def otherwise_of(
    where: Where,
    found: Decisions,
    resource: Resource,
    operations: frozenset[str],
    principals: Sequence[str] | None = None,
) -> OthersOtherwise | None:
    """Decide a question on a resource in the other reading too.

    Args:
        where: the warehouse and the cluster.
        found: the answer in this reading.
        resource: the resource.
        operations: only these.
        principals: only of these; of all that are known if not given.
    """
    run, cluster_id = found.decided_by, where.cluster_id
    lives = lifetimes_near(where.tables, cluster_id, resource, run.head_offset)
    settings, semantics = run_settings(run)
    near = [life.acl for life in lives]
    if not read_differently(near, resource, semantics):
        return None
    names = read_principals(where.tables, cluster_id) if principals is None else principals
    return decided_otherwise_for(
        near, names, resource, found.hosts, settings, semantics, operations
    )


def access_of(
    connection: Tables,
    found: Decisions,
    columns: tuple[str, ...],
    otherwise: OthersOtherwise | None = None,
) -> Access:
    """Return the answer that decisions make, with the ACLs that decide."""
    acls = acls_in_force(connection, found.decided_by, found.acl_ids)
    rows = tuple(_rows(found.groups, acls))
    return Access(columns=columns, rows=rows, acls=acls, otherwise=otherwise, **vars(found))


def _rows(
    groups: Sequence[Alike], acls: Mapping[str | None, Acl]
) -> Iterator[tuple[str | None, ...]]:
    """Yield a row for each name and line, sorted by name, operation and hosts."""
    texts = {acl_id: str(acl) for acl_id, acl in acls.items()}
    lines_of = {}
    for names, lines in groups:
        told = [(*line[:4], texts.get(line.acl_id), line.acl_id) for line in lines]
        lines_of.update(dict.fromkeys(names, told))
    for name in sorted(lines_of):
        for line in lines_of[name]:
            yield (name, *line)
