"""What is known of each ACL → when an item was last used, and until when it is needed, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final, NamedTuple

from aclkit.audit.review.items import Item
from aclkit.model.until import until_words
from aclkit.questions.query.acl_ends import AclEnd, read_ends
from aclkit.warehouse.reader import open_tables
from aclkit.warehouse.sql import fetch

_UNUSED: Final = "unused"


class AclUse(NamedTuple):
    """A row of ``acl_usage``.

    Attributes:
        usage: used, matched, unused, unknown or too-new.
        last: the last line of the log that names the ACL, or that it would have allowed as well.
        since: beginning of the days that are judged.
        until: their end.
    """

    usage: str
    last: datetime | None
    since: datetime | None
    until: datetime | None


def read_uses(warehouse: str, cluster_id: str) -> dict[str, AclUse]:
    """Read what is known of the use of ACLs, by id; nothing where no log was read."""
    with open_tables(warehouse, {"acl_usage": {}}) as (_, tables):
        rows = fetch(tables, _USES, [cluster_id])
    return {acl_id: AclUse(*rest) for acl_id, *rest in rows}


def use_words(item: Item, uses: Mapping[str, AclUse]) -> str:
    """Write when an item was last used; empty where that is not known.

    It is unused only if each of its ACLs is: of days that the log does not cover nothing is known.
    """
    known = [uses[acl.acl_id] for acl in item.acls if acl.acl_id in uses]
    if last := _newest(use.last for use in known):
        return f"last used on {last:%Y-%m-%d}"
    if not known or len(known) < len(item.acls) or any(use.usage != _UNUSED for use in known):
        return ""
    since, until = known[0].since, known[0].until
    return f"not used from {since:%Y-%m-%d} to {until:%Y-%m-%d}" if since and until else ""


def read_item_ends(warehouse: str, cluster_id: str) -> dict[str, AclEnd]:
    """Read until when ACLs are needed, by id; nothing where no run was told."""
    with open_tables(warehouse, {"acl_lease": {}}) as (_, tables):
        return read_ends(tables, cluster_id)


def end_words(item: Item, ends: Mapping[str, AclEnd]) -> str:
    """Write until when an item is needed; empty where one of its ACLs has no end."""
    known = [ends[acl.acl_id].until for acl in item.acls if acl.acl_id in ends]
    if not known or len(known) < len(item.acls):
        return ""
    return f"needed until {until_words(max(known))}"


def _newest(times: Iterable[datetime | None]) -> datetime | None:
    return max(filter(None, times), default=None)


_USES: Final = """\
SELECT acl_id, "usage", CAST(greatest(last_used_at, last_matched_at) AS TIMESTAMP),
CAST(window_from AS TIMESTAMP), CAST(window_to AS TIMESTAMP)
FROM acl_usage WHERE cluster_id = ?"""
