"""A whole list of ACLs (kafka-acls, a live cluster) → the differences to the one before, as facts.

So are topics, users and other names that a live cluster tells, and its brokers. A listing has no
offsets and no ids: its sequence number is the offset, and an ACL's id is made from the cluster's id
and the seven fields, so that the same ACL always has the same id.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from datetime import datetime

from aclkit.model.acl import BINDING, Acl
from aclkit.model.confluent import notes_on_accounts
from aclkit.model.facts import ADD_ACL, LISTING, REJECT, REMOVE_ACL, SourceRow
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
from aclkit.pipeline.replay.listed import Thing, changed_things, notes_on_listing, thing_of
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
