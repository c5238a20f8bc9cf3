"""A run: what it writes becomes visible as a whole, by its ``job_run`` row, or not at all."""

from __future__ import annotations

import json
import logging
import os
import signal
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from pyspark.sql import SparkSession

import aclkit
from aclkit.delta import JOB_RUN, Store
from aclkit.errors import UsageError
from aclkit.findings import Finding, sort_findings
from aclkit.lease import warehouse_lease
from aclkit.lock import warehouse_lock

COMPLETE: Final = "complete"
INCOMPLETE: Final = "incomplete"
MATERIALIZING: Final = ("materialize", "run")
"""Jobs whose ``job_run`` row carries the settings of the explain tables."""

MAINTAIN: Final = "maintain"
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


@contextmanager
def begin_run(
    spark: SparkSession, warehouse: str, job: str, *, lock_timeout: float
) -> Iterator[Run]:
    """Hold the warehouse's lock, take back what a killed run left, and hand out a run.

    The caller publishes; leaving without it leaves readers with what they had.
    """
    held = (
        warehouse_lease(spark, warehouse, lock_timeout)
        if "://" in warehouse
        else warehouse_lock(warehouse, lock_timeout)
    )
    with held as require_held:
        store = Store(spark, warehouse)
        run = Run(
            store=store,
            run_id=uuid.uuid4().hex,
            run_number=int(store.runs[-1]["run_number"]) + 1 if store.runs else 0,
            job=job,
            started_at=datetime.now(UTC),
            require_held=require_held,
        )
        store.run_id = run.run_id
        for table in store.take_back_unpublished():
            log.info("took back what an unfinished run left in %s", table)
        yield run


def publish(run: Run) -> None:
    """Write the run's findings, then its ``job_run`` row: from here on readers see the run.

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
    run.store.append_rows(JOB_RUN, [row])


def versions_now(runs: Iterable[Mapping[str, Any]], row: Mapping[str, Any]) -> dict[str, int]:
    """Return the versions in which the tables of a run stand now, after maintenance.

    Maintenance writes the same rows into other files, so a version that it made stands for the
    one that it found, and nothing is decided again for its sake.
    """
    versions = dict(row["table_versions"] or {})
    for later in runs:
        if later["job"] == MAINTAIN and later["run_number"] > row["run_number"]:
            for table, (found, made) in json.loads(later["settings"])[REWRITTEN].items():
                if versions.get(table) == found:
                    versions[table] = made
    return versions


def fail_point(name: str) -> None:
    """Die here, as by SIGKILL, when a test asks for it through ACLKIT_FAIL_POINT."""
    if os.environ.get("ACLKIT_FAIL_POINT") == name:
        os.kill(os.getpid(), signal.SIGKILL)


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
        )
        for finding in sort_findings(run.findings)
    ]
    run.store.append_rows("finding", rows)
