"""The tables of a cluster → what is small of what is known of it, without a DataFrame."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final

from aclkit.model.acl import Acl
from aclkit.model.facts import BROKER_RECORDS, OVERWRITTEN, RECORD, SNAPSHOT, WRITTEN
from aclkit.pipeline.replay.brokers import BrokerFact
from aclkit.pipeline.replay.known import EpochMarker, Known
from aclkit.pipeline.replay.listing import Thing
from aclkit.pipeline.replay.spans import RANGE_COLUMNS, Range, ranges_of
from aclkit.pipeline.replay.transactions import MARKERS, Marker
from aclkit.pipeline.sources.payload import UNKNOWN_TYPE
from aclkit.warehouse.codecs import (
    ACLS_ALIVE_SQL,
    ALIVE_SQL,
    BROKERS_SQL,
    acl_of,
    brokers_of,
)
from aclkit.warehouse.reader import Reader, read_written
from aclkit.warehouse.store import Store


def read_clusters(store: Store) -> set[str]:
    """Collect the clusters that something has been read of."""
    with read_written(store, None, "log_range") as read:
        return {name for (name,) in read.rows("SELECT DISTINCT cluster_id FROM log_range")}


@dataclass(frozen=True, slots=True)
class KnownTables:
    """The tables of one cluster, to be read."""

    store: Store
    cluster_id: str

    def known(self, head: int | None, *, has_brokers: bool = True) -> Known:
        """Read what is small of what is known.

        Args:
            head: the offset as of which history was computed.
            has_brokers: all was read by an aclkit that keeps records of brokers.
        """
        with self._open("acl_log", "broker") as read:
            found = read.rows(_MARKERS, RECORD, OVERWRITTEN, *MARKERS)
            registered = read.rows(_REGISTERED, *BROKER_RECORDS)
            brokers = brokers_of(read.rows(BROKERS_SQL))
        ranges = self.ranges()
        return Known(
            cluster_id=self.cluster_id,
            ranges=ranges,
            markers=[EpochMarker(Marker(*row), epoch) for *row, epoch in found],
            head=head,
            broker_facts=[BrokerFact(*row) for row in registered],
            brokers=brokers,
            has_brokers=has_brokers or not ranges,
        )

    def ranges(self) -> list[Range]:
        """Read what has been read."""
        with self._open("log_range") as read:
            return ranges_of(read.rows(_RANGES))

    def count_facts(self) -> int:
        """Count the facts."""
        return self._count("acl_log", "FROM acl_log")

    def acls(self) -> list[Acl]:
        """Read the ACLs alive."""
        with self._open("acl_history") as read:
            return list(map(acl_of, read.rows(ACLS_ALIVE_SQL)))

    def count_written(self) -> int:
        """Count the records that aclkit itself wrote."""
        return self._count("acl_log", "FROM acl_log WHERE source = ?", WRITTEN)

    def alive(self) -> tuple[list[str], list[Thing]]:
        """Read the ids of the ACLs alive, and the topics, users and other names alive."""
        with self._open("acl_history", "resource_lifetime", "principal_lifetime") as read:
            acls, resources, users = map(read.rows, (_ALIVE, _RESOURCES, _USERS))
        things = [Thing(*row) for row in resources]
        things += [Thing(principal=name, mechanism=mechanism) for name, mechanism in users]
        return [acl_id for (acl_id,) in acls], things

    def extent_of(self, source: str) -> tuple[list[tuple[int, int]], set[int]]:
        """Read the offsets that a source alone speaks of, and the end offsets of its snapshots.

        They are its facts and what lies between two of them and no other's.
        """
        folder = f"{source.rstrip('/')}/"
        asked = (source, len(folder), folder)
        with self._open("acl_log") as read:
            spans = [
                (first, last + 1) for first, last in read.rows(_RUNS, *asked, RECORD, OVERWRITTEN)
            ]
            return spans, {end for (end,) in read.rows(_ENDS, *asked, SNAPSHOT)}

    def sources(self, most: int) -> list[str]:
        """Read the first sources of facts and rejects, in the order of their names."""
        with self._open("acl_log", "acl_reject") as read:
            return [source for (source,) in read.rows(_SOURCES, most)]

    def counts(self) -> tuple[int, int]:
        """Count the ACLs alive, and the rejects."""
        alive = self._count("acl_history", ALIVE_SQL)
        return alive, self._count("acl_reject", "FROM acl_reject")

    def rejects_elsewhere(self, sources: Sequence[str], most: int) -> tuple[int, list[str]]:
        """Count the rejects of other sources than some, and read the first of those sources."""
        with self._open("acl_reject") as read:
            ((count,),) = read.rows(f"SELECT count(*) {_IS_ELSEWHERE}", list(sources))
            return int(count), [name for (name,) in read.rows(_ELSEWHERE, list(sources), most)]

    def unknown_types(self) -> list[tuple[str, int]]:
        """Count the records of types that aclkit does not know, by the reasons of their rejects."""
        with self._open("acl_reject") as read:
            return [(reason, int(count)) for reason, count in read.rows(_UNKNOWN, UNKNOWN_TYPE)]

    def _count(self, table: str, rows: str, *values: object) -> int:
        with self._open(table) as read:
            ((count,),) = read.rows(f"SELECT count(*) {rows}", *values)
        return int(count)

    def _open(self, *tables: str) -> AbstractContextManager[Reader]:
        return read_written(self.store, self.cluster_id, *tables)


_RANGES: Final = f"SELECT {RANGE_COLUMNS} FROM log_range"  # noqa: S608 -- a constant
_MARKERS: Final = (
    "SELECT DISTINCT log_offset, record_type, epoch FROM acl_log "
    "WHERE fact IN (?, ?) AND record_type IN (?, ?, ?)"
)
_UNKNOWN: Final = (
    "SELECT reason, count(*) FROM acl_reject WHERE starts_with(reason, ?) "
    "GROUP BY reason ORDER BY reason"
)
_IS_ELSEWHERE: Final = (
    "FROM acl_reject WHERE stage = 'source' AND source IS NOT NULL AND NOT list_contains(?, source)"
)
_ELSEWHERE: Final = f"SELECT DISTINCT source {_IS_ELSEWHERE} ORDER BY source LIMIT ?"
_REGISTERED: Final = (
    "SELECT fact, log_offset, record_type, broker_id, min_level, max_level, epoch, "
    "epoch_us(log_time) // 1000 FROM acl_log WHERE record_type IN (?, ?, ?)"
)
"""Not ``epoch_ms``, which rounds: a listing's time has microseconds, and Spark cuts them off."""
_ALIVE: Final = f"SELECT acl_id {ALIVE_SQL}"
_RESOURCES: Final = (
    "SELECT resource_type, resource_name, topic_id FROM resource_lifetime WHERE last_offset IS NULL"
)
_USERS: Final = "SELECT principal, mechanism FROM principal_lifetime WHERE last_offset IS NULL"
_IS_OWN: Final = "coalesce(source = ? OR left(source, ?) = ?, false)"
_ENDS: Final = f"SELECT DISTINCT log_offset FROM acl_log WHERE {_IS_OWN} AND fact = ?"  # noqa: S608 -- a constant
_RUNS: Final = f"""\
SELECT min(log_offset), max(log_offset) FROM (
  SELECT log_offset, is_own,
    row_number() OVER (ORDER BY log_offset)
    - row_number() OVER (PARTITION BY is_own ORDER BY log_offset) AS stretch
  FROM (SELECT log_offset, {_IS_OWN} AS is_own FROM acl_log
    WHERE fact IN (?, ?)) AS facts) AS stretches
WHERE is_own GROUP BY stretch ORDER BY 1"""  # noqa: S608 -- a constant
_SOURCES: Final = """\
SELECT source FROM acl_log WHERE source IS NOT NULL
UNION SELECT source FROM acl_reject WHERE source IS NOT NULL ORDER BY 1 LIMIT ?"""
