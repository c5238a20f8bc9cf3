"""Table ``acl_lease``: when ACLs in force end, as the newest nightly run read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from aclkit.warehouse.reader import Tables, read_written
from aclkit.warehouse.sql import fetch
from aclkit.warehouse.store import Store

ACL_LEASE: Final = "acl_lease"


@dataclass(frozen=True, slots=True, kw_only=True)
class AclEnd:
    """When an ACL ends.

    Attributes:
        until: the first moment at which it is not needed any more, in UTC.
        place: where that stands.
        owner: who answers for it, if that is known.
        reason: why it has an end, if that is known.
    """

    until: datetime
    place: str
    owner: str | None = None
    reason: str | None = None


def read_ends(tables: Tables, cluster_id: str) -> dict[str, AclEnd]:
    """Return the id of each ACL that has an end → its end."""
    return {
        acl_id: AclEnd(until=until.replace(tzinfo=UTC), place=place, owner=owner, reason=reason)
        for acl_id, until, place, owner, reason in fetch(tables, _ENDS, [cluster_id])
    }


def read_known_ends(store: Store, cluster_id: str) -> dict[str, AclEnd]:
    """Read the same while a run writes."""
    with read_written(store, cluster_id, ACL_LEASE) as known:
        return read_ends(known.connection, cluster_id)


def write_ends(store: Store, cluster_id: str, ends: Mapping[str, AclEnd]) -> None:
    """Put the ends of a cluster's ACLs in the place of those that are known, if they differ."""
    if read_known_ends(store, cluster_id) == ends:
        return
    rows = [
        (cluster_id, acl_id, end.until, end.place, end.owner, end.reason)
        for acl_id, end in sorted(ends.items())
    ]
    store.replace(ACL_LEASE, rows, cluster_id)


_ENDS: Final = (
    "SELECT acl_id, until_time, place, owner, reason FROM acl_lease "
    "WHERE cluster_id = ? ORDER BY acl_id"
)
