"""who-can and what-can: how names fare → rows of name, host, operation, decision and reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aclkit.model.acl import Acl
from aclkit.model.resource import Resource
from aclkit.questions.query.decisions import Decisions, decisions_of, decisions_on
from aclkit.questions.query.fold import Alike
from aclkit.questions.query.names import Unknown
from aclkit.warehouse.alive import acls_alive
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.published import Published
from aclkit.warehouse.reader import Tables
from aclkit.warehouse.rows import Rows
from aclkit.warehouse.views import EXPLAIN_TABLES

WHO_CAN_COLUMNS: Final = (
    "principal", "host", "operation", "decision", "rule", "deciding_acl", "acl_id",
)  # fmt: skip
WHAT_CAN_COLUMNS: Final = (
    "resource", "host", "operation", "decision", "rule", "deciding_acl", "acl_id",
)  # fmt: skip


NEEDED: Final[Mapping[str, Mapping[str, str]]] = {
    name: {} for name in (*EXPLAIN_TABLES, "acl_history")
}
"""The tables that answer them, see ``duck.connect``."""


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
        groups: the same lines, those of names that fare alike once.
    """

    rows: tuple[tuple[str | None, ...], ...]
    is_in_inventory: bool
    decided_by: PublishedRun
    acls: Mapping[str | None, Acl]
    names: tuple[str, ...]
    hosts: frozenset[str]
    unknown: tuple[Unknown, ...] = ()
    groups: tuple[Alike, ...] = ()


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
    found = decisions_on(
        connection, published, cluster_id, operation, resource, host=host, decision=decision
    )
    return _access(connection, found, WHO_CAN_COLUMNS)


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
    found = decisions_of(
        connection, published, cluster_id, principal,
        resource_type=resource_type, resource_name=resource_name, host=host, decision=decision,
    )  # fmt: skip
    return _access(connection, found, WHAT_CAN_COLUMNS)


def _access(connection: Tables, found: Decisions, columns: tuple[str, ...]) -> Access:
    ids = {line.acl_id for group in found.groups for line in group.lines}
    acls = acls_alive(connection, found.decided_by, sorted(filter(None, ids)))
    return Access(
        columns=columns,
        rows=tuple(_rows(found.groups, acls)),
        is_in_inventory=found.is_in_inventory,
        decided_by=found.decided_by,
        acls=acls,
        names=found.names,
        hosts=found.hosts,
        unknown=found.unknown,
        groups=found.groups,
    )


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
