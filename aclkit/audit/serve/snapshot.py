"""A warehouse's folder → its newest published run, opened once and shared by all requests.

A request takes one ``Snapshot`` and reads nothing else: whatever is published meanwhile, its
answer is of one run. Who comes after that finds the newer one. What a run was asked is remembered:
it never changes, so its answers stay true.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import duckdb

from aclkit.errors import SurroundingsError, UsageError
from aclkit.questions.query.decisions import Where
from aclkit.questions.read_state import Moment, Opened, read_state
from aclkit.questions.state import State
from aclkit.warehouse.duck import Answer, Tables, connect
from aclkit.warehouse.job_run import JOB_RUN, PublishedRun
from aclkit.warehouse.location import Location
from aclkit.warehouse.published import (
    Published,
    deciding_run,
    open_warehouse,
    resolve_cluster,
)
from aclkit.warehouse.storage import newest_version

_Made = TypeVar("_Made")

MOST_KEPT: Final = 2_000_000
"""So many names and values of a run are kept, less than 100 bytes each; then the oldest go."""

_LARGEST: Final = MOST_KEPT // 2
"""What is larger alone is not kept, so that it does not drive out all else."""

_LONG: Final = 8
"""A statement about a longer list of names is hardly ever asked twice."""


@dataclass(slots=True)
class ResultCache:
    """Answers by key, with how much each holds; for all threads."""

    _kept: OrderedDict[Hashable, tuple[Any, int]] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    held: int = 0

    def kept(
        self, key: Hashable, make: Callable[[], _Made], size: Callable[[Any], int] = len
    ) -> _Made:
        """Return what was made before under a key, or make it; ``size`` says what it holds."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                found: _Made = self._kept[key][0]
                return found
        made = make()
        holds = size(made)
        if holds <= _LARGEST:
            with self._lock:
                self.held += holds - self._kept.pop(key, (None, 0))[1]
                self._kept[key] = made, holds
                while self.held > MOST_KEPT:
                    self.held -= self._kept.popitem(last=False)[1][1]
        return made


@dataclass(frozen=True, slots=True)
class CachedTables:
    """Tables of a run that ask each statement once, as long as its answer is kept."""

    tables: Tables
    memory: ResultCache

    def execute(self, query: str, parameters: object = None, /) -> Answer:
        """See ``Tables.execute``."""
        values = [
            tuple(value) if isinstance(value, list) else value
            for value in (parameters if isinstance(parameters, Sequence) else ())
        ]
        if any(isinstance(value, tuple) and len(value) > _LONG for value in values):
            return self.tables.execute(query, parameters)

        def ask() -> _CachedRows:
            return _CachedRows(self.tables.execute(query, parameters).fetchall())

        return self.memory.kept((query, *values), ask, lambda found: sum(map(_size, found.rows)))


@dataclass(frozen=True, slots=True)
class _CachedRows:
    """The rows of a statement; whoever reads them leaves them as they are."""

    rows: list[Any]

    def fetchall(self) -> list[Any]:
        """See ``Answer.fetchall``."""
        return self.rows


def _size(row: tuple[object, ...]) -> int:
    """Return how many values a row has, those in its lists too."""
    return 1 + sum(len(value) if isinstance(value, (list, dict)) else 1 for value in row)


LOOK_EVERY: Final = 1.0
"""Seconds between two looks at whether something was published."""

HELD: Final = 256_000_000
"""Bytes of files: tables that are no larger together are held in memory."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One published run of a warehouse, open.

    Attributes:
        version: of the table that names the runs.
        published: the warehouse as that version has it.
        connection: over its tables; each request has a cursor of its own.
        memory: what answers of the run have found so far.
    """

    version: int
    published: Published
    connection: duckdb.DuckDBPyConnection
    memory: ResultCache = field(default_factory=ResultCache)

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """Return a connection to the same tables for one thread."""
        return self.connection.cursor()


@dataclass(frozen=True, slots=True)
class Reading:
    """What one request reads: a cluster of a snapshot, by a cursor of its own."""

    snapshot: Snapshot
    tables: Tables
    cluster_id: str

    @classmethod
    def of(cls, snapshot: Snapshot, cursor: duckdb.DuckDBPyConnection, cluster_id: str) -> Reading:
        """Read by a cursor what is not remembered."""
        return cls(snapshot, CachedTables(cursor, snapshot.memory), cluster_id)

    @classmethod
    def chosen(
        cls,
        snapshot: Snapshot,
        cursor: duckdb.DuckDBPyConnection,
        wanted: str | None,
        only: str | None,
    ) -> Reading:
        """Read the cluster that is asked for: ``only`` is the one that is served, if one is named.

        Raises:
            UsageError: there is no such cluster, it is not served, or several are there.
        """
        wanted = wanted or only
        if only not in (None, wanted):
            # Of others nothing is told where one is served.
            raise UsageError(f"This server has only cluster {only}.")
        return cls.of(snapshot, cursor, resolve_cluster(snapshot.published, wanted))

    @property
    def published(self) -> Published:
        """The warehouse."""
        return self.snapshot.published

    @property
    def where(self) -> Where:
        """Where a question is asked: its first arguments."""
        return Where(self.tables, self.published, self.cluster_id)

    @property
    def run(self) -> PublishedRun:
        """The run whose decisions on the cluster are published."""
        return deciding_run(self.published, self.cluster_id)

    def state(self, at: Moment = None) -> State:
        """Return what decides, as published or at a moment; it is remembered."""
        return self.snapshot.memory.kept(
            ("state", self.cluster_id, at),
            lambda: read_state(Opened(self.tables, self.published, self.run), at),
            lambda state: 10 * len(state.acls),
        )


class LatestSnapshot:
    """The newest published run of a warehouse; it looks at most once in ``LOOK_EVERY``."""

    def __init__(self, warehouse: str) -> None:
        """Open the newest run.

        Raises:
            UsageError: nothing is published.
            SurroundingsError: it cannot be read.
        """
        self.warehouse = warehouse
        self._lock = threading.Lock()
        self._looked = time.monotonic()
        self._snapshot = _open(warehouse)

    def snapshot(self) -> Snapshot:
        """Return the newest run; while one thread opens it the others go on with the one before.

        Raises:
            SurroundingsError: it cannot be read.
        """
        if time.monotonic() - self._looked >= LOOK_EVERY and self._lock.acquire(blocking=False):
            try:
                if _version(self._snapshot.published.place) != self._snapshot.version:
                    self._snapshot = _open(self.warehouse)
                self._looked = time.monotonic()
            finally:
                self._lock.release()
        return self._snapshot


def open_latest(warehouse: str, cluster: str | None) -> LatestSnapshot:
    """Open the newest run; ``cluster`` is the only one that is served, if one is named.

    Raises:
        UsageError: nothing is published, or there is no such cluster.
        SurroundingsError: it cannot be read.
    """
    latest = LatestSnapshot(warehouse)
    if cluster is not None:
        resolve_cluster(latest.snapshot().published, cluster)
    return latest


def _open(warehouse: str) -> Snapshot:
    # First: what is published between the two is opened now, and once more at the next look.
    version = _version(Location(warehouse))
    published = open_warehouse(warehouse)
    return Snapshot(version, published, connect(published, held=HELD))


def _version(place: Location) -> int:
    """Return the newest version of ``job_run``; -1 where there is none."""
    try:
        newest = newest_version(place.files, JOB_RUN)
    except OSError as error:
        raise SurroundingsError(f"Cannot read {place.of_table(JOB_RUN)}: {error}") from error
    return -1 if newest is None else newest
