"""What is known of each ACL → when an item was last used, and until when it is needed, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from aclkit.audit.review.items import Item
from aclkit.model.until import until_words
from aclkit.questions.query.lifetimes import AclEnd, read_ends
from aclkit.questions.usage.read_use import USE_TABLES, LogOptions, read_use
from aclkit.questions.usage.use import Unknown, Used, UseOfAcls
from aclkit.rules.names.rows import Rules
from aclkit.warehouse.duck import open_tables
from aclkit.warehouse.published import deciding_run


def read_item_use(warehouse: str, cluster_id: str, rules: Rules, options: LogOptions) -> UseOfAcls:
    """Read what the authorizer log shows of the use of the ACLs under review."""
    with open_tables(warehouse, {name: {} for name in USE_TABLES}) as (published, tables):
        return read_use(tables, published, deciding_run(published, cluster_id), rules, options)


def use_words(item: Item, use: UseOfAcls) -> str:
    """Write when an item was last used, that it was not, or that this is unknown, and why.

    It is unused only if each of its ALLOWs is. Nothing is written where no log was read.
    """
    found = [use.of(acl) for acl in item.acls if acl.is_allow]
    if not found or use.log.window_from is None:
        return ""
    dated = [(each.last, each.broker) for each in found if isinstance(each, Used) and each.last]
    if dated:
        last, broker = max(dated)
        return f"last used on {last:%Y-%m-%d}" + (f", log {broker}" if broker else "")
    if any(isinstance(each, Used) for each in found):
        return "used, at a time that is not known"
    missing = [more for each in found if isinstance(each, Unknown) for more in each.missing]
    if missing:
        last_known = _newest(each.last for each in found)
        before = "" if last_known is None else f" Last known use: {last_known:%Y-%m-%d}."
        return f"use unknown: {missing[0].words}{before}"
    log = use.log
    return f"not used from {log.window_from:%Y-%m-%d} to {log.window_to:%Y-%m-%d} ({log.words})"


def note_on_use(use: UseOfAcls) -> str:
    """Write what the use that items show stands on; or that it is unknown."""
    log = use.log
    if not log.missing:
        return f"Use is judged by the authorizer log: {log.words}."
    each = log.missing[0]
    return f"It is unknown what is not used. {each.words} Next: {each.next}"


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
