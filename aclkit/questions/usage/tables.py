"""The tables of a cluster that ``usage`` reads and writes: no rule, no transform."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from datetime import datetime
from itertools import chain
from string import Template
from typing import Final

import pyarrow as pa

from aclkit.errors import UsageError
from aclkit.model.semantics import Semantics
from aclkit.pipeline.replay.known_tables import KnownTables
from aclkit.questions.usage.access_days import ACCESS_DAY
from aclkit.questions.usage.file_reads import FileRead
from aclkit.questions.usage.grants import Grant
from aclkit.questions.usage.known_files import KNOWN_COLUMNS, LOG_FILE, KnownFile, known_row
from aclkit.questions.usage.known_past import PAST_TABLES, past_of
from aclkit.questions.usage.past import ClusterPast
from aclkit.warehouse.column_types import arrow_schema
from aclkit.warehouse.job_run import MATERIALIZING
from aclkit.warehouse.reader import Reader, read_written
from aclkit.warehouse.store import Store

ACL_USAGE: Final = "acl_usage"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What was read of files.

    Attributes:
        lines: how many lines were judged.
        is_first: of all files it is the first reading.
    """

    lines: int
    is_first: bool


@dataclass(frozen=True, slots=True)
class UsageTables:
    """The tables of one cluster."""

    store: Store
    cluster_id: str

    def read_past(self, head: int, semantics: Semantics) -> ClusterPast:
        """Read the past up to a head, as ACLs are read.

        Raises:
            UsageError: no table has the values of super.users and allow.everyone.
        """
        ranges = KnownTables(self.store, self.cluster_id).ranges()
        runs = [(run.run_number, run.started_at) for run in self.store.runs]
        newest = runs[-1] if runs else (0, None)
        with self._open(*PAST_TABLES) as read:
            past = past_of(
                ranges,
                read,
                head=head,
                newest=newest,
                deciding=self._deciding_runs,
                semantics=semantics,
            )
        if past is None:
            raise UsageError(
                f"The super.users and allow.everyone of cluster {self.cluster_id!r} are not "
                f"known yet. Next: aclkit --warehouse {self.store.place} materialize "
                "--super-users … (or --server-properties FILE)"
            )
        return past

    def _deciding_runs(self) -> list[tuple[int, datetime]]:
        """Return number and beginning of each run that saw the settings of the brokers."""
        return [
            (run.run_number, run.started_at)
            for run in self.store.all_runs()
            if run.cluster_id == self.cluster_id and run.job in MATERIALIZING and run.started_at
        ]

    def known_files(self) -> list[KnownFile]:
        """Read which log files are known, and how far each is read."""
        with self._open(LOG_FILE) as read:
            rows = read.rows(_KNOWN)
        return [KnownFile(**dict(zip(KNOWN_COLUMNS, row, strict=True))) for row in rows]

    def write(self, reads: Iterable[FileRead], run_number: int) -> Written:
        """Write what is read of files, batch by batch."""
        done: list[FileRead] = []
        batches = _batches(reads, done)
        first = next(batches, None)
        if first is not None:
            rows = pa.RecordBatchReader.from_batches(
                arrow_schema(ACCESS_DAY), chain([first], batches)
            )
            self.store.append(ACCESS_DAY, rows)
        self._remove_replaced(done, run_number)
        if done:
            now = {each.known.file_id: each.known for each in done}
            stay = (each for each in self.known_files() if each.file_id not in now)
            self._write_files([*stay, *now.values()])
        return Written(
            lines=sum(each.lines for each in done), is_first=all(e.gone == "none" for e in done)
        )

    def _remove_replaced(self, reads: Sequence[FileRead], run_number: int) -> None:
        """Remove the rows of earlier runs whose lines were read again."""
        for which, more in (("open", " AND is_open"), ("all", "")):
            ids = sorted(each.known.file_id for each in reads if each.gone == which)
            if ids:
                named = ", ".join(f"'{each}'" for each in ids)
                self.store.remove(
                    ACCESS_DAY,
                    f"cluster_id = '{self.cluster_id}' AND run_number <> {run_number} "
                    f"AND file_id IN ({named}){more}",
                )

    def _write_files(self, known: Iterable[KnownFile]) -> None:
        rows = [known_row(self.cluster_id, each) for each in known]
        self.store.replace(LOG_FILE, rows, self.cluster_id)

    def lines(self) -> AbstractContextManager[Reader]:
        """Open what was read of logs, by this run too."""
        return self._open(ACCESS_DAY, LOG_FILE, "broker")

    def write_usage(self, grants: Iterable[Grant]) -> None:
        """Replace the verdicts on the grants."""
        own = [field.name for field in fields(Grant) if field.name != "acl"]
        rows = [
            (self.cluster_id, g.acl.acl_id, *g.acl.binding, *(getattr(g, name) for name in own))
            for g in grants
        ]
        self.store.replace(ACL_USAGE, rows, self.cluster_id)

    def _open(self, *tables: str) -> AbstractContextManager[Reader]:
        return read_written(self.store, self.cluster_id, *tables)


_KNOWN: Final = Template("SELECT $columns FROM log_file ORDER BY file_id").substitute(
    columns=", ".join(KNOWN_COLUMNS)
)


def _batches(reads: Iterable[FileRead], done: list[FileRead]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of files, and note what else is known of each."""
    for read in reads:
        yield from read.batches
        done.append(FileRead(known=read.known, batches=(), gone=read.gone, lines=read.lines))
