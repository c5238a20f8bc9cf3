"""The tables that tell what changed ACLs when, and who may have done it: read and written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from aclkit.model.acl import Acl
from aclkit.model.facts import ADD_ACL, REMOVE_ACL
from aclkit.questions.by_whom.match import ADDED, REMOVED, AclChange
from aclkit.questions.query.lifetimes import ACL_CHANGE_BY, ONE, ChangedBy, ChangeKey
from aclkit.questions.usage.clock import to_datetime, to_micros
from aclkit.warehouse.codecs import acl_of, acl_sql, behind_acl
from aclkit.warehouse.reader import read_written
from aclkit.warehouse.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownBy:
    """A change, and what is known of who made it.

    Attributes:
        change: the change.
        by: who may have made it.
        sources: the files that name them.
    """

    change: AclChange
    by: ChangedBy
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What the metadata log tells, and what is known of it.

    Attributes:
        changes: every record that added or removed an ACL and has a time.
        epoch_began: leader epoch → the time of its first known record, in microseconds.
        known: what earlier runs found.
    """

    changes: tuple[AclChange, ...]
    epoch_began: Mapping[int, int]
    known: Mapping[ChangeKey, KnownBy]


@dataclass(frozen=True, slots=True, kw_only=True)
class CertainChange:
    """A change that one principal certainly made.

    Attributes:
        acl: the ACL.
        change: ADDED or REMOVED.
        log_offset: where it took effect.
        time: of the record.
        by: who made it.
    """

    acl: Acl
    change: str
    log_offset: int
    time: datetime
    by: ChangedBy


def key_of(change: AclChange) -> ChangeKey:
    """Return what names a change."""
    return ChangeKey(change.acl_id, change.change, change.log_offset)


def read_all_changes(store: Store, cluster_id: str) -> Changes:
    """Read all changes of a cluster's ACLs as this run leaves them."""
    with read_written(store, cluster_id, "acl_history", "acl_log", ACL_CHANGE_BY) as tables:
        changes = tuple(
            AclChange(acl_id=acl_id, change=change, log_offset=offset, time=time, epoch=epoch)
            for acl_id, change, offset, time, epoch in tables.rows(_CHANGES)
        )
        epochs = dict(tables.rows(_EPOCHS))
        known = dict(map(_known, tables.rows(_KNOWN)))
    return Changes(changes=changes, epoch_began=epochs, known=known)


def has_read_logs(store: Store, cluster_id: str) -> bool:
    """Whether some run has read the controllers' logs of a cluster."""
    with read_written(store, cluster_id, ACL_CHANGE_BY) as tables:
        return bool(tables.rows("SELECT 1 FROM acl_change_by LIMIT 1"))


def read_certain(store: Store, cluster_id: str, since: datetime) -> list[CertainChange]:
    """Read the changes of which one principal is certain, the oldest first.

    They are those that added an ACL in force, and those that removed one after a time.
    """
    with read_written(store, cluster_id, "acl_history", ACL_CHANGE_BY) as tables:
        rows = tables.rows(_CERTAIN, to_micros(since))
    return [
        CertainChange(
            acl=acl_of(row),
            change=change,
            log_offset=offset,
            time=to_datetime(time),
            by=ChangedBy(ONE, tuple(zip(who, hosts, strict=True))),
        )
        for row in rows
        for change, offset, time, who, hosts in [behind_acl(row)]
    ]


def write_known(store: Store, cluster_id: str, known: Iterable[KnownBy]) -> None:
    """Put what is known in the place of the cluster's rows."""
    store.replace(ACL_CHANGE_BY, list(_rows(cluster_id, known)), cluster_id)


def _rows(cluster_id: str, known: Iterable[KnownBy]) -> Iterator[tuple[object, ...]]:
    for each in known:
        change, by = each.change, each.by
        yield (
            cluster_id,
            change.acl_id,
            change.change,
            change.log_offset,
            to_datetime(change.time),
            by.certainty,
            [principal for principal, _ in by.candidates],
            [host for _, host in by.candidates],
            list(each.sources),
        )


def _known(row: Sequence[Any]) -> tuple[ChangeKey, KnownBy]:
    acl_id, kind, offset, time, certainty, principals, hosts, sources = row
    change = AclChange(acl_id=acl_id, change=kind, log_offset=offset, time=time)
    by = ChangedBy(certainty, tuple(zip(principals, hosts, strict=True)))
    return key_of(change), KnownBy(change=change, by=by, sources=tuple(sources))


_SIDE: Final = (
    "SELECT h.acl_id, '{change}', h.{side}_offset AS log_offset, epoch_us(l.log_time), l.epoch "
    "FROM acl_history h JOIN acl_log l ON l.log_offset = h.{side}_offset "
    "AND l.fact = 'record' AND l.record_type IN ('{record}', 'END_TRANSACTION_RECORD') "
    "WHERE l.log_time IS NOT NULL"
)
_CHANGES: Final = (
    _SIDE.format(change=ADDED, side="effective", record=ADD_ACL)
    + " AND h.added_by = 'record' UNION "
    + _SIDE.format(change=REMOVED, side="removed", record=REMOVE_ACL)
    + " ORDER BY ALL"
)
# By offset, because a clock may have been put back.
_EPOCHS: Final = (
    "SELECT epoch, epoch_us(arg_min(log_time, log_offset)) FROM acl_log "
    "WHERE fact = 'record' AND epoch IS NOT NULL AND log_time IS NOT NULL GROUP BY epoch"
)
_KNOWN: Final = (
    "SELECT acl_id, acl_change, log_offset, epoch_us(log_time), certainty, "
    "coalesce(principals, []), coalesce(hosts, []), coalesce(sources, []) "
    "FROM acl_change_by"
)
_CERTAIN: Final = acl_sql(
    f"FROM {ACL_CHANGE_BY} b JOIN acl_history h USING (acl_id) WHERE b.certainty = '{ONE}' "
    f"AND ((b.acl_change = '{ADDED}' AND b.log_offset = h.effective_offset "
    "AND h.removed_offset IS NULL) "
    f"OR (b.acl_change = '{REMOVED}' AND b.log_offset = h.removed_offset "
    "AND epoch_us(b.log_time) > ?)) ORDER BY b.log_offset, acl_id",
    "b.acl_change",
    "b.log_offset",
    "epoch_us(b.log_time)",
    "coalesce(b.principals, [])",
    "coalesce(b.hosts, [])",
)
