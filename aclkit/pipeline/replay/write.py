"""A change of ACLs → records at the head of a cluster that follows nothing, replayed at once.

A cluster that was replayed from somewhere follows that log or those listings, and only they
change it. One that is not known yet, or that only this module has written to, follows nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, astuple, replace
from datetime import UTC, datetime
from typing import Final

from aclkit.errors import UsageError
from aclkit.model.acl import Acl
from aclkit.model.facts import (
    ADD_ACL,
    FACT,
    RECORD,
    REMOVE_ACL,
    WRITTEN,
    SourceRow,
    range_row,
)
from aclkit.pipeline.replay.changes import AclChange
from aclkit.pipeline.replay.cluster import resolve_cluster
from aclkit.pipeline.replay.engines import fits, replaying
from aclkit.pipeline.replay.intake import Intake
from aclkit.pipeline.replay.known import ReplayOptions
from aclkit.pipeline.replay.known_tables import KnownTables, read_clusters
from aclkit.pipeline.replay.ranges import is_written_here
from aclkit.pipeline.replay.record import record
from aclkit.pipeline.replay.replay import replay_log
from aclkit.warehouse.run import Run

_NO_SOURCE: Final = Intake(sources=())


def write_change(
    run: Run, cluster: str | None, decide: Callable[[Sequence[Acl]], AclChange]
) -> AclChange:
    """Write what ``decide`` makes of the ACLs alive, as records that begin at the head.

    The run holds the warehouse's lock since before the head is read, so two writers never give
    one offset twice. Where there is nothing to write, nothing is; else the caller publishes.

    Raises:
        UsageError: the cluster follows a log or listings.
    """
    run.cluster_id = resolve_cluster(read_clusters(run.store), _NO_SOURCE, cluster)
    small, before = KnownTables(run.store, run.cluster_id), run.previous()
    known = small.known(before.head_offset if before else None)
    if not is_written_here(known.ranges, small.count_written):
        raise UsageError(f"cluster {run.cluster_id!r} follows the log or the listings it came from")
    change = decide(small.acls())
    head = max((r.to_offset for r in known.ranges), default=0)
    if rows := records_of(change, head, datetime.now(UTC)):
        # All that is written here is committed.
        options = ReplayOptions(high_watermark=rows[-1].to_offset)
        with replaying(small, is_here=fits(small)) as tables:
            came = tables.engine.source_rows([astuple(row) for row in rows])
            done = replay_log(tables.engine, tables.whole(known), came, options)
            tables.write(done)
        record(run, done, options, *small.counts())
    return change


def records_of(change: AclChange, head: int, at: datetime) -> list[SourceRow]:
    """Return the records of a change from the head on, removals first, and their range."""
    base = SourceRow(kind=FACT, source=WRITTEN, fact=RECORD, log_time=at)
    gone = [replace(base, record_type=REMOVE_ACL, acl_id=acl.acl_id) for acl in change.removed]
    new = [replace(base, record_type=ADD_ACL, **asdict(acl)) for acl in change.added]
    rows = [replace(row, log_offset=head + n) for n, row in enumerate([*gone, *new])]
    whole = [range_row(WRITTEN, RECORD, head, head + len(rows))] if rows else []
    return [*rows, *whole]
