"""A warehouse → the same rows in fewer and better files, and nothing kept that no run needs."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from pyspark.sql import Row
from pyspark.sql import functions as F

from aclkit.delta import JOB_RUN, Store
from aclkit.findings import EVERY_NAME, Finding
from aclkit.progress import step
from aclkit.publish import REWRITTEN, Run

SORTED: Final = "explain_pair"
"""Cut into files by resource and, within these, by principal: a question opens few of them."""

COMPACTED: Final = (
    "acl_log", "log_range", "acl_reject", "acl_history", "access_change", "access_log", "finding",
    "setting", JOB_RUN,
)  # fmt: skip
"""Tables that grow by a small file a night. The others are written as a whole."""

_PAIRS_OF_A_FILE: Final = 50_000
_PAIRS_OF_A_PART: Final = 400_000
_MARGIN: Final = timedelta(hours=1)
"""When a file went is noted a little before its commit is."""

_FOR_EVER: Final = 24 * 365 * 100
_VACUUM: Final = {
    # Delta refuses to keep less than a week unless it is told that nobody else is at work: the
    # lock says so.
    "spark.databricks.delta.retentionDurationCheck.enabled": "false",
    # A commit about the vacuum would be a version that no run has published.
    "spark.databricks.delta.vacuum.logging.enabled": "false",
    # Delta lists a table's folder, which has no others in it, in so many tasks: else 10,000.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintained:
    """What was done, or would be, to one table.

    Attributes:
        table: the table.
        files_before: files of the published version.
        files_after: files of the version that takes its place.
        size_bytes: of these.
        oldest_version: the oldest version that a kept run names.
        retain_hours: what was needed within so many hours stays.
    """

    table: str
    files_before: int
    files_after: int
    size_bytes: int
    oldest_version: int | None
    retain_hours: int


def maintain(run: Run, *, retain_days: float, keep_runs: int, dry_run: bool) -> list[Maintained]:
    """Write small files together and sort ``explain_pair`` anew; the caller publishes.

    Nothing is removed yet: see ``vacuum``.

    Args:
        run: the run; ``continue_from_newest`` has been called.
        retain_days: at least so much of the past is to stay.
        keep_runs: so many published runs are to stay readable, this one not counted.
        dry_run: nothing is written.
    """
    store = run.store
    found = dict(store.versions)
    done = []
    for table in (*sorted(found), JOB_RUN):
        named = (row["table_versions"].get(table) for row in store.runs[-keep_runs:])
        oldest = min((version for version in named if version is not None), default=None)
        hours = _hours(store, table, oldest, retain_days)
        before = _detail(store, table)
        if not dry_run:
            with step(f"maintaining {table}"):
                _rewrite(run, table)
        after = before if dry_run else _detail(store, table)
        done.append(
            Maintained(
                table=table,
                files_before=before["numFiles"],
                files_after=after["numFiles"],
                size_bytes=after["sizeInBytes"],
                oldest_version=oldest,
                retain_hours=hours,
            )
        )
    now = store.versions
    moved = {table: [v, now[table]] for table, v in sorted(found.items()) if now[table] != v}
    run.settings = {REWRITTEN: moved, "retain_days": retain_days, "keep_runs": keep_runs}
    return done


def vacuum(run: Run, done: Iterable[Maintained]) -> None:
    """Remove files that no kept version needs; call it when the run has been published."""
    conf = run.store.spark.conf
    before = {key: conf.get(key, None) for key in _VACUUM}
    for key, value in _VACUUM.items():
        conf.set(key, value)
    try:
        for item in done:
            with step(f"removing what no kept run needs of {item.table}"):
                run.store.table(item.table).vacuum(item.retain_hours)
    finally:
        for key, old in before.items():
            conf.unset(key) if old is None else conf.set(key, old)


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
    if run.counts.get("decided_in_run") != newest["run_number"]:
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


def _rewrite(run: Run, table: str) -> None:
    store = run.store
    if table == SORTED:
        for cluster_id in sorted({row["cluster_id"] for row in store.runs}):
            _sort_pairs(store, cluster_id)
    elif table in COMPACTED:
        store.table(table).optimize().executeCompaction()
        if table != JOB_RUN:
            store.note_write(table)


def _sort_pairs(store: Store, cluster_id: str) -> None:
    """Write a cluster's pairs as ``materialize`` does when it decides everything."""
    rows = store.cluster_rows(SORTED, cluster_id)
    number = rows.agg(F.count("*").alias("pairs")).collect()[0]["pairs"]
    if number:
        parts = -(-number // _PAIRS_OF_A_PART)
        ranged = rows.repartitionByRange(parts, "resource_type", "resource_name")
        in_order = ranged.sortWithinPartitions("principal", "resource_type", "resource_name")
        store.replace_cluster(SORTED, in_order, cluster_id, _PAIRS_OF_A_FILE)


def _detail(store: Store, table: str) -> Row:
    detail: Row = store.table(table).detail().select("numFiles", "sizeInBytes").collect()[0]
    return detail


def _hours(store: Store, table: str, oldest: int | None, retain_days: float) -> int:
    """Return how far back files are needed: at the least to the oldest version that is kept.

    A file that this version needs went later than it, so Delta removes only older ones. Where
    the log does not tell any more when the version came, nothing is removed.
    """
    needed = timedelta(days=retain_days)
    if oldest is not None:
        history = store.table(table).history().where(F.col("version") == oldest)
        came = history.select(F.unix_timestamp("timestamp").alias("at")).collect()
        if not came:
            return _FOR_EVER
        needed = max(needed, timedelta(seconds=time.time() - came[0]["at"]) + _MARGIN)
    return -int(-needed.total_seconds() // 3600)
