"""A run: what it writes becomes visible as a whole, by its ``job_run`` row, or not at all."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Final

import aclkit
from aclkit.errors import UsageError
from aclkit.model.findings import Finding, sort_findings
from aclkit.runtime.fail_points import fail_point
from aclkit.warehouse.codecs import finding_of, finding_row, finding_sql
from aclkit.warehouse.damage import telling_damage
from aclkit.warehouse.formats import FORMAT
from aclkit.warehouse.job_run import JOB_RUN, MAINTAIN, MATERIALIZING, PublishedRun, RunSettings
from aclkit.warehouse.location import Location
from aclkit.warehouse.lock import warehouse_lock
from aclkit.warehouse.reader import read_written
from aclkit.warehouse.rebuilding import DECISIONS, Rebuilt, open_to_rebuild
from aclkit.warehouse.recovery import fence_tables, migrate, take_back_unpublished
from aclkit.warehouse.store import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COMPLETE: Final = "complete"
INCOMPLETE: Final = "incomplete"


@dataclass(slots=True, kw_only=True)
class Run:
    """A run in progress: its tables and what its ``job_run`` row will hold.

    ``rebuilt`` is there where it makes its cluster's tables anew.
    """

    store: Store
    run_id: str
    run_number: int
    job: str
    started_at: datetime
    cluster_id: str = ""
    status: str = COMPLETE
    head_offset: int = 0
    high_watermark: int | None = None
    settings: RunSettings = field(default_factory=RunSettings)
    counts: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    rebuilt: Rebuilt | None = None

    def previous(self, jobs: tuple[str, ...] = ()) -> PublishedRun | None:
        """Return this cluster's newest earlier run, of given jobs only if any.

        Its table versions are those in which its tables stand now.
        """
        return _newest_of(self.store.runs, self.cluster_id, jobs)

    def goes_on_from(self) -> PublishedRun | None:
        """Return the run whose decisions this one takes over or changes; see ``goes_on_from``.

        None where everything is to be decided, and compared with nothing: there was no such run,
        its tables are lost since, or this one makes them anew.
        """
        found = goes_on_from(self.store.runs, self.cluster_id)
        if found is None or self.rebuilt is not None:
            return None
        return found if found.table_versions.keys() >= _GONE_ON_FROM else None

    def has_kept(self, count: str) -> bool:
        """Whether an earlier run of this cluster recorded a count."""
        mine = (run for run in self.store.runs if run.cluster_id == self.cluster_id)
        return any(run.counts.get(count) for run in mine)

    def continue_from(self, before: PublishedRun) -> None:
        """Take over how far an earlier run came, and whether it is complete."""
        self.head_offset = before.head_offset or 0
        self.high_watermark = before.high_watermark
        self.status = before.status

    def findings_of(self, run_id: str) -> list[Finding]:
        """Read this cluster's findings of an earlier run."""
        with read_written(self.store, self.cluster_id, "finding") as read:
            rows = read.rows(finding_sql("FROM finding WHERE run_id = ?"), run_id)
        return list(map(finding_of, rows))

    def finished(self) -> PublishedRun:
        """Return its ``job_run`` row, if it ends now."""
        finished = datetime.now(UTC)
        return PublishedRun(
            run_number=self.run_number,
            run_id=self.run_id,
            cluster_id=self.cluster_id,
            job=self.job,
            status=self.status,
            started_at=self.started_at.replace(tzinfo=None),
            finished_at=finished.replace(tzinfo=None),
            seconds=(finished - self.started_at).total_seconds(),
            head_offset=self.head_offset,
            high_watermark=self.high_watermark,
            settings_text=self.settings.write(),
            counts=self.counts,
            notes=tuple(self.notes),
            table_versions=self.store.versions,
            aclkit_version=aclkit.__version__,
            format_number=FORMAT,
        )


Held = Callable[[], None]
"""Insists that a warehouse is still held."""


@contextmanager
def hold(warehouse: str, lock_timeout: float) -> Iterator[Held]:
    """Hold the lock of a warehouse, or its lease on an object store, for the next run.

    Raises:
        UsageError: no warehouse can lie there; see ``Location``.
        SurroundingsError: see ``lock.warehouse_lock`` and ``lease.hold``.
    """
    place = Location(warehouse)
    place.require_writable()
    place.require_plain()
    if not place.is_remote:
        with warehouse_lock(place.text, lock_timeout) as held:
            yield held
        return
    # Imported here, because a local warehouse has no lease.
    from aclkit.warehouse import lease
    from aclkit.warehouse.object_storage import ObjectStorage

    objects = ObjectStorage(place.text)
    lease.require_conditional_puts(objects, place.text)
    with lease.hold(objects, place.text, lock_timeout, partial(fence_tables, place)) as held:
        yield held


@contextmanager
def begin_run(
    spark: SparkSession | Callable[[], SparkSession] | None,
    warehouse: str,
    job: str,
    *,
    lock_timeout: float,
    held: Held | None = None,
    rebuild: Rebuild | None = None,
) -> Iterator[Run]:
    """Hold the warehouse, take back what a killed run left, and hand out a run.

    The caller publishes; leaving without it leaves readers with what they had. ``held`` is what
    ``hold`` has handed out, where that was done before; a run that needs no DataFrame
    needs no session.
    """
    with (
        nullcontext(held) if held else hold(warehouse, lock_timeout) as require_held,
        telling_damage(Location(warehouse)),
    ):

        def open_store() -> Store:
            return Store(spark, warehouse, require_held)

        if rebuild is not None:
            yield _begin_rebuild(open_store, Location(warehouse), job, rebuild)
            return
        run = _new_run(open_store(), job)
        take_back_unpublished(run.store)
        migrated = migrate(run.store)
        if migrated is not None and run.store.moved:
            _publish_migrated(_new_run(run.store, MAINTAIN), migrated)
            run = _new_run(open_store(), job)
        yield run


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuild:
    """The wish to make the tables anew.

    Attributes:
        is_forced: history may be lost that nothing brings back.
    """

    is_forced: bool = False


def _begin_rebuild(
    open_store: Callable[[], Store], place: Location, job: str, rebuild: Rebuild
) -> Run:
    """Return a run that makes its cluster's tables anew, and all that cannot be read."""
    store, rebuilt = open_to_rebuild(open_store, place, is_forced=rebuild.is_forced)
    run = _new_run(store, job)
    run.rebuilt = rebuilt
    take_back_unpublished(store)
    run.notes += migrate(store) or ()
    return run


def _new_run(store: Store, job: str) -> Run:
    run = Run(
        store=store,
        run_id=uuid.uuid4().hex,
        run_number=store.runs[-1].run_number + 1 if store.runs else 0,
        job=job,
        started_at=datetime.now(UTC),
    )
    store.run_id = run.run_id
    return run


def _publish_migrated(run: Run, steps: Iterable[str]) -> None:
    """Publish tables whose rows are those of the newest run, in the format of this aclkit.

    As a run of maintenance, so that what was decided holds for these versions too. From here on
    no commit, and no kill, can make the table forget a version that readers open.
    """
    continue_from_newest(run)
    run.settings = RunSettings(rewritten=run.store.moved)
    run.notes.extend(steps)
    publish(run)


def publish(run: Run, kept: Sequence[PublishedRun] | None = None) -> None:
    """Write the run's findings, then its ``job_run`` row: from here on readers see the run.

    Args:
        run: the run.
        kept: the runs whose rows of ``job_run`` stay; None where all do.

    Raises:
        SurroundingsError: the run no longer holds the warehouse's lock or lease.
    """
    if run.findings:
        findings = sort_findings(run.findings)
        rows = [finding_row(found, run.cluster_id, run.run_id) for found in findings]
        run.store.append("finding", rows)
    fail_point("before-job-run")
    run.store.require_held()
    row = run.finished().row()
    if kept is None and run.rebuilt is None and run.run_number % _RUNS_OF_A_FILE:
        run.store.append(JOB_RUN, [row])
        return
    stays = run.store.all_runs() if kept is None else kept
    if run.rebuilt is not None:
        stays = run.rebuilt.rows(stays, run.cluster_id)
    run.store.replace(JOB_RUN, [*(old.row() for old in stays), row], None)


_RUNS_OF_A_FILE: Final = 32
"""Every so many runs ``job_run`` becomes one file again: every question opens all of them."""


def continue_from_newest(run: Run) -> bool:
    """Take over the newest run's record, for a run that changes no row; False without one."""
    if not run.store.runs:
        return False
    newest = run.store.runs[-1]
    run.cluster_id = newest.cluster_id
    run.continue_from(newest)
    run.counts = dict(newest.counts)
    if newest.decided_in != newest.run_number:
        # Findings in force are those of the newest run and of the one that decided.
        run.findings.extend(run.findings_of(newest.run_id))
    return True


def findings_before(run: Run) -> list[Finding]:
    """Return the findings of the previous run that decided; none without one."""
    before = run.previous(MATERIALIZING)
    decided = (r for r in run.store.runs if before and r.run_number == before.decided_in)
    return [found for each in decided for found in run.findings_of(each.run_id)]


def goes_on_from(runs: Sequence[PublishedRun], cluster_id: str) -> PublishedRun | None:
    """Return the run whose tables the next run of a cluster opens: its newest that decides.

    To compute and report what changed, the next run reads these versions, however late it starts:
    maintenance keeps them. The run need not be the one that made the decisions. After a killed run
    in between, a run without changes left the same rows in other versions.
    """
    return _newest_of(runs, cluster_id, MATERIALIZING)


_GONE_ON_FROM: Final = {"acl_history", *DECISIONS} - {"host_match"}
"""What every run that decides leaves; a run whose files were lost names fewer, see ``Rebuilt``."""


def _newest_of(
    runs: Sequence[PublishedRun], cluster_id: str, jobs: tuple[str, ...]
) -> PublishedRun | None:
    mine = (run for run in reversed(runs) if run.cluster_id == cluster_id)
    found = next((run for run in mine if not jobs or run.job in jobs), None)
    return found and replace(found, table_versions=versions_now(runs, found))


def versions_now(runs: Iterable[PublishedRun], run: PublishedRun) -> dict[str, int]:
    """Return the versions in which the tables of a run stand now, after maintenance.

    Maintenance writes the same rows into other files, so a version that it made stands for the
    one that it found, and nothing is decided again for its sake.
    """
    versions = dict(run.table_versions)
    for later in runs:
        if later.job == MAINTAIN and later.run_number > run.run_number:
            for table, (found, made) in (later.settings.rewritten or {}).items():
                if versions.get(table) == found:
                    versions[table] = made
    return versions


def parse_cluster_id(text: str) -> str:
    """Check a cluster id: 1 to 200 letters, digits, ``_``, ``-``, ``.`` or ``:``.

    Kafka's own ids are base64url; the id stands in a Delta predicate, so it holds no quote.

    Raises:
        UsageError: it holds anything else.
    """
    if not re.fullmatch(r"[A-Za-z0-9_.:-]{1,200}", text):
        raise UsageError(
            f"Invalid cluster id {text!r}: expected 1 to 200 letters, digits, '_', '-', '.' or ':'"
        )
    return text
