"""A whole list of ACLs (kafka-acls, a live cluster) → the differences to the one before, as facts.

So are topics, users and other names that a live cluster tells. A listing has no offsets and no
ids: its sequence number is the offset, and an ACL's id is made from the cluster's id and the seven
fields, so that the same ACL always has the same id.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from pyspark.sql import DataFrame

from aclkit.model.acl import Acl
from aclkit.model.facts import ADD_ACL, LISTING, REJECT, REMOVE_ACL, SourceRow
from aclkit.pipeline.replay import tables
from aclkit.pipeline.replay.listed import changed_things, thing_of
from aclkit.pipeline.replay.ranges import Range, merge_ranges
from aclkit.pipeline.replay.rejects import known_rejects
from aclkit.pipeline.replay.replay import ReplayOptions, ReplayResult, result_of, write_history
from aclkit.pipeline.sources.listing import Listing
from aclkit.runtime.fail_points import fail_point
from aclkit.runtime.frame import local_frame
from aclkit.warehouse.run import Run
from aclkit.warehouse.store import schema_of


@dataclass(frozen=True, slots=True)
class ListingChange:
    """What a listing adds to and takes from the state before it."""

    added: tuple[Acl, ...]
    removed: tuple[str, ...]


def acl_id_of(cluster_id: str, binding: tuple[str, ...]) -> str:
    """Make an id in Kafka's text form out of a cluster id and the seven fields."""
    text = "\x00".join((cluster_id, *binding)).encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(text).digest()[:16]
    return base64.urlsafe_b64encode(digest).decode("ascii").rstrip("=")


def listed_acls(rows: Iterable[SourceRow], cluster_id: str) -> dict[str, Acl]:
    """Give each ACL of a listing its id."""
    acls = {}
    for row in rows:
        if row.record_type != ADD_ACL:
            continue
        binding = (
            row.resource_type or "",
            row.resource_name or "",
            row.pattern_type or "",
            row.principal or "",
            row.host or "",
            row.operation or "",
            row.permission_type or "",
        )
        acl_id = acl_id_of(cluster_id, binding)
        acls[acl_id] = Acl(
            acl_id=acl_id,
            resource_type=binding[0],
            resource_name=binding[1],
            pattern_type=binding[2],
            principal=binding[3],
            host=binding[4],
            operation=binding[5],
            permission_type=binding[6],
        )
    return acls


def change_between(before: Iterable[str], listed: Mapping[str, Acl]) -> ListingChange:
    """Compare the ids alive before with a listing."""
    alive = set(before)
    return ListingChange(
        added=tuple(listed[i] for i in sorted(listed.keys() - alive)),
        removed=tuple(sorted(alive - listed.keys())),
    )


def replay_listing(
    run: Run, listing: Listing, at: datetime, options: ReplayOptions
) -> ReplayResult:
    """Enter the differences between a listing and the state before it as facts."""
    store, cluster_id = run.store, run.cluster_id
    known = tables.read_ranges(store, cluster_id)
    sequence = max((r.to_offset for r in known), default=0)
    facts = list(_new_facts(run, listing))
    ranges = list(known)
    if facts or not known:
        ranges.append(Range(sequence, sequence + 1, None, LISTING))
        columns = (cluster_id, LISTING, sequence)
        tail = (None, at, None, listing.rows[0].source if listing.rows else "listing")
        frame = local_frame(
            store.spark, [(*columns, *fact, *tail) for fact in facts], schema_of("acl_log")
        )
        store.append("acl_log", frame)
        tables.write_ranges(run, merge_ranges([], ranges).ranges)
    fail_point("after-facts")
    rejected = _rejects(run, listing.rows)
    changed = bool(facts) or not known or not rejected.isEmpty()
    standing = known_rejects(run).unionByName(rejected)
    timeline = write_history(
        run, merge_ranges([], ranges).ranges, standing, options, changed=changed
    )
    run.notes.extend(_notes(listing))
    run.counts["facts_added"] = len(facts)
    return result_of(run, timeline, len(facts), options)


def _new_facts(run: Run, listing: Listing) -> Iterator[tuple[str | None, ...]]:
    """Compare with what is alive: the columns of ``acl_log`` from ``record_type`` on."""
    cluster_id = run.cluster_id
    acls, things = tables.read_alive(run)
    change = change_between(acls, listed_acls(listing.rows, cluster_id))
    for acl in change.added:
        yield (ADD_ACL, acl.acl_id, *acl.binding, None, None)
    for acl_id in change.removed:
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


def _notes(listing: Listing) -> Iterator[str]:
    """Say what is missing of a listing."""
    yield from listing.notes
    refused = sum(row.kind == REJECT for row in listing.rows)
    if refused:
        yield (
            f"{refused:,} lines of the listing could not be used, see acl_reject: an ACL that only "
            "they state counts as gone"
        )


def _rejects(run: Run, rows: Iterable[SourceRow]) -> DataFrame:
    rejects = [
        (run.cluster_id, "source", r.source, r.position, r.log_offset, r.reason, r.raw, r.digest)
        for r in rows
        if r.kind == REJECT
    ]
    frame = local_frame(run.store.spark, rejects, schema_of("acl_reject"))
    return frame.subtract(run.store.cluster_rows("acl_reject", run.cluster_id))
