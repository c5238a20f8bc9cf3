"""A resource → the lifetimes of the ACLs that apply to it, for any principal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final

from aclkit.model.acl import Acl
from aclkit.model.resource import Resource
from aclkit.model.semantics import BROKER, Semantics
from aclkit.rules.decide.order import BrokerRescan
from aclkit.rules.patterns.match import reaches
from aclkit.warehouse.acls_in_force import NAMES
from aclkit.warehouse.codecs import acl_of, acl_sql, behind_acl
from aclkit.warehouse.reader import Tables
from aclkit.warehouse.sql import fetch


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifetime:
    """A row of ``acl_history``: see the table's columns."""

    acl: Acl
    added_offset: int
    effective_offset: int
    added_at: datetime | None
    added_by: str
    removed_offset: int | None
    removed_at: datetime | None

    def is_alive(self, offset: int) -> bool:
        """Whether the ACL is in effect as of an offset (exclusive, as in snapshots)."""
        return self.effective_offset < offset and not (
            self.removed_offset is not None and self.removed_offset < offset
        )


_LIVED: Final = tuple(field.name for field in fields(Lifetime) if field.name != "acl")


def lifetime_sql(rest: str) -> str:
    """Return the SELECT of lifetimes, from the rest: FROM ``acl_history``, and so on."""
    columns = (f"CAST({name} AS TIMESTAMP)" if name.endswith("_at") else name for name in _LIVED)
    return acl_sql(rest, *columns)


def lifetime_of(row: Sequence[Any]) -> Lifetime:
    """Make a lifetime of a row of ``lifetime_sql``."""
    return Lifetime(acl=acl_of(row), **dict(zip(_LIVED, behind_acl(row), strict=True)))


def lifetimes_reaching(
    connection: Tables,
    cluster_id: str,
    resource: Resource,
    semantics: Semantics,
    offset: int | None = None,
) -> list[Lifetime]:
    """Read the lifetimes of all ACLs that reach a resource, the oldest first.

    Args:
        connection: see ``reader.open_tables``.
        cluster_id: the cluster.
        resource: what is reached.
        semantics: how ACLs are read.
        offset: only those alive as of it.
    """
    found = lifetimes_near(connection, cluster_id, resource, offset)
    return [life for life in found if reaches(life.acl, *resource, semantics)]


def lifetimes_near(
    connection: Tables, cluster_id: str, resource: Resource, offset: int | None = None
) -> list[Lifetime]:
    """Read the lifetimes of all ACLs that apply to a resource in some reading, or possibly do.

    The engine leaves out ACLs that apply in no reading; the rule decides which ones do.
    """
    values = [cluster_id, *resource, resource.resource_name]
    return _read(connection, _REACHING, values, offset)


def lifetimes_of_type(
    connection: Tables, cluster_id: str, resource_type: str, offset: int
) -> list[Lifetime]:
    """Read the lifetimes of all ACLs on a resource type that are alive as of an offset."""
    return _read(connection, "", [cluster_id, resource_type], offset)


def lifetimes_beginning(
    connection: Tables, cluster_id: str, resource_type: str, prefix: str, offset: int
) -> list[Lifetime]:
    """Read the lifetimes of the ACLs alive that can reach a name with a beginning.

    A glob is among them wherever it begins.
    """
    return _read(connection, _BEGINNING, [cluster_id, resource_type, prefix, prefix], offset)


def lifetimes_naming(
    connection: Tables, cluster_id: str, resource_type: str, principal: str, offset: int
) -> list[Lifetime]:
    """Read the lifetimes of the ACLs alive that may match a principal, see ``NAMES``."""
    return _read(connection, f"AND {NAMES} ", [cluster_id, resource_type, principal], offset)


def lifetimes_below_star(
    connection: Tables, cluster_id: str, resource: Resource, semantics: Semantics
) -> list[Lifetime]:
    """Read the lifetimes that a broker's second scan for a resource may meet.

    Only names below ``*`` have such a search, and only a broker's deciding ACL depends on it.
    """
    if semantics.deciding_acl != BROKER or resource.resource_name >= "*":
        return []
    return _read(connection, _BELOW, [cluster_id, resource.resource_type], None)


def broker_rescan(below: Sequence[Lifetime], offset: int) -> BrokerRescan:
    """Return a broker's second scan among such ACLs, as of an offset."""
    return BrokerRescan.among(life.acl for life in below if life.is_alive(offset))


def _read(connection: Tables, which: str, values: list[str], offset: int | None) -> list[Lifetime]:
    rows = fetch(connection, _LIFETIMES + which + _ALIVE + _ORDER, [*values, *[offset] * 3])
    return list(map(lifetime_of, rows))


_LIFETIMES: Final = lifetime_sql("FROM acl_history WHERE cluster_id = ? AND resource_type = ? ")
_REACHING: Final = (
    "AND (resource_name IN (?, '*') OR pattern_type = 'GLOB' "
    "OR (pattern_type <> 'LITERAL' AND starts_with(?, resource_name))) "
)
_BEGINNING: Final = (
    "AND (resource_name = '*' OR pattern_type = 'GLOB' OR starts_with(resource_name, ?) "
    "OR (pattern_type <> 'LITERAL' AND starts_with(?, resource_name))) "
)
_BELOW: Final = "AND (resource_name < '*' OR pattern_type = 'PREFIXED' AND resource_name = '*') "
_ALIVE: Final = (
    "AND (? IS NULL OR (effective_offset < ? AND (removed_offset IS NULL OR removed_offset >= ?))) "
)
_ORDER: Final = "ORDER BY effective_offset, acl_id"
