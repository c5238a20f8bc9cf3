"""The Delta tables of one warehouse: what was published, and what a run makes of it.

Readers open the versions that the newest ``job_run`` row names. Until a run appends its own
row, nothing that it wrote can be seen, and the next run takes it back (``recovery``).

There are three ways to write: ``append`` and ``replace`` of rows that this process holds or lets
pass, and ``take_over`` of files that lie in the folder of the table already. None needs a session;
DataFrames are read and written by ``frames``, and a table is changed otherwise by ``change``.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pyarrow as pa
from deltalake import DeltaTable

from aclkit.runtime.arrow import arrow_table
from aclkit.runtime.environment import require_room
from aclkit.runtime.fail_points import after_commit
from aclkit.warehouse import commits
from aclkit.warehouse.column_types import arrow_schema
from aclkit.warehouse.duck_beside import ask_files
from aclkit.warehouse.job_run import ALL_RUNS, CURRENT_RUNS, JOB_RUN, PublishedRun, published_runs
from aclkit.warehouse.location import Location
from aclkit.warehouse.new_files import NewFile, holds_only, write_rows_of_others
from aclkit.warehouse.storage import newest_version
from aclkit.warehouse.table_files import active_files, may_hold, read_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rows: TypeAlias = "pa.Table | pa.RecordBatchReader | Sequence[Sequence[Any]]"
"""Rows with the columns of the contract; as tuples, in their order."""


class NeedsSparkError(Exception):
    """A store that was opened without a session was asked for what takes one."""


class Store:
    """The tables of a warehouse as one run sees and changes them.

    Attributes:
        place: where the warehouse lies; it holds a folder per table.
        runs: the published runs that hold its state, see
            ``aclkit.warehouse.job_run``, the oldest first.
        published: table → Delta version that the newest of them names.
        restored: table → version that this run has put it back to.
        clusters: those of which the warehouse holds rows.
    """

    def __init__(
        self,
        spark: SparkSession | Callable[[], SparkSession] | None,
        warehouse: str,
        require_held: Callable[[], None] = lambda: None,
    ) -> None:
        """Open a warehouse; it need not exist yet.

        Args:
            spark: the session, or what starts it when it is first needed, where there is one.
            warehouse: see ``Location``.
            require_held: insists that it is this run's turn; called before each commit.
        """
        self._spark = spark
        self.require_held = require_held
        self.place = Location(warehouse)
        self.run_id = ""
        self._written: dict[str, int] = {}
        self.restored: dict[str, int] = {}
        self._writes: Counter[str] = Counter()
        self.runs = self._read_runs(CURRENT_RUNS)
        self.published = dict(self.runs[-1].table_versions) if self.runs else {}
        self.clusters = {run.cluster_id for run in self.runs}

    @property
    def spark(self) -> SparkSession:
        """The session, started if it was not yet.

        Raises:
            NeedsSparkError: there is none.
        """
        if self._spark is None:
            raise NeedsSparkError
        if callable(self._spark):
            self._spark = self._spark()
        return self._spark

    @property
    def versions(self) -> dict[str, int]:
        """Table → version that a reader of this run's result opens."""
        return {**self.published, **self._written}

    @property
    def moved(self) -> dict[str, tuple[int, int]]:
        """Published table that this run has written → the version found, and the one made."""
        now, found = self.versions, sorted(self.published.items())
        return {table: (v, now[table]) for table, v in found if now[table] != v}

    def holds(self, table: str, version: int | None) -> bool:
        """Whether a table holds the rows of a version: it is that one, or was put back to it."""
        restored = version is not None and self.restored.get(table) == version
        return restored or self.versions.get(table) == version

    def append(self, table: str, rows: Rows) -> None:
        """Append rows."""
        commits.append_files(
            self.place.of_table(table), _columns(table, rows), self.next_commit(table)
        )
        self.note_write(table)

    def replace(self, table: str, rows: Rows, cluster_id: str | None) -> None:
        """Put rows, in their order, in the place of all rows of one cluster, or of all for None.

        ``cluster_id`` has been checked by ``parse_cluster_id`` and holds no quote.
        """
        whose, commit = self.whose(cluster_id), self.next_commit(table)
        found = _columns(table, rows)
        stream = found.to_reader() if isinstance(found, pa.Table) else found
        commits.replace_files(self.place.of_table(table), stream, commit, whose)
        self.note_write(table)

    def take_over(
        self, table: str, files: Iterable[NewFile], cluster_id: str | None, *, appends: bool = False
    ) -> None:
        """Let files in a table's folder take the place of a cluster's rows, or of all; or add them.

        Args:
            table: the table.
            files: the files.
            cluster_id: the cluster, or None for all rows.
            appends: all rows of today stay.
        """
        only, commit = self.only_of(cluster_id), self.next_commit(table)
        gone: list[dict[str, Any]] = []
        if commit.on != commits.NEW and not appends:
            known = DeltaTable(self.place.of_table(table), version=commit.on)
            gone = active_files(known, ["cluster_id"])
        if only is not None and not appends:
            gone = [file for file in gone if may_hold(file, "cluster_id", only)]
            mixed = [file for file in gone if not holds_only(file, only)]
            files = [*files, *write_rows_of_others(self.place, table, mixed, only)]
        written, paths = [file.action() for file in files], [file["path"] for file in gone]
        commits.take_over_files(self.place, table, written, paths, commit)
        self.note_write(table)

    def only_of(self, cluster_id: str | None) -> str | None:
        """Return the cluster whose rows are to be looked for; None for the whole table.

        That it is where the warehouse knows no other cluster: to look for a cluster's rows Delta
        reads all of them.
        """
        if cluster_id is None:
            return None
        self.clusters.add(cluster_id)
        return None if self.clusters == {cluster_id} else cluster_id

    def whose(self, cluster_id: str | None) -> str | None:
        """Return the predicate of the rows that are to be looked for; None for the whole table."""
        only = self.only_of(cluster_id)
        return None if only is None else f"cluster_id = '{only}'"

    def drop(self, table: str) -> None:
        """Leave a table out of the versions that readers open."""
        self.published.pop(table, None)
        self._written.pop(table, None)

    def change(self, table: str, change: Callable[..., object], *, adopts: bool = False) -> None:
        """Make the next commit to a table, see ``change_table``; it may be a part of the result."""
        commits.change_table(self.place.of_table(table), self.next_commit(table), change)
        if adopts:
            self.note_write(table)
        else:
            after_commit()

    def remove(self, table: str, predicate: str) -> None:
        """Remove the rows for which a predicate of Delta holds."""
        self.change(table, lambda found, **how: found.delete(predicate, **how), adopts=True)

    def note_write(self, table: str) -> None:
        """Take the version that this run has just written into its result."""
        self.restored.pop(table, None)
        self.adopt(table)
        after_commit()

    def adopt(self, table: str) -> None:
        """Take a table's newest version into this run's result."""
        version = self.newest_version(table)
        if version is not None:
            self._written[table] = version

    def newest_version(self, table: str) -> int | None:
        """Return the newest version of a table, published or not; None where there is none."""
        return newest_version(self.place.files, table)

    def next_commit(self, table: str) -> commits.Commit:
        """Return the metadata of the next commit to a table; its disk must have room for one.

        The version that it must follow is read first. If the warehouse is still held afterwards,
        no other run has fenced that version.

        Raises:
            SurroundingsError: it is full, or another run holds the warehouse.
        """
        if not self.place.is_remote:
            require_room(self.place.of_table(table))
        newest = self.newest_version(table)
        self.require_held()
        self._writes[table] += 1
        application = f"aclkit/{self.run_id}/{table}"
        on = commits.NEW if newest is None else newest
        return commits.Commit(self.run_id, application, self._writes[table], on)

    def all_runs(self) -> tuple[PublishedRun, ...]:
        """Read all published runs, the oldest first."""
        return self._read_runs(ALL_RUNS)

    def _read_runs(self, query: str) -> tuple[PublishedRun, ...]:
        newest = self.newest_version(JOB_RUN)
        if newest is None:
            return ()
        files = read_files(self.place, JOB_RUN, newest)
        return published_runs(str(self.place), ask_files(JOB_RUN, files, query))


def _columns(table: str, rows: Rows) -> pa.Table | pa.RecordBatchReader:
    if isinstance(rows, pa.Table | pa.RecordBatchReader):
        return rows
    return arrow_table(rows, arrow_schema(table))


SCRATCH: Final = "_trial"
"""The folder of a scratch store, within a warehouse."""


@contextmanager
def scratch_store(store: Store) -> Iterator[Store]:
    """Open a store for tables that are never published, empty; what it holds goes at the end.

    It lies within the warehouse, because Spark can write there wherever its tasks run. Only the
    holder of the warehouse may have one.
    """
    remove_scratch_store(store.place)
    try:
        yield Store(lambda: store.spark, store.place.of_table(SCRATCH), store.require_held)
    finally:
        remove_scratch_store(store.place)


def remove_scratch_store(place: Location) -> None:
    """Remove what a trial left, one of a killed run too."""
    if not place.is_remote:
        shutil.rmtree(place.folder / SCRATCH, ignore_errors=True)
        return
    for name in place.files.tree(SCRATCH):
        place.files.delete(f"{SCRATCH}/{name}")
