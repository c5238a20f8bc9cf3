"""A warehouse → its published run, and the files of a table at a version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

import duckdb
from deltalake.exceptions import DeltaError, TableNotFoundError

from aclkit.errors import SurroundingsError, UsageError
from aclkit.model.moment import age_words
from aclkit.model.semantics import KIP_1042, BrokerSettings, Semantics
from aclkit.model.values import dataclass
from aclkit.warehouse.damage import damaged
from aclkit.warehouse.duck_beside import ask_files
from aclkit.warehouse.job_run import (
    ALL_RUNS,
    CURRENT_RUNS,
    HISTORY_WRITTEN,
    JOB_RUN,
    MATERIALIZING,
    REPLAYING,
    PublishedRun,
    decided_and_before,
    published_runs,
)
from aclkit.warehouse.location import Location
from aclkit.warehouse.table_files import TableFiles, read_files
from aclkit.warehouse.watched import checked_at

REPLAY_STEP: Final = "aclkit --warehouse {path} replay --source metadata-log:DIR"
MATERIALIZE_STEP: Final = "aclkit --warehouse {path} materialize"


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What readers of a warehouse see.

    Attributes:
        place: where the warehouse is.
        standing: the published runs that hold its state, see
            ``aclkit.warehouse.job_run``, the oldest first; there is at least one.
        job_run: the files of the table that these runs were read from; without any these runs are
            all there are.
    """

    place: Location
    standing: tuple[PublishedRun, ...]
    job_run: TableFiles

    @property
    def run(self) -> PublishedRun:
        """The newest run: its table versions are the published ones."""
        return self.standing[-1]

    @property
    def runs(self) -> tuple[PublishedRun, ...]:
        """All published runs that are kept, the oldest first: read anew, because there may be many.

        Raises:
            SurroundingsError: they cannot be read.
        """
        files = self.job_run
        return _read_runs(self.place, files, ALL_RUNS) if files.files else self.standing

    @property
    def clusters(self) -> tuple[str, ...]:
        """The clusters that some run was about, sorted."""
        return tuple(sorted({run.cluster_id for run in self.standing}))

    def last_run(self, cluster_id: str) -> PublishedRun:
        """Return the newest run about a cluster."""
        return next(run for run in reversed(self.standing) if run.cluster_id == cluster_id)

    def last_materialize(self, cluster_id: str) -> PublishedRun | None:
        """Return the newest run that decided a cluster's accesses, if there is one."""
        mine = (run for run in reversed(self.standing) if run.cluster_id == cluster_id)
        return next((run for run in mine if run.job in MATERIALIZING), None)


@dataclass(frozen=True, slots=True)
class AsOf:
    """What an answer stands on.

    Attributes:
        time: when its run read the sources; None where the run did not record it.
        offset: the head of the cluster in that run, exclusive; None where it is not known.
        checked: when a watcher last found nothing new in the sources; None where none did.
        of: which cluster this is, where an answer stands on two.
    """

    time: datetime | None
    offset: int | None
    checked: datetime | None = None
    of: str = ""

    def __str__(self) -> str:
        """Write it as people read it."""
        time = None if self.time is None else f"{self.time:%Y-%m-%d %H:%M} UTC"
        offset = None if self.offset is None else f"offset {self.offset}"
        checked = None if self.checked is None else f"checked {self.checked:%Y-%m-%d %H:%M} UTC"
        text = f"as of {', '.join(filter(None, (time, offset, checked))) or 'an unknown time'}"
        return f"{self.of} {text}" if self.of else text

    def is_older(self, most: timedelta) -> bool:
        """Whether its sources were read or checked longer ago than that; unknown times are not."""
        if self.time is None:
            return False
        return datetime.now(UTC) - max(self.time, self.checked or self.time) > most

    def warning(self, most: timedelta) -> str | None:
        """Write what an answer lacks if it is older than that; None if it is not."""
        if not self.is_older(most):
            return None
        return (
            f"{self}: older than {age_words(most)}, so what changed since is missing. "
            "Next: aclkit run"
        )


DAY: Final = timedelta(days=1)
"""Anything older than this gets a warning, unless another age is configured."""


def as_of(published: Published, run: PublishedRun) -> AsOf:
    """Return when the sources were read that a run stands on, and up to which offset it goes."""
    read = reading_run(published, run.cluster_id, run.run_number) or run
    time = None if read.started_at is None else read.started_at.replace(tzinfo=UTC)
    return AsOf(time, run.head_offset, checked_at(published.place, run.cluster_id, read.run_id))


def unread_parts(published: Published, run: PublishedRun) -> frozenset[str]:
    """Return the parts of a live cluster that were not read whole for a run, see ``model.unread``.

    Raises:
        SurroundingsError: the settings are not those of this version of aclkit.
    """
    reading = reading_run(published, run.cluster_id, run.run_number)
    told = None if reading is None else reading.settings.told
    return frozenset(() if told is None else told.unread)


def reading_run(
    published: Published, cluster_id: str, until: int | None = None
) -> PublishedRun | None:
    """Return the newest run that read a cluster's sources, if it is kept.

    With the number of a run it is the one whose sources that run stands on.
    """
    mine = (run for run in reversed(published.standing) if run.cluster_id == cluster_id)
    read = (run for run in mine if until is None or run.run_number <= until)
    return next((run for run in read if run.job in REPLAYING), None)


def open_warehouse(path: str | None, on: duckdb.DuckDBPyConnection | None = None) -> Published:
    """Read what a warehouse has published.

    Args:
        path: folder or URI of the tables.
        on: see ``ask_files``.

    Raises:
        UsageError: no warehouse was named, or nothing is published.
        SurroundingsError: it cannot be read.
    """
    if path is None:
        raise UsageError("No warehouse given. Pass --warehouse DIR, or set ACLKIT_WAREHOUSE.")
    place = Location(path)
    place.require_plain()
    if not place.is_remote:
        place = Location(str(place.folder))
        if place.folder.exists() and not place.folder.is_dir():
            raise SurroundingsError(f"Cannot read the warehouse {path}: it is not a folder")
    try:
        table = read_files(place, JOB_RUN, None)
    except TableNotFoundError:
        raise nothing_published(path) from None
    except (DeltaError, OSError) as error:
        raise damaged(place.of_table(JOB_RUN), error) from error
    standing = _read_runs(place, table, CURRENT_RUNS, on)
    if not standing:
        raise nothing_published(path)
    return Published(place=place, standing=standing, job_run=table)


def resolve_cluster(published: Published, given: str | None, option: str = "--cluster") -> str:
    """Return the cluster that is asked about: the given one, or the only one there is.

    Args:
        published: the warehouse.
        given: the cluster that was named.
        option: by which option one is named.

    Raises:
        UsageError: the warehouse does not know it, or has several and none was given.
    """
    known = ", ".join(published.clusters)
    if given is None:
        if len(published.clusters) > 1:
            raise UsageError(f"{published.place} has several clusters. Pass one: {option} {known}")
        return published.clusters[0]
    if given not in published.clusters:
        raise UsageError(f"Cluster {given!r} is not in {published.place}, which has: {known}")
    return given


def deciding_run(published: Published, cluster_id: str) -> PublishedRun:
    """Return the run whose decisions on a cluster are published.

    Raises:
        UsageError: nothing was decided yet.
    """
    run = published.last_materialize(cluster_id)
    if run is None or "explain_ruling" not in published.run.table_versions:
        step = MATERIALIZE_STEP.format(path=published.place)
        raise UsageError(f"No decisions exist for cluster {cluster_id} yet. Next: {step}")
    return run


def notes_on_state(published: Published, run: PublishedRun) -> Iterator[str]:
    """Yield that the log has gone on since a run, or is another one, and that it is incomplete."""
    head, again = published.last_run(run.cluster_id).head_offset, read_again(published, run)
    step = MATERIALIZE_STEP.format(path=published.place)
    if _is_beyond(head, run):
        from_ = f"this answer is from offset {run.head_offset}"
        yield f"The log is at offset {head}, {from_}. Next: {step}"
    if again is not None:
        yield (
            f"{READ_AGAIN}, and is known up to offset {head}. Names without a decision are "
            f"answered from it. Next: {step}"
        )
        yield from _note_on_status(again)
    yield from _note_on_status(run)


READ_AGAIN: Final = "The history was read again after these decisions"


def read_again(published: Published, run: PublishedRun) -> PublishedRun | None:
    """Return the run that left another history before the offset of the decisions of a run.

    Records were forgotten or withdrawn, or came late: the tables no longer hold all ACLs by which
    it decided. None where there is none, and where the log has gone on, which is another matter.
    """
    read = reading_run(published, run.cluster_id)
    if read is None or read.run_number <= run.run_number or _is_beyond(read.head_offset, run):
        return None
    return read if read.counts.get(HISTORY_WRITTEN) else None


def _is_beyond(head: int | None, run: PublishedRun) -> bool:
    return head is not None and run.head_offset is not None and head > run.head_offset


def _note_on_status(run: PublishedRun) -> Iterator[str]:
    if run.status != "complete":
        yield f"Run {run.run_number} is {run.status}: {' '.join(run.notes)}"


def run_settings(run: PublishedRun) -> tuple[BrokerSettings, Semantics]:
    """Return the settings under which a run decided; a missing one is the default at that time.

    Raises:
        SurroundingsError: they are not those of this version of aclkit.
    """
    settings = run.settings
    return settings.broker, settings.semantics or KIP_1042


def _read_runs(
    place: Location, table: TableFiles, query: str, on: duckdb.DuckDBPyConnection | None = None
) -> tuple[PublishedRun, ...]:
    """Read rows of ``job_run``, the oldest first.

    Raises:
        SurroundingsError: they cannot be read, or are of a newer aclkit.
    """
    try:
        rows = ask_files(JOB_RUN, table, query, on)
    except (duckdb.Error, OSError) as error:
        raise damaged(place.of_table(JOB_RUN), error) from error
    return published_runs(str(place), rows)


def versions_before(published: Published, cluster_id: str) -> Mapping[str, int]:
    """Return the table versions that the run which decided last began with."""
    runs = {run.run_number: run for run in published.standing if run.cluster_id == cluster_id}
    found = decided_and_before((r.run_number, r.job, r.counts) for r in runs.values())
    if found is None or found[1] is None or not runs[found[0]].counts.get("access_changes"):
        return {}
    return runs[found[1]].table_versions


def nothing_published(path: str) -> UsageError:
    """Return the error of a warehouse to which no run has published yet."""
    step = REPLAY_STEP.format(path=path)
    return UsageError(f"The warehouse {path} has no data yet. Next: {step}")
