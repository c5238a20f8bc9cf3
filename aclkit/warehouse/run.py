"""A run: what it writes becomes visible as a whole, by its ``job_run`` row, or not at all."""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from pyspark.sql import SparkSession

import aclkit
from aclkit.errors import UsageError
from aclkit.model.findings import EVERY_NAME, Finding, sort_findings
from aclkit.runtime.fail_points import fail_point
from aclkit.warehouse.lease import warehouse_lease
from aclkit.warehouse.lock import warehouse_lock
from aclkit.warehouse.recovery import mend_job_run, mend_properties, take_back_unpublished
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.standing import DECIDED_IN, MAINTAIN
from aclkit.warehouse.store import JOB_RUN, Store

COMPLETE: Final = "complete"
INCOMPLETE: Final = "incomplete"
BROKERS: Final = "brokers"
METADATA_VERSION: Final = "metadata_version"
"""Where the settings of a run say what a live cluster's brokers told of themselves."""

REWRITTEN: Final = "rewritten"
"""Where the settings of such a run say table → the version that it found, and the one it made."""

log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class Run:
    """A run in progress: its tables and what its ``job_run`` row will say."""

    store: Store
    run_id: str
    run_number: int
    job: str
    started_at: datetime
    cluster_id: str = ""
    status: str = COMPLETE
    head_offset: int = 0
    high_watermark: int | None = None
    settings: Mapping[str, Any] | None = None
    counts: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    require_held: Callable[[], None] = lambda: None

    def previous(self, jobs: tuple[str, ...] = ()) -> Mapping[str, Any] | None:
        """Return this cluster's newest earlier ``job_run`` row, of given jobs only if any."""
        mine = (row for row in reversed(self.store.runs) if row["cluster_id"] == self.cluster_id)
        found = next((dict(row) for row in mine if not jobs or row["job"] in jobs), None)
        if found is not None:
            found["table_versions"] = versions_now(self.store.runs, found)
        return found


Held = Callable[[], None]
"""Insists that a warehouse is still held."""


@contextmanager
def hold(warehouse: str, lock_timeout: float) -> Iterator[Held | None]:
    """Hold the lock of a local warehouse, for a run that has not begun yet.

    Of a warehouse on a URI there is no lock but a lease, which Spark takes: nothing is held then.
    """
    if "://" in warehouse:
        yield None
        return
    with warehouse_lock(warehouse, lock_timeout) as held:
        yield held


@contextmanager
def begin_run(
    spark: SparkSession,
    warehouse: str,
    job: str,
    *,
    lock_timeout: float,
    held: Held | None = None,
) -> Iterator[Run]:
    """Hold the warehouse's lock, take back what a killed run left, and hand out a run.

    The caller publishes; leaving without it leaves readers with what they had. ``held`` is what
    ``hold`` has handed out, where the lock was taken before.
    """
    taken: AbstractContextManager[Held] = (
        nullcontext(held) if held else _take(spark, warehouse, lock_timeout)
    )
    with taken as require_held:
        run = _new_run(Store(spark, warehouse), job, require_held)
        take_back_unpublished(run.store)
        if mend_properties(run.store):
            _publish_mended(_new_run(run.store, MAINTAIN, require_held))
            run = _new_run(Store(spark, warehouse), job, require_held)
        mend_job_run(run.store)
        yield run


def _new_run(store: Store, job: str, require_held: Callable[[], None]) -> Run:
    run = Run(
        store=store,
        run_id=uuid.uuid4().hex,
        run_number=int(store.runs[-1]["run_number"]) + 1 if store.runs else 0,
        job=job,
        started_at=datetime.now(UTC),
        require_held=require_held,
    )
    store.run_id = run.run_id
    return run


def _publish_mended(run: Run) -> None:
    """Publish tables whose rows are those of the newest run, and whose properties are others.

    As a run of maintenance, so that what was decided holds for these versions too. From here on
    no commit, and no kill, can make the table forget a version that readers open.
    """
    continue_from_newest(run)
    run.settings = {REWRITTEN: moved_tables(run.store)}
    run.notes.append("the tables of an older aclkit now keep every version until maintain")
    publish(run)


def moved_tables(store: Store) -> dict[str, list[int]]:
    """Return which published tables this run has written: table → version found, and made."""
    now = store.versions
    found = sorted(store.published.items())
    return {table: [v, now[table]] for table, v in found if now[table] != v}


def _take(spark: SparkSession, warehouse: str, lock_timeout: float) -> AbstractContextManager[Held]:
    if "://" in warehouse:
        return warehouse_lease(spark, warehouse, lock_timeout)
    return warehouse_lock(warehouse, lock_timeout)


def publish(run: Run, kept: Sequence[Mapping[str, Any]] | None = None) -> None:
    """Write the run's findings, then its ``job_run`` row: from here on readers see the run.

    Args:
        run: the run.
        kept: rows of ``job_run`` that stay; None where all do.

    Raises:
        SurroundingsError: the run no longer holds the warehouse's lock or lease.
    """
    _write_findings(run)
    fail_point("before-job-run")
    run.require_held()
    finished = datetime.now(UTC)
    row = (
        run.run_number,
        run.run_id,
        run.cluster_id,
        run.job,
        run.status,
        run.started_at,
        finished,
        (finished - run.started_at).total_seconds(),
        run.head_offset,
        run.high_watermark,
        json.dumps(run.settings, sort_keys=True) if run.settings is not None else None,
        run.counts,
        run.notes,
        run.store.versions,
        aclkit.__version__,
    )
    if kept is None and run.run_number % _RUNS_OF_A_FILE:
        run.store.append_rows(JOB_RUN, [row])
        return
    names = TABLES[JOB_RUN].column_names
    stays = run.store.all_runs() if kept is None else kept
    before = [tuple(_with_zone(old.get(name)) for name in names) for old in stays]
    run.store.replace_rows(JOB_RUN, [*before, row], None)


_RUNS_OF_A_FILE: Final = 32
"""Every so many runs ``job_run`` becomes one file again: every question opens all of them."""


def _with_zone(value: object) -> object:
    """Return a time as UTC: Spark gives it in this machine's zone, without saying so."""
    return value.astimezone(UTC) if isinstance(value, datetime) else value


def continue_from_newest(run: Run) -> bool:
    """Take over what the newest run said, for a run that changes no row; False without one."""
    if not run.store.runs:
        return False
    newest = run.store.runs[-1]
    run.cluster_id = newest["cluster_id"]
    run.head_offset = newest["head_offset"]
    run.high_watermark = newest["high_watermark"]
    run.status = newest["status"]
    run.counts = dict(newest["counts"] or {})
    if run.counts.get(DECIDED_IN) != newest["run_number"]:
        # Findings in force are those of the newest run and of the one that decided.
        run.findings.extend(_findings_of(run, newest["run_id"]))
    return True


def _findings_of(run: Run, run_id: str) -> Iterator[Finding]:
    for row in run.store.cluster_rows("finding", run.cluster_id).collect():
        if row["run_id"] == run_id:
            said: Mapping[str, Any] = row.asDict()
            yield Finding(
                finding=said["finding"],
                severity=said["severity"],
                subject=said["subject"],
                message=said["message"],
                fix=said["fix"],
                acl_ids=tuple(said["acl_ids"] or ()),
                holds_for=said.get("holds_for") or EVERY_NAME,
                evidence=tuple(said.get("evidence") or ()),
            )


def versions_now(runs: Iterable[Mapping[str, Any]], row: Mapping[str, Any]) -> dict[str, int]:
    """Return the versions in which the tables of a run stand now, after maintenance.

    Maintenance writes the same rows into other files, so a version that it made stands for the
    one that it found, and nothing is decided again for its sake.
    """
    versions = dict(row["table_versions"] or {})
    for later in runs:
        if later["job"] == MAINTAIN and later["run_number"] > row["run_number"]:
            rewritten = json.loads(later["settings"] or "{}").get(REWRITTEN, {})
            for table, (found, made) in rewritten.items():
                if versions.get(table) == found:
                    versions[table] = made
    return versions


def parse_cluster_id(text: str) -> str:
    """Check a cluster id: 1 to 200 letters, digits, ``_``, ``-``, ``.`` or ``:``.

    Kafka's own ids are base64url; the id stands in a Delta predicate, so it holds no quote.

    Raises:
        UsageError: it holds anything else.
    """
    plain = text.replace("_", "").replace("-", "").replace(".", "").replace(":", "")
    if not text or len(text) > 200 or not plain.isascii() or not (plain.isalnum() or not plain):
        raise UsageError(
            f"bad cluster id {text!r}: expected 1 to 200 letters, digits, '_', '-', '.' or ':'"
        )
    return text


def _write_findings(run: Run) -> None:
    if not run.findings:
        return
    rows = [
        (
            run.cluster_id,
            run.run_id,
            finding.finding,
            finding.severity,
            finding.subject,
            finding.message,
            finding.fix,
            list(finding.acl_ids),
            finding.fingerprint,
            finding.holds_for,
            list(finding.evidence),
            None,
        )
        for finding in sort_findings(run.findings)
    ]
    run.store.append_rows("finding", rows)
