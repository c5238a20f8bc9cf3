"""A whole list of ACLs (kafka-acls, a live cluster) → the differences to the one before, as facts.

So are topics, users and other names that a live cluster tells, and its brokers. A listing has no
offsets and no ids: its sequence number is the offset, and an ACL's id is made from the cluster's id
and the seven fields, so that the same ACL always has the same id.

A topic is identified by its id, everything else by its name. If a listing has no id for a topic, it
is the existing topic of that name, or else gets an id made of the name. Such a topic stays the same
when a later listing has its id, because it was never seen deleted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Final, NamedTuple

from aclkit.model.acl import BINDING, Acl
from aclkit.model.confluent import notes_on_accounts
from aclkit.model.facts import (
    ADD_ACL,
    ADD_DELEGATION,
    ADD_RESOURCE,
    ADD_SCRAM,
    ADD_TOPIC,
    DELEGATION,
    LISTING,
    NOTE,
    REJECT,
    REMOVE_ACL,
    REMOVE_DELEGATION,
    REMOVE_RESOURCE,
    REMOVE_SCRAM,
    REMOVE_TOPIC,
    SourceRow,
)
from aclkit.model.phrases import number_of
from aclkit.model.unread import GROUPS, TOKENS, TOPICS, TRANSACTIONAL_IDS, USERS
from aclkit.pipeline.replay.asking import Frame
from aclkit.pipeline.replay.brokers import (
    BrokerFact,
    are_kept_alike,
    fold_brokers,
    listed_brokers,
    notes_on_brokers,
)
from aclkit.pipeline.replay.engine import Engine
from aclkit.pipeline.replay.known import KnownLog, Replayed, ReplayOptions
from aclkit.pipeline.replay.ranges import merge_ranges
from aclkit.pipeline.replay.replay import tables_anew
from aclkit.pipeline.replay.spans import Range
from aclkit.pipeline.sources.listing import Listing
from aclkit.pipeline.sources.payload import uuid_text


def acl_id_of(cluster_id: str, binding: tuple[str, ...]) -> str:
    """Make an id in Kafka's text form out of a cluster id and the seven fields."""
    text = "\x00".join((cluster_id, *binding)).encode("utf-8", "surrogatepass")
    return uuid_text(hashlib.sha256(text).digest()[:16])


def listed_acls(rows: Iterable[SourceRow], cluster_id: str) -> dict[str, Acl]:
    """Give each ACL of a listing its id."""
    acls = {}
    for row in rows:
        if row.record_type == ADD_ACL:
            binding = {name: getattr(row, name) or "" for name in BINDING}
            acl_id = acl_id_of(cluster_id, tuple(binding.values()))
            acls[acl_id] = Acl(acl_id=acl_id, **binding)
    return acls


def replay_listing(
    engine: Engine[Frame],
    known: KnownLog[Frame],
    alive: tuple[Iterable[str], Iterable[Thing]],
    listing: Listing,
    at: datetime,
    options: ReplayOptions,
) -> Replayed[Frame]:
    """Enter the differences between a listing and the state before it as facts.

    Args:
        engine: has the frames.
        known: what is known.
        alive: the ids of the ACLs in force, and the topics, users and other names that exist.
        listing: the present state.
        at: since when.
        options: the options of the replay.
    """
    cluster_id = known.cluster_id
    sequence = max((r.to_offset for r in known.ranges), default=0)
    of_brokers = listed_brokers(known.brokers, listing.rows, sequence, at)
    rows = list(_log_rows(_new_facts(cluster_id, *alive, listing), of_brokers, at, listing))
    is_new = bool(rows or not known.ranges)
    here = [Range(sequence, sequence + 1, None, LISTING)] if is_new else []
    ranges = merge_ranges(known.ranges, here).ranges
    columns = (cluster_id, LISTING, sequence)
    added = engine.rows("acl_log", [(*columns, *row) for row in rows])
    # A listing is the whole state: what could not be used of the one before is of no account.
    standing = engine.rows("acl_reject", list(_rejects(listing.rows, cluster_id)))
    plan = options.plan(ranges, ())
    is_same = not is_new and engine.are_alike(standing, known.rejects)
    facts = engine.union(known.facts, added)
    brokers = fold_brokers([*known.broker_facts, *of_brokers], plan)
    return Replayed(
        plan=plan,
        fact_count=len(rows),
        added=added if is_new else None,
        tables=tables_anew(engine, known, facts, standing, plan, is_same=is_same),
        ranges=ranges if is_new else None,
        brokers=None if are_kept_alike(brokers, known.brokers) else brokers,
        notes=(
            *notes_on_listing(listing),
            *notes_on_accounts(cluster_id, _principals(listing)),
            *notes_on_brokers(known.brokers, brokers, is_first=not known.ranges),
        ),
    )


def _principals(listing: Listing) -> Iterator[str]:
    return (row.principal or "" for row in listing.rows if row.record_type == ADD_ACL)


def _log_rows(
    changes: Iterable[tuple[str | None, ...]],
    brokers: Iterable[BrokerFact],
    at: datetime,
    listing: Listing,
) -> Iterator[tuple[object, ...]]:
    """Yield the columns of ``acl_log`` from ``record_type`` on."""
    origin = (None, at, None, listing.rows[0].source if listing.rows else "listing")
    for change in changes:
        yield (*change, *origin, None, None, None)
    nothing_else = [None] * (len(BINDING) + 3)
    for each in brokers:
        levels = (each.broker_id, each.min_level, each.max_level)
        yield (each.record_type, *nothing_else, *origin, *levels)


def _rejects(rows: Iterable[SourceRow], cluster_id: str) -> Iterator[tuple[object, ...]]:
    """Yield rows of ``acl_reject``."""
    for r in rows:
        if r.kind == REJECT:
            place = (r.source, r.position, r.log_offset)
            yield (cluster_id, "source", *place, r.reason, r.raw, r.digest)


def _new_facts(
    cluster_id: str, acls: Iterable[str], things: Iterable[Thing], listing: Listing
) -> Iterator[tuple[str | None, ...]]:
    """Compare with what is alive: ``record_type`` to ``mechanism`` of ``acl_log``."""
    alive, listed = {*acls}, listed_acls(listing.rows, cluster_id)
    for acl_id in sorted(listed.keys() - alive):
        yield (ADD_ACL, acl_id, *listed[acl_id].binding, None, None)
    for acl_id in sorted(alive - listed.keys()):
        yield (REMOVE_ACL, acl_id, *[None] * 7, None, None)
    named = filter(None, map(thing_of, listing.rows))
    came, went = changed_things(
        things, named, listing.told, lambda name: acl_id_of(cluster_id, ("TOPIC", name))
    )
    for changed, which in ((came, 0), (went, 1)):
        for thing in changed:
            # As in a log: of a topic's record the type is the resource's.
            kind = None if thing.topic_id else thing.resource_type
            binding = (kind, thing.resource_name, None, thing.principal)
            record_type = thing.record_types[which]
            yield (record_type, None, *binding, *[None] * 3, thing.topic_id, thing.mechanism)


class Thing(NamedTuple):
    """A topic, a listed resource, a user or an owner of tokens; what it is not is None."""

    resource_type: str | None = None
    resource_name: str | None = None
    topic_id: str | None = None
    principal: str | None = None
    mechanism: str | None = None

    @property
    def part(self) -> str:
        """Which part of a listing tells of it."""
        if self.principal is not None:
            return TOKENS if self.mechanism == DELEGATION else USERS
        return _PART_OF_TYPE[self.resource_type or _TOPIC]

    @property
    def record_types(self) -> tuple[str, str]:
        """The record types of its coming and of its going."""
        if self.principal is not None:
            is_token = self.mechanism == DELEGATION
            return (ADD_DELEGATION, REMOVE_DELEGATION) if is_token else (ADD_SCRAM, REMOVE_SCRAM)
        is_topic = self.resource_type == _TOPIC
        return (ADD_TOPIC, REMOVE_TOPIC) if is_topic else (ADD_RESOURCE, REMOVE_RESOURCE)


def thing_of(row: SourceRow) -> Thing | None:
    """Return what a row of a listing names; None for an ACL and a reject."""
    if row.record_type == ADD_TOPIC:
        return Thing(_TOPIC, row.resource_name, row.topic_id)
    if row.record_type == ADD_RESOURCE:
        return Thing(row.resource_type, row.resource_name)
    if row.record_type in (ADD_SCRAM, ADD_DELEGATION):
        return Thing(principal=row.principal, mechanism=row.mechanism)
    return None


def changed_things(
    before: Iterable[Thing],
    listed: Iterable[Thing],
    told: frozenset[str],
    id_of: Callable[[str], str],
) -> tuple[list[Thing], list[Thing]]:
    """Return the added and the removed names, sorted.

    Args:
        before: what existed.
        listed: what the listing names.
        told: the parts that are complete in it; nothing of other parts is removed.
        id_of: makes the id of a topic without an id in the listing from its name.
    """
    alive = set(before)
    now = set(_with_ids(listed, {t.resource_name: t for t in alive if t.topic_id}, id_of))
    gone = (thing for thing in alive - now if thing.part in told)
    return sorted(now - alive, key=_order), sorted(gone, key=_order)


def _with_ids(
    listed: Iterable[Thing], topics: dict[str | None, Thing], id_of: Callable[[str], str]
) -> Iterator[Thing]:
    for thing in listed:
        known = topics.get(thing.resource_name)
        if thing.resource_type != _TOPIC:
            yield thing
        elif known and (
            thing.topic_id is None or known.topic_id == id_of(known.resource_name or "")
        ):
            yield known
        else:
            yield thing._replace(topic_id=thing.topic_id or id_of(thing.resource_name or ""))


def notes_on_listing(listing: Listing) -> Iterator[str]:
    """Yield what is missing of a listing."""
    yield from listing.notes
    yield from (row.reason for row in listing.rows if row.kind == NOTE and row.reason)
    refused = sum(row.kind == REJECT for row in listing.rows)
    if refused:
        yield (
            f"{number_of(refused, 'line')} of the listing cannot be used (see acl_reject). ACLs "
            "that only these lines contain count as removed."
        )


def _order(thing: Thing) -> tuple[str, ...]:
    return tuple(value or "" for value in thing)


_TOPIC: Final = "TOPIC"
_PART_OF_TYPE: Final = {
    _TOPIC: TOPICS,
    "GROUP": GROUPS,
    "TRANSACTIONAL_ID": TRANSACTIONAL_IDS,
    DELEGATION: TOKENS,
}
